import { type AlignedText, readHeader } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { utf8 } from "./questions.ts";

/** A row, of which lines are still to be added. */
interface Row {
  name: string;
  description: string;
  parts: string[];
}

/** Rows by name, in order of appearance. */
type Rows = Map<string, Row>;

const FORMATS = "aligned FASTA, A3M, Clustal or Stockholm";

/**
 * Rows of one alignment as aligned FASTA, A3M, Clustal or Stockholm, the query first.
 * @param query identifier of the row that is the query; by default the first
 * @throws Problem invalid_request naming the line
 */
export function readAlignmentText(bytes: string | Uint8Array, query?: string): AlignedText[] {
  const lines = utf8(bytes, "alignment").split(/\r\n|\r|\n/);
  const first = lines.find((line) => line.trim() !== "") ?? "";
  const read = /^#\s*STOCKHOLM/i.test(first)
    ? readStockholm(lines)
    : /^(CLUSTAL|MUSCLE|PROBCONS)/i.test(first)
      ? readBlocks(lines)
      : expandInsertions(readAlignedFasta(lines));
  const rows = read.map(({ name, description, parts }) => ({ name, description, letters: parts.join("") }));
  if (rows.length === 0)
    throw new Problem("invalid_request", `There is no alignment. Expected ${FORMATS}, query first.`);
  return query === undefined ? rows : withQueryFirst(rows, query);
}

const problemAt = (line: number, reason: string): Problem =>
  new Problem("invalid_request", `Alignment line ${line + 1}: ${reason}.`);

/** Blank lines and lines that start with `;` are skipped. */
function readAlignedFasta(lines: readonly string[]): Row[] {
  const rows: Row[] = [];
  for (const [i, line] of lines.entries()) {
    if (line.trim() === "" || line.startsWith(";")) continue;
    if (line.startsWith(">")) {
      const { accession: name, description } = readHeader(line.slice(1));
      if (name === "") throw problemAt(i, "the header has no identifier");
      rows.push({ name, description, parts: [] });
    } else {
      const row = rows.at(-1);
      if (!row) throw problemAt(i, "expected a header that starts with > before the first residues");
      row.parts.push(line.trim());
    }
  }
  return rows;
}

/** Insertions of A3M are in lower case, and other rows have no gaps for them: those are added. */
function expandInsertions(rows: Row[]): Row[] {
  const texts = rows.map(({ parts }) => parts.join("").replaceAll(/\s/g, ""));
  const columns = texts.map((text) => text.replaceAll(/[a-z.]/g, "").length);
  const isA3m =
    columns[0] > 0 &&
    columns.every((count) => count === columns[0]) &&
    !/[a-z]/.test(texts[0]) &&
    texts.some((text) => /[a-z]/.test(text));
  if (!isA3m) return rows;
  const insertions = texts.map((text) => text.replaceAll(".", "").split(/[^a-z]/));
  const widths = insertions[0].map((_, slot) =>
    insertions.reduce((most, row) => Math.max(most, row[slot].length), 0),
  );
  return rows.map((row, i) => {
    const residues = texts[i].replaceAll(/[a-z.]/g, "");
    const text = widths
      .map((width, slot) => insertions[i][slot].toUpperCase().padEnd(width, "-") + (residues[slot] ?? ""))
      .join("");
    return { ...row, parts: [text] };
  });
}

function readStockholm(lines: readonly string[]): Row[] {
  const end = lines.findIndex((line) => line.startsWith("//"));
  const own = end < 0 ? lines : lines.slice(0, end);
  if (end >= 0 && lines.slice(end + 1).some((line) => line.trim() !== ""))
    throw problemAt(end + 1, "another alignment begins here. Give one alignment");
  return readBlocks(own);
}

/** Lines of a name and residues, perhaps in blocks. Marks (`#=GC`), and lines of conservation, which have no name, are skipped. */
function readBlocks(lines: readonly string[]): Row[] {
  const rows: Rows = new Map();
  const header = lines.findIndex((line) => line.trim() !== "");
  for (const [i, line] of lines.entries()) {
    if (i <= header || line.trim() === "" || /^[\s#]/.test(line)) continue;
    const [label, residues, rest] = line.trim().split(/\s+/);
    if (residues === undefined) throw problemAt(i, "expected a name, white space and residues");
    // Clustal may count the residues at the end of a line.
    if (rest !== undefined && !/^\d+$/.test(rest)) throw problemAt(i, "white space within the residues");
    const known = rows.get(label);
    if (known) known.parts.push(residues);
    else rows.set(label, { name: readHeader(label).accession, description: "", parts: [residues] });
  }
  return [...rows.values()];
}

/** Identifiers as people copy them: whole, as in a header, or without the range that Stockholm adds. */
export function withQueryFirst(rows: AlignedText[], query: string): AlignedText[] {
  const wanted = new Set([query.trim(), readHeader(query.trim()).accession]);
  const found = rows.filter(({ name }) => wanted.has(name) || wanted.has(name.replace(/\/\d+-\d+$/, "")));
  if (found.length === 1) return [found[0], ...rows.filter((row) => row !== found[0])];
  const names = rows.slice(0, 5).map(({ name }) => name);
  const first = rows.length > names.length ? "first rows" : "rows";
  const text =
    found.length > 1
      ? `${found.length} rows of the alignment have the identifier "${query}". Rename all but one.`
      : `No row of the alignment has the identifier "${query}". The ${first} are ${names.join(", ")}.`;
  throw new Problem("invalid_request", text, { fields: { alignmentQuery: [text] } });
}
