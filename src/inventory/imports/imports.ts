import { type ImportOptions, type ImportReport, runImport } from "./import.ts";
import { readTable } from "./import-file.ts";
import { type ImportNews, type ImportTask, importWorkerAddress, type Outcome } from "./import-thread.ts";
import type { Actor } from "../model/access.ts";
import { DECLARED } from "../resources/index.ts";
import { openStore } from "../records/store.ts";
import { type Code, Problem } from "../../problem.ts";
import type { Clock } from "../../platform/clock.ts";
import { causeOf, type Log } from "../../platform/log.ts";
import { currentOrigin, type Origin, withinOrigin } from "../../platform/request-context.ts";
import type { Database } from "../../platform/sqlite.ts";
import { writeLockOf } from "../../platform/write-lock.ts";

export interface ImportRequest {
  /** Name of the resource. */
  resource: string;
  options: ImportOptions;
  actor: Actor;
  /** Where the request came from; by default that which is answered now. */
  origin?: Origin | undefined;
  bytes: Uint8Array;
}

/** How far an import is, or what it came to. */
export interface ImportStatus {
  id: string;
  /** Name of the resource. */
  resource: string;
  user: string | null;
  dry_run: boolean;
  state: "waiting" | "reading" | "writing" | Outcome["state"];
  /** Rows of the file; null until it is read. */
  rows: number | null;
  rows_read: number;
  rows_checked: number;
  /** Rows that made or changed a record; taken back where the import is refused. */
  rows_written: number;
  created: string;
  ended: string | null;
  report: ImportReport | null;
  message: string | null;
}

/** One import on its way. */
export interface Running {
  status: ImportStatus;
  /** Called whenever `status` has changed. */
  heard: (() => void) | undefined;
  /** @throws Problem what kept the file from being read, import_cancelled, internal */
  done: Promise<ImportReport>;
}

/**
 * Imports, one after the other, each by a thread and a connection of its own: others are answered meanwhile, and what
 * writes waits for its turn.
 */
export interface Imports {
  /** @throws Problem busy where too many wait */
  run(request: ImportRequest): Running;
  /** The same; once its id is known the import is done, whatever ends the process. @throws Problem busy */
  accept(request: ImportRequest): Promise<ImportStatus>;
  /** The caller's own; all, for administrators; the newest first. */
  list(actor: Actor): ImportStatus[];
  /** @throws Problem not_found */
  get(id: string, actor: Actor): ImportStatus;
  /** Calls off one that has not ended; when it has, everything is taken back. @throws Problem not_found, conflict */
  cancel(id: string, actor: Actor): Promise<ImportStatus>;
  /** Calls off what is under way; what was accepted is begun again at the next start. */
  close(): Promise<void>;
}

const MOST_WAITING = 10;
const KEPT = 7 * 86_400_000;
const LISTED = 100;
/** Starts of the process that an import may outlive. */
const ATTEMPTS = 3;

interface Ticket extends Running {
  user: number | null;
  off: SharedArrayBuffer;
  stored: boolean;
}

