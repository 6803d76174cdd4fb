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
      row.parts.push(line.replaceAll(/\s/g, ""));
    }
  }
  return rows;
}

/** Insertions of A3M are in lower case, and other rows have no gaps for them: those are added. */
function expandInsertions(rows: Row[]): Row[] {
  const texts = rows.map(({ parts }) => parts.join(""));
  const columns = countColumns(texts[0] ?? "");
  const isA3m =
    columns > 0 &&
    !/[a-z]/.test(texts[0]) &&
    texts.every((text) => /^[A-Za-z.-]*$/.test(text) && countColumns(text) === columns) &&
    texts.some((text) => /[a-z]/.test(text));
  if (!isA3m) return rows;
  const widths = new Int32Array(columns + 1);
  for (const text of texts)
    eachSlot(text, (slot, from, to) => void (widths[slot] = Math.max(widths[slot], to - from)));
  const length = columns + widths.reduce((sum, width) => sum + width, 0);
  return rows.map((row, i) => Object.assign(row, { parts: [expanded(texts[i], widths, length)] }));
}

const isInsertion = (code: number): boolean => code >= 97 && code <= 122;
const DOT = 46;

/** Characters that are columns of the query. */
function countColumns(text: string): number {
  let columns = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (!isInsertion(code) && code !== DOT) columns++;
  }
  return columns;
}

/** Insertions before each column, and after the last: where they begin and end in a text without dots. */
function eachSlot(dotted: string, take: (slot: number, from: number, to: number) => void): void {
  const text = dotted.replaceAll(".", "");
  let slot = 0;
  let from = 0;
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && isInsertion(text.charCodeAt(at))) continue;
    take(slot++, from, at);
    from = at + 1;
  }
}

/** A row with the insertions of all rows as columns. */
function expanded(dotted: string, widths: Int32Array, length: number): string {
  const text = dotted.replaceAll(".", "");
  const bytes = Buffer.alloc(length, "-");
  let out = 0;
  eachSlot(text, (slot, from, to) => {
    bytes.write(text.slice(from, to).toUpperCase(), out, "latin1");
    out += widths[slot];
    if (to < text.length) bytes[out++] = text.charCodeAt(to);
  });
  return bytes.toString("latin1");
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
  throw new Problem("invalid_request", text, { path: ["alignmentQuery"] });
}
