import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { createFile, sync } from "./owned-file.ts";

/** AES-256-GCM: nonce, ciphertext, tag. */
const NONCE = 12;
const TAG = 16;
const KEY = 32;

/**
 * Encrypts secrets in the database with a key in a separate file, so that the database or a backup alone does not reveal
 * them.
 */
export class Sealing {
  #key: Buffer | undefined;

  /** @param path file of the key, created on first use; null keeps a key in memory */
  constructor(private readonly path: string | null) {
    if (path === null) this.#key = randomBytes(KEY);
  }

  /** @param context authenticated with the value, so that it cannot be moved to another row */
  seal(value: Uint8Array, context: string): Uint8Array {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv("aes-256-gcm", (this.#key ??= this.#read() ?? this.#make()), nonce);
    cipher.setAAD(Buffer.from(context));
    return new Uint8Array(Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]));
  }

  /** The sealed value; undefined if the key is missing or another. */
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
    if (key.length !== KEY) throw new Error(`${this.path} does not contain a key of ${KEY} bytes.`);
    return key;
  }

  /** Writes the key to disk before its first use; another process may create one at the same time. */
  #make(): Buffer {
    const key = randomBytes(KEY);
    const temporary = `${this.path!}.${process.pid}`;
    const file = openSync(createFile(temporary), "w");
    writeSync(file, `${key.toString("hex")}\n`);
    closeSync(file);
    sync(temporary);
    try {
      linkSync(temporary, this.path!);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return this.#read()!;
      // A file system without links.
      renameSync(temporary, this.path!);
    } finally {
      rmSync(temporary, { force: true });
    }
    sync(dirname(this.path!));
    return key;
  }
}
