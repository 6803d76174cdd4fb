import { codeOfByte, X } from "./alphabet.ts";

/** A FASTA header, parsed as far as its form is known. */
export interface FastaHeader {
  /** The header line without `>`. */
  header: string;
  /** The identifier: `P04637` of `sp|P04637|P53_HUMAN`, otherwise the first word. */
  accession: string;
  /** The protein's name, without accession, organism and database fields; may be empty. */
  description: string;
  /** Organism or species mnemonic as in the header, or null. */
  organism: string | null;
  /**
   * Equal for proteins of one species among headers of one source: `ox:9606`, else `os:homo sapiens`, else `id:HUMAN`
   * (UniProt mnemonic), else `ensembl:ENSMUS` (prefix of a stable identifier), else null.
   */
  speciesKey: string | null;
}

export interface FastaEntry extends FastaHeader {
  /** Residue codes of alphabet.ts, 0–25; never empty. */
  residues: Uint8Array;
  /** Line of the header, counted from 1. */
  line: number;
}

/** Invalid FASTA. The message names line and reason. */
export class FastaError extends Error {
  /** Counted from 1. */
  readonly line: number;
  constructor(line: number, reason: string) {
    super(`FASTA line ${line}: ${reason}`);
    this.name = "FastaError";
    this.line = line;
  }
}

/** Longer headers are rejected, so that a file without line ends cannot fill the memory. */
export const MAX_HEADER_BYTES = 65_536;

const NEWLINE = 10;
const RETURN = 13;
const TAB = 9;
const SPACE = 32;
const STAR = 42;
const SEMICOLON = 59;
const GREATER = 62;

/**
 * Reads FASTA (Pearson & Lipman, PNAS 1988, 85:2444) of proteins in chunks, split anywhere. Lines end in LF, CRLF or CR.
 * Skips blank lines, lines that start with `;`, and spaces and tabs within sequences; letters may be of either case. A `*`
 * at the end of a record is dropped, one inside (a stop codon read through) becomes X. Any other character, residues
 * before the first header and a record without residues are a FastaError.
 */
export class FastaReader {
  #fed = 0;
  #recordAt = 0;
  #recordLine: number;
  #atLineStart = true;
  #previous = 0;
  #mode: "sequence" | "header" | "comment" = "sequence";
  #head = new Uint8Array(256);
  #headLength = 0;
  #current: (FastaHeader & { line: number }) | null = null;
  #residues = new Uint8Array(1024);
  #length = 0;
  /** Stars since the last residue. */
  #stars = 0;
  #out: FastaEntry[] = [];

  /** @param line number of the first line */
  constructor(private line = 1) {
    this.#recordLine = line;
  }

  /** The incomplete record: how many of the bytes so far belong to it, from its `>`, and the line of that. */
  get pending(): { bytes: number; line: number } {
    return { bytes: this.#fed - this.#recordAt, line: this.#recordLine };
  }

  /** Takes the next bytes and returns the entries that are complete. */
  feed(bytes: Uint8Array): FastaEntry[] {
    for (let i = 0; i < bytes.length; i++) {
      if (!this.#atLineStart && this.#mode === "sequence" && this.#current !== null && this.#stars === 0) {
        i = this.#takeResidues(bytes, i);
        if (i === bytes.length) {
          this.#previous = bytes[i - 1];
          break;
        }
      }
      this.#take(bytes[i], i);
      this.#previous = bytes[i];
    }
    this.#fed += bytes.length;
    return this.#drain();
  }

  /** Returns the last entry, at the end of the file. */
  finish(): FastaEntry[] {
    if (this.#mode === "header") this.#endHeader();
    this.#mode = "sequence";
    this.#complete();
    return this.#drain();
  }

  #drain(): FastaEntry[] {
    const entries = this.#out;
    this.#out = [];
    return entries;
  }

  /** Takes residues from `i` on in a tight loop, since they are nearly all of a file, and returns where they end. */
  #takeResidues(bytes: Uint8Array, i: number): number {
    let length = this.#length;
    let residues = this.#residues;
    let code: number;
    while (i < bytes.length && (code = codeOfByte(bytes[i])) !== 255) {
      if (length === residues.length) residues = this.#residues = doubled(residues);
      residues[length++] = code;
      i++;
    }
    this.#length = length;
    return i;
  }

