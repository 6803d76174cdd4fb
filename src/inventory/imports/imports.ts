import { Type } from "typebox";
import { type Imported, runImport } from "./import.ts";
import { type ImportOptions, type ImportReport, REPORT, type RowDecision } from "./import-report.ts";
import { nullable } from "../../platform/schema.ts";
import { readTable } from "./import-file.ts";
import {
  type ImportMessage,
  type ImportRequest,
  type ImportTask,
  importWorkerUrl,
  type Outcome,
} from "./import-thread.ts";
import type { Actor } from "../model/access.ts";
import { openStore } from "../records/store.ts";
import { DECLARED } from "../resources/index.ts";
import { type Code, Problem } from "../../problem.ts";
import type { Clock } from "../../platform/clock.ts";
import { findCause, type Log } from "../../platform/log.ts";
import { currentOrigin, runWithOrigin } from "../../platform/request-context.ts";
import { type Database, makesCheckpoints } from "../../platform/sqlite.ts";
import { type WriteLock, getWriteLock } from "../../platform/write-lock.ts";

const INSTANT = Type.String({ format: "date-time" });

/** Progress or result of an import. */
export const STATUS = Type.Object({
  id: Type.String(),
  user: nullable(Type.String()),
  dry_run: Type.Boolean(),
  state: Type.Enum(["waiting", "reading", "writing", "finished", "refused", "failed", "cancelled"]),
  rows: nullable(Type.Integer({ description: "Rows of the file; null until it is read." })),
  rows_read: Type.Integer(),
  rows_checked: Type.Integer(),
  rows_written: Type.Integer({
    description: "Rows that created or changed a record; rolled back if the import is rejected.",
  }),
  created: INSTANT,
  ended: nullable(INSTANT),
  // Its own example is long.
  report: { ...nullable(REPORT), examples: [null] },
  message: nullable(Type.String()),
});

export interface ImportStatus extends Type.Static<typeof STATUS> {
  /** Name of the resource. */
  resource: string;
}

/** An import that was started. */
export interface ImportRun {
  status: ImportStatus;
  onChange: (() => void) | undefined;
  /** @throws Problem for an unreadable file, import_cancelled, internal */
  done: Promise<Imported>;
}

interface Entry extends ImportRun {
  user: number | null;
  cancelled: SharedArrayBuffer;
  /** True if the request is stored in the table import_file. */
  stored: boolean;
}

const MAX_WAITING = 10;
/** Milliseconds for which results are stored. */
const RETENTION_MILLISECONDS = 7 * 86_400_000;
const MAX_LISTED = 100;
/** Starts of the process after which an import is given up. */
const MAX_ATTEMPTS = 3;

/**
 * Imports, one after the other, each with its own thread and connection: other requests are answered meanwhile, and
 * other writes wait.
 */
