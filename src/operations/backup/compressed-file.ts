import { createReadStream, createWriteStream } from "node:fs";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdCompress, createZstdDecompress } from "node:zlib";
import { createFile, type Owner, sync } from "../../platform/owned-file.ts";
import { type BackupKey, decrypting, encrypting } from "./encryption.ts";

/** Measures hash and size of a stream. */
function meter(): { stream: Transform; result(): { bytes: number; sha256: string } } {
  const hasher = new Bun.CryptoHasher("sha256");
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hasher.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  return { stream, result: () => ({ bytes, sha256: hasher.digest("hex") }) };
}

export interface Sums {
  /** Size of the plain file. */
  bytes: number;
  sha256: string;
  /** Size of the compressed, perhaps encrypted, file. */
  compressedBytes: number;
  compressedSha256: string;
}

/** Compresses a file with zstd, encrypts it if there is a key, and syncs it to the disk. */
export async function compressFile(
  from: string,
  to: string,
  { owner, key }: { owner?: Owner | undefined; key?: BackupKey | undefined } = {},
): Promise<Sums> {
  const [plain, packed] = [meter(), meter()];
  await pipeline(
    createReadStream(from),
    plain.stream,
    createZstdCompress(),
    encrypting(key),
    packed.stream,
    createWriteStream(createFile(to, owner)),
  );
  sync(to);
  return sums(plain.result(), packed.result());
}

/** Unpacks a file or stream to `to`; without `to` it only reads. @throws Error if it is damaged, or the key is missing */
export async function unpackFile(
  from: string | AsyncIterable<Uint8Array>,
  { to, key }: { to?: string | undefined; key?: BackupKey | undefined } = {},
): Promise<Sums> {
  const [plain, packed] = [meter(), meter()];
  const discard = new Transform({ transform: (_chunk, _encoding, done) => done() });
  const target = to === undefined ? discard.resume() : createWriteStream(createFile(to));
  const source = typeof from === "string" ? createReadStream(from) : from;
  await pipeline(source, packed.stream, decrypting(key), createZstdDecompress(), plain.stream, target);
  if (to !== undefined) sync(to);
  return sums(plain.result(), packed.result());
}

const sums = (plain: { bytes: number; sha256: string }, packed: { bytes: number; sha256: string }): Sums => ({
  ...plain,
  compressedBytes: packed.bytes,
  compressedSha256: packed.sha256,
});
