import { createServer } from "node:net";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { LABD } from "./labd.ts";

/** A Redis (or Valkey) of the test's own, and workers of the executable at it. */

const PROGRAM = Bun.which("redis-server") ?? Bun.which("valkey-server");
/** What the name of a test says that needs it. */
export const hasRedis = PROGRAM !== null;

async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer();
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    server.close(() => resolve((address as { port: number }).port));
  });
  return promise;
}

export class RedisServer implements AsyncDisposable {
  #process: Bun.Subprocess | undefined;

  private constructor(
    private readonly directory: string,
    readonly port: number,
  ) {}

  /** Its data outlives a kill: what it has answered is on the disk. */
  static async start(directory: string): Promise<RedisServer> {
    const redis = new RedisServer(directory, await freePort());
    await redis.restart();
    return redis;
  }

  get url(): string {
    return `redis://:farm-secret@127.0.0.1:${this.port}/0`;
  }

  async restart(): Promise<void> {
    const words = `--port ${this.port} --bind 127.0.0.1 --dir ${this.directory} --save  --appendonly yes --appendfsync always --requirepass farm-secret`;
    this.#process = Bun.spawn([PROGRAM!, ...words.split(" ")], { stdout: "ignore", stderr: "ignore" });
    for (let i = 0; i < 500; i++) {
      try {
        if ((await this.command("PING")) === "PONG") return;
      } catch {
        // It is not there yet.
      }
      await Bun.sleep(10);
    }
    throw new Error("redis-server does not answer");
  }

  async command(...words: string[]): Promise<unknown> {
    const client = new Bun.RedisClient(this.url, { autoReconnect: false, connectionTimeout: 2000 });
    try {
      return await client.send(words[0], words.slice(1));
    } finally {
      client.close();
    }
  }

  async end(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    this.#process?.kill(signal);
    await this.#process?.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}

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
        if (i > 2000 || process.exitCode !== null)
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

/** All results of a data directory, by what was asked; the text is as it was stored. */
export function resultsOf(directory: string): Record<string, string> {
  using database = new Database(join(directory, "labd.sqlite"), { readonly: true });
  const rows = database.query("SELECT digest, corpus, method, prediction FROM result ORDER BY digest").all();
  return Object.fromEntries(
    (rows as Record<"digest" | "corpus" | "method" | "prediction", string>[]).map((row) => [
      `${row.digest} ${row.corpus} ${row.method}`,
      row.prediction,
    ]),
  );
}
