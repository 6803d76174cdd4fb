import type { Hit } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { findCause } from "../../platform/log.ts";
import { endSpan, startJob } from "../../platform/traces.ts";
import { memoryLimit, readOwnMemory, releaseMemory } from "../../platform/memory.ts";
import { SharedCorpus } from "../corpus/shared-corpus.ts";
import { JointSearch } from "./joint-search.ts";
import type { ScoringVersion } from "../corpus/corpus.ts";
import type { Lease } from "./fair-scheduler.ts";
import type { PoolOptions, Progress } from "./pool-options.ts";
import { workerAddress } from "./worker-entrypoints.ts";
import type { IdleTask } from "./background.ts";
import type {
  CarryTask,
  FamiliesReport,
  FamiliesTask,
  SearchTask,
  WorkerReport,
  WorkerTask,
} from "./worker-messages.ts";

type PoolTask = WorkerTask | SearchTask | FamiliesTask | CarryTask;
type PoolReport = WorkerReport | FamiliesReport;

/** The place of one worker, which is started with its first job and again after a crash. */
interface Slot {
  worker: Worker | null;
  job: Running | null;
  /** The job of another worker whose search this one helps with. */
  helps: Running | null;
  /** Work until a job comes. A job that interrupts it waits for the worker's answer. */
  background: { ticket: number; task: IdleTask } | null;
}

/** The state of one worker. */
interface WorkerStatus {
  /** True if the worker has been started. */
  alive: boolean;
  /** The job that the worker scores, and the job whose search it helps with. */
  job: string | null;
  helps: string | null;
  progress: Progress | null;
}

interface Running {
  lease: Lease;
  version: ScoringVersion;
  ticket: number;
  corpusPath: string | null;
  /** The search that others may help with; null if the job's worker searches alone. */
  search: JointSearch | null;
  progress: Progress;
  timer: Timer;
  span: ReturnType<typeof startJob>;
}

/** Milliseconds between checks of the memory. */
const MEMORY_INTERVAL = 250;
/** Sharing the search of a smaller corpus takes longer than the search itself. */
const MIN_SHARED_SEQUENCES = 32_768;
const DEFECT_MESSAGE =
  "The scoring failed because of a defect of the program; the server's log has the cause.";

