import { Database } from "bun:sqlite";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { readResult, unpackParts } from "../../src/scoring/jobs/packed-prediction.ts";
import { E7, LABD, labd } from "./labd.ts";
import { waitFor } from "../wait.ts";

/** Worker processes, and the jobs in a data directory. */

export interface WorkerProcess extends AsyncDisposable {
  process: Bun.Subprocess<"ignore", "ignore", "pipe">;
  log(): string;
  /** Waits until its log contains a text. */
  logs(text: string): Promise<void>;
  end(signal: NodeJS.Signals): Promise<number>;
}

/** Starts `labd worker`. */
export function startWorker(directory: string, url: string, words: string[] = []): WorkerProcess {
  const process = Bun.spawn([LABD, "worker", "--data-dir", directory, ...words], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    env: { PATH: "", LABD_QUEUE: url },
  });
  let written = "";
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of process.stderr) written += decoder.decode(chunk, { stream: true });
  };
  void read();
  const end = async (signal: NodeJS.Signals): Promise<number> => {
    process.kill(signal);
    return process.exited;
  };
  return {
    process,
    log: () => written,
    async logs(text) {
      await waitFor(
        () => written.includes(text) || process.exitCode !== null,
        () => written,
      );
      if (!written.includes(text)) throw new Error(`The worker does not log ${text}: ${written}`);
    },
    end,
    async [Symbol.asyncDispose]() {
      if (process.exitCode === null) await end("SIGKILL");
    },
  };
}

/** A data directory with the sample corpus, and others with only the file of that corpus. */
export async function farmDirectories(directory: string, workers: string[]): Promise<string> {
  const home = join(directory, "server");
  const added = await labd(["corpus", "add", "--sample", "--data-dir", home]);
  if (added.code !== 0) throw new Error(added.stderr);
  for (const worker of workers) {
    mkdirSync(join(directory, worker), { recursive: true });
    cpSync(join(home, "corpora"), join(directory, worker, "corpora"), { recursive: true });
  }
  return home;
}

/** Submits similar proteins, each a question of its own. */
export async function submitJobs(url: string, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++) {
    const querySequence = E7 + "ACDEFGHIKLMNPQRSTVWY"[i % 20].repeat(1 + Math.floor(i / 20));
    const response = await fetch(`${url}/api/scoring/jobs`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ querySequence, patterns: ["L.C.E", "[ST]P"] }),
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  }
}

export interface JobRow {
  id: string;
  state: string;
  worker: string | null;
  attempts: number;
  failure: string | null;
}

/** The jobs of a data directory, in order. */
export function readJobs(directory: string): JobRow[] {
  using database = new Database(join(directory, "labd.sqlite"), { readonly: true });
  return database
    .query("SELECT id, state, worker, attempts, failure FROM job ORDER BY rid")
    .all() as JobRow[];
}

/** All results of a data directory by question. */
export function readResults(directory: string): Record<string, string> {
  using database = new Database(join(directory, "labd.sqlite"), { readonly: true });
  const rows = database.query("SELECT rid, digest, corpus, method FROM result ORDER BY digest").all();
  return Object.fromEntries(
    (rows as (Record<"digest" | "corpus" | "method", string> & { rid: number })[]).map((row) => [
      `${row.digest} ${row.corpus} ${row.method}`,
      unpackParts(readResult(database, row.rid, "json")),
    ]),
  );
}

/** Counts the finished jobs of a data directory. */
export const finishedJobs = (directory: string): number =>
  readJobs(directory).filter(({ state }) => state === "finished").length;
