import { Elysia } from "elysia";
import type { Static } from "typebox";
import {
  type Corpus,
  explain,
  minBits,
  METHOD,
  parsePattern,
  type Pattern,
  suggestPatterns,
} from "../../motif/index.ts";
import { readJson } from "../../platform/body.ts";
import { EventStreams, type Snapshot } from "../../platform/event-streams.ts";
import { type Owner, type Ownership, requireOwner } from "../../accounts/owner.ts";
import { requestPlugin } from "../../platform/http.ts";
import { singlePage } from "../../platform/page.ts";
import type { Guards } from "../../platform/operation.ts";
import { Problem, ProblemList } from "../../problem.ts";
import { readExpression } from "../corpus/patterns.ts";
import { calibrationOf, corpusFile } from "../corpus/corpus-download.ts";
import type { Corpora, CorpusInfo } from "../corpus/corpus.ts";
import type { MotifClass, MotifClasses } from "../corpus/motif-classes.ts";
import type { FeatureSource } from "../features/annotation.ts";
import { hasEnded, type JobRequest } from "../jobs/job.ts";
import { comparisonRoutes } from "./comparison-routes.ts";
import type { Handlers } from "../jobs/handlers.ts";
import * as operations from "./json-operations.ts";
import {
  CorpusHash,
  JobId,
  type JobObject,
  MotifClassParameters,
  omitNulls,
  PatternRequest,
  ProteinParameters,
  requireJson,
  Submission,
} from "./json-schemas.ts";
import type { JobModels } from "../structure/job-models.ts";
import { modelRoutes } from "./model-routes.ts";
import { API, resultRoutes } from "./result-routes.ts";
import { findProteins, identify } from "../corpus/find-proteins.ts";
import { readSubmission } from "./submission.ts";

interface JsonOptions {
  handlers: Handlers;
  corpora: Corpora;
  /** The corpus in use, opened. */
  corpus: () => Corpus;
  classes: MotifClasses;
  /** The client of a request, as a key for fair scheduling. */
  clientOf: (request: Request) => string;
  models: JobModels;
  /** Guards uploads. @throws Problem if the disk takes none */
  requireWritable: () => void;
  guards: Guards;
  ownership: Ownership;
  featureSource: () => FeatureSource;
  /** Residues that a query may have. */
  maxQueryLength: number;
}

/** The JSON service, and the streams of events that it has open. */
export function jsonRoutes(options: JsonOptions) {
  const { handlers, guards, ownership } = options;
  const requireJobOwner = (request: Request, id: string): void => {
    guards.anyone(request);
    requireOwner(ownership.identify(request), handlers.ownerOf(id), "job");
  };
  const context = { ...options, requireJobOwner };
  const events = new EventStreams();
  const show = (id: string, request: Request, base: string): JobObject =>
    jobReader(context, id, ownership.identify(request), base)();
  const routes = new Elysia({ name: "scoring-json", detail: { tags: ["scoring"] } })
    .use(requestPlugin)
    .parser("scoringJson", ({ request }) => {
      requireJson(request.headers);
      return readJson(request);
    })
    .post(
      `${API}/jobs`,
      async ({ body, request, requestContext, set, status }) => {
        guards.anyone(request);
        const { job, headers } = await submit(context, body, request, requestContext.baseUrl);
        Object.assign(set.headers, headers, { Location: job.links.self });
        return status(202, job);
      },
      {
        parse: "scoringJson",
        transform: ({ body }) => omitNulls(body),
        body: Submission,
        detail: operations.SUBMIT,
      },
    )
    .get(
      `${API}/jobs/:id`,
      ({ params, request, requestContext }) => show(params.id, request, requestContext.baseUrl),
      {
        params: JobId,

        detail: operations.JOB,
      },
    )
    .delete(
      `${API}/jobs/:id`,
      ({ params, request, requestContext }) => {
        requireJobOwner(request, params.id);
        handlers.cancel(params.id);
        return show(params.id, request, requestContext.baseUrl);
      },
      { params: JobId, detail: operations.CANCEL },
    )
    .get(
      `${API}/jobs/:id/events`,
      ({ params, request, requestContext: { baseUrl } }) => {
        const read = jobReader(context, params.id, ownership.identify(request), baseUrl);
        return events.respond(request, options.clientOf(request), () => jobSnapshot(read()));
      },
      { params: JobId, detail: operations.EVENTS },
    )
    .post(`${API}/patterns`, ({ body }) => checkPattern(body.pattern), {
      parse: "scoringJson",
      body: PatternRequest,
      detail: operations.PATTERN,
    })
    .use(resultRoutes(context))
    .use(modelRoutes(context))
    .use(comparisonRoutes(context))
    .use(referenceRoutes(context));
  return {
    routes,
    notifyWatchers: () => events.checkSoon(),
    openNames: () => openNames(options.corpus),
    close: () => events.close(),
  };
}

