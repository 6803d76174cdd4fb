import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/sqlite.ts";
import { Problem } from "../../problem.ts";
import { type Comparison, currentComparison } from "../results/comparison.ts";
import type { JobRequest, State } from "../jobs/job.ts";

/** Saved queries of one user, and of all. Each keeps a result, and is scored again for each corpus. */
export const MAX_PER_OWNER = 100;
const MAX_IN_ALL = 1000;
/** Changes that are kept of a query, and changes that are listed. */
const MAX_KEPT = 10;
const MAX_LISTED = 50;

export interface WatchedQuery {
  rid: number;
  id: string;
  request: JobRequest;
  created: number;
  /** Identifier of the job with the latest result. */
  job: string;
  /** Hash of the corpus that it was last scored against. */
  corpus: string;
  /** The job that scores it again. */
  rerun: { id: string; state: State; failure: string | null } | null;
  failure: string | null;
}

/** Verdicts that changed with a corpus. */
export interface VerdictChange {
  /** Identifier of the watched query. */
  query: string;
  found: number;
  comparison: Comparison;
}

const COLUMNS = `SELECT q.rid, q.id, q.request, q.created, j.id AS job, q.corpus, q.failure,
  r.id AS rerunId, r.state AS rerunState, r.failure AS rerunFailure
  FROM watched_query AS q JOIN job AS j ON j.rid = q.job LEFT JOIN job AS r ON r.rid = q.rerun`;

interface Row extends Omit<WatchedQuery, "request" | "rerun"> {
  request: string;
  rerunId: string | null;
  rerunState: State | null;
  rerunFailure: string | null;
}

