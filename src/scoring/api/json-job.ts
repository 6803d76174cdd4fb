import type { ScoringModel, Stage } from "../../motif/index.ts";
import type { JobRequest, State } from "../jobs/job.ts";
import type { Progress } from "../jobs/pool.ts";
import type { JobView } from "../jobs/store.ts";

/** A job as the JSON service shows it. Times are RFC 3339 in UTC. */
export interface JobObject {
  id: string;
  /** The client's own name for the query; null, as is the query's length and the model, where the job has expired. */
  identifier: string | null;
  state: State;
  /** What a running job is doing, and the part of that which is done, 0..1 in hundredths; null otherwise. */
  stage: "start" | Stage | null;
  fraction: number | null;
  /** Place in the queue, 1 for the next; null unless queued. */
  place: number | null;
  submitted: string;
  started: string | null;
  ended: string | null;
  /** When an ended job will be forgotten; null before its end, and where jobs are kept for ever. */
  expires: string | null;
  /** Why there is no prediction; null where there is one or may yet be. */
  failure: string | null;
  queryLength: number | null;
  scoringModel: ScoringModel | null;
  patterns: { expression: string; name: string | null }[];
  links: { self: string; events: string; result: string };
}

/** Where the JSON service lives. */
export const API = "/api/scoring";

/** `base`: the address under which clients reach the service. */
export function jobObject(
  job: JobView,
  progress: Progress | null,
  request: JobRequest | null,
  base: string,
): JobObject {
  const isRunning = job.state === "running";
  const self = `${base}${API}/jobs/${job.id}`;
  return {
    id: job.id,
    identifier: request?.identifier ?? null,
    state: job.state,
    stage: isRunning ? (progress?.stage ?? "start") : null,
    fraction: isRunning ? Math.floor((progress?.fraction ?? 0) * 100) / 100 : null,
    place: job.place,
    submitted: new Date(job.submitted).toISOString(),
    started: timeOf(job.started),
    ended: timeOf(job.ended),
    expires: timeOf(job.expires),
    failure: job.failure,
    queryLength: request?.query.length ?? null,
    scoringModel: request?.model ?? null,
    patterns: (request?.patterns ?? []).map(({ expression, name }) => ({ expression, name })),
    links: { self, events: `${self}/events`, result: `${self}/result` },
  };
}

const timeOf = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : new Date(milliseconds).toISOString();
