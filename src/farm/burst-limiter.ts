/**
 * How soon something may be done again: at once a few times in a row, then once in so many milliseconds, so that much of
 * it at a time is gathered, and news of a single job does not wait.
 */
export class BurstLimiter {
  #spent = 0;
  #looked = performance.now();

  /** @param burst times in a row @param every milliseconds */
  constructor(
    private readonly burst: number,
    private readonly every: number,
  ) {}

  /** Milliseconds to wait for the next time, which is taken by asking. */
  next(now = performance.now()): number {
    this.#spent = Math.max(0, this.#spent - (now - this.#looked) / this.every);
    this.#looked = now;
    this.#spent++;
    return this.#spent > this.burst ? this.every : 0;
  }
}
