import type { RepeatableRequest } from "../platform/idempotency-key.ts";

export const TASK_STATES = ["queued", "running", "finished", "failed", "cancelled", "expired"] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** Work that takes longer than a request may. Times are milliseconds since 1970-01-01 UTC. */
export interface Task {
  id: string;
  /** Name of its kind, such as `backup`. */
  kind: string;
  /** The name of a corpus or backup, or the size of a batch; empty if the kind says it all. */
  subject: string;
  /** The client that started it: `user NAME`, or a network. */
  client: string;
  /** Key of the owner, who may cancel it: that of the account, or the hash of a secret. */
  owner: string;
  state: TaskState;
  created: number;
  started: number | null;
  ended: number | null;
  /** The current activity, the outcome, or the reason of a failure, as a sentence. */
  message: string;
  /** The part that is done, 0 to 1; null while unknown. */
  fraction: number | null;
  /** Data of the kind: its results until now. */
  result: unknown;
}

/** A task of the table `task`, with what its work needs. */
export interface StoredTask<Request = unknown> extends Task {
  rid: number;
  request: Request;
  /** Identifies the computation that equal tasks share; null for one without. */
  shared: string | null;
}

/** A task to be started. */
export interface NewTask<Request = unknown> {
  subject: string;
  /** `user NAME`, or a network. */
  client: string;
  /** Key of the owner; null for the account of the client. */
  owner?: string | null;
  request?: Request;
  shared?: string | null;
  /** Repeating the request returns the task. */
  repeatable?: RepeatableRequest | null;
  /** Stores what belongs to the task, in its transaction. */
  inTransaction?: (task: StoredTask) => void;
}

/** Reports the progress of a task. */
export interface Report {
  /** Id of the task. */
  task: string;
  say(message: string): void;
  at(fraction: number): void;
  /** Shows a result before the end. */
  show(result: unknown): void;
  /** Aborted when the task is cancelled or the server stops. */
  signal: AbortSignal;
}

/** The outcome of a task: a sentence, and data. */
export interface Outcome {
  message: string;
  result?: unknown;
}

export type Work<Request = unknown> = (task: StoredTask<Request>, report: Report) => Promise<Outcome>;

/** Actions and subject of the audit entries of a kind. */
interface Audit {
  start: string;
  cancel: string;
  subject: string;
  detail: (task: StoredTask) => Record<string, string>;
}

/** A kind of work that takes longer than a request. One declaration makes it a task. */
export interface TaskKind<Request = unknown> {
  name: string;
  /** Title for people, before the subject: `Verifying`. */
  title: string;
  /** The readers of a task: everybody who has its address, or only its owner and administrators. */
  readers: "link" | "owner";
  /** A second task of the kind, while one runs: runs too, waits, or is refused. */
  whileRunning: "run" | "wait" | "refuse";
  /** Ended tasks that are kept: of one client, of all, and for how many milliseconds. Null is no limit. */
  keep: { perClient?: number; inAll: number; milliseconds?: number | null };
  /** Path of the API's own address of a task, if it has one besides `/api/tasks/`. */
  path?: (id: string) => string;
  /** Does the work, and continues it after a restart. A kind without it gets its work with each start, and fails then. */
  run?: Work<Request>;
  /** Called when a task was cancelled and its work has ended. */
  cancelled?: (task: StoredTask<Request>) => void | Promise<void>;
  /** Called for tasks that were removed, because they are old. */
  removed?: (tasks: StoredTask<Request>[]) => void;
  audit?: Audit;
}

/** Work that has a table of its own, such as jobs, and is shown as tasks. */
export interface TaskSource {
  kind: Pick<TaskKind, "name" | "title" | "readers" | "path">;
  /** The newest, of owners with these keys, or of all. */
  list(keys: readonly string[] | null, limit: number): Task[];
  /** Their number, counted up to the limit; without it they are listed. */
  count?(keys: readonly string[], limit: number): number;
  find(id: string): Task | null;
  /** @throws Problem conflict if it has ended */
  cancel(id: string): Task | Promise<Task>;
}

/** True if a task in this state has ended. */
export const taskHasEnded = (state: TaskState): boolean => state !== "queued" && state !== "running";
