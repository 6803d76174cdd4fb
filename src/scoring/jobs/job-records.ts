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

/** The beginning of a query, by which the index `job_protein` finds it. */
const INDEXED = 32;

/** The newest jobs of one owner whose query has this sequence and that have not expired. */
export function jobsOfProtein(
  database: Database,
  { sequence, owner, limit }: { sequence: string; owner: string; limit: number },
): ProteinJob[] {
  const found = database
    .query(
      `SELECT id, state, submitted, ended, expires, result, request FROM job
       WHERE request IS NOT NULL AND coalesce(owner, client) = ?
         AND upper(substr(json_extract(request, '$.query'), 1, ${INDEXED})) = ?
         AND upper(json_extract(request, '$.query')) = ?
       ORDER BY rid DESC LIMIT ?`,
    )
    .all(owner, sequence.slice(0, INDEXED), sequence, limit) as (Omit<ProteinJob, "request"> & {
    request: string;
  })[];
  return found.map((job) => Object.assign(job, { request: JSON.parse(job.request) as JobRequest }));
}
