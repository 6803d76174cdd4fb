import { LIMITS } from "../model/limits.ts";
import { exceeded } from "../../platform/limits.ts";
import { Problem } from "../../problem.ts";

/** Instants are ISO 8601 text. */
export type Cell = string | number | boolean | null;

/** Bytes of the longest cell: a character takes up to 12 as an entity. */
const MAX_BYTES = LIMITS.cell.max * 12;
const [LESS, GREATER] = [0x3c, 0x3e];
/** Start or end tag of a cell or of a shared text, with or without a namespace prefix. */
const CELL = /^<\/?(?:[\w.-]+:)?(?:c|si)[\s/>]/;
const LONGEST_NAME = 64;

export const cellTooLong = (where = ""): Problem => new Problem("too_large", where + exceeded(LIMITS.cell));

/**
 * Looks for a cell that is far too long before a part of a workbook is parsed: compressed, 480 MB take 468 KB. It gets the
 * part in pieces, until it finds such a cell. The exact length is checked when the cell is read.
 */
export class CellScan {
  #inTag = false;
  /** Beginning of the current tag. */
  #tag = "";
  #tagBytes = 0;
  #textBytes = 0;

  /** @throws Problem too_large */
  take(piece: Uint8Array): void {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    for (let at = 0; at < bytes.length;) {
      const found = bytes.indexOf(this.#inTag ? GREATER : LESS, at);
      const end = found < 0 ? bytes.length : found;
      if (this.#inTag) this.#addTag(bytes, at, end);
      else this.#textBytes += end - at;
      if (this.#textBytes > MAX_BYTES || this.#tagBytes > MAX_BYTES) throw cellTooLong();
      if (found >= 0) this.#pass();
      at = end + 1;
    }
  }

  #addTag(bytes: Buffer, from: number, to: number): void {
    this.#tagBytes += to - from;
    const missing = LONGEST_NAME - this.#tag.length;
    if (missing > 0) this.#tag += bytes.toString("latin1", from, Math.min(to, from + missing));
  }

  /** Passes from text into a tag, or out of it. */
  #pass(): void {
    if (this.#inTag && CELL.test(`<${this.#tag}>`)) this.#textBytes = 0;
    this.#inTag = !this.#inTag;
    this.#tag = "";
    this.#tagBytes = 0;
  }
}
