import { statSync } from "node:fs";
import { Problem } from "../problem.ts";
import { PRINTERS, type PrinterName, type ShardBeginning, type ShardEnd } from "../scoring/index.ts";
import { chunksOf } from "./score-output.ts";

/**
 * A shard in a file: its format's head, a line that says what it is, the results, a line that proves them whole, and the
 * format's tail. Both lines are comments of the format, so that a shard can be read like any other result.
 */
export interface ShardFile {
  path: string;
  format: PrinterName;
  beginning: ShardBeginning;
  /** SHA-256 of all bytes before the last line; null where that is missing, so that the shard was cut off. */
  sha256: string | null;
  /** Where the results lie. */
  from: number;
  to: number;
}

/** More than the head of any format and a line of ours take. */
const EDGE = 4096;

/** What follows the head, and what goes before the tail. */
export const beginningLine = (format: PrinterName, beginning: ShardBeginning): string =>
  PRINTERS[format].remark(JSON.stringify(beginning));
export const endLine = (format: PrinterName, end: ShardEnd): string =>
  PRINTERS[format].remark(JSON.stringify(end));

/**
 * Reads what a shard says of itself, at both ends of the file.
 * @throws Problem not_found; invalid_request for what is no shard
 */
export function openShard(path: string): ShardFile {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) throw new Problem("not_found", `There is no file ${path}.`);
  const start = textBetween(path, 0, Math.min(size, EDGE));
  for (const format of Object.keys(PRINTERS) as PrinterName[]) {
    const { head, tail } = PRINTERS[format];
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
  throw new Problem("invalid_request", `${path} is no shard: expected a file of labd score --shard.`);
}

/** The results of a shard, chunk by chunk. @throws Problem invalid_request at their end, where they are not as they were written */
export function* resultsOf(shard: ShardFile): Generator<Uint8Array> {
  const hash = new Bun.CryptoHasher("sha256");
  for (const chunk of chunksOf(shard.path, 0, shard.from)) hash.update(chunk);
  for (const chunk of chunksOf(shard.path, shard.from, shard.to)) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest("hex") !== shard.sha256) {
    const { shard: number, of } = shard.beginning;
    throw new Problem(
      "invalid_request",
      `${shard.path} is not as it was written: remove it, and run shard ${number} of ${of} again.`,
    );
  }
}

function readLine(format: PrinterName, line: string): unknown {
  const [before, after] = PRINTERS[format].remark("\0").split("\0");
  if (!line.startsWith(before) || !line.endsWith(after)) return null;
  try {
    return JSON.parse(line.slice(before.length, line.length - after.length));
  } catch {
    return null;
  }
}

const isBeginning = (said: unknown): said is ShardBeginning =>
  typeof said === "object" && said !== null && "run" in said && "shard" in said && "of" in said;
const isEnd = (said: unknown): said is ShardEnd =>
  typeof said === "object" && said !== null && "end" in said && "sha256" in said;

const textBetween = (path: string, from: number, to: number): string =>
  Buffer.concat([...chunksOf(path, from, to)].map((chunk) => Buffer.from(chunk))).toString("utf8");
