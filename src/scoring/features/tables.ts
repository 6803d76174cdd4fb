import { splitCells } from "../corpus/elm-table.ts";
import { type Feature, findProgramGroup, findTypeGroup, placed } from "./feature.ts";
import { lineProblem, LineReader, type TextReader } from "../corpus/text-reader.ts";
import { type Emit, type FeatureRow, readSpan, RowJoiner, type Skip, type Span } from "./feature-reader.ts";

/** Formats with one feature per line. */

const ELM_COLUMNS = ["Accession", "ELMIdentifier", "Primary_Acc", "Start", "End", "InstanceLogic"] as const;

/** ELM's table of instances (`elm_instances.tsv`). */
export function readElmInstances(emit: Emit): TextReader {
  const rows = new RowJoiner(emit);
  let columns: string[] | undefined;
  const read = (line: string, number: number): void => {
    if (line === "" || line.startsWith("#")) return;
    const cells = splitCells(line);
    if (cells === null)
      throw lineProblem(number, "a quotation mark is not closed, or does not enclose a whole cell.", line);
    if (!columns) {
      const missing = ELM_COLUMNS.filter((name) => !cells.includes(name));
      if (missing.length > 0)
        throw lineProblem(
          number,
          `the columns ${missing.join(", ")} are missing. Expected ELM's table of instances.`,
          line,
        );
      columns = cells;
      return;
    }
    if (cells.length !== columns.length)
      throw lineProblem(number, `${cells.length} cells for ${columns.length} columns.`, line);
    const cell = (name: string): string => cells[columns!.indexOf(name)]?.trim() ?? "";
    const names = [cell("Primary_Acc"), cell("ProteinName"), ...cell("Accessions").split(/\s+/)];
    if (names[0] === "") throw lineProblem(number, "Primary_Acc is empty.", line);
    const structures = cell("PDB").split(/\s+/).filter(Boolean);
    const feature: Feature = {
      group: "motif",
      type: "ELM instance",
      ...readSpan(cell("Start"), cell("End"), number, line),
      name: cell("ELMIdentifier"),
      id: cell("Accession"),
      source: "ELM",
      logic: cell("InstanceLogic") || "unknown",
      ...(structures.length > 0 ? { structures } : {}),
    };
    rows.add({ names: names.filter(Boolean), features: [feature] });
  };
  return new LineReader(read, () => rows.end());
}

/** Lengths of `##sequence-region` that are remembered, at least: UniProt writes each before its protein. */
const MAX_REGIONS = 50_000;

/** The last lengths, in bounded memory. */
class Lengths {
  #young = new Map<string, number>();
  #old = this.#young;

  set(name: string, length: number): void {
    if (this.#young.size >= MAX_REGIONS) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    // A copy: a slice would keep the text around it in memory.
    this.#young.set(Buffer.from(name).toString(), length);
  }

  get(name: string): number | undefined {
    return this.#young.get(name) ?? this.#old.get(name);
  }
}

/** GFF3 1.26 with proteins as sequences, as UniProt and InterProScan write it. */
export function readGff3(emit: Emit): TextReader {
  const rows = new RowJoiner(emit);
  const lengths = new Lengths();
  let isFasta = false;
  const read = (line: string, number: number): void => {
    if (isFasta || line === "") return;
    if (line.startsWith("##FASTA") || line.startsWith(">")) return void (isFasta = true);
    if (line.startsWith("##sequence-region")) {
      const [, name, first, last] = line.trim().split(/\s+/);
      if (first === "1" && Number(last) > 0) lengths.set(decoded(name), Number(last));
      return;
    }
    if (line.startsWith("#")) return;
    const cells = line.split("\t");
    if (cells.length < 8)
      throw lineProblem(number, `${cells.length} columns; GFF3 has 9, separated by tabs.`, line);
    const [sequence, source, type, from, to] = cells;
    // InterProScan's extent of the whole protein.
    if (type === "polypeptide") return;
    const name = decoded(sequence);
    const feature = gffFeature(decoded(source), decoded(type), parseAttributes(cells[8] ?? ""));
    const span = readSpan(from, to, number, line);
    const length = lengths.get(name);
    rows.add({
      names: [name],
      features: placed({ ...feature, ...span }),
      sequence: length === undefined ? undefined : { length },
    });
  };
  return new LineReader(read, () => rows.end());
}

function gffFeature(source: string, type: string, attributes: Map<string, string>) {
  const name = attributes.get("Name") ?? "";
  const isMatch = type === "protein_match" || type === "protein_hmm_match";
  const text = attributes.get("signature_desc") ?? attributes.get("Note") ?? name;
  return {
    group: isMatch ? findProgramGroup(source, name) : findTypeGroup(type),
    type: isMatch ? source : type,
    name: text || type.replaceAll("_", " "),
    id: (isMatch ? name : attributes.get("ID")) ?? "",
    source: source === "." ? "GFF3" : source,
  } satisfies Omit<Feature, "start" | "end">;
}

function parseAttributes(text: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const part of text.split(";")) {
    const at = part.indexOf("=");
    if (at > 0) attributes.set(part.slice(0, at).trim(), decoded(part.slice(at + 1).trim()));
  }
  return attributes;
}

function decoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** BED (UCSC): start from 0, end not included. */
export function readBed(emit: Emit): TextReader {
  const rows = new RowJoiner(emit);
  const read = (line: string, number: number): void => {
    if (line.trim() === "" || /^(#|track\b|browser\b)/.test(line)) return;
    const cells = line.includes("\t") ? line.split("\t") : line.trim().split(/ +/);
    const [sequence, from, to, name = ""] = cells.map((cell) => cell.trim());
    if (cells.length < 3 || !/^\d{1,9}$/.test(from) || !/^\d{1,9}$/.test(to))
      throw lineProblem(
        number,
        "expected a protein, a start from 0 and an end, separated by tabs or spaces.",
        line,
      );
    if (Number(to) <= Number(from))
      throw lineProblem(
        number,
        `the end ${to} is not after the start ${from}; a BED range begins at 0 and excludes its end.`,
        line,
      );
    const group = findTypeGroup(name);
    rows.add({
      names: [sequence],
      features: [
        {
          group: group === "other" ? "region" : group,
          type: "BED",
          start: Number(from) + 1,
          end: Number(to),
          name: name === "." ? "" : name,
          id: "",
          source: "BED",
        },
      ],
    });
  };
  return new LineReader(read, () => rows.end());
}

/** A table whose lines are features. @param parse gets trimmed cells, of which `-` is empty */
function readRows(
  emit: Emit,
  title: string,
  columns: number,
  skip: Skip,
  parse: (cells: readonly string[], span: (from: string, to: string) => Span) => FeatureRow,
): TextReader {
  const rows = new RowJoiner(emit);
  const read = (line: string, number: number): void => {
    if (line === "" || line.startsWith("#") || skip(line.slice(0, line.indexOf("\t")))) return;
    const cells = line.split("\t").map((cell) => (cell.trim() === "-" ? "" : cell.trim()));
    if (cells.length < columns)
      throw lineProblem(
        number,
        `${cells.length} columns; ${title} has at least ${columns}, separated by tabs.`,
        line,
      );
    rows.add(parse(cells, (from, to) => readSpan(from, to, number, line)));
  };
  return new LineReader(read, () => rows.end());
}

/** InterProScan's TSV; the last four of its 15 columns may be missing. */
export const readInterProTsv = (emit: Emit): TextReader =>
  readRows(
    emit,
    "InterProScan's TSV",
    11,
    () => false,
    (cells, span) => {
      const [sequence, md5, length, program, signature, description, from, to] = cells;
      const [entry = "", entryName = ""] = cells.slice(11, 13);
      const match = { ...span(from, to), name: entryName || description || signature };
      return {
        names: [sequence],
        features: [signatureFeature(program, signature, entry, match)],
        sequence: parseCheck(md5, length),
      };
    },
  );

/** InterPro's matches of all proteins (`protein2ipr.dat`): protein, entry, its name, signature, start and end. */
export const readProtein2Ipr = (emit: Emit, skip: Skip): TextReader =>
  readRows(emit, "protein2ipr.dat", 6, skip, ([accession, entry, name, signature, from, to], span) => ({
    names: [accession],
    features: [
      signatureFeature(findMemberDatabase(signature), signature, entry, { ...span(from, to), name }),
    ],
  }));

/** Pfam's domains of all proteins: protein, its version, CRC64 and MD5, family, start and end of the domain. */
export function readPfamRegions(emit: Emit, skip: Skip): TextReader {
  const isHeading = (accession: string): boolean => /^(pfamseq|uniprot)_acc$/.test(accession);
  return readRows(
    emit,
    "Pfam-A.regions.tsv",
    7,
    (accession) => isHeading(accession) || skip(accession),
    ([accession, , , md5, family, from, to], span) => ({
      names: [accession],
      features: [signatureFeature("Pfam", family, "", { ...span(from, to), name: family })],
      sequence: parseCheck(md5, ""),
    }),
  );
}

const signatureFeature = (
  program: string,
  signature: string,
  entry: string,
  match: Pick<Feature, "start" | "end" | "name">,
): Feature => ({
  group: findProgramGroup(program, signature),
  type: program,
  ...match,
  id: entry === "" ? signature : `${signature}, ${entry}`,
  source: program,
});

/** Beginnings of signatures, and the databases of InterPro to which they belong. */
const MEMBER_DATABASES: readonly (readonly [string, string])[] = [
  ["PF", "Pfam"],
  ["PTHR", "PANTHER"],
  ["G3DSA", "Gene3D"],
  ["SSF", "SUPERFAMILY"],
  ["SM", "SMART"],
  ["PS5", "ProSiteProfiles"],
  ["PS", "ProSitePatterns"],
  ["cd", "CDD"],
  ["TIGR", "NCBIfam"],
  ["NF", "NCBIfam"],
  ["PR", "PRINTS"],
  ["PIRSF", "PIRSF"],
  ["MF_", "Hamap"],
  ["SFLD", "SFLD"],
];

const findMemberDatabase = (signature: string): string =>
  MEMBER_DATABASES.find(([beginning]) => signature.startsWith(beginning))?.[1] ?? "InterPro";

const parseCheck = (md5: string, length: string) => ({
  ...(/^[0-9a-f]{32}$/i.test(md5) ? { md5: md5.toLowerCase() } : {}),
  ...(Number(length) > 0 ? { length: Number(length) } : {}),
});
