import { type Database, WRITE_PATIENCE } from "./sqlite.ts";
import { Problem } from "../problem.ts";

/**
 * The writer of a database, within this process. SQLite blocks the thread of a second writer, which must not happen to
 * the main thread: a worker that writes for seconds holds this lock, and writes on the main thread wait for it first.
 * Reads need no lock.
 */
export class WriteLock {
  /** In a process that writes for the server: asks the server for its lock. */
  acquire: (() => Promise<void>) | undefined;
  /** Why nothing is written any more, such as a damaged database. */
  refusal: Problem | undefined;
  #held: Promise<void> | undefined;

  constructor(private readonly database: Database) {}

  /**
   * Undefined if a write may start now, in this turn of the event loop; else a promise of that.
   * @throws Problem busy, by the promise, after 10 seconds
   */
  free(): Promise<void> | undefined {
    if (this.acquire) return this.acquire();
    return this.#held && this.#wait(this.#held);
  }

  /** Runs `work`, which writes through another connection, while holding the lock. @throws Problem the refusal */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    while (this.#held) await this.#held;
    if (this.refusal) throw this.refusal;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    // Writes that do not wait for the lock (the end of a job, which is retried) must not block meanwhile.
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
    const busy = new Problem(
      "busy",
      "An import or a bulk change is being written. Try again in 10 seconds.",
      {
        headers: { "Retry-After": "10" },
      },
    );
    const timer = setTimeout(() => late.reject(busy), WRITE_PATIENCE);
    try {
      for (let now: Promise<void> | undefined = held; now; now = this.#held)
        await Promise.race([now, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The lock of a database. */
export function getWriteLock(database: Database): WriteLock {
  let lock = locks.get(database);
  if (!lock) locks.set(database, (lock = new WriteLock(database)));
  return lock;
}

const locks = new WeakMap<Database, WriteLock>();
