import { totalmem } from "node:os";
import type { Hit, Stage } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { causeOf, type Log } from "../../platform/log.ts";
import { JointSearch } from "./joint-search.ts";
import type { Basis } from "./store.ts";
import type { Lease } from "./fair-scheduler.ts";
import { workerAddress } from "./worker-entrypoints.ts";
import type { SearchTask, WorkerReport, WorkerTask } from "./worker.ts";

/** How far a running job is. */
export interface Progress {
  stage: "start" | Stage;
  /** Of the stage, 0..1. */
  fraction: number;
}

/** Where jobs come from, and what becomes of them: the queue of this process, or one that several machines share. */
export interface JobSource {
  /** The next job, for at most so many milliseconds; null where none waits. */
  lease(milliseconds: number): Lease | null;
  /** A promise where others' ends are waited for, which then are written together. */
  finish(lease: Lease, basis: Basis, prediction: string): unknown;
  fail(rid: number, reason: string): unknown;
  retry(rid: number, attempts: number, reason: string): unknown;
  release(rid: number, counted: boolean): unknown;
}

/** What jobs are scored on that begin now. */
export interface CorpusInUse {
  active(): { path: string; sequences: number } | null;
  basis(): Basis;
}

export interface PoolOptions {
  store: JobSource;
  corpora: CorpusInUse;
  log: Log;
  /** Workers, each with one job at a time; 0 leaves the queue alone. */
  size: number;
  /** Milliseconds that a job may take, where its lease says nothing else. */
  timeout: number;
  /** Bytes of memory that each worker may have; by default all share half of the machine's. */
  workerMemory?: number;
  /** Address of the worker's module; tests put others in its place. */
  workerUrl?: string;
  /** Milliseconds until a write that the disk refused is tried again. */
  retryInterval?: number;
  /** Undefined where one may write now, else a promise of that: an import may hold the database for seconds. */
  turn?: () => Promise<void> | undefined;
  /** Called when a job has begun or is in another step, and when it may have ended. */
  changed?: () => void;
  /** Sequences that a corpus has at least where idle workers help to search it. */
  shareFrom?: number;
}

/** One worker's place. The worker itself comes with the first job and again after a death. */
interface Seat {
  worker: Worker | null;
  job: Running | null;
  /** The job of another worker that this one helps to search for. */
  helps: Running | null;
}

/** What one worker does. */
export interface SeatView {
  /** Whether it was started: that happens with its first job. */
  alive: boolean;
  /** The job that it scores, and the job of another that it helps to search for. */
  job: string | null;
  helps: string | null;
  progress: Progress | null;
}

interface Running {
  lease: Lease;
  basis: Basis;
  ticket: number;
  corpusPath: string | null;
  /** The search that others may help with; null where the job's worker does everything. */
  search: JointSearch | null;
  progress: Progress;
  timer: Timer;
}

/** Milliseconds between two looks at the memory. */
const MEMORY_INTERVAL = 250;
/** Smaller corpora are searched in less time than it takes to tell others of it. */
const SHARE_FROM = 32_768;
const DEFECT = "The scoring stopped on a defect of the program; the server's log has the cause.";

