import { Problem } from "../../problem.ts";

interface Waiting<Item, Answer> {
  item: Item;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/**
 * Collects what arrives while the event loop is busy, writes it in one transaction with one fsync, and answers each
 * only after that. `write` gets a batch in the order of its arrival and returns an answer or a Problem for each.
 */
export class GroupCommit<Item, Answer> {
  #waiting: Waiting<Item, Answer>[] = [];
  #closed = false;

  /** `turn`: undefined where one may write at once, else a promise of that. */
  constructor(
    private readonly write: (items: readonly Item[]) => (Answer | Problem)[],
    private readonly turn: () => Promise<void> | undefined = () => undefined,
  ) {}

  /** Whether it takes no more. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** @throws Problem busy where the disk takes no more or the service stops; whatever `write` answered */
  add(item: Item): Promise<Answer> {
    if (this.#closed) {
      return Promise.reject(
        new Problem("busy", "The service is stopping; submit the job again in a minute."),
      );
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => void this.#flushInTurn());
    });
  }

  async #flushInTurn(): Promise<void> {
    try {
      await this.turn();
    } catch (error) {
      for (const { reject } of this.#waiting.splice(0)) reject(error);
    }
    this.flush();
  }

  /** Writes what waits for it; `add` calls it by itself. */
  flush(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length === 0) return;
    let answers: (Answer | Problem)[];
    try {
      answers = this.write(batch.map(({ item }) => item));
    } catch (error) {
      const problem = new Problem("busy", "The job could not be stored; try again later.", { cause: error });
      for (const { reject } of batch) reject(problem);
      return;
    }
    batch.forEach(({ resolve, reject }, i) => {
      const answer = answers[i];
      if (answer instanceof Problem) reject(answer);
      else resolve(answer);
    });
  }

  /** Writes what waits and takes no more. */
  close(): void {
    this.#closed = true;
    this.flush();
  }
}
