import type { Sql } from "../model/operator.ts";
import type { Database } from "../../platform/sqlite.ts";

/** Prepared statements kept; the least recently used one goes first. */
const KEPT = 400;

/** Thrown to have all of `joined` taken back. */
const AGAIN = new Error("again");

type Row = Record<string, string | number | null>;
type Prepared = ReturnType<Database["prepare"]>;

/** One connection's statements, each prepared once per text. The driver's own cache holds twenty. */
export class Statements {
  private readonly prepared = new Map<string, Prepared>();

  /** Within `joined`: whether something has to be taken back. */
  private spoiled: boolean | undefined;

  constructor(private readonly database: Database) {}

  all(sql: Sql): Row[] {
    if (sql.text.startsWith("EXPLAIN")) return this.plan(sql);
    return this.statement(sql.text).all(...sql.args) as Row[];
  }

  /** The driver does not end such a statement: kept, it would hold the database open to reading until the process ends. */
  private plan(sql: Sql): Row[] {
    const statement = this.database.prepare(sql.text);
    try {
      return statement.all(...sql.args) as Row[];
    } finally {
      statement.finalize();
    }
  }

  get(sql: Sql): Row | null {
    return this.statement(sql.text).get(...sql.args) as Row | null;
  }

  /** The first column of all rows, which are row numbers: a million of them take 4 MB, and not a million objects. */
  numbers(sql: Sql, expected: number): Uint32Array {
    const found = new Uint32Array(expected);
    let n = 0;
    for (const row of this.statement(sql.text).iterate(...sql.args) as Iterable<Row>)
      found[n++] = Number(row.rid);
    return found.subarray(0, n);
  }

  /** Runs a write and returns the row number of what it inserted. */
  run(sql: Sql): number {
    return Number(this.statement(sql.text).run(...sql.args).lastInsertRowid);
  }

  /** One view of the database for several reads. */
  reading<T>(work: () => T): T {
    return this.database.transaction(work).deferred();
  }

  /**
   * All of the writes or none; takes the write lock at once, so that it cannot fail halfway for want of it. Within
   * another one it has a savepoint. @throws Problem busy
   */
  writing<T>(work: () => T): T {
    if (this.spoiled !== undefined) {
      // A full disk may have ended the transaction: what followed would be written for good.
      if (this.spoiled) throw AGAIN;
      try {
        return work();
      } catch (error) {
        this.spoiled = true;
        throw error;
      }
    }
    return this.database.transaction(work).immediate();
  }

  inTransaction(): boolean {
    return this.database.inTransaction;
  }

  /**
   * One transaction for work in which `writing` has no savepoints, each of which would have the trigrams written out.
   * Undefined, and nothing is written, where one of them had something to take back: to be done again with savepoints.
   */
  joined<T>(work: () => T): T | undefined {
    try {
      return this.writing(() => {
        this.spoiled = false;
        try {
          const value = work();
          if (this.spoiled) throw AGAIN;
          return value;
        } finally {
          this.spoiled = undefined;
        }
      });
    } catch (error) {
      if (error === AGAIN) return undefined;
      throw error;
    }
  }

  /** Changes whenever another connection has written. */
  foreignVersion(): number {
    return Number(this.get({ text: "PRAGMA data_version", args: [] })?.data_version);
  }

  /** Changes whenever anything has been written, by this connection or by another; tells nothing between processes. */
  state(): string {
    const own = this.get({ text: "SELECT total_changes() AS own", args: [] })?.own;
    return `${String(own)} ${this.foreignVersion()}`;
  }

  /** Lets go of what is prepared, before the connection is closed. */
  release(): void {
    for (const statement of this.prepared.values()) statement.finalize();
    this.prepared.clear();
  }

  private statement(text: string): Prepared {
    let found = this.prepared.get(text);
    if (found) this.prepared.delete(text);
    else found = this.database.prepare(text);
    this.prepared.set(text, found);
    if (this.prepared.size > KEPT) {
      const [[oldest, statement]] = this.prepared;
      this.prepared.delete(oldest);
      statement.finalize();
    }
    return found;
  }
}
