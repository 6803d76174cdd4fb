import type { Database } from "../../platform/sqlite.ts";
import type { StoredTask } from "../../tasks/task.ts";
import type { ScoringVersion } from "../corpus/corpus.ts";
import type { State } from "../jobs/job.ts";

/** A job to submit, or a protein that cannot be scored. */
export interface NewItem {
  /** The protein. */
  name: string;
  /** Line of the protein in a list. */
  line: number | null;
  /** Residues; null where there is a failure. */
  query: string | null;
  /** Number of its group of patterns, from 0. */
  patterns: number;
  /** Why it cannot be scored. */
  failure: string | null;
}

/** A job of a batch. */
export interface BatchItem {
  position: number;
  name: string;
  line: number | null;
  /** Number of its group of patterns. */
  group: number;
  /** Id of the job; null before it is submitted, and if that failed. */
  job: string | null;
  /** `waiting` before it is submitted, then that of the job. */
  state: State | "waiting";
  failure: string | null;
}

/** Number of jobs by state. Cancelled and expired jobs count as failed. */
export interface BatchCounts {
  total: number;
  /** The job has not been submitted. */
  waiting: number;
  queued: number;
  running: number;
  finished: number;
  failed: number;
}

interface Next {
  rid: number;
  position: number;
  name: string;
  query: string;
  patterns: number;
}

const IS_UNFINISHED = "job.state IN ('queued', 'running')";
const ITEMS_WITH_JOBS = "batch_item AS item LEFT JOIN job ON job.rid = item.job";

/** The table of the jobs of batches. `task` is the row of a batch. */
export class BatchItems {
  constructor(private readonly database: Database) {}

  insert(task: number, items: readonly NewItem[]): void {
    const insert = this.database.query(
      "INSERT INTO batch_item (task, position, name, line, patterns, failure, query) VALUES (?, ?, ?, ?, ?, ?, ?)",
    );
    for (const [position, { name, line, patterns, failure, query }] of items.entries())
      insert.run(task, position, name, line, patterns, failure, query);
  }

  /** Idempotency key of a job: a submission that is repeated after a kill finds the job of the first one. */
  itemKey(id: string, position: number): string {
    return `batch ${id} ${position}`;
  }

  /** Notes jobs that a killed process had submitted. */
  adopt({ rid, id, client }: Pick<StoredTask, "rid" | "id" | "client">): void {
    const job =
      "(SELECT job.rid FROM job WHERE client = ?2 AND idempotency_key = 'batch ' || ?3 || ' ' || position)";
    this.database
      .query(
        `UPDATE batch_item SET query = NULL, job = ${job} WHERE task = ?1 AND query IS NOT NULL AND ${job} IS NOT NULL`,
      )
      .run(rid, client, id);
  }

  /** The first jobs that are not submitted. */
  next(task: number, limit: number): Next[] {
    return this.database
      .query(
        `SELECT rid, position, name, query, patterns FROM batch_item
         WHERE task = ? AND query IS NOT NULL ORDER BY position LIMIT ?`,
      )
      .all(task, limit) as Next[];
  }

  setJob(rid: number, id: string): void {
    this.database
      .query("UPDATE batch_item SET query = NULL, job = (SELECT rid FROM job WHERE id = ?) WHERE rid = ?")
      .run(id, rid);
  }

  /** Drops jobs that are not submitted. */
  dropWaiting(task: number, failure: string): void {
    this.database
      .query("UPDATE batch_item SET query = NULL, failure = ? WHERE task = ? AND query IS NOT NULL")
      .run(failure, task);
  }

  /** Ids of its jobs that have not ended. */
  unfinishedJobs(task: number): string[] {
    const rows = this.database
      .query(
        `SELECT job.id FROM ${ITEMS_WITH_JOBS} WHERE task = ? AND ${IS_UNFINISHED} ORDER BY position DESC`,
      )
      .all(task) as { id: string }[];
    return rows.map(({ id }) => id);
  }

  /** Cancelled batches with jobs that are not. */
  listLeftovers(): { rid: number }[] {
    return this.database
      .query(
        `SELECT rid FROM task WHERE kind = 'batch' AND state = 'cancelled' AND EXISTS
         (SELECT 1 FROM ${ITEMS_WITH_JOBS} WHERE item.task = task.rid AND (item.query IS NOT NULL OR ${IS_UNFINISHED}))`,
      )
      .all() as { rid: number }[];
  }

  /** Unfinished batches of a client, and bytes of jobs that are not submitted. */
  countWaiting(client: string): { batches: number; bytes: number } {
    return this.database
      .query(
        `SELECT count(*) AS batches, coalesce(sum((SELECT sum(octet_length(query)) FROM batch_item WHERE task = task.rid)), 0) AS bytes
         FROM task WHERE kind = 'batch' AND client = ? AND ended IS NULL`,
      )
      .get(client) as { batches: number; bytes: number };
  }

  count(task: number): BatchCounts {
    return this.database
      .query(
        `SELECT count(*) AS total,
           count(*) FILTER (WHERE item.query IS NOT NULL) AS waiting,
           count(*) FILTER (WHERE job.state = 'queued') AS queued,
           count(*) FILTER (WHERE job.state = 'running') AS running,
           count(*) FILTER (WHERE job.state = 'finished') AS finished,
           count(*) FILTER (WHERE item.failure IS NOT NULL OR job.state IN ('failed', 'cancelled', 'expired')) AS failed
         FROM ${ITEMS_WITH_JOBS} WHERE task = ?`,
      )
      .get(task) as BatchCounts;
  }

  /** Corpora and methods of its results. */
  versions(task: number): ScoringVersion[] {
    return this.database
      .query(
        `SELECT DISTINCT result.corpus, result.method FROM batch_item AS item JOIN job ON job.rid = item.job
         JOIN result ON result.rid = job.result WHERE task = ?`,
      )
      .all(task) as ScoringVersion[];
  }

  list(task: number, offset: number, limit: number): BatchItem[] {
    return this.database
      .query(
        `SELECT position, name, line, patterns AS "group", job.id AS job, coalesce(job.failure, item.failure) AS failure,
           coalesce(job.state, iif(item.failure IS NULL, 'waiting', 'failed')) AS state
         FROM ${ITEMS_WITH_JOBS} WHERE task = ? AND position >= ? ORDER BY position LIMIT ?`,
      )
      .all(task, offset, limit) as BatchItem[];
  }
}
