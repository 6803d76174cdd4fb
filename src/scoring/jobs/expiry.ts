import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../platform/sqlite.ts";
import { IS_OF_PROTEIN } from "./job-records.ts";
import { transitionSql, type State } from "./job.ts";

const EXPIRE = transitionSql("expire");
const DAY = 86_400_000;

/** True if a watched query needs the result. */
const IS_WATCHED =
  "(rid IN (SELECT job FROM watched_query) OR rid IN (SELECT rerun FROM watched_query WHERE rerun IS NOT NULL))";

/** Jobs per transaction, so that requests do not wait long. */
const BATCH = 200;

/**
 * Expires due jobs, at most one batch: request and result are deleted, the row stays, so that its identifier remains known. A result is
 * deleted with its last job, and the structure model of a protein with the last job of an owner without an account.
 * @returns number of expired jobs
 */
export function expireJobs(database: Database, now: number): number {
  const due = database.query(
    `SELECT rid, state, ended, expires, result, coalesce(owner, client) AS owner, upper(json_extract(request, '$.query')) AS sequence
     FROM job WHERE expires <= ? AND ${EXPIRE.where} AND NOT ${IS_WATCHED} ORDER BY expires LIMIT ${BATCH}`,
  );
  const expire = database.query(
    `UPDATE job SET ${EXPIRE.set}, request = NULL, idempotency_key = NULL, digest = '', result = NULL, expires = NULL, failure = ? WHERE rid = ?`,
  );
  // Without an account, a model is kept as long as the jobs of its protein.
  const deleteModel = database.query(
    `DELETE FROM protein_model WHERE owner = $owner AND owner NOT LIKE 'user %' AND sequence = $sequence
       AND NOT EXISTS (SELECT 1 FROM job WHERE ${IS_OF_PROTEIN})`,
  );
  const deleteResult = database.query(
    "DELETE FROM result WHERE rid = ?1 AND NOT EXISTS (SELECT 1 FROM job WHERE result = ?1)",
  );
  return database
    .transaction(() => {
      const jobs = due.all(now) as Due[];
      for (const job of jobs) {
        const { rid, owner, sequence } = job;
        expire.run(failureText(job), rid);
        deleteModel.run({ owner, sequence });
      }
      for (const result of new Set(jobs.map((job) => job.result)))
        if (result !== null) deleteResult.run(result);
      return jobs.length;
    })
    .immediate();
}

interface Due {
  rid: number;
  state: State;
  ended: number;
  expires: number;
  result: number | null;
  owner: string;
  sequence: string;
}

function failureText({ state, ended, expires }: Due): string {
  const date = new Date(ended).toISOString().slice(0, 10);
  const days = Math.round((expires - ended) / DAY);
  return `The job ended as ${state} on ${date} and was kept for ${days} days (setting job_retention_days).`;
}

/** Expires jobs at once and then every `interval` milliseconds; after a full batch again after `pause`. */
export function openSweeper(
  { database, clock, log }: { database: Database; clock: Clock; log: Log },
  interval = 600_000,
  pause = 50,
): { close(): void } {
  let timer: Timer;
  const sweep = (): void => {
    let expired = 0;
    try {
      expired = expireJobs(database, clock.now());
    } catch (error) {
      log.problem("expiry", { cause: String(error) });
    }
    if (expired > 0) log.info("jobs expired", { expired });
    timer = setTimeout(sweep, expired === BATCH ? pause : interval);
    timer.unref();
  };
  sweep();
  return { close: () => clearTimeout(timer) };
}
