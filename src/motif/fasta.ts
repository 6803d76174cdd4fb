import { codeOfByte, X } from "./alphabet.ts";

/** What a FASTA header says, as far as its form is known. */
export interface FastaHeader {
  /** The header line without `>`. */
  header: string;
  /** The identifier alone: `P04637` of `sp|P04637|P53_HUMAN`, otherwise the first word. */
  accession: string;
  /** The protein's name, without accession, organism and database fields; may be empty. */
  description: string;
  /** Organism as the header writes it, or its species mnemonic, or null. */
  organism: string | null;
  /**
   * What "the same species" means among headers of one source: `ox:9606`, else `os:homo sapiens`, else
   * `id:HUMAN` (UniProt mnemonic), else `ensembl:ENSMUS` (prefix of a stable identifier), else null.
   */
  speciesKey: string | null;
}

export interface FastaEntry extends FastaHeader {
  /** Residue codes of alphabet.ts, 0–25; never empty. */
  residues: Uint8Array;
  /** Line of the header, counted from 1. */
  line: number;
}

/** A reader of FASTA that is fed the bytes of a file piece by piece, cut anywhere. */
export interface FastaReader {
  /** Takes the next bytes; gives the entries that are complete by now. */
  feed(bytes: Uint8Array): FastaEntry[];
  /** Call once at the end of the file: gives the last entry. */
  finish(): FastaEntry[];
  /** The record that is not complete: how many of the bytes fed belong to it, from its `>` on, and the line of that. */
  readonly pending: { bytes: number; line: number };
}

/** FASTA that has no meaning as protein sequences. The text names line and reason. */
export class FastaError extends Error {
  /** Counted from 1. */
  readonly line: number;
  constructor(line: number, reason: string) {
    super(`FASTA line ${line}: ${reason}`);
    this.name = "FastaError";
    this.line = line;
  }
}

/** Longer headers are refused, so that a file without line ends cannot fill the memory as one header. */
export const MAX_HEADER_BYTES = 65_536;

const NEWLINE = 10;
const RETURN = 13;
const SPACE = 32;
const STAR = 42;
const SEMICOLON = 59;
const GREATER = 62;

/**
 * Reads FASTA (Pearson & Lipman, PNAS 1988, 85:2444) of proteins as a stream. Lines end in LF, CRLF or CR;
 * blank lines, lines that begin with `;`, and spaces and tabs within sequences are skipped; letters may be of
 * either case. A `*` at the end of a record is dropped, one inside (a stop codon read through) becomes X. Any
 * other character, residues before the first header and a record without residues are a FastaError.
 *
 * @param line number of the first line that is fed
 */
export function fastaReader(line = 1): FastaReader {
  const decoder = new TextDecoder();
  let fed = 0;
  let recordAt = 0;
  let recordLine = line;
  let atLineStart = true;
  let previous = 0;
  let mode: "sequence" | "header" | "comment" = "sequence";
  let head = new Uint8Array(256);
  let headLength = 0;
  let current: (FastaHeader & { line: number }) | null = null;
  let residues = new Uint8Array(1024);
  let length = 0;
  let stars = 0;

  const complete = (out: FastaEntry[]): void => {
    if (current === null) return;
    if (length === 0) throw new FastaError(current.line, "the record has no residues");
    out.push({ ...current, residues: residues.slice(0, length) });
    current = null;
  };
  const append = (code: number): void => {
    if (length === residues.length) {
      const longer = new Uint8Array(length * 2);
      longer.set(residues);
      residues = longer;
    }
    residues[length++] = code;
  };
  const endHeader = (): void => {
    const text = decoder.decode(head.subarray(0, headLength));
    const header = readHeader(text);
    if (header.accession === "") throw new FastaError(line, "the header has no identifier");
    current = { ...header, line };
    length = 0;
    stars = 0;
  };

  const take = (byte: number, at: number, out: FastaEntry[]): void => {
    if (byte === NEWLINE || byte === RETURN) {
      if (byte === NEWLINE && previous === RETURN) return;
      if (mode === "header") endHeader();
      mode = "sequence";
      atLineStart = true;
      line++;
      return;
    }
    if (atLineStart) {
      atLineStart = false;
      if (byte === GREATER) {
        complete(out);
        mode = "header";
        headLength = 0;
        recordAt = fed + at;
        recordLine = line;
        return;
      }
      if (byte === SEMICOLON) mode = "comment";
    }
    if (mode === "comment") return;
    if (mode === "header") {
      if (headLength === MAX_HEADER_BYTES) {
        throw new FastaError(line, `the header is longer than ${MAX_HEADER_BYTES} bytes`);
      }
      if (headLength === head.length) {
        const longer = new Uint8Array(headLength * 2);
        longer.set(head);
        head = longer;
      }
      head[headLength++] = byte;
      return;
    }
    if (byte === SPACE || byte === 9) return;
    if (current === null) throw new FastaError(line, "residues stand before the first header line (`>`)");
    if (byte === STAR) {
      stars++;
      return;
    }
    const code = codeOfByte(byte);
    if (code === 255) {
      throw new FastaError(line, `${printable(byte)} is no residue; letters A-Z are, and * at the end`);
    }
    for (; stars > 0; stars--) append(X);
    append(code);
  };

  return {
    get pending() {
      return { bytes: fed - recordAt, line: recordLine };
    },
    feed(bytes) {
      const out: FastaEntry[] = [];
      for (let i = 0; i < bytes.length; i++) {
        // The long middle of a sequence line, in a tight loop: it is nearly all of a file.
        if (!atLineStart && mode === "sequence" && current !== null && stars === 0) {
          let code: number;
          while (i < bytes.length && (code = codeOfByte(bytes[i])) !== 255) {
            append(code);
            i++;
          }
          if (i === bytes.length) {
            previous = bytes[i - 1];
            break;
          }
        }
        take(bytes[i], i, out);
        previous = bytes[i];
      }
      fed += bytes.length;
      return out;
    },
    finish() {
      const out: FastaEntry[] = [];
      if (mode === "header") endHeader();
      mode = "sequence";
      complete(out);
      return out;
    },
  };
}

