import { closeSync, openSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { createDirectory, createFile, sync } from "./owned-file.ts";

/** Ending of unfinished files, which only killed processes leave behind. */
export const PART = ".part";

/**
 * Writes a file that is either complete under its name or absent, even after a power cut or an error in `chunks`. Each chunk
 * is written before the next is requested.
 */
export function writeDurably(path: string, chunks: Iterable<Uint8Array>): void {
  createDirectory(dirname(path));
  const temporary = `${path}${PART}`;
  const file = openSync(createFile(temporary), "w");
  try {
    for (const chunk of chunks) {
      for (let at = 0; at < chunk.length;) at += writeSync(file, chunk, at, chunk.length - at);
    }
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  renameDurably(temporary, path);
}

/**
 * Gives a finished file its name, which then has all of it or the former file, even after a power cut. `record` says so in
 * the database before: if it fails, or the process ends, the former file stays in use.
 */
export function renameDurably(temporary: string, path: string, record?: () => void): void {
  sync(temporary);
  if (record) {
    sync(dirname(path));
    record();
  }
  renameSync(temporary, path);
  sync(dirname(path));
}

/** Hash of a file, in hexadecimal. Memory does not grow with the file. */
export function fileHash(path: string, algorithm: "sha256" | "blake2b512" = "sha256"): string {
  const hash = new Bun.CryptoHasher(algorithm);
  const chunk = new Uint8Array(1_048_576);
  const file = openSync(path, "r");
  try {
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk))
      hash.update(chunk.subarray(0, read));
  } finally {
    closeSync(file);
  }
  return hash.digest("hex");
}
