import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
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
  /** All is written. */
  finish(): void;
}

export const standardOutput = (): ScoreOutput => ({
  done: 0,
  isNew: true,
  // Scoring may not let the event loop turn, and results would lie in memory till the end.
  write: (text) => new Promise((resolve) => process.stdout.write(text, () => resolve())),
  finish: () => {},
});

/** What lies beside a file of results as long as it is not complete. */
interface Mark {
  /** SHA-256 of all that decides about the results. */
  request: string;
  queries: number;
  bytes: number;
}

/**
 * A file of results that survives a kill: beside it, in `FILE.progress`, stands how many queries are done and how long the
 * file is with them. With `resume` what is behind that is cut off, and those queries need not be scored again; without, the
 * file must not be there. @throws Problem conflict
 */
export function openOutput(path: string, request: string, resume: boolean): ScoreOutput {
  const markPath = `${path}.progress`;
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
  return {
    done: kept?.queries ?? 0,
    isNew: kept === null,
    async write(text, queries) {
      const buffer = new TextEncoder().encode(text);
      for (let at = 0; at < buffer.length;) at += writeSync(file, buffer, at, buffer.length - at, bytes + at);
      bytes += buffer.length;
      fsyncSync(file);
      const next: Mark = { request, queries, bytes };
      writeFileSync(`${markPath}.part`, JSON.stringify(next));
      renameSync(`${markPath}.part`, markPath);
    },
    finish() {
      closeSync(file);
      rmSync(markPath, { force: true });
    },
  };
}
