import { Problem } from "../../problem.ts";
import type { AuditLog } from "../../accounts/audit.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";

/** Work that an administrator started and that takes longer than an answer may. Times are milliseconds since 1970-01-01 UTC. */
export interface Task {
  id: string;
  /** One of a kind runs at a time. */
  kind: TaskKind;
  /** What it is about, such as the name of a corpus. */
  subject: string;
  /** Who started it. */
  by: string;
  state: "running" | "done" | "failed" | "cancelled";
  started: number;
  ended: number | null;
  /** What it does now, or what became of it, for people. */
  said: string;
  /** How far it is, 0..1; null while that is not known. */
  fraction: number | null;
  /** What it found, in the form of its kind. */
  result: unknown;
}

export type TaskKind = "corpus-add" | "corpus-verify" | "backup" | "backup-verify" | "examination";

/** What the work says while it is done. */
export interface Report {
  /** Id of the task. */
  task: string;
  say(text: string): void;
  at(fraction: number): void;
  /** Aborted when somebody calls it off or the server stops. */
  signal: AbortSignal;
}

/** What the work ends with: a sentence, and what it found. */
export interface Outcome {
  said: string;
  result?: unknown;
}

/** Ended tasks that are remembered. */
const REMEMBERED = 50;

/** Tasks of this process. They end with it: what they wrote is whole or not there, and can be done again. */
export class Tasks {
  readonly #tasks = new Map<string, { task: Task; stop: AbortController; done: Promise<void> }>();
  #closed = false;

  constructor(
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly audit: AuditLog,
  ) {}

  /** All that are remembered, the newest first. */
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
  refuseSecond(kind: TaskKind): void {
    const running = this.list().find((task) => task.kind === kind && task.state === "running");
    if (running)
      throw new Problem("conflict", `${running.by} has begun the same, which still runs. Wait for its end.`);
    if (this.#closed) throw new Problem("busy", "The service is stopping.");
  }

  /** Begins work and gives the task at once. @throws Problem conflict where one of the kind runs */
  start(
    { kind, subject, by }: Pick<Task, "kind" | "subject" | "by">,
    work: (report: Report) => Promise<Outcome>,
  ): Task {
    this.refuseSecond(kind);
    const task: Task = {
      id: this.clock.newId(),
      kind,
      subject,
      by,
      state: "running",
      started: this.clock.now(),
      ended: null,
      said: "It begins.",
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
    // What a command beside the server notes itself is done by the system's account on behalf of who is named here.
    this.#note("task.start", task);
    const done = work(report).then(
      ({ said, result = null }) => Object.assign(task, { state: "done", said, result, fraction: 1 }),
      (error: unknown) => {
        const problem = Problem.from(error);
        const isOff = stop.signal.aborted;
        Object.assign(task, {
          state: isOff ? "cancelled" : "failed",
          said: isOff ? "It was called off." : problem.message,
        });
        if (!isOff) this.log.problem("administration", { task: kind, subject, cause: String(error) });
      },
    );
    this.#tasks.set(task.id, {
      task,
      stop,
      done: done.then(() => void (task.ended = this.clock.now())),
    });
    this.#forget();
    return task;
  }

  /** Calls a task off. @throws Problem not_found, conflict where it has ended */
  async cancel(id: string): Promise<Task> {
    const task = this.find(id);
    if (task.state !== "running") throw new Problem("conflict", "It has ended already.");
    const { stop, done } = this.#tasks.get(id)!;
    stop.abort();
    await done;
    this.#note("task.cancel", task);
    return task;
  }

  /** Calls all off and waits for their end. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { stop } of this.#tasks.values()) stop.abort();
    await Promise.all([...this.#tasks.values()].map(({ done }) => done));
  }

  #note(action: string, { id, kind, subject }: Task): void {
    this.audit.record({ action, subject: { kind: "task", id }, detail: { kind, subject } });
  }

  #forget(): void {
    for (const [id, { task }] of this.#tasks) {
      if (this.#tasks.size <= REMEMBERED) return;
      if (task.state !== "running") this.#tasks.delete(id);
    }
  }
}
