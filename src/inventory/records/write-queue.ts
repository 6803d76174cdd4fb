import type { Statements } from "./statements.ts";
import { Problem } from "../../problem.ts";
import { onBehalf } from "../../platform/request-context.ts";
import type { WriteLock } from "../../platform/write-lock.ts";

interface Waiting {
  work: () => unknown;
  resolve: (value: never) => void;
  reject: (error: unknown) => void;
}

/**
 * Queues the writes of requests. Those that arrive while the event loop is busy share one commit, and thus one wait for
 * the disk. If one is refused or is a dry run, all are repeated with a savepoint for each.
 */
export class WriteQueue {
  #waiting: Waiting[] = [];

  /** `undone`: called after writes that may already have been read were rolled back. */
  constructor(
    private readonly statements: Statements,
    private readonly turn: WriteLock,
    private readonly undone: () => void,
  ) {}

  /** Runs work, which may run twice. @throws Problem busy, and errors of the work */
  add<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work: onBehalf(work), resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => void this.#flush());
    });
  }

  async #flush(): Promise<void> {
    try {
      await this.turn.free();
    } catch (error) {
      for (const { reject } of this.#waiting.splice(0)) reject(error);
      return;
    }
    const batch = this.#waiting.splice(0);
    try {
      const settled =
        batch.length === 1
          ? batch.map(attempt)
          : (this.statements.joined(() => batch.map(attempt)) ?? this.#apart(batch));
      for (const settle of settled) settle();
    } catch (error) {
      this.undone();
      for (const { reject } of batch) reject(error);
    }
  }

  #apart(batch: readonly Waiting[]): (() => void)[] {
    this.undone();
    return this.statements.writing(() =>
      batch.map((one) => {
        const settle = attempt(one);
        if (this.statements.inTransaction()) return settle;
        throw Problem.from({ code: "SQLITE_FULL" });
      }),
    );
  }
}

/** Runs one piece of work and returns how to answer once it is on disk. */
function attempt({ work, resolve, reject }: Waiting): () => void {
  try {
    const value = work() as never;
    return () => resolve(value);
  } catch (error) {
    return () => reject(error);
  }
}
