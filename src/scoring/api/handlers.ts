import {
  type Dialect,
  parsePattern,
  PatternError,
  type Prediction,
  type ScoringModel,
} from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import type { JobPattern } from "../jobs/job.ts";
import type { MotifClasses } from "../corpus/motif-classes.ts";
import type { Progress } from "../jobs/pool.ts";
import type { JobStore, JobView } from "../jobs/store.ts";

/** What a client asks for, in the terms of the contract. */
export interface Submission {
  identifier: string;
  /** Letters A–Z and white space. */
  querySequence: string;
  scoringModel: ScoringModel;
  /** Empty ones mean none. */
  regularExpression: readonly string[];
  elmIdentifierName: readonly string[];
}

export interface Status {
  /** One of the STATES of job.ts. */
  status: string;
  /** A sentence for people: place in the queue, stage and per cent, time taken, or why it failed. */
  details: string;
}

/** A finished job's prediction, and the name that the client gave the query. */
export interface Result {
  identifier: string;
  prediction: Prediction;
}

/** The operations, apart from how they are asked for. */
export interface Handlers {
  /**
   * Checks and stores a job; gives its identifier when it is on the disk. `client` is who asks (see `clientOf` of
   * ScoringOptions): clients take turns.
   * @throws Problem invalid_request, invalid_pattern, unknown_motif_class, busy
   */
  runJob(submission: Submission, client?: string): Promise<string>;
  /** @throws Problem unknown_job */
  getStatus(id: string): Status;
  /** Null while the job has not ended. @throws Problem unknown_job, job_failed, job_cancelled, job_expired */
  getResult(id: string): Result | null;
  /** Calls a job off that waits or runs. @throws Problem unknown_job, conflict where it has ended otherwise */
  cancel(id: string): Status;
}

/** Who sees to it that jobs are scored: the pool of this process, and workers elsewhere. */
export interface JobRunner {
  /** A job was accepted. */
  wake(): void;
  /** How far a running job is; null where that is not known. */
  progress(id: string): Progress | null;
  /** @throws Problem unknown_job, conflict where it has ended otherwise */
  cancel(id: string): JobView;
}

export interface HandlersOptions {
  store: JobStore;
  runner: JobRunner;
  classes: MotifClasses;
  /** Residues that a query may have. */
  maxQueryLength: number;
}

/** Stages in words. */
const STAGES: Record<Exclude<Progress["stage"], "start">, string> = {
  homologs: "Searching for homologs (step 1 of 3)",
  tree: "Building the tree of the homologs (step 2 of 3)",
  scores: "Scoring the matches (step 3 of 3)",
};

export function scoringHandlers({ store, runner, classes, maxQueryLength }: HandlersOptions): Handlers {
  return {
    async runJob(submission, client = "") {
      const query = readQuery(submission.querySequence, maxQueryLength);
      const patterns = readPatterns(submission.regularExpression, submission.elmIdentifierName, classes);
      const { identifier, scoringModel: model } = submission;
      const id = await store.insert({ identifier, query, model, patterns }, client);
      runner.wake();
      return id;
    },
    getStatus(id) {
      const job = store.get(id);
      return { status: job.state, details: describe(job, runner) };
    },
    getResult(id) {
      const prediction = store.prediction(id);
      const request = store.request(id);
      if (prediction && request) return { identifier: request.identifier, prediction };
      const { state, failure } = store.get(id);
      // An empty answer means "not yet": a client that waits for the prediction would wait for ever.
      if (state === "failed") throw new Problem("job_failed", `The job failed. ${failure}`);
      if (state === "cancelled") throw new Problem("job_cancelled", "The job was cancelled.");
      if (state === "expired") throw new Problem("job_expired", `The prediction is gone. ${failure}`);
      return null;
    },
    cancel(id) {
      const job = runner.cancel(id);
      return { status: job.state, details: describe(job, runner) };
    },
  };
}

/** The query without its white space. @throws Problem invalid_request where it is too long */
export function readQuery(text: string, maxLength: number): string {
  const query = text.replace(/[ \t\r\n]+/g, "");
  if (query.length > maxLength) {
    throw new Problem(
      "invalid_request",
      `querySequence: ${query.length} residues; at most ${maxLength} are scored.`,
    );
  }
  return query;
}

/**
 * Expressions and names of motif classes as patterns, in this order. Checked now: a pattern without meaning is
 * the client's error at once, not a job that fails later.
 * @throws Problem invalid_pattern with the number of the expression and the position in it; unknown_motif_class
 */
export function readPatterns(
  expressions: readonly string[],
  names: readonly string[],
  classes: MotifClasses,
): JobPattern[] {
  const own = expressions.flatMap((expression, i): JobPattern[] => {
    if (expression.trim() === "") return [];
    check(expression, "soap", `regularExpression ${i + 1}`);
    return [{ expression, name: null, dialect: "soap" }];
  });
  const named = names.flatMap((name, i): JobPattern[] => {
    if (name === "") return [];
    const { expression, dialect } = find(classes, name, `elmIdentifierName ${i + 1}`);
    return [{ expression, name, dialect }];
  });
  return [...own, ...named];
}

/** Expressions that were found to have a meaning: clients ask for the same few over and over. */
const SOUND = new Set<string>();
const MAX_SOUND = 1000;
/** Characters up to which an expression is remembered. */
const MAX_REMEMBERED = 1000;

function check(expression: string, dialect: Dialect, where: string): void {
  const key = `${dialect} ${expression}`;
  if (SOUND.has(key)) return;
  try {
    parsePattern(expression, dialect);
    if (SOUND.size >= MAX_SOUND) SOUND.clear();
    if (expression.length <= MAX_REMEMBERED) SOUND.add(key);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new Problem("invalid_pattern", `${where}, character ${error.position + 1}: ${error.message}`, {
      cause: error,
    });
  }
}

function find(classes: MotifClasses, name: string, where: string): ReturnType<MotifClasses["find"]> {
  try {
    return classes.find(name);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem(error.code, `${where}: ${error.message}`, { cause: error });
  }
}

function describe(job: JobView, runner: JobRunner): string {
  switch (job.state) {
    case "queued":
      return `Place ${job.place} in the queue, as far as can be told: clients take turns.`;
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
