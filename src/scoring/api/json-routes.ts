import type { Static } from "typebox";
import { type Corpus, METHOD, parsePattern, suggestPatterns } from "../../motif/index.ts";
import { timestamp } from "../../platform/clock.ts";
import { EventStreams, type Snapshot } from "../../platform/event-streams.ts";
import { type Owner, type Ownership, requireOwner } from "../../accounts/owner.ts";
import type { Tasks } from "../../tasks/tasks.ts";
import { mount } from "../../platform/mount.ts";
import { type Guards, operation, Reply } from "../../platform/operation.ts";
import { Problem, ProblemList } from "../../problem.ts";
import { readExpression } from "../corpus/patterns.ts";
import { corpusFile } from "../corpus/corpus-download.ts";
import type { ClassModels } from "../corpus/class-models.ts";
import type { Corpora, CorpusInfo } from "../corpus/corpus.ts";
import type { MotifClasses } from "../corpus/motif-classes.ts";
import type { FeatureSource } from "../features/annotation.ts";
import { hasEnded, type JobRequest } from "../jobs/job.ts";
import { describePattern } from "./class-routes.ts";
import { comparisonOperations } from "./comparison-routes.ts";
import type { Handlers } from "../jobs/handlers.ts";
import type { JobsOfProtein } from "../jobs/job-records.ts";
import {
  FILE,
  describeHeader,
  describeIdempotencyKey,
  describeLocation,
  OWNER_KEY,
} from "./openapi-parts.ts";
import {
  CorpusHash,
  CorpusSchema,
  type JobObject,
  JobSchema,
  PatternProblemSchema,
  PatternRequest,
  PatternSchema,
  readBody,
  ScoringCountsSchema,
  Submission,
  uuid,
} from "./json-schemas.ts";
import type { StructureModels } from "../structure/structure-models.ts";
import { modelOperations } from "./model-routes.ts";
import { proteinOperations } from "./protein-routes.ts";
import { API, resultOperations } from "./result-routes.ts";
import { findProteins, identify } from "../corpus/find-proteins.ts";
import { readSubmission, readVariantJob } from "./submission.ts";

export interface JsonOptions {
  handlers: Handlers;
  corpora: Corpora;
  /** The corpus in use, opened. */
  corpus: () => Corpus;
  classes: MotifClasses;
  classModels: ClassModels;
  /** The client of a request, as a key for fair scheduling. */
  identifyClient: (request: Request) => string;
  models: StructureModels;
  /** Jobs of an owner that have scored a protein. */
  jobsOfProtein: JobsOfProtein;
  /** Guards uploads. @throws Problem if the disk takes none */
  requireWritable: () => void;
  guards: Guards;
  ownership: Ownership;
  tasks: Tasks;
  featureSource: () => FeatureSource;
  /** Residues that a query may have. */
  maxQueryLength: number;
}

/** Dependencies of the operations of jobs, and of data for jobs. */
export interface JobParts extends JsonOptions {
  events: EventStreams;
}

const jobAccess = { access: "public", params: { id: uuid("Identifier of the job.") } } as const;

