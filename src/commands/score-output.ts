import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { Problem } from "../problem.ts";

/** Where results go, one query after the other. */
export interface ScoreOutput {
  /** Queries whose results are there already: the first so many. */
  readonly done: number;
  /** Whether nothing was written yet. */
  readonly isNew: boolean;
  /** Appends a text; `queries`: how many are done with it. Resolves when the reader or the disk has it. */
  write(text: string, queries: number): Promise<void>;
  /** SHA-256 of all that was written, also before this run, in hexadecimal digits. */
  digest(): string;
  /** Appends the last text. */
  finish(text: string): Promise<void>;
}

export function standardOutput(): ScoreOutput {
  const hash = new Bun.CryptoHasher("sha256");
  // Scoring may not let the event loop turn, and results would lie in memory till the end.
  const write = (text: string): Promise<void> =>
    new Promise((resolve) => {
      hash.update(text);
      process.stdout.write(text, () => resolve());
    });
  return { done: 0, isNew: true, write, digest: () => hash.copy().digest("hex"), finish: write };
}

/** What lies beside a file of results as long as it is not complete. */
interface Mark {
  /** SHA-256 of all that decides about the results. */
  request: string;
  queries: number;
  bytes: number;
}

const markOf = (path: string): string => `${path}.progress`;

/** Whether there is a file of results that is not, or no more, being written. */
export const isComplete = (path: string): boolean =>
  existsSync(path) && statSync(path).size > 0 && !existsSync(markOf(path));

const CHUNK = 1 << 20;

/** The bytes of a file from one place to another, of which only a chunk is in memory; each is good until the next. */
export function* chunksOf(path: string, from: number, to: number): Generator<Uint8Array> {
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
 * A file of results that survives a kill: beside it, in `FILE.progress`, stands how many queries are done and how long the
 * file is with them. With `resume` what is behind that is cut off, and those queries need not be scored again; without, the
 * file must not be there. @throws Problem conflict
 */
export function openOutput(path: string, request: string, resume: boolean): ScoreOutput {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new Problem("usage", `${path} is a directory; expected a file.`);
  const markPath = markOf(path);
  const mark = existsSync(markPath) ? (JSON.parse(readFileSync(markPath, "utf8")) as Mark) : null;
  const isThere = existsSync(path) && statSync(path).size > 0;
  if (isThere && !resume) {
    throw new Problem(
      "conflict",
      `${path} is there already: --resume goes on with it, or choose another --output.`,
    );
  }
  if (isThere && mark === null) {
    throw new Problem(
      "conflict",
      `${path} is complete, or was not made by labd score --output: nothing to resume.`,
    );
  }
  if (isThere && mark?.request !== request) {
    throw new Problem(
      "conflict",
      `${path} was begun with other queries, patterns, options or another corpus: repeat that command, or choose another --output.`,
    );
  }
  // A file that is shorter than it was, after a power cut, has to be made again.
  const kept = isThere && mark !== null && statSync(path).size >= mark.bytes ? mark : null;
  const file = openSync(path, isThere ? "r+" : "w");
  let bytes = kept?.bytes ?? 0;
  ftruncateSync(file, bytes);
  const hash = new Bun.CryptoHasher("sha256");
  for (const chunk of chunksOf(path, 0, bytes)) hash.update(chunk);
  const append = (buffer: Uint8Array): void => {
    for (let at = 0; at < buffer.length;) at += writeSync(file, buffer, at, buffer.length - at, bytes + at);
    bytes += buffer.length;
    hash.update(buffer);
    fsyncSync(file);
  };
  return {
    done: kept?.queries ?? 0,
    isNew: kept === null,
    async write(text, queries) {
      append(new TextEncoder().encode(text));
      const next: Mark = { request, queries, bytes };
      writeFileSync(`${markPath}.part`, JSON.stringify(next));
      renameSync(`${markPath}.part`, markPath);
    },
    digest: () => hash.copy().digest("hex"),
    // The mark stays as it is, so that who is killed here writes the last text again and not twice.
    async finish(text) {
      append(new TextEncoder().encode(text));
      closeSync(file);
      rmSync(markPath, { force: true });
    },
  };
}