/**
 * Takes jobs from the store to workers and results back. All bookkeeping is on this thread; a worker knows nothing
 * but its task, and whatever becomes of it (an answer, an error, silence, death) ends in exactly one transition.
 *
 * While no job waits, idle workers help with the search of a job that runs. The job stays its own worker's: a helper
 * that is lost costs the job time and nothing else, and helpers end with a job that is ended.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #workerUrl: string;
  readonly #seats: Seat[];
  readonly #progress = new Map<string, Progress>();
  readonly #memoryLimit: number;
  #guard: Timer | undefined;
  readonly #retries = new Set<Timer>();
  /** Whether a `wake` is among the retries. */
  #wakes = false;
  #tickets = 0;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#workerUrl = options.workerUrl ?? workerAddress();
    // Workers share the process: what they may have comes on top of what it has already.
    this.#memoryLimit =
      options.workerMemory === undefined
        ? // In a container the machine is not all there is to have.
          Math.min(totalmem(), process.constrainedMemory() || Infinity) / 2
        : process.memoryUsage.rss() + options.size * options.workerMemory;
    this.#seats = Array.from({ length: options.size }, () => ({
      worker: null,
      job: null,
      helps: null,
    }));
  }

  /** Gives waiting jobs to idle workers, and what is left of searches to those for whom there is none. Call it whenever a job was accepted. */
  wake(): void {
    try {
      let waits = true;
      for (const seat of this.#seats) {
        if (this.#closed) return;
        if (seat.job !== null || seat.helps !== null) continue;
        waits &&= this.#start(seat);
        if (!waits) this.#help(seat);
      }
    } catch (error) {
      if (this.#wakes) return;
      this.#wakes = true;
      this.#again(error, "pool", {}, () => {
        this.#wakes = false;
        this.wake();
      });
    }
  }

  /** How far a running job is; null where it is not running here. */
  progress(id: string): Progress | null {
    return this.#progress.get(id) ?? null;
  }

  /** Nobody waits for this job any more: where a worker has it, that one is ended and its place taken by another. */
  drop(id: string): void {
    const seat = this.#seats.find((one) => one.job?.lease.id === id);
    if (seat) {
      this.#leave(seat);
      this.#dismiss(seat);
    }
    this.#options.changed?.();
    this.wake();
  }

  /** Stops all workers and gives their jobs back to the queue. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#guard);
    for (const timer of this.#retries) clearTimeout(timer);
    const jobs = this.#seats.map((seat) => this.#leave(seat));
    for (const seat of this.#seats) this.#dismiss(seat);
    for (const job of jobs) {
      try {
        if (job) this.#options.store.release(job.lease.rid, false);
      } catch (error) {
        // The disk is full, say: the next start recovers it.
        this.#options.log.problem("job", { job: job?.lease.id, cause: describe(error) });
      }
    }
  }

  /** Starts the oldest job; false where none waits. */
  #start(seat: Seat): boolean {
    const { store, corpora } = this.#options;
    const lease = store.lease(this.#options.timeout);
    if (!lease) return false;
    const timeout = lease.timeout ?? this.#options.timeout;
    const ticket = ++this.#tickets;
    const progress: Progress = { stage: "start", fraction: 0 };
    const timer = setTimeout(() => this.#expire(seat, ticket), timeout);
    const corpus = corpora.active();
    const { size, shareFrom = SHARE_FROM } = this.#options;
    const search = size > 1 && (corpus?.sequences ?? 0) >= shareFrom ? new JointSearch(1) : null;
    const corpusPath = corpus?.path ?? null;
    const job: Running = { lease, basis: corpora.basis(), ticket, corpusPath, search, progress, timer };
    seat.job = job;
    this.#guard ??= setInterval(() => this.#lookAtMemory(), MEMORY_INTERVAL);
    this.#progress.set(lease.id, progress);
    this.#options.changed?.();
    if (search) this.#join(seat, job, search);
    else this.#score(seat, job);
    return true;
  }

  #score(seat: Seat, { ticket, lease, corpusPath, search }: Running): void {
    // Without hits, or where some are lost, the worker searches for itself.
    const hits = search?.take(0) ?? undefined;
    this.#send(seat, { ticket, request: lease.request, corpusPath, hits });
  }

  /** Lets an idle worker take part in the search of the job that has run longest. */
  #help(seat: Seat): void {
    const jobs = this.#seats.flatMap(({ job }) => job ?? []).sort((a, b) => a.ticket - b.ticket);
    for (const job of jobs) {
      if (!job.search || !this.#join(seat, job, job.search)) continue;
      seat.helps = job;
      return;
    }
  }

  #join(seat: Seat, { ticket, lease, corpusPath }: Running, search: JointSearch): boolean {
    if (!search.join(seat)) return false;
    this.#send(seat, { ticket, queries: [lease.request.query], corpusPath, counter: search.counter });
    return true;
  }

  /** What one worker found for a job, or null where it is lost. When all are through, the job's own worker goes on. */
  #gather(job: Running, hits: Hit[][] | null): void {
    job.search!.gather(hits);
    const own = this.#seats.find((seat) => seat.job === job);
    if (own && job.search!.isOver) this.#score(own, job);
  }

  #send(seat: Seat, task: WorkerTask | SearchTask): void {
    seat.worker ??= this.#hire(seat);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    seat.worker.postMessage(task);
  }

  #hire(seat: Seat): Worker {
    const worker = new Worker(this.#workerUrl);
    worker.addEventListener("message", ({ data }: MessageEvent<WorkerReport>) => this.#hear(seat, data));
    worker.addEventListener("error", (event) => {
      // Otherwise an error of a worker is one of this process.
      event.preventDefault();
      this.#bury(seat, worker, event.message);
    });
    worker.addEventListener("close", () => this.#bury(seat, worker, "it ended"));
    return worker;
  }

  #hear(seat: Seat, report: WorkerReport): void {
    const job = seat.job ?? seat.helps;
    if (!job || job.ticket !== report.ticket) return;
    if (seat.helps) {
      if (report.kind === "progress") return;
      seat.helps = null;
      this.#gather(job, report.kind === "searched" ? report.hits : null);
      return this.wake();
    }
    if (report.kind === "progress") {
      const { progress } = job;
      const isSame = report.stage === progress.stage;
      progress.fraction = isSame ? Math.max(progress.fraction, report.fraction) : report.fraction;
      progress.stage = report.stage;
      if (!isSame) this.#options.changed?.();
      return;
    }
    if (report.kind === "searched") return this.#gather(job, report.hits);
    const { rid, id } = job.lease;
    this.#leave(seat);
    this.#settle(id, () => {
      if (report.kind === "finished") {
        // Until it is written the job runs, and is as far as it was.
        this.#progress.set(id, job.progress);
        return this.#options.store.finish(job.lease, job.basis, report.prediction);
      }
      this.#options.log.problem("job", { job: id, cause: report.cause });
      return this.#options.store.fail(rid, report.reason ?? DEFECT);
    });
  }

  #expire(seat: Seat, ticket: number): void {
    if (seat.job?.ticket !== ticket) return;
    const { lease } = seat.job;
    this.#leave(seat);
    this.#dismiss(seat);
    const seconds = (lease.timeout ?? this.#options.timeout) / 1000;
    this.#settle(lease.id, () =>
      this.#options.store.fail(
        lease.rid,
        `The job took longer than the ${seconds} seconds that one may take (setting job_timeout) and was stopped.`,
      ),
    );
  }

  /** A worker died. Errors come with a `close` behind them: only the first word counts. */
  #bury(seat: Seat, worker: Worker, cause: string): void {
    if (seat.worker !== worker) return;
    seat.worker = null;
    const helped = seat.helps;
    if (helped) {
      this.#options.log.problem("worker", { job: helped.lease.id, cause });
      seat.helps = null;
      this.#gather(helped, null);
      return this.wake();
    }
    const job = this.#leave(seat);
    if (!job) return;
    this.#retry(job, cause, `The worker ended ${job.lease.attempts} times while it scored this job.`);
  }

  /** What each worker does. */
  seats(): SeatView[] {
    return this.#seats.map(({ worker, job, helps }) => ({
      alive: worker !== null,
      job: job?.lease.id ?? null,
      helps: helps?.lease.id ?? null,
      progress: job?.progress ?? null,
    }));
  }

  /** Places, those that have a job, and the bytes of the process from which on a job is ended. */
  vitals(): { size: number; busy: number; memoryLimit: number } {
    const busy = this.#seats.filter(({ job }) => job !== null).length;
    return { size: this.#seats.length, busy, memoryLimit: this.#memoryLimit };
  }

  /**
   * Ends the job that has run longest where the process has grown too large: before the operating system ends all of
   * it. Workers share the process, so that whose memory it is cannot be told; a job that is ended without fault is
   * tried again, and what grows on is the longest-running one the next time. A worker's memory is free with its end.
   */
  #lookAtMemory(): void {
    const busy = this.#seats.filter(({ job }) => job !== null);
    if (busy.length === 0) {
      clearInterval(this.#guard);
      this.#guard = undefined;
      return;
    }
    const bytes = process.memoryUsage.rss();
    if (bytes <= this.#memoryLimit) return;
    const seat = busy.reduce((a, b) => (a.job!.ticket < b.job!.ticket ? a : b));
    const job = this.#leave(seat)!;
    this.#dismiss(seat);
    const [found, most] = [bytes, this.#memoryLimit].map((size) => Math.round(size / 1024 / 1024));
    this.#retry(
      job,
      `the process has ${found} MB, at most ${most}`,
      `The job was stopped ${job.lease.attempts} times because the service took more than ${most} MB of memory.`,
    );
  }

  #retry({ lease: { rid, id, attempts } }: Running, cause: string, reason: string): void {
    this.#options.log.problem("worker", { job: id, attempts, cause });
    this.#settle(id, () => {
      this.#options.store.retry(rid, attempts, reason);
    });
  }

  /**
   * Writes what became of a job, then takes the next; where writing takes its time, meanwhile. What the disk refuses is
   * tried again; should the process end before, the next start recovers the job.
   */
  #settle(id: string, write: () => unknown): void {
    const again = (error: unknown): void =>
      this.#again(error, "job", { job: id }, () => this.#settle(id, write));
    const settled = (): void => {
      this.#progress.delete(id);
      this.#options.changed?.();
      this.wake();
    };
    try {
      const written = write();
      if (!(written instanceof Promise)) return settled();
      void written.then(settled, again);
    } catch (error) {
      again(error);
      this.#options.changed?.();
    }
    this.wake();
  }

  /** Tries a write again: as soon as it may be written, or after a while where the disk is full, say. Jobs stay what they are. */
  #again(error: unknown, event: string, about: { job?: string }, action: () => void): void {
    const isLocked = (error as { code?: string }).code === "SQLITE_BUSY";
    const turn = isLocked ? this.#options.turn?.() : undefined;
    if (turn) return void turn.catch(() => {}).then(() => this.#closed || action());
    this.#options.log.problem(event, { ...about, cause: describe(error) });
    this.#later(action);
  }

  #later(action: () => void): void {
    const timer = setTimeout(() => {
      this.#retries.delete(timer);
      action();
    }, this.#options.retryInterval ?? 5000);
    this.#retries.add(timer);
  }

  /** Takes the job from its worker; from here on nothing that worker says about it counts. */
  #leave(seat: Seat): Running | null {
    const job = seat.job;
    seat.job = null;
    if (job) {
      clearTimeout(job.timer);
      this.#progress.delete(job.lease.id);
      // What helpers find now is of no use, and may never end.
      for (const helper of this.#seats.filter(({ helps }) => helps === job)) this.#dismiss(helper);
    }
    return job;
  }

  #dismiss(seat: Seat): void {
    const worker = seat.worker;
    // First forgotten, then ended: its `close` must not count as a death.
    seat.worker = null;
    seat.helps = null;
    worker?.terminate();
  }
}

function describe(error: unknown): string {
  return causeOf(Problem.from(error)) ?? String(error);
}
