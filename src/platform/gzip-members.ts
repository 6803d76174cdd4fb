import { constants, crc32, deflateRawSync } from "node:zlib";

/**
 * Members of gzip (RFC 1952) that can be joined into one without compressing again. Several members after each other are
 * valid, too, but browsers and curl read only the first.
 */

type Bytes = Uint8Array<ArrayBuffer>;

const MAGIC = [0x1f, 0x8b];
const HEADER = Uint8Array.of(...MAGIC, 8, 0, 0, 0, 0, 0, 0, 255);
/** The last block, which is empty, so that other blocks can replace it. */
const END = Uint8Array.of(3, 0);
/** Bytes of checksum and length. */
const TRAILER = 8;

/** Bytes as a member that can be joined. */
export function gzipMember(bytes: Uint8Array): Bytes {
  const blocks = deflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
  return concat(HEADER, blocks, END, trailer(crc32(bytes), bytes.length));
}

export const isGzip = (bytes: Uint8Array): boolean => MAGIC.every((byte, i) => bytes[i] === byte);

/** Joins members of `gzipMember` into one, which is sent while it is made. */
export class MemberJoiner {
  #crc = 0;
  #length = 0;
  #isBegun = false;

  /** The next bytes of the joined member. */
  add(member: Uint8Array): Bytes {
    const end = member.length - TRAILER;
    const view = new DataView(member.buffer, member.byteOffset + end, TRAILER);
    const length = view.getUint32(4, true);
    this.#crc = (multiply(computePower(8 * length), this.#crc) ^ view.getUint32(0, true)) >>> 0;
    this.#length += length;
    const blocks = member.subarray(HEADER.length, end - END.length);
    const next = this.#isBegun ? concat(blocks) : concat(HEADER, blocks);
    this.#isBegun = true;
    return next;
  }

  /** The last bytes. */
  end(): Bytes {
    return concat(END, trailer(this.#crc, this.#length));
  }
}

const trailer = (crc: number, length: number): Uint8Array =>
  new Uint8Array(Uint32Array.of(crc, length).buffer);

const concat = (...pieces: Uint8Array[]): Bytes => Buffer.concat(pieces);

/** The polynomial of CRC-32, bits reversed: the highest bit is the coefficient of 1. */
const POLYNOMIAL = 0xedb8_8320;

/** Product of two polynomials over GF(2), modulo that of CRC-32. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 31, shifted = b; bit >= 0; bit--) {
    if ((a >>> bit) & 1) product ^= shifted;
    shifted = shifted & 1 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1;
  }
  return product >>> 0;
}

/** The power of x that moves a checksum by so many bits. */
function computePower(exponent: number): number {
  let power = 0x8000_0000;
  for (let square = 0x4000_0000, rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) power = multiply(square, power);
    square = multiply(square, square);
  }
  return power;
}