/**
 * Passes jobs from the store to workers and results back. All bookkeeping is on this thread; whatever becomes of a worker
 * (a result, an error, silence, a crash) ends in exactly one transition of its job.
 *
 * While no job waits, idle workers help with the search of a running one. Losing a helper costs that job only time.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #workerUrl: string;
  readonly #slots: Slot[];
  readonly #corpus = new SharedCorpus();
  readonly #progress = new Map<string, Progress>();
  readonly #memoryLimit: number;
  #guard: Timer | undefined;
  readonly #retries = new Set<Timer>();
  /** True if a `wake` is among the retries. */
  #wakes = false;
  #tickets = 0;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#workerUrl = options.workerUrl ?? workerAddress();
    this.#memoryLimit =
      options.workerMemory === undefined
        ? memoryLimit() / 2
        : readOwnMemory() + options.size * options.workerMemory;
    this.#slots = Array.from({ length: options.size }, () => ({
      worker: null,
      job: null,
      helps: null,
      background: null,
    }));
  }

  /** Assigns waiting jobs, or parts of running searches, to idle workers. Call it whenever a job was accepted. */
  wake(): void {
    try {
      let waits = true;
      // Idle ones first: the others have to be interrupted.
      const slots = this.#slots.toSorted(
        (a, b) => Number(a.background !== null) - Number(b.background !== null),
      );
      for (const slot of slots) {
        if (this.#closed) return;
        if (slot.job !== null || slot.helps !== null) continue;
        waits &&= this.#start(slot);
        if (!waits && slot.background === null && !this.#help(slot)) this.#workInBackground(slot);
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

  /** Progress of a job; null if it is not running here. */
  progress(id: string): Progress | null {
    return this.#progress.get(id) ?? null;
  }

  /** Ends the worker of a job that is not needed any more; another takes its place. */
  drop(id: string): void {
    const slot = this.#slots.find((one) => one.job?.lease.id === id);
    if (slot) {
      this.#detach(slot);
      this.#terminate(slot);
    }
    this.#options.changed?.();
    this.wake();
  }

  /** Stops all workers and requeues their jobs. */
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
        // The next start recovers the job.
        this.#options.log.problem("job", { job: job?.lease.id, cause: describe(error) });
      }
    }
  }

  /** Starts the next job; false if none waits. */
  #start(slot: Slot): boolean {
    const { store, corpora } = this.#options;
    const lease = store.lease(this.#options.timeout);
    if (!lease) return false;
    const timeout = lease.timeout ?? this.#options.timeout;
    const ticket = ++this.#tickets;
    const progress: Progress = { stage: "start", fraction: 0 };
    const timer = setTimeout(() => this.#expire(slot, ticket), timeout);
    const corpus = corpora.active();
    const { size, minSharedSequences = MIN_SHARED_SEQUENCES } = this.#options;
    const isShared = (corpus?.sequences ?? 0) >= minSharedSequences && !lease.request.alignment;
    const search = size > 1 && isShared ? new JointSearch(1) : null;
    const job: Running = {
      lease,
      version: corpora.scoringVersion(),
      ticket,
      corpusPath: corpus?.path ?? null,
      search,
      progress,
      timer,
      span: startJob(lease.id, lease.attempts),
    };
    slot.job = job;
    slot.background?.task.interrupt();
    this.#guard ??= setInterval(() => this.#checkMemory(), MEMORY_INTERVAL);
    this.#progress.set(lease.id, progress);
    this.#options.changed?.();
    if (search) this.#join(slot, job, search);
    else this.#score(slot, job);
    return true;
  }

  #score(slot: Slot, { ticket, lease, corpusPath, search }: Running): void {
    // Without all hits of its helpers, the worker searches by itself.
    const hits = search?.take(0) ?? undefined;
    this.#send(slot, { ticket, request: lease.request, corpusPath, pack: true, hits });
  }

  /** Lets an idle worker join the search of the job that has run longest. */
  #help(slot: Slot): boolean {
    const jobs = this.#slots.flatMap(({ job }) => job ?? []).sort((a, b) => a.ticket - b.ticket);
    for (const job of jobs) {
      if (!job.search || !this.#join(slot, job, job.search)) continue;
      slot.helps = job;
      return true;
    }
    return false;
  }

  #workInBackground(slot: Slot): void {
    const task = this.#options.background?.take();
    if (!task) return;
    const ticket = ++this.#tickets;
    slot.background = { ticket, task };
    this.#guard ??= setInterval(() => this.#checkMemory(), MEMORY_INTERVAL);
    this.#send(slot, task.message(ticket));
  }

  #join(slot: Slot, { ticket, lease, corpusPath }: Running, search: JointSearch): boolean {
    if (!search.join(slot)) return false;
    this.#send(slot, { ticket, queries: [lease.request.query], corpusPath, counter: search.counter });
    return true;
  }

  /** Collects the hits of one worker, null if it is lost. After the last one, the job's own worker continues. */
  #gather(job: Running, hits: Hit[][] | null): void {
    job.search!.gather(hits);
    const own = this.#slots.find((slot) => slot.job === job);
    if (own && job.search!.isOver) this.#score(own, job);
  }

  #send(slot: Slot, task: PoolTask): void {
    const { corpusPath: path } = task;
    // One corpus at a time is in memory, that of the jobs.
    const isMapped = path === null || ("stop" in task && path !== this.#options.corpora.active()?.path);
    const bytes = isMapped ? undefined : this.#corpus.read(path);
    if (!(bytes instanceof Promise)) return this.#post(slot, task, bytes);
    const { ticket } = task;
    const isCurrent = (): boolean =>
      !this.#closed && [slot.job, slot.helps, slot.background].some((one) => one?.ticket === ticket);
    void bytes.then(
      (read) => {
        if (isCurrent()) this.#post(slot, task, read);
      },
      (error: unknown) => {
        const { message: reason } = Problem.from(error);
        if (isCurrent()) this.#onMessage(slot, { ticket, kind: "failed", reason, cause: String(error) });
      },
    );
  }

  #post(slot: Slot, task: PoolTask, corpusBytes: SharedArrayBuffer | undefined): void {
    slot.worker ??= this.#spawn(slot);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    slot.worker.postMessage({ ...task, corpusBytes });
  }

  #spawn(slot: Slot): Worker {
    const worker = new Worker(this.#workerUrl);
    worker.addEventListener("message", ({ data }: MessageEvent<PoolReport>) => this.#onMessage(slot, data));
    worker.addEventListener("error", (event) => {
      // Otherwise it would be an error of this process.
      event.preventDefault();
      this.#onExit(slot, worker, event.message);
    });
    worker.addEventListener("close", () => this.#onExit(slot, worker, "it ended"));
    return worker;
  }

  #onMessage(slot: Slot, report: PoolReport): void {
    if (slot.background?.ticket === report.ticket) {
      const { task } = slot.background;
      slot.background = null;
      task.report(report);
      return this.wake();
    }
    const job = slot.job ?? slot.helps;
    if (!job || job.ticket !== report.ticket || report.kind === "families") return;
    if (slot.helps) {
      if (report.kind === "progress") return;
      slot.helps = null;
      this.#gather(job, report.kind === "searched" ? report.hits : null);
      return this.wake();
    }
    if (report.kind === "progress") return this.#advance(job, report);
    if (report.kind === "searched") return this.#gather(job, report.hits);
    const { rid, id } = job.lease;
    this.#detach(slot, report.kind === "failed");
    this.#complete(id, () => {
      if (report.kind === "finished") {
        // Until it is written, the job is still running.
        this.#progress.set(id, job.progress);
        const packed = report.prediction as Uint8Array<ArrayBuffer>;
        return this.#options.store.finish(job.lease, job.version, packed);
      }
      this.#options.log.problem("job", { job: id, cause: report.cause });
      return this.#options.store.fail(rid, report.reason ?? DEFECT_MESSAGE);
    });
  }

  #advance({ progress, span }: Running, { stage, fraction }: Progress): void {
    const isSame = stage === progress.stage;
    progress.fraction = isSame ? Math.max(progress.fraction, fraction) : fraction;
    progress.stage = stage;
    if (isSame) return;
    span?.addEvent(stage);
    this.#options.changed?.();
  }

  #expire(slot: Slot, ticket: number): void {
    if (slot.job?.ticket !== ticket) return;
    const { lease } = slot.job;
    this.#detach(slot, true);
    this.#terminate(slot);
    const seconds = (lease.timeout ?? this.#options.timeout) / 1000;
    this.#complete(lease.id, () =>
      this.#options.store.fail(lease.rid, `The job was stopped after ${seconds} seconds.`),
    );
  }

  /** A worker ended. An error is followed by `close`: only the first event counts. */
  #onExit(slot: Slot, worker: Worker, cause: string): void {
    if (slot.worker !== worker) return;
    slot.worker = null;
    this.#loseBackground(slot, cause);
    const helped = slot.helps;
    if (helped) {
      this.#options.log.problem("worker", { job: helped.lease.id, cause });
      slot.helps = null;
      this.#gather(helped, null);
      return this.wake();
    }
    const job = this.#detach(slot);
    if (!job) return this.wake();
    this.#retry(job, cause, `The worker ended ${job.lease.attempts} times while it scored this job.`);
  }

  workerStatuses(): WorkerStatus[] {
    return this.#slots.map(({ worker, job, helps }) => ({
      alive: worker !== null,
      job: job?.lease.id ?? null,
      helps: helps?.lease.id ?? null,
      progress: job?.progress ?? null,
    }));
  }

  /** Number of workers and of busy ones, and the memory in bytes, as of `readOwnMemory`, above which a job is ended. */
  capacity(): { size: number; busy: number; memoryLimit: number } {
    const busy = this.#slots.filter(({ job }) => job !== null).length;
    return { size: this.#slots.length, busy, memoryLimit: this.#memoryLimit };
  }

  /**
   * Ends the longest-running job if the service has grown too large, before the operating system ends the process; first,
   * processes that are not needed now. Workers share its memory, so that the culprit is unknown; a job that is ended is
   * tried again.
   */
  #checkMemory(): void {
    const busy = this.#slots.filter(({ job, background }) => job !== null || background !== null);
    if (busy.length === 0) {
      clearInterval(this.#guard);
      this.#guard = undefined;
      return;
    }
    const bytes = readOwnMemory();
    if (bytes <= this.#memoryLimit || releaseMemory()) return;
    const [found, most] = [bytes, this.#memoryLimit].map((size) => Math.round(size / 1024 / 1024));
    const idle = busy.find(({ job }) => job === null);
    if (idle) {
      this.#loseBackground(idle, `the service used ${found} MB; at most ${most} are allowed`);
      return this.#terminate(idle);
    }
    const slot = busy.reduce((a, b) => (a.job!.ticket < b.job!.ticket ? a : b));
    const job = this.#detach(slot)!;
    this.#terminate(slot);
    this.#retry(
      job,
      `the service uses ${found} MB; at most ${most} are allowed`,
      `The job was stopped ${job.lease.attempts} times because the service took more than ${most} MB of memory.`,
    );
  }

  #retry({ lease: { rid, id, attempts } }: Running, cause: string, reason: string): void {
    this.#options.log.problem("worker", { job: id, attempts, cause });
    this.#complete(id, () => {
      this.#options.store.retry(rid, attempts, reason);
    });
  }

  /** Writes the end of a job, and takes the next meanwhile. A failed write is tried again. */
  #complete(id: string, write: () => unknown): void {
    const again = (error: unknown): void =>
      this.#retryLater(error, "job", { job: id }, () => this.#complete(id, write));
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

  /** Tries a write again: when another writer has finished, or after a while, for example if the disk is full. */
  #retryLater(error: unknown, event: string, about: { job?: string }, action: () => void): void {
    const isLocked = (error as { code?: string }).code === "SQLITE_BUSY";
    const writable = isLocked ? this.#options.waitUntilWritable?.() : undefined;
    if (writable) return void writable.catch(() => {}).then(() => this.#closed || action());
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

  /** Takes the job from its worker, whose messages about it are ignored from now on. */
  #detach(slot: Slot, isFailed = false): Running | null {
    const job = slot.job;
    slot.job = null;
    if (job) {
      endSpan(job.span, isFailed);
      clearTimeout(job.timer);
      this.#progress.delete(job.lease.id);
      // The helpers of the search might never end.
      for (const helper of this.#slots.filter(({ helps }) => helps === job)) this.#terminate(helper);
    }
    return job;
  }

  #terminate(slot: Slot): void {
    const worker = slot.worker;
    // Forget it first: its `close` must not count as a crash.
    slot.worker = null;
    slot.helps = null;
    this.#loseBackground(slot, null);
    worker?.terminate();
  }

  /** @param cause null if the task is not to blame */
  #loseBackground(slot: Slot, cause: string | null): void {
    const task = slot.background?.task;
    slot.background = null;
    if (!this.#closed) task?.lose(cause);
  }
}

function describe(error: unknown): string {
  return findCause(Problem.from(error)) ?? String(error);
}
