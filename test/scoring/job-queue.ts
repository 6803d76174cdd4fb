import type { JobRequest, State } from "../../src/scoring/jobs/job.ts";
import { unpackParts } from "../../src/scoring/jobs/packed-prediction.ts";
import { JobStore, type StoreOptions } from "../../src/scoring/jobs/store.ts";
import { openMigrated } from "../database.ts";

export const VERSION = { corpus: "c0ffee", method: "test-1" };
export const PREDICTION = JSON.stringify({ method: "test-1", warnings: ["a"] });
/** The time of the clock, until `pass` is called. */
export const START = Date.UTC(2026, 1, 3);

export const request = (query = "MEEPQSDPSV"): JobRequest => ({
  identifier: "my query",
  query,
  model: "continuous",
  patterns: [{ expression: "S.P", name: null, dialect: "plain" }],
});

/** A job store in memory. Identifiers are job-1, job-2 and so on. */
export function openQueue(options: Partial<StoreOptions> = {}) {
  let time = START;
  let ids = 0;
  const clock = { now: () => time, newId: () => `job-${++ids}` };
  const database = openMigrated();
  const version = { ...VERSION };
  const store = new JobStore({ database, clock, scoringVersion: () => version, ...options });
  return {
    store,
    database,
    clock,
    /** The version that scores jobs now. */
    version,
    pass: (milliseconds: number): void => void (time += milliseconds),
    /** Inserts jobs, given as `client query`. */
    insert: (...jobs: string[]): Promise<string[]> =>
      Promise.all(jobs.map((job) => store.insert(request(job.split(" ")[1]), job.split(" ")[0]))),
    states: (jobs: readonly string[]): State[] => jobs.map((id) => store.get(id).state),
    finishNext: (prediction = PREDICTION): boolean => store.finish(store.lease(1000)!, VERSION, prediction),
  };
}

/** The prediction of a finished job; null in every other state. */
export function readPrediction(store: JobStore, id: string): unknown {
  const parts = store.storedPrediction(id, "json");
  return parts && JSON.parse(unpackParts(parts));
}
