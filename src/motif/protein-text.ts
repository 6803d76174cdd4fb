/**
 * Protein sequences as people paste them. Pages, the JSON service and the command line read them alike, so this
 * file imports nothing.
 */

/** A text that is no protein: a 0-based position in it, and the reason, which follows the position in a message. */
export interface TextFault {
  position: number;
  reason: string;
}

export type ProteinText = { sequence: string; fault: null } | { sequence: null; fault: TextFault };

const EXPECTED_MESSAGE = "Expected a protein sequence in one-letter codes.";

/** A shorter text of small letters may be a word. Swiss-Prot has no protein of fewer than 40 residues with O, J or U. */
const LONGEST_WORD = 30;

/** Letters by three-letter codes. */
export const THREE_LETTER_CODES: ReadonlyMap<string, string> = new Map(
  "ALA ARG ASN ASP CYS GLN GLU GLY HIS ILE LEU LYS MET PHE PRO SER THR TRP TYR VAL ASX GLX SEC PYL XAA"
    .split(" ")
    .map((code, i) => [code, "ARNDCQEGHILKMFPSTWYVBZUOX"[i]]),
);

/** A word of the text and its position. */
interface Word {
  text: string;
  at: number;
}

/**
 * The letters of a sequence without a FASTA header, in capitals. Accepts white space, letters of either case and a final
 * `*`; the sequence section of GenBank, EMBL and UniProt entries, also within the entry; and numbers that count residues.
 * Rejects other characters, words, and letters that no protein has.
 */
export function readProteinText(text: string): ProteinText {
  const body = sequenceSection(text).replaceAll(/^[ \t]*\d[\d \t]*\r?$/gm, blank);
  const words = splitWords(body);
  if (words.length === 0 && /\d/.test(text))
    return {
      sequence: null,
      fault: { position: text.search(/\d/), reason: `there are only numbers. ${EXPECTED_MESSAGE}` },
    };
  const fault = characterFault(words) ?? countFault(words, body) ?? layoutFault(body);
  if (fault) return { sequence: null, fault };
  const letters = words.map((word) => (isNumber(word) ? "" : word.text)).join("");
  const sequence = letters.replace(/\*$/, "");
  const unlikely = compositionFault(sequence, words);
  return unlikely ? { sequence: null, fault: unlikely } : { sequence: sequence.toUpperCase(), fault: null };
}

const blank = (text: string): string => text.replaceAll(/\S/g, " ");

const splitWords = (text: string): Word[] =>
  Array.from(text.matchAll(/\S+/g), (match) => ({ text: match[0], at: match.index }));

const isNumber = ({ text }: Word): boolean => /^\d+$/.test(text);

/** Blanks the lines around the sequence of a flat file, so that positions stay. */
function sequenceSection(text: string): string {
  const from = /^(?:ORIGIN|SQ {3}SEQUENCE)\b.*$/m.exec(text);
  const start = from ? from.index + from[0].length : 0;
  const end = /^\/\/\s*$/m.exec(text.slice(start));
  const stop = end ? start + end.index : text.length;
  return blank(text.slice(0, start)) + text.slice(start, stop) + blank(text.slice(stop));
}

function characterFault(words: readonly Word[]): TextFault | null {
  const last = words.findLast((word) => !isNumber(word));
  for (const word of words) {
    if (isNumber(word)) continue;
    const disallowed = word === last ? /[^A-Za-z*]|\*(?!$)/ : /[^A-Za-z]/;
    const found = word.text.search(disallowed);
    if (found < 0) continue;
    const character = word.text[found];
    const reason = /\d/.test(character)
      ? `the digit ${character} stands within letters, as in a name. ${EXPECTED_MESSAGE}`
      : character === "*"
        ? "* (stop) is only allowed at the end."
        : `${describe(word.text.slice(found))} is not an amino-acid letter. ${EXPECTED_MESSAGE}`;
    return { position: word.at + found, reason };
  }
  return null;
}

