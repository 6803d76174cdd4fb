import { lineProblem, LineReader, type TextReader } from "./text-reader.ts";
import {
  emptyEntry,
  MAX_PER_PROTEIN,
  type TakeEntry,
  type UniProtEntry,
  withFragment,
} from "./uniprot-entry.ts";

/** A feature while its lines arrive. */
interface OpenFeature {
  type: string;
  start: number | null;
  end: number | null;
  isoform: string | undefined;
  /** Description of the format before 2019_11. */
  old: string;
  /** Qualifiers of today's format, one after the other: `/note="…"`. */
  qualifiers: string;
}

/** Position of today's format: `15`, `1..393`, `<1..20`, `P04637-2:3..5`. */
const LOCATION = /^(?:([A-Z0-9-]+):)?([<>?]?\d*)(?:\.\.([<>?]?\d*))?$/;

/** What the lines of each code add to an entry. */
const LINES: Readonly<Record<string, (entry: UniProtEntry, text: string) => void>> = {
  ID(entry, text) {
    entry.entryName = text.split(/\s+/)[0];
    entry.isReviewed = !/Unreviewed;|PRELIMINARY;/.test(text);
  },
  AC(entry, text) {
    entry.accessions.push(...text.split(/;\s*/).filter(Boolean));
  },
  DT(entry, text) {
    entry.version ||= /sequence version (\d+)/.exec(text)?.[1] ?? "";
  },
  DE(entry, text) {
    if (text.startsWith("Flags:")) entry.name = withFragment(entry.name, text);
    entry.name ||= /^(?:Rec|Sub)Name: Full=(.*?);?$/.exec(withoutEvidence(text))?.[1] ?? "";
  },
  // Names of further genes follow a line with "and".
  GN(entry, text) {
    entry.gene = `${entry.gene} ${text}`;
  },
  OS(entry, text) {
    entry.organism = `${entry.organism} ${text}`.trim();
  },
  OX(entry, text) {
    entry.taxon = /NCBI_TaxID=(\d+)/.exec(text)?.[1] ?? "";
  },
  PE(entry, text) {
    entry.existence = text.charAt(0);
  },
  DR: readReference,
};

const withoutEvidence = (text: string): string => text.replace(/\s*\{ECO:[^}]*\}/g, "");

/** The gene that UniProt's FASTA names. @param text of the GN lines */
function findGene(text: string): string {
  const [first] = withoutEvidence(text).split(/; and /, 1);
  const value = (key: string): string | undefined => new RegExp(` ${key}=([^;]*)`).exec(first)?.[1];
  return value("Name") ?? (value("OrderedLocusNames") ?? value("ORFNames") ?? "").split(",", 1)[0];
}

/**
 * The scientific name of `Homo sapiens (Human).` A strain or isolate in parentheses is a part of it, like the slashes of
 * `Influenza A virus (A/swine/Iowa/15/1930(H1N1))`.
 */
function dropCommonNames(text: string): string {
  const name = text.replace(/\.$/, "");
  const from = name.indexOf(" (");
  if (from < 0 || !/^ \((?:strain |isolate |[^)]*\/)/.test(name.slice(from)))
    return name.replace(/ \(.*/, "");
  let depth = 0;
  for (let at = from; at < name.length; at++) {
    if (name[at] === "(") depth++;
    else if (name[at] === ")" && --depth === 0) return name.slice(0, at + 1);
  }
  return name;
}

/** Locations in the text of all comments: `-!- SUBCELLULAR LOCATION: Nucleus. Cytoplasm {ECO:1}. Note=Shuttles.` */
function findLocations(comments: string): string[] {
  return [...comments.matchAll(/-!- SUBCELLULAR LOCATION: (.*?)(?=-!- |----|$)/g)]
    .map(([, text]) => withoutEvidence(text).replace(/Note=.*/, ""))
    .filter((text) => !text.startsWith("[Isoform "))
    .flatMap((text) => text.replace(/^\[[^\]]*\]:/, "").split(/\.(?:\s|$)/))
    .map((text) => text.replace(/\((?:By similarity|Potential|Probable)\)/, "").trim())
    .filter(Boolean);
}

