import { Problem } from "../problem.ts";

/** Requests that may wait for their turn; with more the service says that it is busy. */
const WAITING = 200;

/** Lets at most `limit` pieces of work run at once; the others wait for their turn, in order. */
export class Semaphore {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly limit: number) {}

  /** @throws Problem busy where too many wait, and what the work throws */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= this.limit) {
      if (this.waiting.length >= WAITING)
        throw new Problem("busy", "Too many sign-ins at once. Try again.", {
          headers: { "Retry-After": "5" },
        });
      // Whoever ends hands its turn on, so that `running` stays as it is.
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    } else this.running++;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running--;
    }
  }
}