function describe(text: string): string {
  const code = text.codePointAt(0)!;
  return code > 0x20 && code < 0x7f
    ? `“${text[0]}”`
    : `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Numbers count residues. One at the start of a line is that of the next residue, as in GenBank, perhaps of a fragment. */
function countFault(words: readonly Word[], text: string): TextFault | null {
  let residues = 0;
  let skipped = 0;
  for (const word of words) {
    const count = Number(word.text);
    if (!isNumber(word)) residues += word.text.length;
    else if (startsLine(word, text)) skipped = count - 1 - residues;
    else if (count !== skipped + residues && count !== skipped + residues + 1) {
      const reason = `the number ${word.text} does not count the residues before it, as numbers in GenBank and UniProt do. ${EXPECTED_MESSAGE}`;
      return { position: word.at, reason };
    }
  }
  return null;
}

function startsLine({ at }: Word, text: string): boolean {
  let i = at - 1;
  while (i >= 0 && (text[i] === " " || text[i] === "\t")) i--;
  return i < 0 || text[i] === "\n" || text[i] === "\r";
}

/** Small letters stand in blocks, as in GenBank: of one letter, or of the same length except the last. */
function layoutFault(text: string): TextFault | null {
  let at = 0;
  for (const line of text.split("\n")) {
    const groups = splitWords(line).filter((word) => !isNumber(word) && word.text !== "*");
    const start = at;
    at += line.length + 1;
    if (groups.length < 2) continue;
    const position = start + groups[0].at;
    if (groups.every((group) => THREE_LETTER_CODES.has(group.text.toUpperCase())))
      return { position, reason: `these are three-letter codes. ${EXPECTED_MESSAGE}` };
    const lookLikeWords = groups.every(({ text }) => /^(?:[A-Z]?[a-z]*|[A-Z]*)$/.test(text));
    if (lookLikeWords && groups.some(({ text }) => /[a-z]/.test(text)) && !areBlocks(groups))
      return {
        position,
        reason: `these look like words, not like blocks of ten letters. ${EXPECTED_MESSAGE}`,
      };
  }
  return null;
}

/** The first block may be the rest of one that a line break divided. */
function areBlocks(groups: readonly Word[]): boolean {
  const lengths = groups.map(({ text }) => text.length);
  const longest = Math.max(...lengths);
  if (longest === 1) return true;
  if (longest < 10 && (longest < 5 || groups.length < 3)) return false;
  const isFull = (length: number, i: number): boolean =>
    length === longest || i === lengths.length - 1 || (i === 0 && longest >= 10);
  return lengths.every(isFull);
}

/** A protein has at most a few O (pyrrolysine); texts have 7 %. A short word of small letters has none, nor J or U. */
function compositionFault(sequence: string, words: readonly Word[]): TextFault | null {
  const count = sequence.match(/O/gi)?.length ?? 0;
  const position = words.find((word) => /O/i.test(word.text))?.at ?? 0;
  if (count > 1 + sequence.length / 200) {
    const reason = `${count} of ${sequence.length} letters are O (pyrrolysine), as in texts but not in proteins. ${EXPECTED_MESSAGE}`;
    return { position, reason };
  }
  if (sequence.length < LONGEST_WORD && /^[A-Z]?[a-z]*[jou][a-z]*$/.test(sequence))
    return {
      position: words.find((word) => !isNumber(word))?.at ?? 0,
      reason: `this looks like a word. ${EXPECTED_MESSAGE}`,
    };
  return null;
}

/** Line and character of a position, both from 1. */
export function findPlace(text: string, position: number): { line: number; character: number } {
  const lines = text.slice(0, position).split(/\r\n|\r|\n/);
  return { line: lines.length, character: lines.at(-1)!.length + 1 };
}

/** A query that is only a part of a protein of the corpus. */
export interface ProteinPart {
  accession: string;
  /** Gene and species, as far as known. */
  names: string;
  start: number;
  end: number;
}

/** The part as a warning, which `readPartWarning` reads. */
export const partWarning = ({ accession, names, start, end }: ProteinPart): string =>
  `The query is residues ${start}–${end} of ${accession}${names && ` (${names})`}. Score the whole protein: a part has fewer homologs and other surroundings.`;

/** The part that a warning names; null for other warnings. */
export function readPartWarning(warning: string): ProteinPart | null {
  const found = /^The query is residues (\d+)–(\d+) of (\S+?)(?: \((.*)\))?\. Score the whole protein/.exec(
    warning,
  );
  if (!found) return null;
  const [, start, end, accession, names = ""] = found;
  return { accession, names, start: Number(start), end: Number(end) };
}