export const jobOperations = [
  operation("POST /api/scoring/jobs", {
    access: "anyone",
    operationId: "submitScoringJob",
    summary: "Start a job",
    description:
      "Like RunJob. The response is sent once the job is stored durably. Sending it again after a lost response is harmless: identical requests of one client share their computation, and with the same `Idempotency-Key` the response is the same job.",
    parameters: [OWNER_KEY, describeIdempotencyKey("job")],
    body: Submission,
    status: 202,
    returns: JobSchema,
    answerHeaders: describeLocation("job"),
    errors: [413, 415, 422, 503],
    async run({ body, request, context }, parts: JobParts) {
      const { job, headers } = await submit(parts, body, request, context.baseUrl);
      return new Reply(job, { headers: { ...headers, Location: job.links.self } });
    },
  }),
  operation("GET /api/scoring/jobs/:id", {
    ...jobAccess,
    operationId: "getScoringJob",
    summary: "Get a job",
    description: "Like GetStatus.",
    returns: JobSchema,
    errors: [404],
    run: ({ params, request, context }, parts: JobParts) =>
      jobReader(parts, params.id, parts.ownership.identify(request), context.baseUrl)(),
  }),
  operation("DELETE /api/scoring/jobs/:id", {
    ...jobAccess,
    access: "anyone",
    operationId: "cancelScoringJob",
    summary: "Cancel a job",
    description:
      "Cancels a queued or running job. Only its owner may do that: the account that started it, or a caller that sends the cookie or the Owner-Key with which it was started.",
    parameters: [OWNER_KEY],
    returns: JobSchema,
    errors: [404, 409],
    run({ params: { id }, request, context }, parts: JobParts) {
      const caller = parts.ownership.identify(request);
      requireOwner(caller, parts.handlers.readOwner(id), "job");
      parts.handlers.cancel(id);
      return jobReader(parts, id, caller, context.baseUrl)();
    },
  }),
  operation("GET /api/scoring/jobs/:id/events", {
    ...jobAccess,
    operationId: "watchScoringJob",
    summary: "Watch a job by server-sent events",
    description:
      "The data of each event is the whole job. The event is `state` if the state has changed, otherwise `progress`. The stream begins with the current state and ends with the final one. A client that reconnects sends `Last-Event-ID` and receives only new events.",
    parameters: [describeHeader("Last-Event-ID", "Identifier of the last event received.")],
    formats: { "text/event-stream": { schema: { type: "string", description: "Events." } } },
    responses: { 204: { description: "The client has received the final state; there are no more events." } },
    errors: [404, 503],
    run({ params, request, context }, parts: JobParts) {
      const read = jobReader(parts, params.id, parts.ownership.identify(request), context.baseUrl);
      return parts.events.respond(request, parts.identifyClient(request), () => jobSnapshot(read()));
    },
  }),
  operation("POST /api/scoring/patterns", {
    access: "public",
    operationId: "checkPattern",
    summary: "Check an expression",
    body: PatternRequest,
    returns: PatternSchema,
    responses: {
      400: {
        description: "The expression is invalid; `position` is the position of the error.",
        content: { "application/json": { schema: PatternProblemSchema } },
      },
    },
    errors: [413, 415],
    run: ({ body }) => checkPattern(body.pattern),
  }),
];

/** The JSON service and its open event streams. */
export function jsonRoutes(options: JsonOptions) {
  const events = new EventStreams();
  const operations = [
    ...jobOperations,
    ...resultOperations,
    ...modelOperations,
    ...proteinOperations,
    ...comparisonOperations,
    ...referenceOperations,
  ];
  return {
    routes: mount(operations, {
      tag: "scoring",
      guards: options.guards,
      readBody,
      dependencies: { ...options, events },
    }),
    notifyWatchers: () => events.checkSoon(),
    openNames: () => openNames(options.corpus),
    close: () => events.close(),
  };
}

/** Returns a function that reads a job for a caller. @throws Problem unknown_job */
function jobReader(
  { handlers, corpus }: JobParts,
  id: string,
  { keys, isAdministrator }: Owner,
  base: string,
): () => JobObject {
  const request = handlers.request(id);
  const protein = identify(corpus, request);
  const mayChange = isAdministrator || keys.includes(handlers.readOwner(id));
  return () => jobObject(handlers, id, { request, protein, mayChange }, base);
}

/** Starts a job. `headers` make a browser its owner. */
async function submit(
  context: JobParts,
  body: Static<typeof Submission>,
  request: Request,
  base: string,
): Promise<{ job: JobObject; headers: Record<string, string> }> {
  const { handlers, identifyClient, ownership } = context;
  const submission =
    body.variantOf === undefined
      ? readSubmission(body, context)
      : readVariantJob(body, (id) => handlers.requireRequest(id));
  const key = request.headers.get("idempotency-key");
  const { key: owner, headers } = ownership.claim(request);
  const id = await handlers.runJob(submission, identifyClient(request), key, owner);
  const { keys, isAdministrator } = ownership.identify(request);
  const own = owner === null ? keys : [...keys, owner];
  return { job: jobReader(context, id, { keys: own, isAdministrator }, base)(), headers };
}

/** A job for a stream of events. Its id describes the content: `queued-3`, `running-homologs-42`, `finished`. */
export function jobSnapshot(job: JobObject): Snapshot {
  const { state, stage, fraction, place } = job;
  const parts = [state, stage, fraction === null ? null : Math.round(fraction * 100), place];
  const id = parts.filter((part) => part !== null).join("-");
  return { id, state, hasEnded: hasEnded(state), data: job };
}

/** Kinds of tasks that are results for people, and the number up to which they are counted. */
const RESULT_KINDS = ["job", "batch", "proteome-search"];
const MAX_COUNTED = 1000;

