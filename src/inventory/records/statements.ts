import type { Query, Sql } from "../model/operator.ts";
import type { Database } from "../../platform/sqlite.ts";

/** Thrown to roll back all of `joined`. */
const RETRY = new Error("again");

type Row = Record<string, string | number | null>;

/** The statements that a reader needs, of the present or of the past. */
export interface ReadStatements extends Query {
  /** The column `rid` of all rows. */
  numbers(sql: Sql): Uint32Array;
  /** One view of the database for several reads. */
  reading<T>(work: () => T): T;
  /** Changes whenever another connection has written. */
  foreignVersion(): number;
}

/** One connection's statements. */
export class Statements {
  /** Whether a write within `joined` must be rolled back. */
  private isPoisoned: boolean | undefined;

  constructor(private readonly database: Database) {}

  all(sql: Sql): Row[] {
    if (sql.text.startsWith("EXPLAIN")) return this.plan(sql);
    return this.database.query(sql.text).all(...sql.args) as Row[];
  }

  /** Statements of this kind are not cached: the driver never resets them, and they would hold a read lock. */
  private plan(sql: Sql): Row[] {
    const statement = this.database.prepare(sql.text);
    try {
      return statement.all(...sql.args) as Row[];
    } finally {
      statement.finalize();
    }
  }

  get(sql: Sql): Row | null {
    return this.database.query(sql.text).get(...sql.args) as Row | null;
  }

  /** The column `rid` of all rows: a million row numbers take 4 MB. */
  numbers(sql: Sql): Uint32Array {
    let found = new Uint32Array(64);
    let n = 0;
    for (const row of this.database.query(sql.text).iterate(...sql.args) as Iterable<Row>) {
      if (n === found.length) {
        const grown = new Uint32Array(2 * n);
        grown.set(found);
        found = grown;
      }
      found[n++] = Number(row.rid);
    }
    return found.subarray(0, n);
  }

  /** Runs a write and returns the inserted row number. */
  run(sql: Sql): number {
    return Number(this.database.query(sql.text).run(...sql.args).lastInsertRowid);
  }

  /** One view of the database for several reads. */
  reading<T>(work: () => T): T {
    return this.database.transaction(work).deferred();
  }

  /**
   * All of the writes or none. Takes the write lock at once, so that it cannot fail halfway. Nested calls use a
   * savepoint. @throws Problem busy
   */
  writing<T>(work: () => T): T {
    if (this.isPoisoned !== undefined) {
      // A full disk may have ended the transaction: later statements would be committed one by one.
      if (this.isPoisoned) throw RETRY;
      try {
        return work();
      } catch (error) {
        this.isPoisoned = true;
        throw error;
      }
    }
    return this.database.transaction(work).immediate();
  }

  inTransaction(): boolean {
    return this.database.inTransaction;
  }

  /**
   * One transaction for work in which `writing` uses no savepoints: each would flush the trigram index. If a write has
   * to be rolled back, nothing is written and the result is undefined; the caller repeats the work with savepoints.
   */
  joined<T>(work: () => T): T | undefined {
    try {
      return this.writing(() => {
        this.isPoisoned = false;
        try {
          const value = work();
          if (this.isPoisoned) throw RETRY;
          return value;
        } finally {
          this.isPoisoned = undefined;
        }
      });
    } catch (error) {
      if (error === RETRY) return undefined;
      throw error;
    }
  }

  /** Changes whenever another connection has written. */
  foreignVersion(): number {
    return Number(this.get({ text: "PRAGMA data_version", args: [] })?.data_version);
  }

  /** Changes with every write, by this connection or another; not comparable between processes. */
  state(): string {
    const own = this.get({ text: "SELECT total_changes() AS own", args: [] })?.own;
    return `${String(own)} ${this.foreignVersion()}`;
  }
}
