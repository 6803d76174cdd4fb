import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

/** AES-256-GCM: the nonce, what was encrypted, the tag. */
const NONCE = 12;
const TAG = 16;
const KEY = 32;

/**
 * Encrypts what the database keeps and has to be able to read again, by a key that lies in a file of its own: whoever
 * has the database alone, such as a backup, has it not.
 */
export class Sealing {
  #key: Buffer | undefined;

  /** @param path file of the key, made when it is first needed; null keeps it in memory */
  constructor(private readonly path: string | null) {
    if (path === null) this.#key = randomBytes(KEY);
  }

  /** @param context what the value is of: moved elsewhere in the database it opens no more */
  seal(value: Uint8Array, context: string): Uint8Array {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv("aes-256-gcm", (this.#key ??= this.#read() ?? this.#make()), nonce);
    cipher.setAAD(Buffer.from(context));
    return new Uint8Array(Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]));
  }

  /** What was sealed; undefined where the key is not there or not the one. */
  open(sealed: Uint8Array, context: string): Uint8Array | undefined {
    try {
      const key = (this.#key ??= this.#read());
      if (key === undefined) return undefined;
      const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE));
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(sealed.subarray(-TAG));
      return new Uint8Array(Buffer.concat([decipher.update(sealed.subarray(NONCE, -TAG)), decipher.final()]));
    } catch {
      return undefined;
    }
  }

  #read(): Buffer | undefined {
    if (this.path === null || !existsSync(this.path)) return undefined;
    const key = Buffer.from(readFileSync(this.path, "utf8").trim(), "hex");
    if (key.length !== KEY) throw new Error(`${this.path} holds no key of ${KEY} bytes.`);
    return key;
  }

  /** On the disk before anything is encrypted by it, and whole: another process may make one at the same time. */
  #make(): Buffer {
    const key = randomBytes(KEY);
    const beside = `${this.path!}.${process.pid}`;
    const file = openSync(beside, "w", 0o600);
    writeSync(file, `${key.toString("hex")}\n`);
    fsyncSync(file);
    closeSync(file);
    try {
      linkSync(beside, this.path!);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return this.#read()!;
      // A file system without links.
      renameSync(beside, this.path!);
    } finally {
      rmSync(beside, { force: true });
    }
    const folder = openSync(dirname(this.path!), "r");
    fsyncSync(folder);
    closeSync(folder);
    return key;
  }
}
