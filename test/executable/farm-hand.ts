import { Database } from "bun:sqlite";
import { join } from "node:path";
import { unpackPrediction } from "../../src/scoring/jobs/packed-prediction.ts";
import { LABD } from "./labd.ts";

/** Workers of the executable, and what a data directory says of their jobs. */

export interface FarmHand extends AsyncDisposable {
  process: Bun.Subprocess<"ignore", "ignore", "pipe">;
  log(): string;
  /** Waits until its log says this. */
  says(what: string): Promise<void>;
  end(signal: NodeJS.Signals): Promise<number>;
}

/** Starts `labd worker`. */
export function startWorker(directory: string, url: string, words: string[] = []): FarmHand {
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
    async says(what) {
      for (let i = 0; !written.includes(what); i++) {
        if (i > 20_000 || process.exitCode !== null)
          throw new Error(`The worker does not say ${what}: ${written}`);
        await Bun.sleep(10);
      }
    },
    end,
    async [Symbol.asyncDispose]() {
      if (process.exitCode === null) await end("SIGKILL");
    },
  };
}

export interface JobRow {
  id: string;
  state: string;
  worker: string | null;
  attempts: number;
  failure: string | null;
}

/** The jobs of a data directory, in order. */
export function jobsOf(directory: string): JobRow[] {
  using database = new Database(join(directory, "labd.sqlite"), { readonly: true });
  return database
    .query("SELECT id, state, worker, attempts, failure FROM job ORDER BY rid")
    .all() as JobRow[];
}

/** All results of a data directory, by what was asked. */
export function resultsOf(directory: string): Record<string, string> {
  using database = new Database(join(directory, "labd.sqlite"), { readonly: true });
  const rows = database.query("SELECT digest, corpus, method, packed FROM result ORDER BY digest").all();
  return Object.fromEntries(
    (rows as (Record<"digest" | "corpus" | "method", string> & { packed: Uint8Array<ArrayBuffer> })[]).map(
      (row) => [`${row.digest} ${row.corpus} ${row.method}`, unpackPrediction(row.packed)],
    ),
  );
}