export class Imports {
  readonly #entries = new Map<string, Entry>();
  readonly #lock: WriteLock;
  /** Directory; null for a database in memory. */
  readonly #path: string | null;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  /** Resumes imports that an earlier process accepted. `log`: for defects. */
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly log?: Log,
  ) {
    this.#lock = getWriteLock(database);
    this.#path = ["", ":memory:"].includes(database.filename) ? null : database.filename;
    const rows = database.query("SELECT * FROM import_file WHERE outcome IS NULL ORDER BY rid").all();
    for (const row of rows as StoredImport[])
      this.#start(row.id, row.created, { ...parseRequest(row), bytes: row.file! }, true);
  }

  /** @throws Problem busy */
  run(request: ImportRequest): ImportRun {
    this.#checkCapacity();
    const { clock } = this;
    return this.#start(clock.newId(), clock.now(), { ...request, origin: currentOrigin() }, false);
  }

  /** Accepts an import that survives the end of the process. @throws Problem busy */
  async accept(request: ImportRequest): Promise<ImportStatus> {
    await this.#lock.free();
    const { database } = this;
    const { resource, actor, bytes } = request;
    const [id, now, origin] = [this.clock.newId(), this.clock.now(), currentOrigin()];
    const { mapping, rows } = request.options;
    const options = { ...request.options, mapping: mapping && [...mapping], rows: [...rows] };
    const stored: StoredRequest = { resource, actor, origin, options };
    const expire = database.query("DELETE FROM import_file WHERE created < ? AND outcome IS NOT NULL");
    const insert = database.query(
      "INSERT INTO import_file (id, user_rid, request, created, file) VALUES (?, ?, ?, ?, ?)",
    );
    this.#checkCapacity();
    database
      .transaction(() => {
        expire.run(now - RETENTION_MILLISECONDS);
        insert.run(id, actor.user, JSON.stringify(stored), now, bytes);
      })
      .immediate();
    return this.#start(id, now, { ...request, origin }, true).status;
  }

  /** The caller's own, or all for administrators, the newest first. */
  list({ user, superuser }: Actor): ImportStatus[] {
    const current = [...this.#entries.values()].filter((entry) => superuser || entry.user === user);
    const rows = this.database
      .query(
        "SELECT id, request, created, outcome FROM import_file WHERE outcome IS NOT NULL AND (user_rid = ? OR ?) ORDER BY created DESC LIMIT ?",
      )
      .all(user, superuser ? 1 : 0, MAX_LISTED) as StoredImport[];
    const past = rows.filter(({ id }) => !this.#entries.has(id)).map(makeStatus);
    return [...current.map(({ status }) => status), ...past]
      .sort((a, b) => (a.created < b.created ? 1 : -1))
      .slice(0, MAX_LISTED);
  }

  /** @throws Problem not_found */
  get(id: string, { user, superuser }: Actor): ImportStatus {
    const entry = this.#entries.get(id);
    if (entry && (superuser || entry.user === user)) return entry.status;
    const row = this.database
      .query("SELECT * FROM import_file WHERE id = ? AND (user_rid = ? OR ?)")
      .get(id, user, superuser ? 1 : 0) as StoredImport | null;
    if (!row || entry) throw new Problem("not_found", "Not found.");
    return makeStatus(row);
  }

  /** Returns once everything is rolled back. @throws Problem not_found, conflict if the import has ended */
  async cancel(id: string, actor: Actor): Promise<ImportStatus> {
    const status = this.get(id, actor);
    const entry = this.#entries.get(id);
    if (!entry || status.ended !== null)
      throw new Problem("conflict", `The import has ended: it is ${status.state}.`);
    Atomics.store(new Int32Array(entry.cancelled), 0, 1);
    // A waiting import ends when its turn comes.
    if (status.state !== "waiting") await entry.done.catch(() => {});
    return entry.status;
  }

  /** Cancels running imports. The next process resumes accepted imports. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { cancelled } of this.#entries.values()) Atomics.store(new Int32Array(cancelled), 0, 1);
    await this.#last;
  }

  #checkCapacity(): void {
    const waiting = [...this.#entries.values()].filter(({ status }) => status.ended === null).length;
    if (this.#closed || waiting >= MAX_WAITING)
      throw new Problem("busy", `${waiting} imports are waiting. Try again in a minute.`, {
        headers: { "Retry-After": "60" },
      });
  }

  #start(id: string, created: number, request: ImportRequest, stored: boolean): Entry {
    const status = newStatus(id, created, request);
    const { promise, resolve } = Promise.withResolvers<Imported>();
    const entry: Entry = {
      status,
      onChange: undefined,
      done: promise,
      user: request.actor.user,
      cancelled: new SharedArrayBuffer(4),
      stored,
    };
    resolve(this.#last.then(() => this.#finish(entry, request)));
    this.#last = promise.catch(() => {});
    this.#entries.set(id, entry);
    // The newest dry runs, which are not stored, are remembered.
    for (const [old, { status: past }] of this.#entries)
      if (this.#entries.size > MAX_LISTED && past.ended !== null) this.#entries.delete(old);
    return entry;
  }

  async #finish(entry: Entry, request: ImportRequest): Promise<Imported> {
    try {
      const imported = await this.#work(entry, request);
      const { report } = imported;
      const isRefused = wasRefused(report) && !report.dry_run;
      const message = isRefused ? describeFirstError(report) : null;
      await this.#end(entry, { state: isRefused ? "refused" : "finished", message, report });
      return imported;
    } catch (error) {
      const problem = Problem.from(error);
      const cause = findCause(problem);
      if (cause) this.log?.problem("import", { import: entry.status.id, cause });
      const { code, message } = problem;
      await this.#end(entry, {
        state: code === "import_cancelled" ? "cancelled" : "failed",
        message,
        report: null,
      });
      throw problem;
    }
  }

  async #work(entry: Entry, request: ImportRequest): Promise<Imported> {
    const { cancelled, status } = entry;
    if (new Int32Array(cancelled)[0] !== 0)
      throw new Problem("import_cancelled", "The import was cancelled.");
    const { id } = status;
    if (entry.stored) {
      await this.#lock.free();
      const { attempts } = this.database
        .query("UPDATE import_file SET attempts = attempts + 1 WHERE id = ? RETURNING attempts")
        .get(id) as { attempts: number };
      if (attempts > MAX_ATTEMPTS)
        throw Problem.from(new Error(`The process ended ${MAX_ATTEMPTS} times during this import.`));
    }
    change(entry, { state: "reading" });
    if (this.#path === null) return this.#runHere(entry, request);
    // A copy, whose memory moves to the thread.
    const bytes = new Uint8Array(request.bytes);
    const stored = entry.stored ? id : null;
    return this.#runInThread(entry, {
      ...request,
      path: this.#path,
      checkpoints: makesCheckpoints(this.database),
      bytes,
      stored,
      cancelled,
    });
  }

  #runInThread(entry: Entry, task: ImportTask): Promise<Imported> {
    const { promise, resolve, reject } = Promise.withResolvers<Imported>();
    // A small heap is collected instead of growing; all of it is freed with the thread.
    const worker = new Worker(importWorkerUrl(), { smol: true });
    const ended = promise.catch(() => {});
    worker.addEventListener("message", ({ data: message }: MessageEvent<ImportMessage>) => {
      if (message.kind === "progress") change(entry, message.status);
      else if (message.kind === "done") resolve(message.imported);
      else if (message.kind === "failed")
        reject(new Problem(message.code as Code, message.message, { cause: message.cause }));
      else {
        entry.status.rows = message.rows;
        const write = () => {
          change(entry, { state: "writing" });
          // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have an origin
          worker.postMessage("write");
          return ended;
        };
        this.#lock.hold(write).catch(reject);
      }
    });
    worker.addEventListener("error", (event) => {
      // Otherwise the error would end this process.
      event.preventDefault();
      reject(Problem.from(new Error(event.message)));
    });
    worker.addEventListener("close", () => reject(Problem.from(new Error("The worker thread ended."))));
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have an origin
    worker.postMessage(task, [task.bytes.buffer as ArrayBuffer]);
    return promise.finally(() => worker.terminate());
  }

  /** A database in memory has one connection. */
  async #runHere(entry: Entry, request: ImportRequest): Promise<Imported> {
    const { options, actor } = request;
    const table = await readTable(request.bytes, {
      onProgress: (rows) => change(entry, { rows_read: rows }),
      check() {},
      stores: !options.dryRun,
      sheet: options.sheet,
    });
    await this.#lock.free();
    change(entry, { state: "writing", rows: table.count, rows_read: table.count });
    const store = openStore(this.database, this.clock);
    const resource = DECLARED.get(request.resource)!;
    try {
      return runWithOrigin(request.origin, () => runImport(store, resource, table, options, { actor }));
    } finally {
      table.close();
    }
  }

  async #end(entry: Entry, result: Omit<Outcome, "ended">): Promise<void> {
    const outcome: Outcome = { ...result, ended: this.clock.now() };
    change(entry, describeResult(outcome));
    // The next process resumes imports that were cancelled because this one stops.
    if (!entry.stored || (this.#closed && result.state === "cancelled")) return;
    await this.#lock.free();
    this.database
      .query("UPDATE import_file SET file = NULL, outcome = ? WHERE id = ? AND outcome IS NULL")
      .run(JSON.stringify(outcome), entry.status.id);
  }
}

function change(entry: Entry, status: Partial<ImportStatus>): void {
  Object.assign(entry.status, status);
  entry.onChange?.();
}

/** True if the errors kept all rows from being written. */
export const wasRefused = ({ errors, waiting }: ImportReport): boolean => errors.length > 0 && waiting === 0;

export function describeFirstError({ errors: [{ row, column, message }] }: ImportReport): string {
  return `Row ${row}${column === null ? "" : `, ${column}`}: ${message}`;
}

/** The status of an import that has ended. */
function describeResult({ state, ended, report, message }: Outcome): Partial<ImportStatus> {
  const { rows, created, updated } = report ?? { rows: 0, created: 0, updated: 0 };
  const counts = report ? { rows, rows_read: rows, rows_checked: rows, rows_written: created + updated } : {};
  return { state, message, report, ended: new Date(ended).toISOString(), ...counts };
}

interface StoredImport {
  id: string;
  request: string;
  created: number;
  file: Uint8Array | null;
  outcome: string | null;
}

/** A request as JSON, which has no maps. */
type StoredRequest = Omit<ImportRequest, "bytes" | "options"> & {
  options: Omit<ImportOptions, "mapping" | "rows"> & {
    mapping?: [string, string | null][] | undefined;
    /** Absent from requests of earlier versions. */
    rows?: [number, RowDecision][];
  };
};

function parseRequest({ request }: StoredImport): Omit<ImportRequest, "bytes"> {
  const { options, ...rest } = JSON.parse(request) as StoredRequest;
  const mapping = options.mapping && new Map(options.mapping);
  return { ...rest, options: { ...options, mapping, rows: new Map(options.rows) } };
}

function newStatus(
  id: string,
  created: number,
  { resource, actor, options }: Omit<ImportRequest, "bytes">,
): ImportStatus {
  return {
    id,
    resource,
    user: actor.username,
    dry_run: options.dryRun,
    state: "waiting",
    rows: null,
    rows_read: 0,
    rows_checked: 0,
    rows_written: 0,
    created: new Date(created).toISOString(),
    ended: null,
    report: null,
    message: null,
  };
}

const makeStatus = (row: StoredImport): ImportStatus => ({
  ...newStatus(row.id, row.created, parseRequest(row)),
  ...describeResult(JSON.parse(row.outcome!) as Outcome),
});
