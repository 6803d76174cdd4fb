import type { Database } from "../../platform/sqlite.ts";

/** That a job ended. Times are milliseconds since 1970-01-01 UTC. */
export interface JobCompletion {
  /** Place in the order of commits. */
  seq: number;
  /** Row of the job. */
  row: number;
  id: string;
  state: "finished" | "failed" | "cancelled";
  ended: number;
}

/** The ends of jobs, as they are kept while a webhook asks for them. */
export interface JobCompletions {
  last(): number;
  /** Those after a cursor; of one client where it is given. */
  since(cursor: number, client: string | undefined, limit: number): { ends: JobCompletion[]; cursor: number };
  /** Whether a job is the client's. */
  belongsTo(row: number, client: string): boolean;
  /** Lets go of those up to a cursor, except for the last, from which on they are counted. */
  discardUntil(cursor: number): void;
}

export function jobCompletions(database: Database): JobCompletions {
  const last = (): number =>
    (database.query("SELECT coalesce(max(seq), 0) AS seq FROM job_end").get() as { seq: number }).seq;
  return {
    last,
    since(cursor, client, limit) {
      const found = database
        .query(
          `SELECT e.seq, j.rid AS "row", j.id, e.state, j.ended, ?1 IS NULL OR j.client = ?1 AS mine FROM job_end AS e JOIN job AS j ON j.rid = e.job
           WHERE e.seq > ?2 ORDER BY e.seq LIMIT ?3`,
        )
        .all(client ?? null, cursor, limit) as (JobCompletion & { mine: number })[];
      const ends = found.filter(({ mine }) => mine === 1);
      return { ends, cursor: found.at(-1)?.seq ?? cursor };
    },
    belongsTo: (row, client) =>
      database.query("SELECT 1 FROM job WHERE rid = ? AND client = ?").get(row, client) !== null,
    discardUntil(cursor) {
      database
        .query("DELETE FROM job_end WHERE seq <= ? AND seq < (SELECT max(seq) FROM job_end)")
        .run(cursor);
    },
  };
}
