import type { Database } from "../../platform/sqlite.ts";

/** The end of a job. Times are milliseconds since 1970-01-01 UTC. */
interface JobCompletion {
  /** Position in the order of commits. */
  seq: number;
  /** Row of the job. */
  row: number;
  id: string;
  state: "finished" | "failed" | "cancelled";
  ended: number;
}

/** The ends of jobs, recorded while a webhook subscribes to them. */
export interface JobCompletions {
  last(): number;
  /** Completions after a cursor, of one client or of all clients. */
  since(cursor: number, client: string | undefined, limit: number): { ends: JobCompletion[]; cursor: number };
  /** True if a job belongs to the client. */
  belongsTo(row: number, client: string): boolean;
  /** Deletes those up to a cursor, except the last one, which keeps the numbering. */
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
