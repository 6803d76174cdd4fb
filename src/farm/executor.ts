import type { JobRequest } from "../scoring/jobs/job.ts";
import type { JobSource } from "../scoring/jobs/pool.ts";
import type { ScoringVersion } from "../scoring/jobs/store.ts";
import type { Lease } from "../scoring/jobs/fair-scheduler.ts";

/** The job failed for good: trying it again would give the same. The message is for the client. */
export class JobFailure extends Error {}
/** The job was not finished here, and that is not its fault. */
export class JobReturned extends Error {}

export interface ExecutorJob {
  id: string;
  request: JobRequest;
  /** Milliseconds that it may take. */
  timeout: number;
  /** 1 the first time. */
  attempts: number;
}

interface Held {
  lease: Lease;
  resolve: (prediction: string) => void;
  reject: (error: Error) => void;
}

/**
 * Jobs that this process has of the queue, as the pool takes them: what the pool says of a job becomes the promise that
 * BullMQ waits for. So a worker elsewhere has the pool of the server, with its deadlines and limits.
 */
export class Executor implements JobSource {
  readonly #waiting: Held[] = [];
  readonly #held = new Map<number, Held>();
  #rid = 0;

  /** Scores a job. @throws JobFailure, GivenBack; another error where it may be tried again */
  take(job: ExecutorJob): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const rid = ++this.#rid;
    const lease = { ...job, rid, digest: "", deadline: Date.now() + job.timeout };
    const held = { lease, resolve, reject };
    this.#held.set(rid, held);
    this.#waiting.push(held);
    return promise;
  }

  lease(): Lease | null {
    return this.#waiting.shift()?.lease ?? null;
  }

  finish({ rid }: Lease, _basis: ScoringVersion, prediction: string): void {
    this.#end(rid)?.resolve(prediction);
  }

  fail(rid: number, reason: string): void {
    this.#end(rid)?.reject(new JobFailure(reason));
  }

  retry(rid: number, _attempts: number, reason: string): void {
    this.#end(rid)?.reject(new Error(reason));
  }

  release(rid: number): void {
    this.#end(rid)?.reject(new JobReturned());
  }

  /** Nobody waits for a job any more. */
  drop(id: string): void {
    const held = [...this.#held.values()].find(({ lease }) => lease.id === id);
    if (!held) return;
    this.#end(held.lease.rid)?.reject(new JobFailure("The job was cancelled."));
  }

  /** Gives back what no worker has begun with. */
  releaseWaiting(): void {
    for (let held; (held = this.#waiting.shift());) this.release(held.lease.rid);
  }

  /** What is held, as leases. */
  leases(): Lease[] {
    return [...this.#held.values()].map(({ lease }) => lease);
  }

  #end(rid: number): Held | undefined {
    const held = this.#held.get(rid);
    this.#held.delete(rid);
    const at = this.#waiting.findIndex(({ lease }) => lease.rid === rid);
    if (at >= 0) this.#waiting.splice(at, 1);
    return held;
  }
}