/** `log`: hears of defects. */
export function openImports(database: Database, clock: Clock, log?: Log): Imports {
  const turn = writeLockOf(database);
  const path = ["", ":memory:"].includes(database.filename) ? null : database.filename;
  const tickets = new Map<string, Ticket>();
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;

  const change = (ticket: Ticket, news: Partial<ImportStatus>): void => {
    Object.assign(ticket.status, news);
    ticket.heard?.();
  };

  /** On a thread of its own. */
  const inThread = (ticket: Ticket, task: ImportTask): Promise<ImportReport> => {
    const { promise, resolve, reject } = Promise.withResolvers<ImportReport>();
    // Small: it collects its garbage instead of growing, and all of its memory is free with its end.
    const worker = new Worker(importWorkerAddress(), { smol: true });
    const ended = promise.then(
      () => {},
      () => {},
    );
    const hear = (news: ImportNews): void => {
      if (news.kind === "read") change(ticket, { rows_read: news.rows });
      else if (news.kind === "wrote")
        change(ticket, { rows_checked: news.checked, rows_written: news.written });
      else if (news.kind === "done") resolve(news.report);
      else if (news.kind === "failed")
        reject(new Problem(news.code as Code, news.message, { cause: news.cause }));
      else {
        ticket.status.rows = news.rows;
        void turn.hold(() => {
          change(ticket, { state: "writing" });
          // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
          worker.postMessage("write");
          return ended;
        });
      }
    };
    worker.addEventListener("message", ({ data }: MessageEvent<ImportNews>) => hear(data));
    worker.addEventListener("error", (event) => {
      // Otherwise an error of a worker is one of this process.
      event.preventDefault();
      reject(Problem.from(new Error(event.message)));
    });
    worker.addEventListener("close", () => reject(Problem.from(new Error("The thread ended."))));
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    worker.postMessage(task, [task.bytes.buffer as ArrayBuffer]);
    return promise.finally(() => worker.terminate());
  };

  /** A database in memory has one connection: all is done here. */
  const here = async (ticket: Ticket, request: ImportRequest): Promise<ImportReport> => {
    const table = await readTable(request.bytes, (rows) => change(ticket, { rows_read: rows }));
    await turn.free();
    change(ticket, { state: "writing", rows: table.count, rows_read: table.count });
    const resource = DECLARED.get(request.resource)!;
    return withinOrigin(request.origin, () =>
      runImport(openStore(database, clock), resource, table, request.options, request.actor),
    );
  };

  const work = async (ticket: Ticket, request: ImportRequest): Promise<ImportReport> => {
    if (new Int32Array(ticket.off)[0] !== 0) throw calledOff();
    const { id } = ticket.status;
    if (ticket.stored) {
      await turn.free();
      const { attempts } = database
        .query("UPDATE import_file SET attempts = attempts + 1 WHERE id = ? RETURNING attempts")
        .get(id) as { attempts: number };
      if (attempts > ATTEMPTS)
        throw Problem.from(new Error(`The process ended ${ATTEMPTS} times while this was imported.`));
    }
    change(ticket, { state: "reading" });
    if (path === null) return here(ticket, request);
    const { resource, options, actor, origin } = request;
    // Of its own, for the thread takes it over.
    const bytes = new Uint8Array(request.bytes);
    const stored = ticket.stored ? id : null;
    return inThread(ticket, { path, resource, options, actor, origin, bytes, stored, off: ticket.off });
  };

  const settle = async (ticket: Ticket, outcome: Outcome): Promise<void> => {
    const { report, state, message } = outcome;
    const checked = report
      ? { rows_checked: report.rows, rows_written: report.created + report.updated }
      : {};
    change(ticket, { state, message, report, ended: new Date(outcome.ended).toISOString(), ...checked });
    // What is called off because the service stops is begun again when it starts.
    if (!ticket.stored || (closed && state === "cancelled")) return;
    await turn.free();
    database
      .query("UPDATE import_file SET file = NULL, outcome = ? WHERE id = ? AND outcome IS NULL")
      .run(JSON.stringify(outcome), ticket.status.id);
  };

  const refuseTooMany = (): void => {
    const waiting = [...tickets.values()].filter(({ status }) => status.ended === null).length;
    if (!closed && waiting < MOST_WAITING) return;
    throw new Problem("busy", `${waiting} imports are under way. Try again in a minute.`, {
      headers: { "Retry-After": "60" },
    });
  };

  const start = (id: string, created: number, request: ImportRequest, stored: boolean): Ticket => {
    const status: ImportStatus = {
      id,
      resource: request.resource,
      user: request.actor.username,
      dry_run: request.options.dryRun,
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
    const ticket: Ticket = {
      status,
      heard: undefined,
      done: Promise.reject(calledOff()),
      user: request.actor.user,
      off: new SharedArrayBuffer(4),
      stored,
    };
    ticket.done.catch(() => {});
    ticket.done = last.then(async () => {
      try {
        const report = await work(ticket, request);
        const refused = report.errors.length > 0 && !report.dry_run;
        const message = refused ? refusalOf(report) : null;
        await settle(ticket, {
          state: refused ? "refused" : "finished",
          ended: clock.now(),
          report,
          message,
        });
        return report;
      } catch (error) {
        const problem = Problem.from(error);
        const cause = causeOf(problem);
        if (cause) log?.problem("import", { import: id, cause });
        const state = problem.code === "import_cancelled" ? "cancelled" : "failed";
        await settle(ticket, { state, ended: clock.now(), report: null, message: problem.message });
        throw problem;
      }
    });
    last = ticket.done.catch(() => {});
    tickets.set(id, ticket);
    // What is stored can be looked up there; of the others the newest are remembered.
    for (const [old, { status: past }] of tickets)
      if (tickets.size > LISTED && past.ended !== null) tickets.delete(old);
    return ticket;
  };

  const find = (id: string, actor: Actor): ImportStatus => {
    const ticket = tickets.get(id);
    if (ticket && (actor.superuser || ticket.user === actor.user)) return ticket.status;
    const row = database
      .query("SELECT * FROM import_file WHERE id = ? AND (user_rid = ? OR ?)")
      .get(id, actor.user, actor.superuser ? 1 : 0) as Stored | null;
    if (!row || ticket) throw new Problem("not_found", "Not found.");
    return ended(row);
  };

  for (const row of database
    .query("SELECT * FROM import_file WHERE outcome IS NULL ORDER BY rid")
    .all() as Stored[])
    start(row.id, row.created, { ...requestOf(row), bytes: row.file! }, true);

  return {
    run(request) {
      refuseTooMany();
      return start(clock.newId(), clock.now(), { ...request, origin: currentOrigin() }, false);
    },
    async accept(request) {
      await turn.free();
      const [id, now] = [clock.newId(), clock.now()];
      const { resource, options, actor, bytes } = request;
      const asked: StoredRequest = {
        resource,
        actor,
        origin: currentOrigin(),
        options: { ...options, mapping: [...options.mapping] },
      };
      refuseTooMany();
      database
        .transaction(() => {
          database.query("DELETE FROM import_file WHERE created < ? AND outcome IS NOT NULL").run(now - KEPT);
          database
            .query("INSERT INTO import_file (id, user_rid, request, created, file) VALUES (?, ?, ?, ?, ?)")
            .run(id, actor.user, JSON.stringify(asked), now, bytes);
        })
        .immediate();
      return start(id, now, { ...request, origin: asked.origin }, true).status;
    },
    list(actor) {
      const mine = [...tickets.values()].filter(({ user }) => actor.superuser || user === actor.user);
      const rows = database
        .query(
          "SELECT id, request, created, outcome FROM import_file WHERE outcome IS NOT NULL AND (user_rid = ? OR ?) ORDER BY created DESC LIMIT ?",
        )
        .all(actor.user, actor.superuser ? 1 : 0, LISTED) as Stored[];
      const past = rows.filter(({ id }) => !tickets.has(id)).map(ended);
      return [...mine.map(({ status }) => status), ...past]
        .sort((a, b) => (a.created < b.created ? 1 : -1))
        .slice(0, LISTED);
    },
    get: find,
    async cancel(id, actor) {
      const status = find(id, actor);
      const ticket = tickets.get(id);
      if (!ticket || status.ended !== null)
        throw new Problem("conflict", `The import has ended already: it is ${status.state}.`);
      Atomics.store(new Int32Array(ticket.off), 0, 1);
      // One that waits is called off when its turn comes.
      if (status.state !== "waiting") await ticket.done.catch(() => {});
      return ticket.status;
    },
    async close() {
      closed = true;
      for (const { off } of tickets.values()) Atomics.store(new Int32Array(off), 0, 1);
      await last;
    },
  };
}

/** The first thing that is wrong with a file. */
export function refusalOf({ errors: [first] }: ImportReport): string {
  return `Row ${first.row}${first.column === null ? "" : `, ${first.column}`}: ${first.message}`;
}

const calledOff = (): Problem => new Problem("import_cancelled", "The import was called off.");

/** A row of import_file. */
interface Stored {
  id: string;
  request: string;
  created: number;
  file: Uint8Array | null;
  outcome: string | null;
}

/** A request as JSON: a map is a list of pairs there. */
type StoredRequest = Omit<ImportRequest, "bytes" | "options"> & {
  options: Omit<ImportOptions, "mapping"> & { mapping: [string, string | null][] };
};

function requestOf({ request }: Stored): Omit<ImportRequest, "bytes"> {
  const { resource, actor, origin, options } = JSON.parse(request) as StoredRequest;
  return { resource, actor, origin, options: { ...options, mapping: new Map(options.mapping) } };
}

function ended(row: Stored): ImportStatus {
  const { resource, actor, options } = requestOf(row);
  const { state, ended: at, report, message } = JSON.parse(row.outcome!) as Outcome;
  const rows = report?.rows ?? 0;
  return {
    id: row.id,
    resource,
    user: actor.username,
    dry_run: options.dryRun,
    state,
    rows: report?.rows ?? null,
    rows_read: rows,
    rows_checked: rows,
    rows_written: report ? report.created + report.updated : 0,
    created: new Date(row.created).toISOString(),
    ended: new Date(at).toISOString(),
    report,
    message,
  };
}
