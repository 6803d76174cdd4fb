import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { renameDurably } from "../platform/durable-file.ts";
import { Problem } from "../problem.ts";
import type { Call } from "./command.ts";

/** The destination of results, one query after the other. */
export interface ScoreOutput {
  /** Number of first queries whose results it already has. */
  readonly done: number;
  /** True if nothing was written yet. */
  readonly isNew: boolean;
  /** Appends text or bytes, and resolves when reader or disk has them. @param queries done with it */
  write(content: string | Uint8Array, queries: number): Promise<void>;
  /** Hexadecimal SHA-256 of everything written, including earlier runs. */
  digest(): string;
  /** Appends the last text. */
  finish(text: string): Promise<void>;
}

function standardOutput(call: Call): ScoreOutput {
  const hash = new Bun.CryptoHasher("sha256");
  const write = (content: string | Uint8Array): Promise<void> => {
    hash.update(content);
    return call.print(content);
  };
  return { done: 0, isNew: true, write, digest: () => hash.copy().digest("hex"), finish: write };
}

/** The file of --output, or standard output. @param request identifies the run, as for openOutput */
export const chooseOutput = (call: Call, request: string): ScoreOutput => {
  const path = call.value("--output");
  return path === undefined ? standardOutput(call) : openOutput(path, request, call.has("--resume"));
};

/** The content of `FILE.progress`, which exists while a file of results is incomplete. */
interface Checkpoint {
  /** SHA-256 of everything that determines the results. */
  request: string;
  queries: number;
  bytes: number;
}

const checkpointPath = (path: string): string => `${path}.progress`;
const hasContent = (path: string): boolean => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** True if the file has results and nothing is left to write. */
export const isComplete = (path: string): boolean => hasContent(path) && !existsSync(checkpointPath(path));

const CHUNK = 1 << 20;

/** The bytes of a file from one offset to another; each chunk is valid until the next. */
export function* readChunks(path: string, from: number, to: number): Generator<Uint8Array> {
  const file = openSync(path, "r");
  try {
    const buffer = new Uint8Array(Math.min(CHUNK, to - from));
    for (let at = from, read = 1; at < to && read > 0; at += read) {
      read = readSync(file, buffer, 0, Math.min(buffer.length, to - at), at);
      yield buffer.subarray(0, read);
    }
  } finally {
    closeSync(file);
  }
}

/**
 * A file of results that survives a kill, with a checkpoint in `FILE.progress`. With `resume` the file is cut off at the
 * checkpoint and continued; without, it must not exist. @throws Problem conflict
 */
export function openOutput(path: string, request: string, resume: boolean): ScoreOutput {
  const kept = resumable(path, request, resume);
  const file = openSync(path, hasContent(path) ? "r+" : "w");
  let bytes = kept?.bytes ?? 0;
  ftruncateSync(file, bytes);
  const hash = new Bun.CryptoHasher("sha256");
  for (const chunk of readChunks(path, 0, bytes)) hash.update(chunk);
  const append = (content: string | Uint8Array): void => {
    const buffer = typeof content === "string" ? new TextEncoder().encode(content) : content;
    for (let at = 0; at < buffer.length;) at += writeSync(file, buffer, at, buffer.length - at, bytes + at);
    bytes += buffer.length;
    hash.update(buffer);
    fsyncSync(file);
  };
  return {
    done: kept?.queries ?? 0,
    isNew: kept === null,
    async write(content, queries) {
      append(content);
      const checkpoint: Checkpoint = { request, queries, bytes };
      writeFileSync(`${checkpointPath(path)}.part`, JSON.stringify(checkpoint));
      renameDurably(`${checkpointPath(path)}.part`, checkpointPath(path));
    },
    digest: () => hash.copy().digest("hex"),
    // The checkpoint stays unchanged: after a kill here the last text is written again, not twice.
    async finish(text) {
      append(text);
      closeSync(file);
      rmSync(checkpointPath(path), { force: true });
    },
  };
}

/** The checkpoint to continue from; null to start again. @throws Problem conflict */
function resumable(path: string, request: string, resume: boolean): Checkpoint | null {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new Problem("usage", `${path} is a directory; expected a file.`);
  if (!hasContent(path)) return null;
  if (!resume)
    throw new Problem(
      "conflict",
      `${path} already exists. Continue it with --resume, or choose another --output.`,
    );
  if (isComplete(path))
    throw new Problem(
      "conflict",
      `${path} is complete, or was not made by labd score --output: there is nothing to resume.`,
    );
  const checkpoint = JSON.parse(readFileSync(checkpointPath(path), "utf8")) as Checkpoint;
  if (checkpoint.request !== request)
    throw new Problem(
      "conflict",
      `${path} was started with other queries, patterns or options, or another corpus. Repeat that command, or choose another --output.`,
    );
  // A power cut may have shortened the file.
  return statSync(path).size >= checkpoint.bytes ? checkpoint : null;
}
