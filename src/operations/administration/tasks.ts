import { Problem } from "../../problem.ts";
import type { AuditLog } from "../../accounts/audit.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";

export const TASK_KINDS = [
  "corpus-add",
  "corpus-verify",
  "features-add",
  "backup",
  "backup-verify",
  "examination",
] as const;
export type TaskKind = (typeof TASK_KINDS)[number];
export const TASK_STATES = ["running", "done", "failed", "cancelled"] as const;

/** Work that takes longer than a request may. Times are milliseconds since 1970-01-01 UTC. */
export interface Task {
  id: string;
  /** One task of a kind runs at a time. */
  kind: TaskKind;
  /** The name of a corpus or backup. */
  subject: string;
  /** The user who started it. */
  by: string;
  state: (typeof TASK_STATES)[number];
  started: number;
  ended: number | null;
  /** What it is doing, or its outcome, as a sentence. */
  said: string;
  /** The part that is done, 0..1; null while unknown. */
  fraction: number | null;
  result: unknown;
}

/** Reports the progress of a task. */
export interface Report {
  /** Id of the task. */
  task: string;
  say(text: string): void;
  at(fraction: number): void;
  /** Aborted when the task is cancelled or the server stops. */
  signal: AbortSignal;
}

export interface Outcome {
  said: string;
  result?: unknown;
}

/** Number of ended tasks to keep. */
const KEPT = 50;

/** The tasks of this process. They end with it, and can be started again. */
export class Tasks {
  readonly #tasks = new Map<string, { task: Task; stop: AbortController; done: Promise<void> }>();
  #closed = false;

  constructor(
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly audit: AuditLog,
  ) {}

  /** Newest first. */
  list(): Task[] {
    return [...this.#tasks.values()].map(({ task }) => task).reverse();
  }

  /** @throws Problem not_found */
  find(id: string): Task {
    const found = this.#tasks.get(id);
    if (!found) throw new Problem("not_found", "There is no such task, or it ended long ago.");
    return found.task;
  }

  /** @throws Problem conflict where one of the kind runs */
  requireNoneRunning(kind: TaskKind): void {
    const running = this.list().find((task) => task.kind === kind && task.state === "running");
    if (running)
      throw new Problem(
        "conflict",
        `A task of this kind, started by ${running.by}, is still running. Wait until it ends.`,
      );
    if (this.#closed) throw new Problem("busy", "The service is stopping.");
  }

  /** Starts work. @throws Problem conflict where one of the kind runs */
  start(
    { kind, subject, by }: Pick<Task, "kind" | "subject" | "by">,
    work: (report: Report) => Promise<Outcome>,
  ): Task {
    this.requireNoneRunning(kind);
    const task: Task = {
      id: this.clock.newId(),
      kind,
      subject,
      by,
      state: "running",
      started: this.clock.now(),
      ended: null,
      said: "Starting.",
      fraction: null,
      result: null,
    };
    const stop = new AbortController();
    const report: Report = {
      task: task.id,
      say: (text) => void (task.said = text),
      at: (fraction) => void (task.fraction = fraction),
      signal: stop.signal,
    };
    this.log.info("administration", { task: kind, subject, by });
    // Entries of its commands name the system's account, on behalf of this user.
    this.#record("task.start", task);
    const done = work(report).then(
      ({ said, result = null }) => Object.assign(task, { state: "done", said, result, fraction: 1 }),
      (error: unknown) => {
        const problem = Problem.from(error);
        const isCancelled = stop.signal.aborted;
        Object.assign(task, {
          state: isCancelled ? "cancelled" : "failed",
          said: isCancelled ? "Cancelled." : problem.message,
        });
        if (!isCancelled) this.log.problem("administration", { task: kind, subject, cause: String(error) });
      },
    );
    this.#tasks.set(task.id, {
      task,
      stop,
      done: done.then(() => void (task.ended = this.clock.now())),
    });
    this.#dropOldest();
    return task;
  }

  /** Cancels a task. @throws Problem not_found, conflict where it has ended */
  async cancel(id: string): Promise<Task> {
    const task = this.find(id);
    if (task.state !== "running") throw new Problem("conflict", "The task has already ended.");
    const { stop, done } = this.#tasks.get(id)!;
    this.#record("task.cancel", task);
    stop.abort();
    await done;
    return task;
  }

  /** Cancels all and waits for their end. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { stop } of this.#tasks.values()) stop.abort();
    await Promise.all([...this.#tasks.values()].map(({ done }) => done));
  }

  #record(action: string, { id, kind, subject }: Task): void {
    this.audit.record({ action, subject: { kind: "task", id }, detail: { kind, subject } });
  }

  #dropOldest(): void {
    for (const [id, { task }] of this.#tasks) {
      if (this.#tasks.size <= KEPT) return;
      if (task.state !== "running") this.#tasks.delete(id);
    }
  }
}
