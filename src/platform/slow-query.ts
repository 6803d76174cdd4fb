import type { Database } from "./sqlite.ts";

/** What is told of a statement that took long: its text with places for values, which are nobody's business. */
export interface SlowQuery {
  sql: string;
  milliseconds: number;
}

/** Seconds and statements so far. */
export interface QueryTime {
  seconds: number;
  statements: number;
  slow: number;
}

const LONGEST_TEXT = 2000;

/**
 * Has every statement of a connection timed from now on, and those told of that took `milliseconds` or more. What is
 * read row by row (`iterate`) is not timed, as the time between rows is somebody else's.
 */
export function timeQueries(
  database: Database,
  milliseconds: number,
  tell: (query: SlowQuery) => void,
): QueryTime {
  const time: QueryTime = { seconds: 0, statements: 0, slow: 0 };
  const timed = <A extends unknown[], R>(sql: string, work: (...args: A) => R): ((...args: A) => R) =>
    function (this: unknown, ...args: A): R {
      const started = performance.now();
      try {
        return work.apply(this, args);
      } finally {
        const took = performance.now() - started;
        time.seconds += took / 1000;
        time.statements++;
        if (took >= milliseconds) {
          time.slow++;
          const text = sql.replace(/\s+/g, " ").trim().slice(0, LONGEST_TEXT);
          tell({ sql: text, milliseconds: Math.round(took * 100) / 100 });
        }
      }
    };
  const wrapped = new WeakSet<object>();
  const wrap = <S extends ReturnType<Database["prepare"]>>(statement: S, sql: string): S => {
    // The driver keeps some statements and gives the same one again.
    if (wrapped.has(statement)) return statement;
    wrapped.add(statement);
    for (const name of ["all", "get", "run", "values"] as const)
      Object.defineProperty(statement, name, { value: timed(sql, statement[name] as never) });
    return statement;
  };
  const { query, prepare, run } = database;
  const own = {
    query: (sql: string) => wrap(query.call(database, sql) as never, sql),
    prepare: (sql: string, ...rest: []) => wrap(prepare.call(database, sql, ...rest) as never, sql),
    run: (sql: string, ...values: []) => timed(sql, run).call(database, sql, ...values),
  };
  for (const [name, value] of Object.entries(own)) Object.defineProperty(database, name, { value });
  return time;
}
