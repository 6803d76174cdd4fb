import type { Redis } from "ioredis";
import { type FarmDependencies, MAX_INTERRUPTIONS, type RemoteLease } from "../scoring/index.ts";
import type { FairPriority } from "./fair-priority.ts";
import type { JobQueue, Snapshot } from "./job-queue.ts";
import { BATCH } from "./queue-filler.ts";
import { announceDrop } from "./redis-records.ts";
import type { Counts } from "./status.ts";

const STALLED_MESSAGE = `The worker's process ended ${MAX_INTERRUPTIONS} times while it scored this job.`;

/**
 * Brings jobs in the database and in a queue together. The database is right: the queue is a copy of a part of it, which
 * may be late, duplicated or gone.
 */
export class Reconciler {
  readonly counts: Counts = { offered: 0, finished: 0, failed: 0, late: 0, returned: 0, lost: 0 };

  constructor(
    private readonly dependencies: FarmDependencies,
    private readonly priority: FairPriority,
  ) {}

  /**
   * Applies what happened in a queue since the last time.
   * @param isCurrent jobs that wait in it are scored on the corpus in use
   * @param isFull compares the waiting jobs, too
   * @returns the jobs in the queue, of which a partial comparison knows only some
   */
  async sync(queue: JobQueue, redis: Redis, isCurrent: boolean, isFull: boolean): Promise<Set<string>> {
    if (isFull) await queue.promoteStuck(Date.now());
    const snapshot = await queue.snapshot(isFull);
    const { active, ended, results } = snapshot;
    const delivered = new Set([...ended, ...results].filter((id) => !active.has(id)));
    const left = [...queue.active].filter((id) => !active.has(id) && !delivered.has(id));
    const started = [...active].filter((id) => isFull || !queue.active.has(id));
    queue.active = active;
    if (isFull) left.push(...this.#compareWaiting(queue, snapshot, isCurrent));
    await this.#returned(queue, left, isCurrent);
    await this.#started(queue, started, redis, isCurrent);
    await this.#collect(queue, [...delivered], new Set(ended), isCurrent);
    if (delivered.size > 0 || left.length > 0) this.dependencies.settled();
    return new Set([...active, ...delivered, ...snapshot.waiting.map(({ id }) => id)]);
  }

  /** Returns jobs that are in no queue to the database. @returns the number of jobs */
  releaseLost(present: ReadonlySet<string>): number {
    const { jobs } = this.dependencies;
    const lost = jobs.remoteJobs().filter(({ id }) => !present.has(id) && jobs.release(id)).length;
    this.counts.lost += lost;
    return lost;
  }

  /** @returns waiting jobs that the database does not know to wait here */
  #compareWaiting(queue: JobQueue, { waiting }: Snapshot, isCurrent: boolean): string[] {
    const offered = new Set(
      this.dependencies.jobs.remoteJobs().flatMap(({ id, worker }) => (worker === "" ? id : [])),
    );
    queue.waiting.clear();
    const unknownIds: string[] = [];
    for (const { id, priority } of waiting) {
      if (isCurrent && offered.has(id)) this.#waits(queue, id, priority);
      else unknownIds.push(id);
    }
    return unknownIds;
  }

  #waits(queue: JobQueue, id: string, priority: number): void {
    const client = this.dependencies.jobs.find(id)?.client ?? "";
    queue.waiting.set(id, { client, priority });
    this.priority.recordPriority(client, priority);
  }

  #noLongerWaits(queue: JobQueue, id: string, isCurrent: boolean): void {
    const { priority = 0 } = queue.waiting.get(id) ?? {};
    queue.waiting.delete(id);
    if (isCurrent) this.priority.started(priority);
  }

  /** Jobs without an outcome that their workers have lost: they wait again, or are lost. */
  async #returned(queue: JobQueue, ids: readonly string[], isCurrent: boolean): Promise<void> {
    const { jobs } = this.dependencies;
    const holders = await queue.holders(ids);
    for (const [i, id] of ids.entries()) {
      if (holders[i] === null) {
        if (jobs.release(id)) this.counts.lost++;
      } else if (isCurrent && jobs.markOffered(id)) {
        this.counts.returned++;
        this.#waits(queue, id, 1);
      } else if (await queue.remove(id)) jobs.release(id);
    }
  }

  async #started(queue: JobQueue, ids: readonly string[], redis: Redis, isCurrent: boolean): Promise<void> {
    const { jobs, timeout } = this.dependencies;
    const holders = await queue.holders(ids);
    const leases = ids.flatMap((id, i) => {
      this.#noLongerWaits(queue, id, isCurrent);
      const holder = holders[i];
      return holder ? [{ id, ...holder, job: jobs.find(id) }] : [];
    });
    if (leases.length === 0) return;
    for (const { job, worker } of leases)
      if (job?.state === "running" && job.worker !== worker) this.counts.returned++;
    const begun = jobs.begin(leases, timeout);
    // If the server's pool has taken the job meanwhile, the first result counts.
    const ended = leases.filter(({ job }, i) => !begun[i] && job === null);
    await Promise.all(ended.map(({ worker, id }) => announceDrop(redis, worker, id)));
  }

  /** Stores outcomes, then removes them from the queue: after a crash in between they are found to be late. */
  async #collect(
    queue: JobQueue,
    ids: readonly string[],
    ended: ReadonlySet<string>,
    isCurrent: boolean,
  ): Promise<void> {
    const { jobs, dropFromPool } = this.dependencies;
    const { scoringVersion } = queue.kind;
    for (let i = 0; i < ids.length; i += BATCH) {
      const batch = await queue.deliveries(ids.slice(i, i + BATCH));
      const stale = batch.filter(({ id }) => ended.has(id) || queue.waiting.has(id)).map(({ id }) => id);
      const finished: Parameters<typeof jobs.finish>[0][number][] = [];
      for (const { id, worker, attempts, reason, packed } of batch) {
        this.#noLongerWaits(queue, id, isCurrent);
        if (packed && !isCurrent && jobs.find(id)?.state !== "running") stale.push(id);
        else if (packed) finished.push({ id, worker, attempts, prediction: packed, scoringVersion });
        else if (reason) this.#fail({ id, worker, attempts }, reason);
        else if (jobs.release(id)) this.counts.lost++;
        if (!packed && !ended.has(id)) stale.push(id);
      }
      for (const hasEnded of jobs.finish(finished, (id) => dropFromPool(id)))
        this.counts[hasEnded ? "finished" : "late"]++;
      await queue.deleteResults(finished.map(({ id }) => id));
      await Promise.all(stale.map((id) => queue.remove(id)));
    }
  }

  #fail(lease: RemoteLease, reason: string): void {
    const isStalled = reason.startsWith("job stalled more than");
    if (this.dependencies.jobs.fail(lease, isStalled ? STALLED_MESSAGE : reason)) this.counts.failed++;
  }
}