/** Watched queries and the changes of their verdicts, in SQLite. */
export class WatchedQueries {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Saves the query of a finished job; a second time it changes nothing.
   * @throws Problem unknown_job, not_finished, conflict for own alignments, and beyond the limits
   */
  add(job: string, owner: string): WatchedQuery {
    const found = this.#row<{ rid: number; request: string | null; digest: string; corpus: string | null }>(
      `SELECT job.rid, request, job.digest, result.corpus FROM job LEFT JOIN result ON result.rid = job.result
       WHERE id = ?`,
      job,
    );
    if (!found) throw new Problem("unknown_job", "job: There is no job with this identifier.");
    const { rid, request, digest, corpus } = found;
    if (request === null || corpus === null)
      throw new Problem("not_finished", "job: Only queries of jobs with a result can be watched.");
    if ((JSON.parse(request) as JobRequest).alignment)
      throw new Problem("conflict", "job: A result from your own alignment does not depend on the corpus.");
    const insert = this.database.query(
      `INSERT INTO watched_query (id, owner, digest, request, created, job, corpus) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
    );
    return this.database
      .transaction(() => {
        const known = "owner = ? AND digest = ?";
        if (!this.#row(`SELECT 1 FROM watched_query WHERE ${known}`, owner, digest)) this.#requireRoom(owner);
        const now = this.clock.now();
        insert.run(this.clock.newId(), owner, digest, request, now, rid, corpus);
        return this.#select(`WHERE q.${known.replace(" digest", " q.digest")}`, owner, digest)[0];
      })
      .immediate();
  }

  #requireRoom(owner: string): void {
    const { own, all } = this.#row<{ own: number; all: number }>(
      `SELECT count(*) FILTER (WHERE owner = ?) AS own, count(*) AS "all" FROM watched_query`,
      owner,
    )!;
    if (own < MAX_PER_OWNER && all < MAX_IN_ALL) return;
    const text =
      own < MAX_PER_OWNER
        ? `All users together watch ${all} queries, which is the limit.`
        : `You watch ${own} queries, which is the limit. Stop watching others first.`;
    throw new Problem("conflict", text);
  }

  /** @throws Problem not_found */
  remove(id: string, owner: string): void {
    const { changes } = this.database
      .query("DELETE FROM watched_query WHERE id = ? AND owner = ?")
      .run(id, owner);
    if (changes === 0) throw new Problem("not_found", "You watch no query with this identifier.");
  }

  /** Lists the watched queries of a user, newest first. */
  list(owner: string): WatchedQuery[] {
    return this.#select("WHERE q.owner = ? ORDER BY q.rid DESC", owner);
  }

  /** The query that is scored again now; null if there is none. */
  rerunning(): WatchedQuery | null {
    return this.#select("WHERE q.rerun IS NOT NULL LIMIT 1")[0] ?? null;
  }

  /** The next query that was scored against another corpus; null if there is none. */
  next(corpus: string): WatchedQuery | null {
    return this.#select("WHERE q.corpus <> ? AND q.rerun IS NULL ORDER BY q.rid LIMIT 1", corpus)[0] ?? null;
  }

  /** @param job identifier of the job that scores it again */
  begin(rid: number, job: string): void {
    this.database
      .query("UPDATE watched_query SET rerun = (SELECT rid FROM job WHERE id = ?) WHERE rid = ?")
      .run(job, rid);
  }

  /** The rerun has a result. @param change null if no verdict changed */
  finish(rid: number, change: Comparison | null): void {
    const corpus = "(SELECT corpus FROM result JOIN job ON job.result = result.rid WHERE job.rid = rerun)";
    this.database
      .transaction(() => {
        const { changes } = this.database
          .query(
            `UPDATE watched_query SET corpus = ${corpus}, job = rerun, rerun = NULL, failure = NULL WHERE rid = ?`,
          )
          .run(rid);
        // Nobody watches it any more.
        if (changes === 0 || !change) return;
        this.database
          .query("INSERT INTO verdict_change (query, found, comparison) VALUES (?, ?, ?)")
          .run(rid, this.clock.now(), JSON.stringify(change));
        this.database
          .query(
            "DELETE FROM verdict_change WHERE query = ?1 AND rid NOT IN (SELECT rid FROM verdict_change WHERE query = ?1 ORDER BY rid DESC LIMIT ?2)",
          )
          .run(rid, MAX_KEPT);
      })
      .immediate();
  }

  /** The rerun has no result. @param corpus hash of the one in use */
  fail(rid: number, corpus: string, failure: string): void {
    this.database
      .query("UPDATE watched_query SET corpus = ?, rerun = NULL, failure = ? WHERE rid = ?")
      .run(corpus, failure, rid);
  }

  /** Leaves the waiting queries of a user as they are until another corpus is in use. */
  cancelWaiting(owner: string, corpus: string): void {
    this.database
      .query(
        `UPDATE watched_query SET corpus = ?1, failure = 'The rerun was cancelled.'
         WHERE owner = ?2 AND corpus <> ?1 AND rerun IS NULL`,
      )
      .run(corpus, owner);
  }

  /** Lets the queries of a user that failed, or were cancelled, wait again. */
  retry(owner: string): void {
    this.database
      .query("UPDATE watched_query SET corpus = '', failure = NULL WHERE owner = ? AND failure IS NOT NULL")
      .run(owner);
  }

  /** Verdicts of a user's queries that changed, newest first. */
  changes(owner: string): VerdictChange[] {
    const rows = this.database
      .query(
        `SELECT q.id AS query, c.found, c.comparison FROM verdict_change AS c JOIN watched_query AS q ON q.rid = c.query
         WHERE q.owner = ? ORDER BY c.rid DESC LIMIT ?`,
      )
      .all(owner, MAX_LISTED) as (Omit<VerdictChange, "comparison"> & { comparison: string })[];
    return rows.map((row) =>
      Object.assign(row, { comparison: currentComparison(JSON.parse(row.comparison) as Comparison) }),
    );
  }

  #select(rest: string, ...values: (string | number)[]): WatchedQuery[] {
    const rows = this.database.query(`${COLUMNS} ${rest}`).all(...values) as Row[];
    return rows.map(({ rerunId, rerunState, rerunFailure, request, ...row }) =>
      Object.assign(row, {
        request: JSON.parse(request) as JobRequest,
        rerun: rerunId === null ? null : { id: rerunId, state: rerunState!, failure: rerunFailure },
      }),
    );
  }

  #row<Found = unknown>(sql: string, ...values: string[]): Found | null {
    return this.database.query(sql).get(...values) as Found | null;
  }
}