  #take(byte: number, at: number): void {
    if (byte === NEWLINE || byte === RETURN) return this.#endLine(byte);
    if (this.#atLineStart) {
      this.#atLineStart = false;
      if (byte === GREATER) return this.#startRecord(at);
      if (byte === SEMICOLON) this.#mode = "comment";
    }
    if (this.#mode === "header") this.#takeHeader(byte);
    else if (this.#mode === "sequence") this.#takeSequence(byte);
  }

  #endLine(byte: number): void {
    if (byte === NEWLINE && this.#previous === RETURN) return;
    if (this.#mode === "header") this.#endHeader();
    this.#mode = "sequence";
    this.#atLineStart = true;
    this.line++;
  }

  #startRecord(at: number): void {
    this.#complete();
    this.#mode = "header";
    this.#headLength = 0;
    this.#recordAt = this.#fed + at;
    this.#recordLine = this.line;
  }

  #takeHeader(byte: number): void {
    if (this.#headLength === MAX_HEADER_BYTES)
      throw new FastaError(this.line, `the header is longer than ${MAX_HEADER_BYTES} bytes`);
    if (this.#headLength === this.#head.length) this.#head = doubled(this.#head);
    this.#head[this.#headLength++] = byte;
  }

  #takeSequence(byte: number): void {
    if (byte === SPACE || byte === TAB) return;
    if (this.#current === null)
      throw new FastaError(this.line, "expected a header that starts with > before the first residues");
    if (byte === STAR) {
      this.#stars++;
      return;
    }
    const code = codeOfByte(byte);
    if (code === 255)
      throw new FastaError(
        this.line,
        `${printable(byte)} is not a residue; expected letters A-Z, or * at the end`,
      );
    for (; this.#stars > 0; this.#stars--) this.#append(X);
    this.#append(code);
  }

  #append(code: number): void {
    if (this.#length === this.#residues.length) this.#residues = doubled(this.#residues);
    this.#residues[this.#length++] = code;
  }

  #endHeader(): void {
    const header = readHeader(new TextDecoder().decode(this.#head.subarray(0, this.#headLength)));
    if (header.accession === "") throw new FastaError(this.line, "the header has no identifier");
    this.#current = { ...header, line: this.line };
    this.#length = 0;
    this.#stars = 0;
  }

  #complete(): void {
    if (this.#current === null) return;
    if (this.#length === 0) throw new FastaError(this.#current.line, "the record has no residues");
    this.#out.push({ ...this.#current, residues: this.#residues.slice(0, this.#length) });
    this.#current = null;
  }
}

function doubled(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const longer = new Uint8Array(bytes.length * 2);
  longer.set(bytes);
  return longer;
}

/** All entries of FASTA in memory. */
export function readFasta(bytes: Uint8Array | string): FastaEntry[] {
  const reader = new FastaReader();
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
 * Parses a FASTA header. Known forms: UniProt (`sp|P04637|P53_HUMAN Name OS=… OX=…`), UniProt's accession and
 * entry name as separate words (`Q02843 GAG_SIVG1 OS=…`), NCBI (`NP_000537.3 name [Homo sapiens]`, also with
 * `gi|…|ref|…|`), Ensembl (`ENSP00000269305.9 pep … description:… [Source:…]`) and bare accessions.
 */
export function readHeader(header: string): FastaHeader {
  const text = header.trim();
  const first = text.split(/\s/, 1)[0];
  const { accession, entryName } = readIdentifier(first);
  const fields = readFields(text.slice(first.length).trim());
  const named = readMnemonic(entryName, fields.rest);
  const ensembl = ENSEMBL.exec(accession)?.[1];
  const bracket = ensembl === undefined && fields.os === undefined ? lastBracket(named.rest) : null;
  const description =
    ensembl === undefined ? (bracket?.before ?? named.rest) : ensemblDescription(named.rest);
  const keys = [
    ["ox", fields.ox],
    ["os", fields.os?.toLowerCase()],
    ["id", named.mnemonic],
    ["os", bracket?.inside.toLowerCase()],
    ["ensembl", ensembl],
  ];
  const key = keys.find(([, value]) => value !== undefined);
  return {
    header: text,
    accession,
    description,
    organism: fields.os ?? bracket?.inside ?? named.mnemonic ?? null,
    speciesKey: key ? key.join(":") : null,
  };
}

/** UniProt's ` XY=value` fields, and the text before them. */
function readFields(text: string): { os: string | undefined; ox: string | undefined; rest: string } {
  const from = text.search(/(^|\s)(OS|OX|GN|PE|SV)=/);
  return {
    os: field(text, "OS"),
    ox: /^\d+/.exec(field(text, "OX") ?? "")?.[0],
    rest: from >= 0 ? text.slice(0, from).trim() : text,
  };
}

/** The species mnemonic of the entry name, which is in the identifier or the first word behind it. */
function readMnemonic(entryName: string, rest: string): { mnemonic: string | undefined; rest: string } {
  const word = rest.split(/\s/, 1)[0];
  const own = ENTRY_NAME.exec(entryName)?.[1];
  const mnemonic = own ?? ENTRY_NAME.exec(word)?.[1];
  return {
    // UniProt mnemonics that start with 9 stand for groups of organisms.
    mnemonic: mnemonic?.startsWith("9") ? undefined : mnemonic,
    rest: own === undefined && mnemonic !== undefined ? rest.slice(word.length).trim() : rest,
  };
}

function ensemblDescription(text: string): string {
  const named = /(?:^|\s)description:(.*)$/.exec(text)?.[1] ?? text;
  return named.replace(/\s*\[Source:[^\]]*\]\s*$/, "");
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

/** The value of ` XY=value` up to the next such field. */
function field(text: string, key: string): string | undefined {
  const value = new RegExp(`(?:^|\\s)${key}=(.*?)(?=\\s+[A-Z]{2}=|$)`).exec(text)?.[1].trim();
  return value === "" ? undefined : value;
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
