import type { FarmJobs } from "../scoring/jobs/farm-jobs.ts";
import { MAX_ATTEMPTS } from "../scoring/jobs/job.ts";
import { FairPriority } from "./fair-priority.ts";
import type { JobQueue } from "./job-queue.ts";

/** Jobs that are offered, or stored, in one go. */
export const BATCH = 256;

/** Jobs in the queue for each place of a worker, so that none is idle between two offers, nor soon while the server is away. */
const AHEAD = 32;
/** The least; with the pool beside them no more, or it would have nothing to do. */
const LEAST_AHEAD = 2;
/** With so many, comparing both sides keeps the server's answers waiting for some 0.3 s (test/bench/farm-crowd.ts). */
const MOST = 32_768;

/** How many jobs are to wait in the queue for so many places. */
export const jobsAhead = (places: number, isBesidePool: boolean): number =>
  isBesidePool ? places * LEAST_AHEAD : Math.max(places * LEAST_AHEAD, Math.min(places * AHEAD, MOST));

/** Puts jobs of the database into a queue of BullMQ, in turns between clients. */
export class QueueFiller {
  readonly priority = new FairPriority();

  constructor(private readonly jobs: FarmJobs) {}

  /**
   * Offers until so many jobs wait, or there are no more. Where the queue takes none, those that it was to take are withdrawn.
   * @param timeout milliseconds that a job may take
   * @returns how many were offered
   */
  async fill(line: JobQueue, most: number, timeout: number): Promise<number> {
    let offered = 0;
    if (line.waiting.size === 0) this.priority.reset();
    while (line.waiting.size < most) {
      const offers = this.jobs.offer(Math.min(BATCH, most - line.waiting.size));
      if (offers.length === 0) return offered;
      const tasks = offers.map((offer) => ({ ...offer, priority: this.priority.next(offer.client) }));
      const fitting = tasks.flatMap((task) => {
        const { priority } = task;
        return priority === null ? [] : [{ ...task, priority }];
      });
      try {
        await line.queue.addBulk(
          fitting.map(({ id, request, priority }) => ({
            name: "score",
            data: { request, timeout },
            opts: {
              jobId: id,
              priority,
              attempts: MAX_ATTEMPTS,
              backoff: { type: "exponential", delay: 1000 },
              // What was handed in lies beside the queue until it is stored.
              removeOnComplete: true,
              removeOnFail: false,
              stackTraceLimit: 1,
            },
          })),
        );
      } catch (error) {
        this.jobs.withdraw(offers.map(({ id }) => id));
        throw error;
      }
      for (const { id, client, priority } of fitting) line.waiting.set(id, { client, priority });
      offered += fitting.length;
      if (fitting.length === tasks.length) continue;
      this.jobs.withdraw(tasks.filter(({ priority }) => priority === null).map(({ id }) => id));
      break;
    }
    return offered;
  }
}
