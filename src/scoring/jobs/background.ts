import { Problem } from "../../problem.ts";
import type { CarryTask, FamiliesReport, FamiliesTask } from "./worker-messages.ts";
import type { WorkerReport } from "./worker-messages.ts";

/** The number of workers that may die with a task. */
const MAX_LOSSES = 3;

type Task = FamiliesTask | CarryTask;

/** Work for an idle worker. */
export interface IdleTask {
  /** The message for the worker. */
  message(ticket: number): Task;
  /** Makes the worker report its results within a fraction of a second. */
  interrupt(): void;
  report(report: WorkerReport | FamiliesReport): void;
  /** The worker died, or was ended for another reason: null if the task is not to blame. */
  lose(cause: string | null): void;
}

/** Work that a pool does while there is no job. */
export interface IdleWork {
  take(): IdleTask | null;
}

/** A task for idle workers, given out in parts if it is interrupted. */
export class BackgroundTask implements IdleTask {
  readonly #done = Promise.withResolvers<FamiliesReport>();
  #families: FamiliesReport["families"] = [];
  /** Members given out at a time. */
  #size = Infinity;
  #losses = 0;
  #remoteLosses = 0;
  #stop = new Int32Array(new SharedArrayBuffer(4));

  constructor(
    private readonly task: Task,
    private readonly putBack: (task: BackgroundTask) => void,
  ) {
    // A result that nobody waits for any more may fail silently.
    this.done.catch(() => {});
  }

  get done(): Promise<FamiliesReport> {
    return this.#done.promise;
  }

  message(ticket: number): Task {
    const { task } = this;
    this.#stop = new Int32Array(new SharedArrayBuffer(4));
    const common = { ticket, stop: this.#stop };
    if (!("members" in task)) return { ...task, ...common };
    return { ...task, ...common, members: this.#left(task).slice(0, this.#size) };
  }

  #left({ members }: FamiliesTask): number[] {
    return members.slice(this.#families.length);
  }

  interrupt(): void {
    Atomics.store(this.#stop, 0, 1);
  }

  get isInterrupted(): boolean {
    return Atomics.load(this.#stop, 0) === 1;
  }

  /** True if a remote worker may have it, which has only the corpus in use. */
  isRemote(corpusPath: string): boolean {
    const { task } = this;
    return "members" in task && task.corpusPath === corpusPath && this.#remoteLosses < MAX_LOSSES;
  }

  report(report: WorkerReport | FamiliesReport): void {
    if (report.kind === "failed") {
      const { reason, cause } = report;
      return this.fail(reason === null ? new Error(cause) : new Problem("bad_corpus", reason));
    }
    if (report.kind !== "families") return;
    const { task } = this;
    const { families, isInterrupted } = report;
    if ("members" in task) {
      this.#families = this.#families.concat(families);
      // The search is for all members: fewer take less time.
      if (isInterrupted && families.length === 0)
        this.#size = Math.ceil(Math.min(this.#size, this.#left(task).length) / 2);
      if (this.#left(task).length > 0) return this.putBack(this);
    } else {
      if (isInterrupted) return this.putBack(this);
      this.#families = families;
    }
    this.#done.resolve({ ticket: task.ticket, kind: "families", families: this.#families });
  }

  lose(cause: string | null): void {
    if (cause !== null && ++this.#losses === MAX_LOSSES)
      this.fail(new Problem("internal", `A worker ended ${MAX_LOSSES} times: ${cause}`));
    else this.putBack(this);
  }

  /** A remote worker vanished, or failed. After some times only the workers of this process get the task. */
  releaseRemote(): void {
    this.#remoteLosses++;
    this.putBack(this);
  }

  fail(error: Error): void {
    this.#done.reject(error);
  }
}

/** Tasks that workers do while there is no job for them. */
export class BackgroundQueue implements IdleWork {
  #waiting: BackgroundTask[] = [];
  /** Called when there are new tasks. */
  wake: () => void = () => {};

  take(): BackgroundTask | null {
    return this.#waiting.shift() ?? null;
  }

  /** A task for a remote worker. @param corpusPath the corpus in use */
  takeRemote(corpusPath: string): BackgroundTask | null {
    const at = this.#waiting.findIndex((task) => task.isRemote(corpusPath));
    return at < 0 ? null : this.#waiting.splice(at, 1)[0];
  }

  /** Runs tasks and yields their reports in order. @throws the reason of the signal when it is aborted */
  async *run(tasks: readonly Task[], signal: AbortSignal): AsyncGenerator<FamiliesReport> {
    signal.throwIfAborted();
    const own = new Set<BackgroundTask>();
    const putBack = (task: BackgroundTask): void => {
      if (!own.has(task)) return;
      this.#waiting.unshift(task);
      this.wake();
    };
    for (const [ticket, task] of tasks.entries()) own.add(new BackgroundTask({ ...task, ticket }, putBack));
    const all = [...own];
    const end = (): void => {
      own.clear();
      this.#waiting = this.#waiting.filter((task) => !all.includes(task));
      for (const task of all) {
        task.interrupt();
        task.fail(signal.reason as Error);
      }
    };
    signal.addEventListener("abort", end, { once: true });
    this.#waiting.push(...all);
    this.wake();
    try {
      for (const { done } of all) yield await done;
    } finally {
      signal.removeEventListener("abort", end);
      end();
    }
  }
}
