import { createServer } from "node:net";
import { waitFor } from "../wait.ts";

/** A Redis (or Valkey) of the test's own. */

const PROGRAM = Bun.which("redis-server") ?? Bun.which("valkey-server");
/** True if a Redis or Valkey server is installed; tests that need it are skipped otherwise. */
export const hasRedis = PROGRAM !== null;

export async function freePort(): Promise<number> {
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
    private readonly more: readonly string[],
  ) {}

  /** Its data outlives a kill: what it has answered is on the disk. */
  static async start(directory: string, more: readonly string[] = []): Promise<RedisServer> {
    const redis = new RedisServer(directory, await freePort(), more);
    await redis.restart();
    return redis;
  }

  get url(): string {
    return this.at(0);
  }

  /** Address of one of its databases. */
  at(database: number): string {
    return `redis://:farm-secret@127.0.0.1:${this.port}/${database}`;
  }

  async restart(): Promise<void> {
    const words = `--port ${this.port} --bind 127.0.0.1 --dir ${this.directory} --save  --appendonly yes --appendfsync always --requirepass farm-secret`;
    const started = Bun.spawn([PROGRAM!, ...words.split(" "), ...this.more], {
      stdout: "ignore",
      stderr: "ignore",
    });
    this.#process = started;
    const isUp = (): Promise<boolean> =>
      this.command("PING").then(
        (answer) => answer === "PONG",
        () => false,
      );
    await waitFor(async () => started.exitCode !== null || (await isUp()));
    if (started.exitCode !== null) throw new Error(`redis-server ended with ${started.exitCode}`);
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
