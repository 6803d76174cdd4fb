import { totalmem } from "node:os";
import type { Hit, Stage } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { causeOf, type Log } from "../../platform/log.ts";
import { JointSearch } from "./joint-search.ts";
import type { ScoringVersion } from "./store.ts";
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
  finish(lease: Lease, scoringVersion: ScoringVersion, prediction: string): unknown;
  fail(rid: number, reason: string): unknown;
  retry(rid: number, attempts: number, reason: string): unknown;
  release(rid: number, counted: boolean): unknown;
}

/** What jobs are scored on that begin now. */
export interface CorpusInUse {
  active(): { path: string; sequences: number } | null;
  scoringVersion(): ScoringVersion;
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
interface Slot {
  worker: Worker | null;
  job: Running | null;
  /** The job of another worker that this one helps to search for. */
  helps: Running | null;
}

/** What one worker does. */
export interface WorkerStatus {
  /** Whether it was started: that happens with its first job. */
  alive: boolean;
  /** The job that it scores, and the job of another that it helps to search for. */
  job: string | null;
  helps: string | null;
  progress: Progress | null;
}

interface Running {
  lease: Lease;
  scoringVersion: ScoringVersion;
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
  readonly #slots: Slot[];
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
    this.#slots = Array.from({ length: options.size }, () => ({
      worker: null,
      job: null,
      helps: null,
    }));
  }

  /** Gives waiting jobs to idle workers, and what is left of searches to those for whom there is none. Call it whenever a job was accepted. */
  wake(): void {
    try {
      let waits = true;
      for (const slot of this.#slots) {
        if (this.#closed) return;
        if (slot.job !== null || slot.helps !== null) continue;
        waits &&= this.#start(slot);
        if (!waits) this.#help(slot);
      }
    } catch (error) {
      if (this.#wakes) return;
      this.#wakes = true;
      this.#retryLater(error, "pool", {}, () => {
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
    const slot = this.#slots.find((one) => one.job?.lease.id === id);
    if (slot) {
      this.#detach(slot);
      this.#terminate(slot);
    }
    this.#options.changed?.();
    this.wake();
  }

  /** Stops all workers and gives their jobs back to the queue. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#guard);
    for (const timer of this.#retries) clearTimeout(timer);
    const jobs = this.#slots.map((slot) => this.#detach(slot));
    for (const slot of this.#slots) this.#terminate(slot);
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
  #start(slot: Slot): boolean {
    const { store, corpora } = this.#options;
    const lease = store.lease(this.#options.timeout);
    if (!lease) return false;
    const timeout = lease.timeout ?? this.#options.timeout;
    const ticket = ++this.#tickets;
    const progress: Progress = { stage: "start", fraction: 0 };
    const timer = setTimeout(() => this.#expire(slot, ticket), timeout);
    const corpus = corpora.active();
    const { size, shareFrom = SHARE_FROM } = this.#options;
    const search = size > 1 && (corpus?.sequences ?? 0) >= shareFrom ? new JointSearch(1) : null;
    const corpusPath = corpus?.path ?? null;
    const job: Running = {
      lease,
      scoringVersion: corpora.scoringVersion(),
      ticket,
      corpusPath,
      search,
      progress,
      timer,
    };
    slot.job = job;
    this.#guard ??= setInterval(() => this.#checkMemory(), MEMORY_INTERVAL);
    this.#progress.set(lease.id, progress);
    this.#options.changed?.();
    if (search) this.#join(slot, job, search);
    else this.#score(slot, job);
    return true;
  }

  #score(slot: Slot, { ticket, lease, corpusPath, search }: Running): void {
    // Without hits, or where some are lost, the worker searches for itself.
    const hits = search?.take(0) ?? undefined;
    this.#send(slot, { ticket, request: lease.request, corpusPath, hits });
  }

  /** Lets an idle worker take part in the search of the job that has run longest. */
  #help(slot: Slot): void {
    const jobs = this.#slots.flatMap(({ job }) => job ?? []).sort((a, b) => a.ticket - b.ticket);
    for (const job of jobs) {
      if (!job.search || !this.#join(slot, job, job.search)) continue;
      slot.helps = job;
      return;
    }
  }

  #join(slot: Slot, { ticket, lease, corpusPath }: Running, search: JointSearch): boolean {
    if (!search.join(slot)) return false;
    this.#send(slot, { ticket, queries: [lease.request.query], corpusPath, counter: search.counter });
    return true;
  }

  /** What one worker found for a job, or null where it is lost. When all are through, the job's own worker goes on. */
  #gather(job: Running, hits: Hit[][] | null): void {
    job.search!.gather(hits);
    const own = this.#slots.find((slot) => slot.job === job);
    if (own && job.search!.isOver) this.#score(own, job);
  }

  #send(slot: Slot, task: WorkerTask | SearchTask): void {
    slot.worker ??= this.#spawn(slot);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    slot.worker.postMessage(task);
  }

  #spawn(slot: Slot): Worker {
    const worker = new Worker(this.#workerUrl);
    worker.addEventListener("message", ({ data }: MessageEvent<WorkerReport>) => this.#onMessage(slot, data));
    worker.addEventListener("error", (event) => {
      // Otherwise an error of a worker is one of this process.
      event.preventDefault();
      this.#onExit(slot, worker, event.message);
    });
    worker.addEventListener("close", () => this.#onExit(slot, worker, "it ended"));
    return worker;
  }

  #onMessage(slot: Slot, report: WorkerReport): void {
    const job = slot.job ?? slot.helps;
    if (!job || job.ticket !== report.ticket) return;
    if (slot.helps) {
      if (report.kind === "progress") return;
      slot.helps = null;
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
    this.#detach(slot);
    this.#settle(id, () => {
      if (report.kind === "finished") {
        // Until it is written the job runs, and is as far as it was.
        this.#progress.set(id, job.progress);
        return this.#options.store.finish(job.lease, job.scoringVersion, report.prediction);
      }
      this.#options.log.problem("job", { job: id, cause: report.cause });
      return this.#options.store.fail(rid, report.reason ?? DEFECT);
    });
  }

  #expire(slot: Slot, ticket: number): void {
    if (slot.job?.ticket !== ticket) return;
    const { lease } = slot.job;
    this.#detach(slot);
    this.#terminate(slot);
    const seconds = (lease.timeout ?? this.#options.timeout) / 1000;
    this.#settle(lease.id, () =>
      this.#options.store.fail(
        lease.rid,
        `The job took longer than the ${seconds} seconds that one may take (setting job_timeout) and was stopped.`,
      ),
    );
  }

  /** A worker died. Errors come with a `close` behind them: only the first word counts. */
  #onExit(slot: Slot, worker: Worker, cause: string): void {
    if (slot.worker !== worker) return;
    slot.worker = null;
    const helped = slot.helps;
    if (helped) {
      this.#options.log.problem("worker", { job: helped.lease.id, cause });
      slot.helps = null;
      this.#gather(helped, null);
      return this.wake();
    }
    const job = this.#detach(slot);
    if (!job) return;
    this.#retry(job, cause, `The worker ended ${job.lease.attempts} times while it scored this job.`);
  }

  /** What each worker does. */
  workerStatuses(): WorkerStatus[] {
    return this.#slots.map(({ worker, job, helps }) => ({
      alive: worker !== null,
      job: job?.lease.id ?? null,
      helps: helps?.lease.id ?? null,
      progress: job?.progress ?? null,
    }));
  }

  /** Places, those that have a job, and the bytes of the process from which on a job is ended. */
  capacity(): { size: number; busy: number; memoryLimit: number } {
    const busy = this.#slots.filter(({ job }) => job !== null).length;
    return { size: this.#slots.length, busy, memoryLimit: this.#memoryLimit };
  }

  /**
   * Ends the job that has run longest where the process has grown too large: before the operating system ends all of
   * it. Workers share the process, so that whose memory it is cannot be told; a job that is ended without fault is
   * tried again, and what grows on is the longest-running one the next time. A worker's memory is free with its end.
   */
  #checkMemory(): void {
    const busy = this.#slots.filter(({ job }) => job !== null);
    if (busy.length === 0) {
      clearInterval(this.#guard);
      this.#guard = undefined;
      return;
    }
    const bytes = process.memoryUsage.rss();
    if (bytes <= this.#memoryLimit) return;
    const slot = busy.reduce((a, b) => (a.job!.ticket < b.job!.ticket ? a : b));
    const job = this.#detach(slot)!;
    this.#terminate(slot);
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
      this.#retryLater(error, "job", { job: id }, () => this.#settle(id, write));
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
  #retryLater(error: unknown, event: string, about: { job?: string }, action: () => void): void {
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
  #detach(slot: Slot): Running | null {
    const job = slot.job;
    slot.job = null;
    if (job) {
      clearTimeout(job.timer);
      this.#progress.delete(job.lease.id);
      // What helpers find now is of no use, and may never end.
      for (const helper of this.#slots.filter(({ helps }) => helps === job)) this.#terminate(helper);
    }
    return job;
  }

  #terminate(slot: Slot): void {
    const worker = slot.worker;
    // First forgotten, then ended: its `close` must not count as a death.
    slot.worker = null;
    slot.helps = null;
    worker?.terminate();
  }
}

function describe(error: unknown): string {
  return causeOf(Problem.from(error)) ?? String(error);
}
