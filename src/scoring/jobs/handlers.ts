import type { Corpus } from "../../motif/index.ts";
import { checkIdempotencyKey } from "../../platform/idempotency-key.ts";
import { Problem } from "../../problem.ts";
import { identify } from "../corpus/find-proteins.ts";
import type { NamedQuery } from "../prediction/prediction.ts";
import { runProvenance } from "../prediction/provenance.ts";
import type { Provenance } from "../table/provenance.ts";
import type { JobRequest } from "./job.ts";
import { compressedParts, type Form } from "./packed-prediction.ts";
import type { Progress } from "./pool-options.ts";
import type { JobStore, JobView } from "./store.ts";
import { type StoredResult, withNames } from "./stored-result.ts";

export interface Status {
  /** One of the STATES of job.ts. */
  status: string;
  /** A sentence for people: place in the queue, stage and per cent, time taken, or why it failed. */
  details: string;
}

/** Runs jobs: the pool of this process, and workers on other machines. */
export interface JobRunner {
  /** A job was accepted. */
  wake(): void;
  /** Progress of a running job; null if it is not known. */
  progress(id: string): Progress | null;
  /** @throws Problem unknown_job, conflict if it has ended otherwise */
  cancel(id: string): JobView;
}

/** The stored prediction of a job, to print it in another form. */
export interface StoredJob extends NamedQuery {
  job: string;
  /** The stored prediction as JSON. */
  parts: Uint8Array<ArrayBuffer>[];
}

interface HandlersOptions {
  store: JobStore;
  runner: JobRunner;
  /** The corpus in use, which may have the protein of a query. */
  corpus: () => Corpus;
  /** Guards new jobs. @throws Problem if the disk takes none */
  requireWritable?: (() => void) | undefined;
}

export type Handlers = ReturnType<typeof scoringHandlers>;

const STAGES: Record<Exclude<Progress["stage"], "start">, string> = {
  homologs: "Searching for homologs (step 1 of 3)",
  tree: "Building the tree of the homologs (step 2 of 3)",
  scores: "Scoring the matches (step 3 of 3)",
};

/** The operations of the service, independent of SOAP and JSON. */
export function scoringHandlers(options: HandlersOptions) {
  const { store, runner, corpus, requireWritable = () => {} } = options;
  return {
    /**
     * Stores a job, and returns its identifier once it is on the disk. The queue is shared fairly between
     * clients.
     * @param key the header Idempotency-Key: repeating a request with the same key returns the same job
     * @param owner key of the owner; null for the account of the client
     * @throws Problem invalid_request for the key, busy, key_reused, quota_exceeded
     */
    async runJob(
      request: JobRequest,
      client = "",
      key: string | null = null,
      owner: string | null = null,
    ): Promise<string> {
      checkIdempotencyKey(key);
      requireWritable();
      const id = await store.insert(request, client, key, owner);
      runner.wake();
      return id;
    },
    /** @throws Problem unknown_job */
    getStatus(id: string): Status {
      const job = store.get(id);
      return { status: job.state, details: describe(job, runner) };
    },
    /**
     * The result, with the names of the query; null until the job has ended.
     * @throws Problem unknown_job, job_failed, job_cancelled, job_expired, content_damaged
     */
    async getResult(id: string, form: Form): Promise<StoredResult | null> {
      const parts = await store.intactPrediction(id, form);
      const request = store.request(id);
      if (!parts || !request) return rejectUnfinished(store.get(id));
      const protein = form === "json" ? identify(corpus, request) : null;
      const { identifier } = request;
      const provenance = jobProvenance(request, store.get(id));
      return withNames(parts, form, { identifier, protein, provenance });
    },
    /** The result to print in another form. @throws Problem likewise, not_finished */
    async getPrediction(job: string): Promise<StoredJob> {
      const parts = await store.intactPrediction(job, "json");
      const request = store.request(job);
      if (!parts || !request) return rejectUnfinished(store.get(job)) ?? throwNotFinished(store.get(job));
      const { identifier } = request;
      const protein = identify(corpus, request);
      const provenance = jobProvenance(request, store.get(job));
      return { job, identifier, protein, provenance, parts: compressedParts(parts) };
    },
    /** Key of the owner of a job. @throws Problem unknown_job */
    readOwner: (id: string): string => store.readOwner(id),
    /** Cancels a job that waits or runs. @throws Problem unknown_job, conflict if it has ended otherwise */
    cancel: (id: string): JobView => runner.cancel(id),
    /** @throws Problem unknown_job */
    job: (id: string): JobView => store.get(id),
    /** The request of a job; null once it has expired. @throws Problem unknown_job */
    request: (id: string): JobRequest | null => store.request(id),
    /** The request of a job that has not expired. @throws Problem unknown_job, job_expired */
    requireRequest(id: string): JobRequest {
      const request = store.request(id);
      if (request) return request;
      throw new Problem("job_expired", `The job was removed. ${store.get(id).failure}`);
    },
    progress: (id: string): Progress | null => runner.progress(id),
  };
}

const jobProvenance = (request: JobRequest, { submitted, ended }: JobView): Provenance => {
  const { identifier: name, query: sequence, patterns, homologs, prior, alignment } = request;
  const options = { ...homologs, ...(prior !== undefined && { prior }) };
  const { knowledge, classModels, variant } = request;
  return runProvenance({
    at: ended ?? submitted,
    options,
    alignment,
    evidence: request,
    questions: [{ name, sequence, patterns, knowledge, classModels, variant }],
  });
};

/** Null until the job has ended: then, a client that polls for the prediction would do so forever. @throws Problem */
function rejectUnfinished({ state, failure }: JobView): null {
  if (state === "failed") throw new Problem("job_failed", `The job failed. ${failure}`);
  if (state === "cancelled") throw new Problem("job_cancelled", "The job was cancelled.");
  if (state === "expired") throw new Problem("job_expired", `The prediction was removed. ${failure}`);
  return null;
}

/** @throws Problem not_finished, with the state of the job */
export function throwNotFinished({ state }: JobView): never {
  const headers = { "Retry-After": "1" };
  throw new Problem("not_finished", `The job is ${state}: it has no result yet.`, { headers });
}

function describe(job: JobView, runner: JobRunner): string {
  switch (job.state) {
    case "queued":
      return `About place ${job.place} in the queue, which is shared fairly between clients.`;
    case "running": {
      const progress = runner.progress(job.id);
      if (!progress || progress.stage === "start") return "Starting.";
      return `${STAGES[progress.stage]}, ${Math.floor(progress.fraction * 100)} % of this step.`;
    }
    case "finished":
      return `Took ${(((job.ended ?? 0) - (job.started ?? 0)) / 1000).toFixed(2)} s; GetResult has the prediction.`;
    case "failed":
    case "cancelled":
    case "expired":
      return job.failure ?? "";
  }
}
