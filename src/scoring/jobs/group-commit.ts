import { Problem } from "../../problem.ts";

interface Waiting<Item, Answer> {
  item: Item;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/**
 * Collects the items that arrive while the event loop is busy, writes them in one transaction with one fsync, and answers
 * each after that. `write` gets them in order and returns an answer or a Problem for each.
 */
export class GroupCommit<Item, Answer> {
  #waiting: Waiting<Item, Answer>[] = [];
  #closed = false;

  /** @param waitUntilWritable a promise if another writer holds the database */
  constructor(
    private readonly write: (items: readonly Item[]) => (Answer | Problem)[],
    private readonly waitUntilWritable: () => Promise<void> | undefined = () => undefined,
  ) {}

  get isClosed(): boolean {
    return this.#closed;
  }

  /** @throws Problem busy if the disk accepts no more or the service stops; the Problem that `write` returned */
  add(item: Item): Promise<Answer> {
    if (this.#closed) {
      const text = "The service is stopping; submit the job again in a minute.";
      return Promise.reject(new Problem("busy", text));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => void this.#flushWhenWritable());
    });
  }

  async #flushWhenWritable(): Promise<void> {
    try {
      await this.waitUntilWritable();
    } catch (error) {
      for (const { reject } of this.#waiting.splice(0)) reject(error);
    }
    this.flush();
  }

  /** Writes the pending items. */
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

  /** Writes the pending items and accepts no more. */
  close(): void {
    this.#closed = true;
    this.flush();
  }
}
