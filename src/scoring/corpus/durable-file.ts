import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { createDirectory, createFile } from "../../platform/owned-file.ts";

/** Ending of unfinished files, which only killed processes leave behind. */
export const PART = ".part";

/**
 * Writes a file that is either complete under its name or absent, even after a power cut or an error in `chunks`. Each chunk
 * is written before the next is requested.
 */
export function writeDurably(path: string, chunks: Iterable<Uint8Array>): void {
  const directory = dirname(path);
  createDirectory(directory);
  const temporary = `${path}${PART}`;
  const file = openSync(createFile(temporary), "w");
  try {
    for (const chunk of chunks) {
      for (let at = 0; at < chunk.length;) at += writeSync(file, chunk, at, chunk.length - at);
    }
    fsyncSync(file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  // The directory entry must reach the disk too. Windows neither can nor must do this.
  if (process.platform !== "win32") {
    const entry = openSync(directory, "r");
    fsyncSync(entry);
    closeSync(entry);
  }
}
