import { setTimeout as sleep } from "node:timers/promises";
import { getAuditLog } from "../accounts/audit.ts";
import type { Clock } from "../platform/clock.ts";
import type { RepeatableRequest } from "../platform/idempotency-key.ts";
import type { Log } from "../platform/log.ts";
import type { Database } from "../platform/sqlite.ts";
import { traced } from "../platform/traces.ts";
import { getWriteLock } from "../platform/write-lock.ts";
import { Problem } from "../problem.ts";
import { TaskTable } from "./task-table.ts";
import {
  type NewTask,
  type Outcome,
  type Report,
  type StoredTask,
  type Task,
  taskHasEnded,
  type TaskKind,
  type TaskSource,
  type Work,
} from "./task.ts";

interface TasksOptions {
  database: Database;
  clock: Clock;
  log: Log;
}

/** The work of a task in this process. */
interface Running {
  kind: TaskKind;
  stop: AbortController;
  done: Promise<void>;
  shown: Pick<Task, "message" | "fraction" | "result">;
}

/** Milliseconds after which a write that failed, for example on a full disk, is tried again: at first, and at most. */
const RETRY = 5000;
const MAX_RETRY = 300_000;
const STOPPED_MESSAGE = "The server stopped while the task was running. Start it again.";

/**
 * Work that takes longer than a request: a row of the table `task` each, and work in this process. Kinds that can continue
 * do so after a restart; tasks of the others end as failed then.
 */
export class Tasks {
  readonly #table: TaskTable;
  readonly #kinds = new Map<string, TaskKind>();
  readonly #sources: TaskSource[] = [];
  readonly #running = new Map<string, Running>();
  /** Ended tasks whose end a damaged database could not store. */
  readonly #unstored = new Map<string, Pick<Task, "state" | "ended" | "message">>();
  readonly #closing = new AbortController();
  /** Called when a task has changed. */
  changed: () => void = () => {};

  constructor(private readonly options: TasksOptions) {
    this.#table = new TaskTable(options.database);
  }

  register<Request>(kind: TaskKind<Request>): void {
    this.#kinds.set(kind.name, kind as TaskKind);
  }

  /** Shows other work as tasks. */
  addSource(source: TaskSource): void {
    this.#sources.push(source);
  }

  /** The kind of a task; one of another version is only for its owner. */
  findKind({ kind }: Pick<Task, "kind">): Pick<TaskKind, "title" | "readers" | "path"> {
    const known = this.#kinds.get(kind) ?? this.#sources.find((source) => source.kind.name === kind)?.kind;
    return known ?? { title: kind, readers: "owner" };
  }