/** Returns a function that reads a job for a caller. @throws Problem unknown_job */
function jobReader(
  { handlers, corpus }: JsonOptions,
  id: string,
  { keys, isAdministrator }: Owner,
  base: string,
): () => JobObject {
  const request = handlers.request(id);
  const protein = identify(corpus, request);
  const mayChange = isAdministrator || keys.includes(handlers.ownerOf(id));
  return () => jobObject(handlers, id, { request, protein, mayChange }, base);
}

/** Starts a job. `headers` make a browser its owner. */
async function submit(
  context: JsonOptions,
  body: Static<typeof Submission>,
  request: Request,
  base: string,
): Promise<{ job: JobObject; headers: Record<string, string> }> {
  const { handlers, clientOf, ownership } = context;
  const submission = readSubmission(body, context);
  const key = request.headers.get("idempotency-key");
  const { key: owner, headers } = ownership.claim(request);
  const id = await handlers.runJob(submission, clientOf(request), key, owner);
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

/** Motif classes and corpora. */
function referenceRoutes({ corpora, classes, corpus, guards }: JsonOptions) {
  const corpusWith = (hash: string): CorpusInfo => {
    const found = corpora.list().find((one) => one.hash === hash);
    if (!found) throw new Problem("not_found", "No corpus has this hash.");
    return found;
  };
  const guard = ({ request }: { request: Request }): void => void guards.signedIn(request);
  return new Elysia({ detail: { tags: ["scoring"] } })
    .get(
      `${API}/motif-classes`,
      ({ query: { query = "" } }) => {
        const words = query.toLowerCase().split(/\s+/).filter(Boolean);
        const found = classes.classes.filter((one) => words.every((word) => searchText(one).includes(word)));
        return singlePage(found.map(describeClass));
      },
      { query: MotifClassParameters, detail: operations.MOTIF_CLASSES },
    )
    .get(
      `${API}/corpus`,
      () => {
        const active = corpora.active();
        if (!active)
          throw new Problem("not_found", "There is no corpus. Add one with `labd corpus add FILE`.");
        const { name, hash, sequences, residues, bytes, added } = active;
        return {
          name,
          hash,
          sequences,
          residues,
          bytes,
          added: new Date(added).toISOString(),
          method: METHOD,
        };
      },
      { detail: operations.CORPUS },
    )
    .get(`${API}/proteins`, ({ query: { query, limit = 10 } }) => findProteins(corpus(), query, limit), {
      query: ProteinParameters,
      detail: operations.PROTEINS,
    })
    .get(`${API}/corpora/:id`, ({ params, request }) => corpusFile(request, corpusWith(params.id)), {
      transform: guard,
      params: CorpusHash,
      detail: operations.CORPUS_FILE,
    })
    .get(
      `${API}/corpora/:id/calibration`,
      ({ params, request }) => calibrationOf(request, corpusWith(params.id)),
      { transform: guard, params: CorpusHash, detail: operations.CALIBRATION },
    );
}

/** Searches the corpus by name once, so that the first person who does need not wait until its names are read. */
function openNames(corpus: () => Corpus): void {
  try {
    findProteins(corpus(), "protein human", 1);
  } catch {
    // Those who search see the error.
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
    identifier: request?.identifier ?? null,
    state,
    stage: isRunning ? stage : null,
    fraction: isRunning ? Math.floor(fraction * 100) / 100 : null,
    place,
    submitted: new Date(submitted).toISOString(),
    started: isoTime(started),
    ended: isoTime(ended),
    expires: isoTime(expires),
    failure,
    queryLength: request?.query.length ?? null,
    ...shown,
    scoringModel: request?.model ?? null,
    patterns: (request?.patterns ?? []).map(({ expression, name }) => ({ expression, name })),
    homologs: request?.homologs ?? null,
    hasOwnAlignment: request?.alignment !== undefined,
    links: { self, events: `${self}/events`, result: `${self}/result`, scan: `${self}/scan` },
  };
}

const isoTime = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : new Date(milliseconds).toISOString();

const searchText = ({ name, aliases, expression, description }: MotifClass): string =>
  [name, ...aliases, expression, description].join(" ").toLowerCase();

/** Descriptions of classes: there may be hundreds of expressions to parse. */
const descriptions = new WeakMap<MotifClass, object>();

function describeClass(motifClass: MotifClass): object {
  const { name, aliases, expression, dialect, description, citation } = motifClass;
  const known = descriptions.get(motifClass);
  if (known) return known;
  const meaning = meaningOf(expression, parsePattern(expression, dialect));
  const described = { name, aliases, ...meaning, description, citation };
  descriptions.set(motifClass, described);
  return described;
}

const meaningOf = (expression: string, pattern: Pattern) => ({
  expression,
  explanation: explain(pattern),
  // Six decimals, as in results.
  informationContent: Math.round(minBits(pattern.root) * 1e6) / 1e6,
});

/** @throws Problem invalid_pattern with `position`, the character that is wrong, and `suggestions` */
function checkPattern(expression: string): object {
  const suggestions = suggestPatterns(expression);
  const problems = new ProblemList();
  problems.collect(() => readExpression(expression, ["pattern"]));
  problems.throwAny({ position: problems.first?.character ?? 1, suggestions });
  return { ...meaningOf(expression, parsePattern(expression)), suggestions };
}
