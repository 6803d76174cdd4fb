import type { Database } from "../platform/sqlite.ts";
import type { RepeatableRequest } from "../platform/idempotency-key.ts";
import { Problem } from "../problem.ts";
import type { NewTask, StoredTask, Task, TaskKind } from "./task.ts";

interface Row extends Omit<StoredTask, "request" | "result" | "fraction"> {
  request: string;
  result: string;
}

/** The newest tasks of some kinds and owners. */
interface Selection {
  kinds?: readonly string[] | undefined;
  keys?: readonly string[] | null;
  limit: number;
}

/** A selection as a condition with its values. */
function whereOf({ kinds, keys }: Selection): { where: string; values: string[] } {
  const conditions = [
    kinds && "kind IN (SELECT value FROM json_each(?))",
    keys && "coalesce(owner, client) IN (SELECT value FROM json_each(?))",
  ].filter(Boolean);
  const values = [kinds, keys].filter(Boolean).map((value) => JSON.stringify(value));
  return { where: ["TRUE", ...conditions].join(" AND "), values };
}

const COLUMNS =
  "rid, id, kind, subject, client, coalesce(owner, client) AS owner, state, created, started, ended, message, request, result, shared";
const SELECT = `SELECT ${COLUMNS} FROM task`;
const UNFINISHED = "ended IS NULL";

/** The table of tasks. Its callers write in transactions. */
export class TaskTable {
  constructor(private readonly database: Database) {}

  insert(
    { name }: Pick<TaskKind, "name">,
    { subject, client, owner = null, request = null, shared = null, repeatable }: NewTask,
    { id, now, state }: { id: string; now: number; state: "queued" | "running" },
  ): StoredTask {
    this.database
      .query(
        `INSERT INTO task (id, kind, subject, client, owner, state, created, started, request, shared,
           idempotency_key, request_digest)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        id,
        name,
        subject,
        client,
        owner,
        state,
        now,
        state === "running" ? now : null,
        JSON.stringify(request),
        shared,
        repeatable?.key ?? null,
        repeatable?.digest ?? null,
      );
    return this.find(id)!;
  }

  /** The task that the client has started with this request; null if there is none. @throws Problem key_reused */
  findRepeated({ name }: Pick<TaskKind, "name">, client: string, request: RepeatableRequest): string | null {
    const known = this.database
      .query("SELECT id, request_digest FROM task WHERE client = ? AND kind = ? AND idempotency_key = ?")
      .get(client, name, request.key) as { id: string; request_digest: string } | null;
    if (known !== null && known.request_digest !== request.digest)
      throw new Problem("key_reused", "This Idempotency-Key was used with another request.");
    return known?.id ?? null;
  }

  find(id: string): StoredTask | null {
    return this.#select("id = ?", id)[0] ?? null;
  }

  /** The newest tasks of a kind, or of all kinds; of owners with these keys, or of all. */
  list(selection: Selection): StoredTask[] {
    const { where, values } = whereOf(selection);
    return this.#select(`${where} ORDER BY rid DESC LIMIT ${selection.limit}`, ...values);
  }

  /** Their number, counted up to the limit. */
  count(selection: Selection): number {
    const { where, values } = whereOf(selection);
    const rows = `SELECT 1 FROM task WHERE ${where} LIMIT ${selection.limit}`;
    const row = this.database.query(`SELECT count(*) AS count FROM (${rows})`).get(...values);
    return (row as { count: number }).count;
  }

  /** Tasks of a kind, oldest first. */
  unfinished(kind: string): StoredTask[] {
    return this.#select(`kind = ? AND ${UNFINISHED} ORDER BY rid`, kind);
  }

  /** Tasks of a kind that share a computation. */
  sharing(kind: string, shared: string): StoredTask[] {
    return this.#select("shared = ? AND kind = ?", shared, kind);
  }

  start(id: string, now: number): void {
    this.database.query("UPDATE task SET state = 'running', started = ? WHERE id = ?").run(now, id);
  }

  /** @returns whether the task had not ended before */
  end(
    id: string,
    state: "finished" | "failed" | "cancelled",
    { ended, message, result }: { ended: number; message: string; result: unknown },
  ): boolean {
    const { changes } = this.database
      .query(`UPDATE task SET state = ?, ended = ?, message = ?, result = ? WHERE id = ? AND ${UNFINISHED}`)
      .run(state, ended, message, JSON.stringify(result ?? null), id);
    return changes > 0;
  }

  /** Ends the unfinished tasks of all kinds but these. */
  failOthers(kinds: readonly string[], now: number, message: string): void {
    this.database
      .query(
        `UPDATE task SET state = 'failed', ended = ?, message = ?
         WHERE ${UNFINISHED} AND kind NOT IN (SELECT value FROM json_each(?))`,
      )
      .run(now, message, JSON.stringify(kinds));
  }

  remove(id: string): void {
    this.database.query("DELETE FROM task WHERE id = ?").run(id);
  }

  /** Removes ended tasks that a kind does not keep. */
  removeOld({ name, keep }: TaskKind, client: string, now: number): StoredTask[] {
    const { perClient = Number.MAX_SAFE_INTEGER, inAll, milliseconds } = keep;
    const rows = this.database
      .query(
        `DELETE FROM task WHERE kind = ?1 AND ended IS NOT NULL
         AND (rid IN (SELECT rid FROM task WHERE kind = ?1 AND client = ?2 ORDER BY rid DESC LIMIT -1 OFFSET ?3)
           OR rid IN (SELECT rid FROM task WHERE kind = ?1 ORDER BY rid DESC LIMIT -1 OFFSET ?4)
           OR ended < ?5)
         RETURNING ${COLUMNS}`,
      )
      .all(name, client, perClient, inAll, milliseconds == null ? 0 : now - milliseconds) as Row[];
    return rows.map(parseRow);
  }

  #select(condition: string, ...values: string[]): StoredTask[] {
    return (this.database.query(`${SELECT} WHERE ${condition}`).all(...values) as Row[]).map(parseRow);
  }
}

const FRACTIONS: Partial<Record<Task["state"], number>> = { finished: 1 };

const parseRow = ({ request, result, ...row }: Row): StoredTask => ({
  ...row,
  request: JSON.parse(request),
  result: JSON.parse(result),
  fraction: FRACTIONS[row.state] ?? null,
});