  /** Names of all kinds. */
  get kinds(): string[] {
    return [...this.#kinds.keys(), ...this.#sources.map(({ kind }) => kind.name)];
  }

  /** Continues what a former process has left, after all kinds are registered. */
  open(): void {
    const resumable = [...this.#kinds.values()].filter(({ run }) => run !== undefined);
    this.#failOthers(resumable.map(({ name }) => name));
    for (const kind of resumable) {
      if (kind.whileRunning === "wait") this.#runNext(kind);
      else for (const task of this.#table.unfinished(kind.name)) this.#run(kind, task, kind.run!);
    }
  }

  /**
   * Starts a task, or queues it. @param work if the kind has none of its own
   * @throws Problem conflict if the kind allows no other while one runs; busy while the service stops
   */
  start<Request>(
    given: TaskKind<Request>,
    input: NewTask<Request>,
    work: Work<Request> | undefined = given.run,
  ): Task {
    const kind = given as TaskKind;
    this.requireTurn(kind);
    const { database, clock, log } = this.options;
    const waits = kind.whileRunning === "wait" && this.#ofKind(kind).length > 0;
    const [id, now] = [clock.newId(), clock.now()];
    let removed: StoredTask[] = [];
    const task = database
      .transaction(() => {
        const inserted = this.#table.insert(kind, input, { id, now, state: waits ? "queued" : "running" });
        removed = this.#table.removeOld(kind, input.client, now);
        this.#record("start", kind, inserted);
        input.inTransaction?.(inserted);
        return inserted;
      })
      .immediate();
    if (removed.length > 0) kind.removed?.(removed);
    log.info("task", { kind: kind.name, task: id, subject: task.subject });
    if (!waits) this.#run(kind, task, work as Work);
    return this.find(id);
  }

  /** Id of the task that the client has started with this request; null if there is none. @throws Problem key_reused */
  findRepeated(
    kind: Pick<TaskKind, "name">,
    client: string,
    request: RepeatableRequest | null,
  ): string | null {
    return request && this.#table.findRepeated(kind, client, request);
  }

  /** @throws Problem conflict if a task of the kind runs and allows no other; busy while the service stops */
  requireTurn(kind: Pick<TaskKind, "name" | "whileRunning">): void {
    if (this.#closing.signal.aborted) throw new Problem("busy", "The service is stopping.");
    const [running] = kind.whileRunning === "refuse" ? this.#ofKind(kind) : [];
    if (running === undefined) return;
    const by = this.find(running).client.replace(/^user /, "");
    throw new Problem(
      "conflict",
      `A task of this kind, started by ${by}, is still running. Wait until it ends.`,
    );
  }

  /** @param kinds only tasks of these. @throws Problem not_found */
  find<Request = unknown>(id: string, kinds?: readonly string[]): StoredTask<Request> {
    const task = this.#table.find(id);
    if (!task || kinds?.includes(task.kind) === false)
      throw new Problem("not_found", "No task has this identifier, or it ended long ago.");
    return this.#withProgress(task) as StoredTask<Request>;
  }

  /** The newest tasks of these kinds, of all owners. */
  list(kinds: readonly string[], limit = 100): StoredTask[] {
    return this.#table.list({ kinds, limit }).map((task) => this.#withProgress(task));
  }

  /** The newest tasks of these kinds or of all, also those with tables of their own. @param keys null for all owners */
  listAll(keys: readonly string[] | null, limit: number, kinds?: readonly string[]): Task[] {
    const own = this.#table.list({ keys, limit, kinds });
    const others = this.#sources
      .filter((source) => kinds?.includes(source.kind.name) ?? true)
      .flatMap((source) => source.list(keys, limit));
    return [...own.map((task) => this.#withProgress(task)), ...others]
      .toSorted((a, b) => b.created - a.created)
      .slice(0, limit);
  }

  /** Number of tasks of these kinds and owners, counted up to the limit. */
  count(keys: readonly string[], kinds: readonly string[], limit: number): number {
    const others = this.#sources
      .filter((source) => kinds.includes(source.kind.name))
      .map((source) => source.count?.(keys, limit) ?? source.list(keys, limit).length);
    return Math.min(
      limit,
      others.reduce((sum, count) => sum + count, this.#table.count({ keys, kinds, limit })),
    );
  }

  /** A task of any kind. @throws Problem not_found */
  findAny(id: string): Task {
    for (const source of this.#sources) {
      const found = source.find(id);
      if (found) return found;
    }
    return this.find(id);
  }

  /** Tasks of a kind that share a computation. */
  sharing(kind: Pick<TaskKind, "name">, shared: string): StoredTask[] {
    return this.#table.sharing(kind.name, shared);
  }

  /** Cancels a task of any kind, and returns once its work has ended. @throws Problem not_found, conflict if it has ended */
  async cancelAny(id: string): Promise<Task> {
    const source = this.#sources.find((one) => one.find(id));
    return source ? source.cancel(id) : this.cancel(id);
  }

  /** Cancels a task of these kinds, or of all. @throws Problem not_found, conflict if it has ended */
  async cancel(id: string, kinds?: readonly string[]): Promise<StoredTask> {
    const task = this.find(id, kinds);
    if (taskHasEnded(task.state))
      throw new Problem("conflict", `The task has already ended: it is ${task.state}.`);
    const kind = this.#kinds.get(task.kind);
    const running = this.#running.get(id);
    const ended = { ended: this.options.clock.now(), message: "Cancelled.", result: task.result };
    this.options.database
      .transaction(() => {
        this.#table.end(id, "cancelled", ended);
        if (kind) this.#record("cancel", kind, task);
      })
      .immediate();
    this.changed();
    running?.stop.abort(new Error("cancelled"));
    await running?.done;
    await kind?.cancelled?.(task);
    return this.find(id);
  }

  /** Removes a task that was refused after its start. */
  async remove(id: string): Promise<void> {
    const running = this.#running.get(id);
    running?.stop.abort(new Error("removed"));
    await running?.done;
    this.#table.remove(id);
  }

  /** Interrupts all work. What can continue does so at the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    const running = [...this.#running.values()];
    for (const { stop } of running) stop.abort(new Error("stopped"));
    await Promise.all(running.map(({ done }) => done));
  }

  /** Ends tasks that no process continues: all except those of the named kinds. */
  #failOthers(resumable: readonly string[]): void {
    const { database, clock, log } = this.options;
    try {
      database.transaction(() => this.#table.failOthers(resumable, clock.now(), STOPPED_MESSAGE)).immediate();
    } catch (error) {
      // On a full disk, or with a damaged database, the server starts for readers; the next start ends the tasks.
      if (!Problem.refusesWrites(error)) throw error;
      log.problem("tasks not ended", { cause: String(error) });
    }
  }

  /** Ids of tasks of a kind that run in this process. */
  #ofKind({ name }: Pick<TaskKind, "name">): string[] {
    return [...this.#running].flatMap(([id, { kind }]) => (kind.name === name ? id : []));
  }

  #runNext(kind: TaskKind): void {
    if (this.#closing.signal.aborted || this.#ofKind(kind).length > 0) return;
    const next = this.#table.unfinished(kind.name).find(({ id }) => !this.#unstored.has(id));
    if (next) this.#run(kind, next, kind.run!);
  }

  #run(kind: TaskKind, task: StoredTask, work: Work): void {
    const stop = new AbortController();
    const shown: Running["shown"] = { message: "Starting.", fraction: null, result: null };
    const show = (now: Partial<Running["shown"]>): void => {
      Object.assign(shown, now);
      this.changed();
    };
    const report: Report = {
      task: task.id,
      say: (message) => show({ message }),
      at: (fraction) => show({ fraction }),
      show: (result) => show({ result }),
      signal: stop.signal,
    };
    const done = this.#perform(task, work, report)
      .finally(() => this.#running.delete(task.id))
      .then(() => {
        this.changed();
        if (kind.whileRunning === "wait") this.#runNext(kind);
      })
      // A damaged database may not tell the next one.
      .catch((error: unknown) => this.options.log.problem("task", { cause: String(error) }));
    this.#running.set(task.id, { kind, stop, done, shown });
  }

  /** Does the work and stores its end. Never rejects. */
  async #perform(task: StoredTask, work: Work, report: Report): Promise<void> {
    const { clock, log } = this.options;
    const { id, kind } = task;
    if (task.state === "queued") await this.#write(id, () => this.#table.start(id, clock.now()));
    let state: "finished" | "failed" = "finished";
    let outcome: Outcome;
    try {
      outcome = await traced("task", { "labd.kind": kind, "labd.task": id }, () => work(task, report));
    } catch (error) {
      // A cancelled task has ended; an interrupted one goes on later.
      if (report.signal.aborted) return;
      log.problem("task", { kind, task: id, cause: String(error) });
      state = "failed";
      outcome = { message: Problem.from(error).message };
    }
    const { message, result = null } = outcome;
    await this.#write(id, () => this.#table.end(id, state, { ended: clock.now(), message, result }));
  }

  /**
   * Writes when no other writer is at work; tries again after an error, ever more seldom, until the service stops. In a
   * damaged database, which will not take it, the task counts as failed.
   */
  async #write(task: string, action: () => void): Promise<void> {
    const { database, clock, log } = this.options;
    const { signal } = this.#closing;
    for (let pause = RETRY; ; pause = Math.min(2 * pause, MAX_RETRY)) {
      try {
        await getWriteLock(database).free();
        return action();
      } catch (error) {
        log.problem("task", { task, cause: String(error) });
        const { code, message } = Problem.from(error);
        if (code === "database_damaged") {
          const text = `The outcome could not be stored. ${message}`;
          this.#unstored.set(task, { state: "failed", ended: clock.now(), message: text });
          return;
        }
        await sleep(pause, undefined, { signal }).catch(() => {});
        if (signal.aborted) return;
      }
    }
  }

  #withProgress(task: StoredTask): StoredTask {
    const { id, state } = task;
    const shown = taskHasEnded(state) ? undefined : (this.#unstored.get(id) ?? this.#running.get(id)?.shown);
    return shown ? { ...task, ...shown } : task;
  }

  #record(event: "start" | "cancel", { audit }: TaskKind, task: StoredTask): void {
    if (!audit) return;
    const { database, clock } = this.options;
    getAuditLog(database, clock).record({
      action: audit[event],
      subject: { kind: audit.subject, id: task.id },
      detail: audit.detail(task),
    });
  }
}