const corpusAccess = {
  access: "signedIn",
  params: { id: CorpusHash.properties.id },
  errors: [404],
} as const;

/** Corpora, and numbers. */
export const referenceOperations = [
  operation("GET /api/scoring/corpus", {
    access: "public",
    operationId: "getCorpus",
    summary: "Get the corpus in use",
    returns: CorpusSchema,
    errors: [404],
    run(_, { corpora }: JobParts) {
      const active = corpora.active();
      if (!active) throw new Problem("not_found", "There is no corpus. Add one with `labd corpus add FILE`.");
      const { name, hash, sequences, residues, bytes, added } = active;
      return { name, hash, sequences, residues, bytes, added: timestamp(added), method: METHOD };
    },
  }),
  operation("GET /api/scoring/counts", {
    access: "anyone",
    operationId: "countScoring",
    summary: "Count proteins, motif classes and own results",
    returns: ScoringCountsSchema,
    run: ({ request }, { classes, corpora, ownership, tasks }: JobParts) => ({
      proteins: corpora.active()?.sequences ?? 0,
      motifClasses: classes.classes.length,
      results: tasks.count(ownership.identify(request).keys, RESULT_KINDS, MAX_COUNTED),
    }),
  }),
  operation("GET /api/scoring/corpora/:id", {
    ...corpusAccess,
    operationId: "downloadCorpus",
    summary: "Download a corpus",
    description:
      "For signed-in users only, so that other machines can score with the same corpus. `ETag` is the hash; `Range` resumes an interrupted download. `labd corpus pull` and workers use it, and verify the file.",
    formats: FILE,
    responses: {
      206: { description: "The requested range.", content: FILE },
      304: { description: "If-None-Match contains the hash of the corpus, which never changes." },
      416: { description: "Range begins after the end of the file." },
    },
    run: ({ params, request }, { corpora }: JobParts) => corpusFile(request, findCorpus(corpora, params.id)),
  }),
];

/** @throws Problem not_found */
function findCorpus(corpora: Corpora, hash: string): CorpusInfo {
  const found = corpora.list().find((one) => one.hash === hash);
  if (!found) throw new Problem("not_found", "No corpus has this hash.");
  return found;
}

/** Searches the corpus by name once, so that the first person who does need not wait until its names are read. */
function openNames(corpus: () => Corpus): void {
  try {
    findProteins(corpus(), "protein human", 1);
  } catch {
    // The people who search see the error.
  }
}

/** A job for JSON. @param base address under which clients reach the service */
function jobObject(
  handlers: Handlers,
  id: string,
  { request, ...shown }: { request: JobRequest | null } & Pick<JobObject, "protein" | "mayChange">,
  base: string,
): JobObject {
  const { state, place, submitted, started, ended, expires, failure } = handlers.job(id);
  const { stage, fraction } = handlers.progress(id) ?? { stage: "start" as const, fraction: 0 };
  const isRunning = state === "running";
  const self = `${base}${API}/jobs/${id}`;
  return {
    id,
    state,
    stage: isRunning ? stage : null,
    fraction: isRunning ? Math.floor(fraction * 100) / 100 : null,
    place,
    submitted: new Date(submitted).toISOString(),
    started: isoTime(started),
    ended: isoTime(ended),
    expires: isoTime(expires),
    failure,
    ...shown,
    ...describeRequest(request),
    links: { self, events: `${self}/events`, result: `${self}/result`, scan: `${self}/scan` },
  };
}

/** The values of a request; null or empty once it has expired. */
const describeRequest = (request: JobRequest | null) => ({
  identifier: request?.identifier ?? null,
  queryLength: request?.query.length ?? null,
  scoringModel: request?.model ?? null,
  patterns: (request?.patterns ?? []).map(({ expression, name }) => ({ expression, name })),
  homologs: request?.homologs ?? null,
  variant: request?.variant ?? null,
  hasOwnAlignment: request?.alignment !== undefined,
});

const isoTime = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : new Date(milliseconds).toISOString();

/** @throws Problem invalid_pattern with `position`, the character that is wrong, and `suggestions` */
function checkPattern(expression: string): Static<typeof PatternSchema> {
  const suggestions = suggestPatterns(expression);
  const problems = new ProblemList();
  problems.collect(() => readExpression(expression, ["pattern"]));
  problems.throwIfAny({ position: problems.first?.character ?? 1, suggestions });
  return { ...describePattern(expression, parsePattern(expression)), suggestions };
}
