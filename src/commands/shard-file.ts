import { statSync } from "node:fs";
import { Problem } from "../problem.ts";
import {
  type ScoreFormatName,
  SERIES_FORMATS,
  seriesPrinter,
  type ShardBeginning,
  type ShardEnd,
} from "../scoring/index.ts";
import { readChunks } from "./score-output.ts";

/**
 * A shard in a file: the head of its format, a line that describes the shard, the results, a line with their hash, and the
 * tail. Both lines are comments in the format, so a shard reads like any other result.
 */
export interface ShardFile {
  path: string;
  format: ScoreFormatName;
  beginning: ShardBeginning;
  /** SHA-256 of all bytes before the last line; null where that line is missing. */
  sha256: string | null;
  /** Offsets of the results. */
  from: number;
  to: number;
}

/** Bytes at either end that contain the head or tail and the line next to it, which may have hundreds of patterns. */
const EDGE = 1 << 20;

/** The lines after the head and before the tail. */
export const beginningLine = (format: ScoreFormatName, beginning: ShardBeginning): string =>
  seriesPrinter(format).remark(JSON.stringify(beginning));
export const endLine = (format: ScoreFormatName, end: ShardEnd): string =>
  seriesPrinter(format).remark(JSON.stringify(end));

/** Reads the description of a shard from both ends of the file. @throws Problem not_found, invalid_request */
export function openShard(path: string): ShardFile {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) throw new Problem("not_found", `There is no file ${path}.`);
  const start = textBetween(path, 0, Math.min(size, EDGE));
  for (const format of SERIES_FORMATS) {
    const { head, tail } = seriesPrinter(format);
    if (!start.startsWith(head)) continue;
    const opening = start.slice(0, start.indexOf("\n", head.length) + 1);
    const beginning = readLine(format, opening.slice(head.length));
    if (!isBeginning(beginning) || beginning.run.format !== format) continue;
    const last = textBetween(path, Math.max(0, size - EDGE), size);
    const before = last.slice(0, last.length - tail.length);
    const line = before.slice(before.lastIndexOf("\n", before.length - 2) + 1);
    const end = last.endsWith(tail) ? readLine(format, line) : null;
    const to = size - Buffer.byteLength(line + tail);
    const sha256 = isEnd(end) && end.end === beginning.shard ? end.sha256 : null;
    return { path, format, beginning, sha256, from: Buffer.byteLength(opening), to };
  }
  throw new Problem("invalid_request", `${path} is not a shard. Expected a file of labd score --shard.`);
}

/** The results of a shard in chunks. @throws Problem invalid_request at the end if the hash differs */
export function* readResults(shard: ShardFile): Generator<Uint8Array> {
  const hash = new Bun.CryptoHasher("sha256");
  for (const chunk of readChunks(shard.path, 0, shard.from)) hash.update(chunk);
  for (const chunk of readChunks(shard.path, shard.from, shard.to)) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest("hex") !== shard.sha256) {
    const { shard: number, of } = shard.beginning;
    throw new Problem(
      "invalid_request",
      `${shard.path} was altered. Remove it, and score shard ${number} of ${of} again.`,
    );
  }
}

function readLine(format: ScoreFormatName, line: string): unknown {
  const [before, after] = seriesPrinter(format).remark("\0").split("\0");
  if (!line.startsWith(before) || !line.endsWith(after)) return null;
  try {
    return JSON.parse(line.slice(before.length, line.length - after.length));
  } catch {
    return null;
  }
}

const isBeginning = (value: unknown): value is ShardBeginning =>
  typeof value === "object" && value !== null && "run" in value && "shard" in value && "of" in value;
const isEnd = (value: unknown): value is ShardEnd =>
  typeof value === "object" && value !== null && "end" in value && "sha256" in value;

const textBetween = (path: string, from: number, to: number): string =>
  Buffer.concat([...readChunks(path, from, to)].map((chunk) => Buffer.from(chunk))).toString("utf8");
