import type { Database } from "./sqlite.ts";
import { Problem } from "../problem.ts";

/** Milliseconds that a request waits for its turn to write. */
const PATIENCE = 30_000;

/**
 * Who may write to a database, within this process. SQLite has one writer at a time and lets others wait by standing
 * still, which the thread that answers everybody must not do: where a worker writes for seconds, it is given the turn,
 * and whoever writes on the main thread asks for it first. Reading goes on.
 */
export class WriteLock {
  #held: Promise<void> | undefined;

  constructor(private readonly database: Database) {}

  /**
   * Undefined where one may write now, without another turn of the event loop in between; else a promise of that.
   * @throws Problem busy, by the promise, after half a minute
   */
  free(): Promise<void> | undefined {
    return this.#held && this.#wait(this.#held);
  }

  /** Runs `work`, which writes by another connection; until it has ended nobody else has the turn. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    while (this.#held) await this.#held;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    // What writes without asking (a job's end, which is tried again) must not stand still meanwhile.
    const waits = this.database.query("PRAGMA busy_timeout").get() as { timeout: number };
    this.database.run("PRAGMA busy_timeout = 0");
    try {
      return await work();
    } finally {
      this.database.run(`PRAGMA busy_timeout = ${waits.timeout}`);
      this.#held = undefined;
      resolve();
    }
  }

  async #wait(held: Promise<void>): Promise<void> {
    const late = Promise.withResolvers<void>();
    const busy = new Problem("busy", "An import is being written. Try again in a minute.", {
      headers: { "Retry-After": "60" },
    });
    const timer = setTimeout(() => late.reject(busy), PATIENCE);
    try {
      for (let now: Promise<void> | undefined = held; now; now = this.#held)
        await Promise.race([now, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The turn of a database; the same one for whoever asks. */
export function writeLockOf(database: Database): WriteLock {
  let turn = turns.get(database);
  if (!turn) turns.set(database, (turn = new WriteLock(database)));
  return turn;
}

const turns = new WeakMap<Database, WriteLock>();
