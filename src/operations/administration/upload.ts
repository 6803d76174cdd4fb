import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Problem } from "../../problem.ts";
import { receive, MAX_SILENCE } from "../../platform/body.ts";
import { createDirectory } from "../../platform/owned-file.ts";
import type { Report } from "../../tasks/task.ts";

/** Bytes of an upload: the largest collections of proteins, compressed. */
const MAX_UPLOAD = 64 * 1024 ** 3;
/** Bytes that stay free on the disk for the database. */
const RESERVE = 512 * 1024 ** 2;

/** Removes unfinished uploads of a killed process. */
export function sweepUploads(directory: string): void {
  if (!existsSync(directory)) return;
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { force: true });
}

function readFreeSpace(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return Math.min(MAX_UPLOAD, bavail * bsize - RESERVE);
}

/** @param declared Content-Length; null without one. @throws Problem too_large */
export function requireSpace(directory: string, declared: number | null): void {
  createDirectory(directory);
  const room = readFreeSpace(directory);
  if ((declared ?? 0) > room)
    throw new Problem(
      "too_large",
      `The file has ${megabytes(declared ?? 0)}, but only ${megabytes(Math.max(0, room))} are free. Free some space on the data disk, or upload it compressed.`,
    );
}

/** Writes a body to a file as it arrives. @throws Problem too_large, malformed for a broken connection, timeout */
export async function streamToDisk(
  request: Request,
  path: string,
  declared: number | null,
  report: Report,
): Promise<void> {
  const room = readFreeSpace(dirname(path));
  const file = openSync(path, "wx", 0o600);
  let bytes = 0;
  try {
    const take = (chunk: Uint8Array): void => {
      report.signal.throwIfAborted();
      bytes += chunk.byteLength;
      if (bytes > room)
        throw new Problem("too_large", `The file is larger than the ${megabytes(room)} of free space.`);
      for (let at = 0; at < chunk.byteLength;) at += writeSync(file, chunk, at);
      report.say(`Receiving: ${megabytes(bytes)}${declared === null ? "" : ` of ${megabytes(declared)}`}`);
      if (declared) report.at(bytes / declared);
    };
    await receive(request, take, MAX_SILENCE);
    if (declared !== null && bytes !== declared)
      throw new Problem("malformed", "The connection was lost before the file was complete. Send it again.");
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

const megabytes = (bytes: number): string =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
