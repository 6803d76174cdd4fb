import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { Problem } from "../../problem.ts";
import { receive, SILENCE } from "../../platform/body.ts";
import type { Report } from "./tasks.ts";

/** Bytes that an uploaded file may have: the largest collections of proteins, compressed. */
const LARGEST_UPLOAD = 64 * 1024 ** 3;
/** Bytes that stay free on the disk whatever is uploaded: the database needs them more. */
const RESERVE = 512 * 1024 ** 2;

/** Takes away what uploads of a process that was killed have left. */
export function sweepUploads(directory: string): void {
  if (!existsSync(directory)) return;
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { force: true });
}

/**
 * Refuses what cannot be taken, before any of it is read.
 * @param declared bytes by Content-Length; null where the client does not say
 * @throws Problem too_large
 */
export function refuseTooLarge(directory: string, declared: number | null): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { bavail, bsize } = statfsSync(directory);
  const room = Math.min(LARGEST_UPLOAD, bavail * bsize - RESERVE);
  if ((declared ?? 0) > room)
    throw new Problem(
      "too_large",
      `The file has ${megabytes(declared ?? 0)}, and there is room for ${megabytes(Math.max(0, room))}. Make room on the disk of the data, or upload it compressed.`,
    );
}

/**
 * Writes a body to a file as it comes, never more of it in memory than a piece, and gives its size.
 * @throws Problem too_large where the disk would be filled, malformed where the connection broke before the end, timeout
 */
export async function streamToDisk(
  request: Request,
  path: string,
  declared: number | null,
  report: Report,
): Promise<number> {
  const { bavail, bsize } = statfsSync(join(path, ".."));
  const room = Math.min(LARGEST_UPLOAD, bavail * bsize - RESERVE);
  const file = openSync(path, "wx", 0o600);
  let bytes = 0;
  try {
    const take = (chunk: Uint8Array): void => {
      report.signal.throwIfAborted();
      bytes += chunk.byteLength;
      if (bytes > room)
        throw new Problem(
          "too_large",
          `The file has more than the ${megabytes(room)} that there is room for.`,
        );
      for (let at = 0; at < chunk.byteLength;) at += writeSync(file, chunk, at);
      report.say(`Receiving: ${megabytes(bytes)}${declared === null ? "" : ` of ${megabytes(declared)}`}`);
      if (declared) report.at(bytes / declared);
    };
    await receive(request, take, SILENCE);
    if (declared !== null && bytes !== declared)
      throw new Problem("malformed", "The connection broke before the whole file was here. Send it again.");
    fsyncSync(file);
    return bytes;
  } finally {
    closeSync(file);
  }
}

const megabytes = (bytes: number): string =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
