import { closeSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
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

/** Gives a finished file its name, which then has all of it or the former file, even after a power cut. */
export function renameDurably(temporary: string, path: string): void {
  sync(temporary);
  renameSync(temporary, path);
  sync(dirname(path));
}