/** UniProt's flat file (Swiss-Prot, TrEMBL), as of today or before release 2019_11. */
export function readFlatEntries(take: TakeEntry): TextReader {
  let entry = emptyEntry();
  let comments = "";
  let begun = 0;
  let open: OpenFeature | undefined;
  let isSequence = false;
  let hasContent = false;
  const close = (): void => {
    if (open) {
      const { type, start, end, isoform } = open;
      entry.features.push({ type, start, end, isoform, ...described(open) });
    }
    open = undefined;
  };
  const finish = (): void => {
    close();
    entry.gene = findGene(entry.gene);
    entry.organism = dropCommonNames(entry.organism);
    entry.locations = findLocations(comments);
    take(entry, begun);
    entry = emptyEntry();
    comments = "";
    isSequence = hasContent = false;
  };
  const read = (line: string, number: number): void => {
    if (line.startsWith("//")) return finish();
    if (line.trim() === "") return;
    if (isSequence && line.startsWith("     ")) return void (entry.residues += line.replace(/\s+/g, ""));
    if (!/^([A-Z]{2}|\*\*)( {3}|$)/.test(line))
      throw lineProblem(
        number,
        "expected a code of two letters and three spaces, as in UniProt's flat file.",
        line,
      );
    if (!hasContent) begun = number;
    hasContent = true;
    if (line.startsWith("FT")) return readFeatureLine(line, number);
    close();
    readEntryLine(line.slice(0, 2), line.slice(5).trim());
  };
  const readEntryLine = (code: string, text: string): void => {
    if (code === "SQ") {
      isSequence = true;
      entry.length = Number(/(\d+) AA/.exec(text)?.[1] ?? 0);
    } else if (code === "CC") comments += `${text} `;
    else LINES[code]?.(entry, text);
  };
  const readFeatureLine = (line: string, number: number): void => {
    if (!/^FT {3}\S/.test(line)) {
      if (open) extend(open, line.slice(5).trim());
      return;
    }
    close();
    if (entry.features.length > MAX_PER_PROTEIN)
      throw lineProblem(number, "too many features of one protein.", line);
    open = readFeature(line, number);
  };
  return new LineReader(read, (lines) => {
    if (hasContent) throw lineProblem(lines, "the last entry has no end (//). The file is truncated.");
  });
}

function readFeature(line: string, number: number): OpenFeature {
  const [type, from = "", ...rest] = line.slice(5).trim().split(/\s+/);
  const found = LOCATION.exec(from);
  if (found && rest.length === 0) {
    const [, isoform, start, end = start] = found;
    const span = { start: readPosition(start, number, line), end: readPosition(end, number, line) };
    return { type, ...span, isoform, old: "", qualifiers: "" };
  }
  const [to = "", ...words] = rest;
  const span = { start: readPosition(from, number, line), end: readPosition(to, number, line) };
  return { type, ...span, isoform: undefined, old: words.join(" "), qualifiers: "" };
}

function extend(feature: OpenFeature, text: string): void {
  const isOld = feature.old !== "" || text.startsWith("/FTId=");
  if (isOld) feature.old += ` ${text}`;
  else feature.qualifiers += ` ${text}`;
}

function described({ old, qualifiers }: OpenFeature): { name: string; id: string } {
  if (qualifiers === "") {
    const id = /\/FTId=(\w+)/.exec(old)?.[1] ?? "";
    const name = old.replace(/\s*\/FTId=\S*/, "").replace(/\s*\{ECO:[^}]*\}\.?/, "");
    return { name: name.trim(), id };
  }
  const value = (name: string): string =>
    new RegExp(` /${name}="((?:[^"]|"")*)"`).exec(qualifiers)?.[1].replaceAll('""', '"') ?? "";
  return { name: value("note"), id: value("id") };
}

/** `PDB; 1YCR; X-ray; 2.60 A; B=15-29.` */
function readReference(entry: UniProtEntry, text: string): void {
  if (!text.startsWith("PDB;")) return;
  const [, id = "", method = "", resolution = "", chains = ""] = text.split(/;\s*/);
  entry.structures.push({ id, method, resolution, chains });
}

/**
 * A position of UniProt: `15`, `<1`, `>393`, `?28`; null where it is unknown. @throws Problem that names the line
 */
export function readPosition(text: string, number: number, line: string): number | null {
  const [, digits] = /^[<>?]?(\d{0,9})$/.exec(text) ?? [];
  if (digits === undefined)
    throw lineProblem(number, `${JSON.stringify(text.slice(0, 20))} is no position.`, line);
  return digits === "" ? null : Number(digits);
}
