import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { existsSync, openSync, closeSync, readFileSync, writeSync } from "node:fs";
import { Problem } from "../../problem.ts";
import { dirname } from "node:path";
import { createFile, sync } from "../../platform/owned-file.ts";

/** Name of the key file in a data directory. If it exists, backups are encrypted. */
export const BACKUP_KEY = "backup.key";

/** The key of encrypted backups. */
export interface BackupKey {
  /** Identifies the key without revealing it. */
  id: string;
  bytes: Buffer;
}

const KEY = 32;

/** The key in a file; undefined if there is no file. @throws Problem bad_backup for a file without a key */
export function readBackupKey(path: string): BackupKey | undefined {
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, "utf8").trim();
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new Problem("bad_backup", `${path} does not contain a backup key: expected 64 hexadecimal digits.`);
  const bytes = Buffer.from(text, "hex");
  const id = new Bun.CryptoHasher("sha256")
    .update("labd backup key")
    .update(bytes)
    .digest("hex")
    .slice(0, 16);
  return { id, bytes };
}

/** Creates a key file. @throws Problem conflict if it exists: backups may need its key */
export function createBackupKey(path: string): BackupKey {
  if (existsSync(path))
    throw new Problem(
      "conflict",
      `${path} exists. Backups may need its key: keep a copy before you remove it.`,
    );
  write(path, randomBytes(KEY));
  return readBackupKey(path)!;
}

/** Writes a key to a file, unless the file exists. */
export function keepBackupKey(path: string, { bytes }: BackupKey): void {
  if (!existsSync(path)) write(path, bytes);
}

function write(path: string, key: Buffer): void {
  const file = openSync(createFile(path), "w");
  writeSync(file, `${key.toString("hex")}\n`);
  closeSync(file);
  sync(path);
  sync(dirname(path));
}

/**
 * An encrypted file begins with this line and a random salt, from which and the key HKDF-SHA-256 derives the key of the
 * file. Chunks of 64 KiB follow, each encrypted with AES-256-GCM and followed by its tag. The nonce of a chunk is its
 * number in 11 bytes, and a byte that is 1 for the last one, so that a file cannot be cut or reordered unnoticed.
 */
const MAGIC = Buffer.from("labd-backup-encrypted-1\n");
const SALT = 32;
const CHUNK = 65_536;
const TAG = 16;
const CIPHER = "aes-256-gcm";

type Chunks = AsyncIterable<Uint8Array>;

/** A stage of a stream that encrypts; without a key it changes nothing. */
export const encrypting = (key: BackupKey | undefined) =>
  async function* (source: Chunks): AsyncGenerator<Uint8Array> {
    if (key === undefined) return yield* source;
    const salt = randomBytes(SALT);
    yield Buffer.concat([MAGIC, salt]);
    const fileKey = deriveKey(key, salt);
    let number = 0;
    for await (const { chunk, isLast } of splitChunks(source, CHUNK)) {
      const cipher = createCipheriv(CIPHER, fileKey, makeNonce(number++, isLast));
      yield Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
    }
  };

/** A stage of a stream that decrypts; files that are not encrypted pass unchanged. @throws Error without the right key */
export const decrypting = (key: BackupKey | undefined) =>
  async function* (source: Chunks): AsyncGenerator<Uint8Array> {
    const input = source[Symbol.asyncIterator]();
    const { head, rest } = await readHead(input, MAGIC.length + SALT);
    if (!head.subarray(0, MAGIC.length).equals(MAGIC)) {
      yield head;
      return yield* rest;
    }
    if (key === undefined) throw new Error("it is encrypted, and there is no key");
    const fileKey = deriveKey(key, head.subarray(MAGIC.length, MAGIC.length + SALT));
    let number = 0;
    for await (const { chunk, isLast } of splitChunks(rest, CHUNK + TAG)) {
      if (chunk.length < TAG) throw new Error("its end is missing");
      const decipher = createDecipheriv(CIPHER, fileKey, makeNonce(number++, isLast));
      decipher.setAuthTag(chunk.subarray(-TAG));
      const plain = decipher.update(chunk.subarray(0, -TAG));
      try {
        decipher.final();
      } catch (error) {
        throw new Error("it was encrypted with another key, or altered", { cause: error });
      }
      yield plain;
    }
  };

const deriveKey = ({ bytes }: BackupKey, salt: Uint8Array): Buffer =>
  Buffer.from(hkdfSync("sha256", bytes, salt, MAGIC, KEY));

function makeNonce(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(number, 5, 6);
  nonce[11] = Number(isLast);
  return nonce;
}

/** Chunks of one size; the last one may be shorter. */
async function* splitChunks(
  source: Chunks,
  size: number,
): AsyncGenerator<{ chunk: Buffer; isLast: boolean }> {
  let pending = Buffer.alloc(0);
  for await (const piece of source) {
    pending = Buffer.concat([pending, piece]);
    for (; pending.length > size; pending = pending.subarray(size))
      yield { chunk: pending.subarray(0, size), isLast: false };
  }
  yield { chunk: pending, isLast: true };
}

/** The first bytes of a stream, at least `size` if it has them, and the rest. */
async function readHead(
  input: AsyncIterator<Uint8Array>,
  size: number,
): Promise<{ head: Buffer; rest: Chunks }> {
  let head = Buffer.alloc(0);
  while (head.length < size) {
    const { done, value } = await input.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  const isPlain = !head.subarray(0, MAGIC.length).equals(MAGIC);
  const end = isPlain ? head.length : size;
  const rest = (async function* () {
    yield head.subarray(end);
    for (let next = await input.next(); !next.done; next = await input.next()) yield next.value;
  })();
  return { head: head.subarray(0, end), rest };
}
