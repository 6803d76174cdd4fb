import type { ZipEntry } from "../../src/platform/zip-file.ts";

const BLOCK = 512;
const MODE = 0o644;

/**
 * A tar archive (POSIX ustar) compressed with gzip: equal bytes for equal entries. Files belong to root and have the
 * given date. @throws Error for a name of more than 100 bytes
 */
export function tarGzip(entries: readonly ZipEntry[], at: Date): Uint8Array {
  const blocks = entries.flatMap(({ name, bytes }) => [
    header(name, bytes.length, at),
    bytes,
    new Uint8Array(-bytes.length & (BLOCK - 1)),
  ]);
  return Bun.gzipSync(Buffer.concat([...blocks, new Uint8Array(2 * BLOCK)]), { level: 9 });
}

function header(name: string, size: number, at: Date): Uint8Array {
  if (Buffer.byteLength(name) > 100) throw new Error(`${name}: the name is too long for a tar archive.`);
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, "0")}\0`;
  block.write(name, 0);
  block.write(octal(MODE, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(Math.floor(at.getTime() / 1000), 11), 136);
  // The checksum is computed with blanks in its place.
  block.write(" ".repeat(8), 148);
  block.write("0", 156);
  block.write("ustar\x0000", 257);
  block.write("root", 265);
  block.write("root", 297);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
