import { Problem } from "../problem.ts";

/** Callers that may wait; more are refused as busy. */
const MAX_WAITING = 200;
const BUSY_MESSAGE = `The server is busy: ${MAX_WAITING} requests like this are waiting. Try again in a few seconds.`;

/** Runs at most `limit` pieces of work at once; others wait in order. */
export class Semaphore {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly limit: number) {}

  /** @throws Problem busy if too many wait; what `work` throws */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= this.limit) {
      if (this.waiting.length >= MAX_WAITING)
        throw new Problem("busy", BUSY_MESSAGE, { headers: { "Retry-After": "5" } });
      // The slot passes to the next caller, so `running` does not change.
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
