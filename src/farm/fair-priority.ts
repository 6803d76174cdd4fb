/** BullMQ takes no larger one. */
const MOST = 2_000_000;

/**
 * Priorities by which clients take turns in a queue that knows priorities only (start-time fair queueing): each job gets
 * the number of the round in which its client has its turn. A client that comes later begins with the round that is on,
 * so that nobody waits for what others have submitted before, and nobody is passed by for ever.
 */
export class FairPriority {
  #round = 0;
  readonly #last = new Map<string, number>();

  /** Of the next job of a client; null where no more can be given before the queue is empty. */
  next(client: string): number | null {
    const priority = Math.max(this.#round, this.#last.get(client) ?? 0) + 1;
    if (priority > MOST) return null;
    this.#last.set(client, priority);
    return priority;
  }

  /** A job of this priority was begun with. */
  begun(priority: number): void {
    this.#round = Math.max(this.#round, priority - 1);
  }

  /** A job of this priority waits that was not given out here. */
  seen(client: string, priority: number): void {
    this.#last.set(client, Math.max(this.#last.get(client) ?? 0, priority));
  }

  /** None waits any more: the rounds begin anew. */
  reset(): void {
    this.#round = 0;
    this.#last.clear();
  }
}
