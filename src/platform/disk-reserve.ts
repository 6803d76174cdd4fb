import { closeSync, fsyncSync, ftruncateSync, openSync, statfsSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { Problem } from "../problem.ts";
import { createFile } from "./owned-file.ts";
import { type Database, isInMemory, makesCheckpoints } from "./sqlite.ts";

/** A file in the data directory whose space sign-ins and deletions get once the disk is full. */
const NAME = "labd.reserve";
/** Bytes of the file: a hundredth of the disk within these limits. */
const MIN_RESERVE = 1_048_576;
const MAX_RESERVE = 8_388_608;
/** Bytes that one sign-in may take at a time. */
const STEP = 262_144;

interface Disk {
  bavail: number;
  blocks: number;
  bsize: number;
}

/** Bytes of the reserve of a disk. */
export const reserveSize = ({ blocks, bsize }: Disk): number =>
  Math.floor(Math.min(MAX_RESERVE, Math.max(MIN_RESERVE, (blocks * bsize) / 100)));

const readSize = (directory: string): number =>
  statSync(join(directory, NAME), { throwIfNoEntry: false })?.size ?? 0;

/** Sets the reserve aside again, if the disk has several times as much room. */
export function fillReserve(directory: string): void {
  try {
    const disk = statfsSync(directory);
    const [size, has] = [reserveSize(disk), readSize(directory)];
    if (has >= size || disk.bavail * disk.bsize < 4 * size) return;
    const file = openSync(createFile(join(directory, NAME)), "r+");
    // Written, not only made longer, so that the blocks are there.
    for (let at = has; at < size;)
      at += writeSync(file, new Uint8Array(Math.min(STEP, size - at)), 0, null, at);
    closeSync(file);
  } catch {
    // A read-only disk, or one that is filling up: there is less in reserve.
  }
}

/** Releases the disk space of the reserve except for so many bytes. @returns whether there was a reserve */
function shrinkReserve(directory: string, left: number): boolean {
  if (readSize(directory) <= left) return false;
  try {
    const file = openSync(join(directory, NAME), "r+");
    ftruncateSync(file, left);
    // Journaling file systems give the blocks to others afterwards only.
    fsyncSync(file);
    closeSync(file);
    return true;
  } catch {
    return false;
  }
}

/** Makes room for the files that SQLite needs to open a database, so that a start on a full disk reads. */
export function makeRoomToOpen(directory: string): void {
  try {
    const { bavail, bsize } = statfsSync(directory);
    if (bavail * bsize < STEP) shrinkReserve(directory, Math.max(0, readSize(directory) - STEP));
  } catch {
    // A new data directory.
  }
}

/** Makes room for a deletion on a full disk, and leaves half of the reserve to sign-ins. */
export function makeRoom(database: Database): void {
  if (isInMemory(database)) return;
  const directory = dirname(database.filename);
  shrinkReserve(directory, Math.floor(reserveSize(statfsSync(directory)) / 2));
  writeBack(database);
}

/** Writes the log back, which then starts again in the space that it has. */
function writeBack(database: Database): void {
  if (!makesCheckpoints(database)) return;
  try {
    database.run("PRAGMA wal_checkpoint(PASSIVE)");
  } catch {
    // There is no room for new pages of the database.
  }
}

/** Runs a write that people need on a full disk too, such as that of a sign-in, with the reserve if need be. */
export function withReserve<T>(database: Database, write: () => T): T {
  // The outermost transaction is repeated.
  if (database.inTransaction || isInMemory(database)) return write();
  const directory = dirname(database.filename);
  for (let isFirst = true; ; isFirst = false) {
    try {
      return write();
    } catch (error) {
      if (Problem.from(error).code !== "disk_full") throw error;
      if (isFirst) writeBack(database);
      else if (!shrinkReserve(directory, Math.max(0, readSize(directory) - STEP))) throw error;
    }
  }
}