/** All entries of a FASTA file at hand. */
export function readFasta(bytes: Uint8Array | string): FastaEntry[] {
  const reader = fastaReader();
  const entries = reader.feed(typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes);
  return entries.concat(reader.finish());
}

function printable(byte: number): string {
  return byte > SPACE && byte < 127
    ? `"${String.fromCharCode(byte)}"`
    : `byte 0x${byte.toString(16).padStart(2, "0")}`;
}

/** UniProt entry name: protein part, `_`, species mnemonic. */
const ENTRY_NAME = /^[A-Z0-9]{1,11}_([A-Z0-9]{2,5})$/;
/** Stable identifier of Ensembl: prefix of the species (none for human), type letters, eleven digits. */
const ENSEMBL = /^(ENS[A-Z]{0,4}?)(?:FM|GT|[EGPRT])\d{11}(?:\.\d+)?$/;

/**
 * A FASTA header taken apart. Known are UniProt (`sp|P04637|P53_HUMAN Name OS=… OX=…`), UniProt's accession and
 * entry name as separate words (`Q02843 GAG_SIVG1 OS=…`), NCBI (`NP_000537.3 name [Homo sapiens]`, also with
 * `gi|…|ref|…|`), Ensembl (`ENSP00000269305.9 pep … description:… [Source:…]`) and bare accessions.
 */
export function readHeader(header: string): FastaHeader {
  const text = header.trim();
  const first = text.split(/\s/, 1)[0];
  let rest = text.slice(first.length).trim();
  const { accession, entryName } = readIdentifier(first);
  let mnemonic = ENTRY_NAME.exec(entryName)?.[1] ?? null;

  const os = field(rest, "OS");
  const ox = /^\d+/.exec(field(rest, "OX") ?? "")?.[0] ?? null;
  const fieldsFrom = rest.search(/(^|\s)(OS|OX|GN|PE|SV)=/);
  if (fieldsFrom >= 0) rest = rest.slice(0, fieldsFrom).trim();
  if (mnemonic === null) {
    const word = rest.split(/\s/, 1)[0];
    const name = ENTRY_NAME.exec(word);
    if (name !== null) {
      mnemonic = name[1];
      rest = rest.slice(word.length).trim();
    }
  }
  // UniProt's mnemonics that begin with 9 stand for groups of organisms, not for a species.
  if (mnemonic?.startsWith("9")) mnemonic = null;

  const ensembl = ENSEMBL.exec(accession)?.[1] ?? null;
  let bracketed: string | null = null;
  if (ensembl !== null) {
    const named = /(?:^|\s)description:(.*)$/.exec(rest);
    if (named !== null) rest = named[1];
    rest = rest.replace(/\s*\[Source:[^\]]*\]\s*$/, "");
  } else if (os === null) {
    const bracket = lastBracket(rest);
    if (bracket !== null) {
      bracketed = bracket.inside;
      rest = bracket.before;
    }
  }

  const organism = os ?? bracketed ?? mnemonic;
  const key =
    ox !== null
      ? `ox:${ox}`
      : os !== null
        ? `os:${os.toLowerCase()}`
        : mnemonic !== null
          ? `id:${mnemonic}`
          : bracketed !== null
            ? `os:${bracketed.toLowerCase()}`
            : ensembl !== null
              ? `ensembl:${ensembl}`
              : null;
  return { header: text, accession, description: rest, organism, speciesKey: key };
}

/** The first word of a header: `db|accession|name`, NCBI's longer chains, or the accession itself. */
function readIdentifier(word: string): { accession: string; entryName: string } {
  const parts = word.split("|");
  if (parts.length === 1) return { accession: word, entryName: word };
  const chain = parts[0] === "gi" && parts.length >= 4 ? parts.slice(2) : parts;
  if (chain[0] === "pdb" && chain[2]) return { accession: `${chain[1]}_${chain[2]}`, entryName: "" };
  if (chain[0] === "gnl" && chain[2]) return { accession: chain[2], entryName: "" };
  return { accession: chain[1] || chain[2] || word, entryName: chain[2] ?? "" };
}

/** The value of ` XY=value` up to the next such field, or null. */
function field(text: string, key: string): string | null {
  const found = new RegExp(`(?:^|\\s)${key}=(.*?)(?=\\s+[A-Z]{2}=|$)`).exec(text);
  return found === null || found[1].trim() === "" ? null : found[1].trim();
}

/** The last `[…]` that ends the text, brackets nested inside it included. */
function lastBracket(text: string): { before: string; inside: string } | null {
  if (!text.endsWith("]")) return null;
  let depth = 0;
  for (let i = text.length - 1; i >= 0; i--) {
    if (text[i] === "]") depth++;
    else if (text[i] === "[" && --depth === 0) {
      const inside = text.slice(i + 1, -1).trim();
      return inside === "" ? null : { before: text.slice(0, i).trim(), inside };
    }
  }
  return null;
}
