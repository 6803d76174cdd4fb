import type { Database } from "../../platform/sqlite.ts";
import type { State } from "./job.ts";
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
