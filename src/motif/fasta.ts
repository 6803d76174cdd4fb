import { toCode, X } from "./alphabet.ts";
import { type FastaHeader, readHeader } from "./header.ts";

export interface FastaEntry extends FastaHeader {
  /** Residue codes 0–25; never empty. */
  residues: Uint8Array;
  /** Line number of the header, from 1. */
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

/** Limits headers, so that a file without line ends cannot exhaust memory. */
export const MAX_HEADER_BYTES = 65_536;

const NEWLINE = 10;
const RETURN = 13;
const TAB = 9;
const SPACE = 32;
const STAR = 42;
const SEMICOLON = 59;
const GREATER = 62;

/**
 * Streaming FASTA reader (Pearson & Lipman, PNAS 1988, 85:2444) for proteins; chunks may be split anywhere.
 * Lines end in LF, CRLF or CR. Ignores blank lines, comment lines (`;`) and spaces and tabs within sequences.
 * Drops a final `*`; an inner `*` (stop codon) becomes X. @throws FastaError for other characters, residues
 * before the first header, records without residues
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
  /** `*` characters since the last residue. */
  #stars = 0;
  #out: FastaEntry[] = [];

  /** @param line number of the first line */
  constructor(private line = 1) {
    this.#recordLine = line;
  }

  /** The incomplete record: bytes since its `>`, and its line. */
  get pending(): { bytes: number; line: number } {
    return { bytes: this.#fed - this.#recordAt, line: this.#recordLine };
  }

  /** Parses the next bytes and returns the completed entries. */
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

  /** Ends the input and returns the last entry. */
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

  /** Fast path for residues from `i` on; returns the index of the first other byte. */
  #takeResidues(bytes: Uint8Array, i: number): number {
    let length = this.#length;
    let residues = this.#residues;
    let code: number;
    while (i < bytes.length && (code = toCode(bytes[i])) !== 255) {
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
    const code = toCode(byte);
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

/** Parses FASTA in memory. */
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
