import { type FarmJobs, MAX_ATTEMPTS, type Offer } from "../scoring/index.ts";
import { FairPriority } from "./fair-priority.ts";
import type { JobQueue } from "./job-queue.ts";

/** Jobs that are offered, or stored, together. */
export const BATCH = 256;

/** Jobs in the queue for each slot of a worker, so that none is idle between two offers or while the server restarts. */
const PER_SLOT = 32;
/** The least; with the server's pool working too no more, or the pool would have nothing to do. */
const MIN_PER_SLOT = 2;
/** Maximum queue: a full reconciliation of more jobs delays the server's responses by over 0.3 s. */
const MAX_QUEUED = 32_768;

/** The number of jobs that should wait in the queue for so many slots. */
export const targetLength = (slots: number, withPool: boolean): number =>
  withPool ? slots * MIN_PER_SLOT : Math.max(slots * MIN_PER_SLOT, Math.min(slots * PER_SLOT, MAX_QUEUED));

/** Moves jobs of the database into a queue, taking turns between clients. */
export class QueueFiller {
  readonly priority = new FairPriority();

  constructor(private readonly jobs: FarmJobs) {}

  /**
   * Offers jobs until so many wait, or there are no more; jobs that the queue rejects are withdrawn.
   * @param timeout milliseconds that a job may take
   * @returns how many were offered
   */
  async fill(queue: JobQueue, length: number, timeout: number): Promise<number> {
    if (queue.waiting.size === 0) this.priority.reset();
    let offered = 0;
    while (queue.waiting.size < length) {
      const offers = this.jobs.offer(Math.min(BATCH, length - queue.waiting.size));
      const added = offers.flatMap((offer) => {
        const priority = this.priority.next(offer.client);
        return priority === null ? [] : [{ ...offer, priority }];
      });
      try {
        await queue.queue.addBulk(added.map((offer) => bulkJob(offer, timeout)));
      } catch (error) {
        this.jobs.withdraw(offers.map(({ id }) => id));
        throw error;
      }
      for (const { id, client, priority } of added) queue.waiting.set(id, { client, priority });
      offered += added.length;
      // The priorities are used up until the queue is empty.
      if (added.length < offers.length)
        this.jobs.withdraw(offers.map(({ id }) => id).filter((id) => !queue.waiting.has(id)));
      if (offers.length === 0 || added.length < offers.length) break;
    }
    return offered;
  }
}

const bulkJob = ({ id, request, priority }: Offer & { priority: number }, timeout: number) => ({
  name: "score",
  data: { request, timeout },
  opts: {
    jobId: id,
    priority,
    attempts: MAX_ATTEMPTS,
    backoff: { type: "exponential", delay: 1000 },
    // The prediction stays in the results until it is stored.
    removeOnComplete: true,
    removeOnFail: false,
    stackTraceLimit: 1,
  },
});
