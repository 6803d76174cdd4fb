/** The largest priority of BullMQ. */
const MAX_PRIORITY = 2_000_000;

/**
 * Priorities that let clients take turns (start-time fair queueing): a job's priority is the round in which its client
 * has its turn. A client that comes later begins in the current round.
 */
export class FairPriority {
  #round = 0;
  readonly #last = new Map<string, number>();

  /** The priority of a client's next job; null where none is left until the queue is empty. */
  next(client: string): number | null {
    const priority = Math.max(this.#round, this.#last.get(client) ?? 0) + 1;
    if (priority > MAX_PRIORITY) return null;
    this.#last.set(client, priority);
    return priority;
  }

  /** A job of this priority was started. */
  started(priority: number): void {
    this.#round = Math.max(this.#round, priority - 1);
  }

  /** A job of this priority was found waiting. */
  recordPriority(client: string, priority: number): void {
    this.#last.set(client, Math.max(this.#last.get(client) ?? 0, priority));
  }

  /** The queue is empty: the rounds begin again. */
  reset(): void {
    this.#round = 0;
    this.#last.clear();
  }
}
