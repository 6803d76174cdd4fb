import type { JobRequest, JobSource, Lease } from "../scoring/index.ts";

/** The job failed permanently; the message is for the client. */
export class JobFailure extends Error {}
/** The job was not finished here, for a reason outside the job. */
export class JobReturned extends Error {}

export interface ExecutorJob {
  id: string;
  request: JobRequest;
  /** Milliseconds that a job may take. */
  timeout: number;
  /** 1 for the first attempt. */
  attempts: number;
}

interface PendingJob {
  lease: Lease;
  resolve: (prediction: Uint8Array<ArrayBuffer>) => void;
  reject: (error: Error) => void;
}

/** Runs jobs of the queue in a pool of this process: the job source of the pool, and a promise per job for BullMQ. */
export class Executor implements JobSource {
  readonly #waiting: PendingJob[] = [];
  readonly #pending = new Map<number, PendingJob>();
  #rid = 0;

  /** Scores a job. @throws JobFailure, JobReturned; any other error if it may be tried again */
  run(job: ExecutorJob): Promise<Uint8Array<ArrayBuffer>> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
    const rid = ++this.#rid;
    const lease = { ...job, rid, digest: "", deadline: Date.now() + job.timeout };
    const pending = { lease, resolve, reject };
    this.#pending.set(rid, pending);
    this.#waiting.push(pending);
    return promise;
  }

  lease(): Lease | null {
    return this.#waiting.shift()?.lease ?? null;
  }

  finish({ rid }: Lease, _version: unknown, prediction: Uint8Array<ArrayBuffer>): void {
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

  /** The job was cancelled. */
  drop(id: string): void {
    for (const { lease } of this.#pending.values())
      if (lease.id === id) this.fail(lease.rid, "The job was cancelled.");
  }

  /** Returns the jobs that no thread has started. */
  releaseWaiting(): void {
    for (let held; (held = this.#waiting.shift());) this.release(held.lease.rid);
  }

  #end(rid: number): PendingJob | undefined {
    const pending = this.#pending.get(rid);
    this.#pending.delete(rid);
    const at = this.#waiting.findIndex(({ lease }) => lease.rid === rid);
    if (at >= 0) this.#waiting.splice(at, 1);
    return pending;
  }
}
