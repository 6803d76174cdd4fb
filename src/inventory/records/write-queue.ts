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
 * Writes of requests. Those that arrive while the event loop is busy share one commit, and thus one wait for the disk;
 * each is answered only after it. Where one is refused, or was only tried out, all are done again with a savepoint for
 * each, so that it takes back nothing of the others.
 */
export class WriteQueue {
  #waiting: Waiting[] = [];

  /** `undone`: called where what was written, and may have been read since, was taken back. */
  constructor(
    private readonly statements: Statements,
    private readonly turn: WriteLock,
    private readonly undone: () => void,
  ) {}

  /** Runs work, whose writes are in `writing`, in its turn; it may run twice. @throws Problem busy, and what the work throws */
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

/** Does one work and gives what is to be done once it is on the disk. */
function attempt({ work, resolve, reject }: Waiting): () => void {
  try {
    const value = work() as never;
    return () => resolve(value);
  } catch (error) {
    return () => reject(error);
  }
}
