import { findPlace, readProteinText } from "../../motif/protein-text.ts";

/** Proteins as people enter them: a sequence, FASTA, or accessions of proteins in the corpus. */

export interface Entry {
  /** Name; empty for a bare sequence. */
  name: string;
  /** Sequence; null for an accession, whose sequence is in the corpus. */
  sequence: string | null;
  /** Line of an accession in a list. */
  line?: number;
}

export type ProteinInput =
  { kind: "empty" } | { kind: "proteins"; entries: [Entry, ...Entry[]] } | { kind: "wrong"; message: string };

export function readProtein(text: string): ProteinInput {
  const trimmed = text.trim();
  if (trimmed === "") return { kind: "empty" };
  if (trimmed.startsWith(">")) return readFasta(trimmed);
  const listed = readList(text);
  if (listed.length > 0) return { kind: "proteins", entries: listed as [Entry, ...Entry[]] };
  const { sequence, fault } = readProteinText(text);
  if (!fault) return { kind: "proteins", entries: [{ name: "", sequence }] };
  const accession = splitWords(text).find(isAccession);
  if (accession === undefined) return wrong(text, fault.position, fault.reason);
  const reason = `“${accession}” is an accession, but the rest is not. Enter either accessions or sequences.`;
  return wrong(text, text.indexOf(accession), reason);
}

const splitWords = (text: string): string[] => text.split(/[\s,;]+/).filter((word) => word !== "");

/** A word of letters and digits is not a sequence: numbers beside one are separate words. */
const isAccession = (word: string): boolean => isName(word) && /\d/.test(word) && /[A-Z]/i.test(word);
const isName = (word: string): boolean => /^[\w.:|-]{1,40}$/.test(word);

/** Lines of sequences have at least ten letters, those of genes without digits in their symbols fewer. */
const SYMBOL = /^[A-Z]{2,9}$/;

/** Accessions, or a list of accessions and genes with one on each line; empty for any other text. */
function readList(text: string): Entry[] {
  const lines = text.split(/\r\n|\r|\n/).map((line) => (line.startsWith("#") ? [] : splitWords(line)));
  const words = lines.flat();
  const isList =
    words.length > 0 &&
    (words.every(isAccession) ||
      (words.every(isName) &&
        lines.every(({ length }) => length <= 1) &&
        (words.some(isAccession) || areSymbols(words))));
  if (!isList) return [];
  return lines.flatMap((names, i) => names.map((name): Entry => ({ name, sequence: null, line: i + 1 })));
}

const areSymbols = (words: readonly string[]): boolean =>
  words.length > 2 && words.every((word) => SYMBOL.test(word));

/** Records that begin with `>`. */
function readFasta(text: string): ProteinInput {
  const entries: Entry[] = [];
  let at = 0;
  for (const record of text.split(/^(?=>)/m)) {
    const [header] = record.split(/[\r\n]/, 1);
    const name = nameIn(header.slice(1)) || `sequence ${entries.length + 1}`;
    const { sequence, fault } = readProteinText(record.slice(header.length));
    if (fault) return wrong(text, at + header.length + fault.position, `${name}: ${fault.reason}`);
    if (sequence === "") return wrong(text, at, `${name}: there is no sequence below the header.`);
    entries.push({ name, sequence });
    at += record.length;
  }
  const [first, ...others] = entries;
  return { kind: "proteins", entries: [first, ...others] };
}

/** The problem and its place: the character, and the line if there are several. */
function wrong(text: string, position: number, reason: string): ProteinInput {
  const { line, character } = findPlace(text, position);
  const place = /[\r\n]/.test(text) ? `line ${line}, character ${character}` : `character ${character}`;
  return { kind: "wrong", message: `${place}: ${reason}` };
}

/** P04637 of `sp|P04637|P53_HUMAN Cellular tumor antigen p53`, else the first word. */
function nameIn(header: string): string {
  const word = header.trim().split(/\s/)[0];
  return word.match(/^(?:sp|tr|ref|gb|emb)\|([^|]+)/)?.[1] ?? word;
}

/** True if all sequences look like DNA or RNA; the service warns as well. */
export function looksLikeNucleotides(entries: readonly Entry[]): boolean {
  return entries.every(({ sequence }) => sequence !== null && /^[ACGTUN]{30,}$/.test(sequence));
}
