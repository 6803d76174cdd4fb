import type { Database } from "../../platform/sqlite.ts";
import type { JobRequest, State } from "./job.ts";
import type { JobView } from "./store.ts";

/** A job for administrators: its client, and of the request only name and size. */
interface JobRecord extends Pick<JobView, "id" | "state" | "submitted" | "started" | "ended" | "failure"> {
  /** A user or a network address. */
  client: string;
  attempts: number;
  name: string | null;
  /** Length of the query; null once the job has expired. */
  residues: number | null;
}

/** The newest jobs, of one state or of all. */
export function recentJobs(database: Database, limit: number, state?: State): JobRecord[] {
  return database
    .query(
      `SELECT id, state, client, submitted, started, ended, failure, attempts,
         json_extract(request, '$.identifier') AS name, length(json_extract(request, '$.query')) AS residues
       FROM job ${state === undefined ? "" : "WHERE state = $state"} ORDER BY rid DESC LIMIT $limit`,
    )
    .all({ limit, ...(state === undefined ? {} : { state }) }) as JobRecord[];
}

/** A job of a protein, with the parts of its request that lists show. */
export interface ProteinJob extends Pick<JobView, "id" | "state" | "submitted" | "ended" | "expires"> {
  request: JobRequest;
  /** Equal numbers mean equal results; null without a result. */
  result: number | null;
}

/** True for a job of $owner with the query $sequence that has not expired; the index `job_protein` has beginnings of queries. */
export const IS_OF_PROTEIN = `request IS NOT NULL AND coalesce(owner, client) = $owner
  AND upper(substr(json_extract(request, '$.query'), 1, 32)) = substr($sequence, 1, 32)
  AND upper(json_extract(request, '$.query')) = $sequence`;

/** The newest jobs of one owner whose query has this sequence and that have not expired. */
export type JobsOfProtein = (of: { sequence: string; owner: string; limit: number }) => ProteinJob[];

export const jobsOfProtein =
  (database: Database): JobsOfProtein =>
  (of) => {
    const found = database
      .query(
        `SELECT id, state, submitted, ended, expires, result, request FROM job WHERE ${IS_OF_PROTEIN}
       ORDER BY rid DESC LIMIT $limit`,
      )
      .all(of) as (Omit<ProteinJob, "request"> & { request: string })[];
    return found.map((job) => Object.assign(job, { request: JSON.parse(job.request) as JobRequest }));
  };
