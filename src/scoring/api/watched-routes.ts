import { Type } from "typebox";
import type { Corpus, HomologChoice } from "../../motif/index.ts";
import { EXAMPLE_ID } from "../../platform/openapi-example.ts";
import { operation } from "../../platform/operation.ts";
import { PAGE_POSITION, singlePage } from "../../platform/page.ts";
import { nullable, oneOf } from "../../platform/schema.ts";
import { identify } from "../corpus/find-proteins.ts";
import { count, list, object, text } from "../prediction/prediction.ts";
import { type Comparison, ComparisonSchema } from "../results/comparison.ts";
import type { Reruns } from "../watched/reruns.ts";
import { MAX_PER_OWNER, type WatchedQueries, type WatchedQuery } from "../watched/watched-queries.ts";
import { instant, JobSchema, uuid } from "./json-schemas.ts";

/** Dependencies of the operations of watched queries. */
export interface WatchedParts {
  queries: WatchedQueries;
  reruns: Reruns | null;
  /** Hash of the corpus in use; null without one. */
  corpus: () => string | null;
  /** The corpus in use. */
  openCorpus: () => Corpus;
  /** The client of a request, as the key of the owner. */
  identifyClient: (request: Request) => string;
}

const STATES = ["current", "waiting", "running", "failed"] as const;

const WatchedSchema = object(
  {
    id: uuid("Identifies the watched query."),
    identifier: text("The client's name for the query."),
    protein: JobSchema.properties.protein,
    queryLength: count("Residues of the query."),
    patterns: JobSchema.properties.patterns,
    homologs: JobSchema.properties.homologs,
    created: instant("When the query was saved."),
    job: uuid("The job with its latest result."),
    state: oneOf(
      STATES,
      "current: scored against the corpus in use; waiting, running: being scored again; failed: scoring again failed or was cancelled.",
    ),
    failure: nullable(text("Why it failed.")),
  },
  "A query that is scored again when another corpus is used.",
  "WatchedQuery",
);

const WatchedListSchema = object(
  {
    ...PAGE_POSITION,
    results: list(WatchedSchema, "Newest first."),
  },
  "Your watched queries.",
  "WatchedQueryList",
);

const ChangesSchema = object(
  {
    ...PAGE_POSITION,
    results: list(
      object(
        {
          query: uuid("The watched query."),
          found: instant("When the change was found."),
          comparison: Type.Unsafe<Comparison>(ComparisonSchema),
        },
        "A query with changed verdicts. The comparison has up to 20 of the matches whose verdict changed.",
      ),
      "Newest first, at most 50.",
    ),
  },
  "Verdicts that changed with a corpus.",
);

const JobParameter = Type.Object(
  { job: uuid("A finished job.") },
  { additionalProperties: false, examples: [{ job: EXAMPLE_ID }] },
);

const signedIn = { access: "signedIn" } as const;

/** Saved queries of signed-in users, and how their verdicts change with the corpus. */
export const watchedOperations = [
  operation("GET /api/scoring/watched-queries", {
    ...signedIn,
    operationId: "listWatchedQueries",
    summary: "List your watched queries",
    returns: WatchedListSchema,
    run: ({ request }, parts: WatchedParts) => listWatched(parts, request),
  }),
  operation("POST /api/scoring/watched-queries", {
    ...signedIn,
    operationId: "watchQuery",
    summary: "Watch the query of a job",
    description: `Saves protein, motifs and choice of homologs. When another corpus is used, the query is scored again after all other jobs. Up to ${MAX_PER_OWNER} for each user.`,
    body: JobParameter,
    returns: WatchedSchema,
    errors: [404, 409, 413, 415],
    run({ request, body }, parts: WatchedParts) {
      const added = parts.queries.add(body.job, parts.identifyClient(request));
      void parts.reruns?.advance();
      return watchedObject(added, parts);
    },
  }),
  operation("GET /api/scoring/watched-queries/changes", {
    ...signedIn,
    operationId: "listVerdictChanges",
    summary: "List verdicts that changed with a corpus",
    returns: ChangesSchema,
    run: ({ request }, { queries, identifyClient }: WatchedParts) =>
      listChanges(queries, identifyClient(request)),
  }),
  operation("POST /api/scoring/watched-queries/cancel", {
    ...signedIn,
    operationId: "cancelReruns",
    summary: "Cancel the reruns of your queries",
    returns: WatchedListSchema,
    async run({ request }, parts: WatchedParts) {
      await parts.reruns?.cancel(parts.identifyClient(request));
      return listWatched(parts, request);
    },
  }),
  operation("POST /api/scoring/watched-queries/retry", {
    ...signedIn,
    operationId: "retryReruns",
    summary: "Score failed queries again",
    returns: WatchedListSchema,
    run({ request }, parts: WatchedParts) {
      parts.queries.retry(parts.identifyClient(request));
      void parts.reruns?.advance();
      return listWatched(parts, request);
    },
  }),
  operation("DELETE /api/scoring/watched-queries/:id", {
    access: "signedIn",
    operationId: "unwatchQuery",
    summary: "Stop watching a query",
    params: { id: uuid("Identifier of the watched query.") },
    returns: WatchedListSchema,
    errors: [404],
    run({ request, params }, parts: WatchedParts) {
      parts.queries.remove(params.id, parts.identifyClient(request));
      return listWatched(parts, request);
    },
  }),
];

const listWatched = (parts: WatchedParts, request: Request) =>
  singlePage(parts.queries.list(parts.identifyClient(request)).map((query) => watchedObject(query, parts)));

function watchedObject(
  query: WatchedQuery,
  { corpus: active, openCorpus }: Pick<WatchedParts, "corpus" | "openCorpus">,
) {
  const { id, request, created, job, corpus, rerun, failure } = query;
  const state = rerun ? "running" : failure !== null ? "failed" : corpus === active() ? "current" : "waiting";
  return {
    id,
    identifier: request.identifier,
    protein: identify(openCorpus, request),
    queryLength: request.query.length,
    patterns: request.patterns.map(({ expression, name }) => ({ expression, name })),
    homologs: request.homologs ?? (null as HomologChoice | null),
    created: new Date(created).toISOString(),
    job,
    state: state as (typeof STATES)[number],
    failure,
  };
}

const listChanges = (queries: WatchedQueries, owner: string) =>
  singlePage(
    queries.changes(owner).map(({ query, found, comparison }) => ({
      query,
      found: new Date(found).toISOString(),
      comparison,
    })),
  );
