import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** Ending of a file that is being written: one that has it was left behind by a process that was killed. */
export const PART = ".part";

/**
 * Writes a file so that it is either whole under its name or not there, whenever the power fails, and whatever the chunks
 * throw; each is written before the next is asked for.
 */
export function writeDurably(path: string, chunks: Iterable<Uint8Array>): void {
  const directory = dirname(path);
  mkdirSync(directory, { recursive: true });
  const temporary = `${path}${PART}`;
  const file = openSync(temporary, "w");
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
  // The new name is an entry of the directory, which has to reach the disk as well. Windows cannot and need not.
  if (process.platform !== "win32") {
    const entry = openSync(directory, "r");
    fsyncSync(entry);
    closeSync(entry);
  }
}
