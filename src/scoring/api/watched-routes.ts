import { Elysia } from "elysia";
import { type TSchema, Type } from "typebox";
import type { Corpus, HomologChoice } from "../../motif/index.ts";
import { readJson } from "../../platform/body.ts";
import { errorResponses, type ErrorStatus } from "../../platform/error-responses.ts";
import { requestPlugin } from "../../platform/http.ts";
import { EXAMPLE_ID } from "../../platform/openapi-example.ts";
import { PAGE_POSITION, singlePage } from "../../platform/page.ts";
import { nullable, oneOf, schema, textSchema } from "../../platform/schema.ts";
import { ComparisonSchema } from "../results/comparison.ts";
import { instant, JobSchema, requireJson, uuid } from "./json-schemas.ts";
import { API } from "./result-routes.ts";
import { identify } from "../corpus/find-proteins.ts";
import { count, list, object, text } from "../prediction/prediction.ts";
import type { Reruns } from "../watched/reruns.ts";
import { MAX_PER_OWNER, type WatchedQueries, type WatchedQuery } from "../watched/watched-queries.ts";

interface WatchedOptions {
  queries: WatchedQueries;
  reruns: Reruns | null;
  /** Hash of the corpus in use; null without one. */
  corpus: () => string | null;
  /** The corpus in use. */
  openCorpus: () => Corpus;
  clientOf: (request: Request) => string;
  /** @throws Problem unauthenticated */
  requireUser: (request: Request) => void;
  /** @throws Problem forbidden for read-only tokens */
  requireWriter: (request: Request) => void;
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
    created: instant("When it was saved."),
    job: uuid("The job with its latest result."),
    state: oneOf(
      STATES,
      "current: scored against the corpus in use; waiting, running: to be scored again; failed: it could not be, or that was cancelled.",
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
);

const ChangesSchema = object(
  {
    ...PAGE_POSITION,
    results: list(
      object(
        {
          query: uuid("The watched query."),
          found: instant("When it was found."),
          comparison: Type.Unsafe<unknown>(ComparisonSchema),
        },
        "A query with changed verdicts. The comparison has up to 20 of the matches whose verdict changed.",
      ),
      "Newest first, at most 50.",
    ),
  },
  "Verdicts that changed with a corpus.",
);

const operation = (
  operationId: string,
  summary: string,
  returns: TSchema,
  more: readonly ErrorStatus[] = [],
  description = "",
) => ({
  operationId,
  summary,
  ...(description ? { description } : {}),
  responses: {
    200: { description: "Success.", content: { "application/json": { schema: returns } } },
    ...errorResponses(400, 401, ...more),
  },
});

const JobParameter = schema(
  Type.Object(
    { job: uuid("A finished job.") },
    { additionalProperties: false, examples: [{ job: EXAMPLE_ID }] },
  ),
);
const QueryId = textSchema(Type.Object({ id: uuid("Identifier of the watched query.") }));
const PATH = `${API}/watched-queries`;

/** Saved queries of signed-in users, and how their verdicts change with the corpus. */
export function watchedRoutes({ queries, reruns, ...options }: WatchedOptions) {
  const ownerOf = (request: Request): string => {
    options.requireUser(request);
    if (request.method !== "GET" && request.method !== "HEAD") options.requireWriter(request);
    return options.clientOf(request);
  };
  const show = (query: WatchedQuery) => watchedObject(query, options);
  const listOf = (owner: string) => singlePage(queries.list(owner).map(show));
  return new Elysia({ name: "watched-queries", detail: { tags: ["scoring"] } })
    .use(requestPlugin)
    .parser("watchedJson", ({ request }) => {
      // Before the body is looked at.
      options.requireUser(request);
      requireJson(request.headers);
      return readJson(request);
    })
    .get(PATH, ({ request }) => listOf(ownerOf(request)), {
      detail: operation("listWatchedQueries", "List your watched queries", WatchedListSchema),
    })
    .post(
      PATH,
      ({ request, body }) => {
        const added = queries.add(body.job, ownerOf(request));
        void reruns?.advance();
        return show(added);
      },
      {
        parse: "watchedJson",
        body: JobParameter,
        detail: operation(
          "watchQuery",
          "Watch the query of a job",
          WatchedSchema,
          [403, 404, 409, 413, 415],
          `Saves protein, motifs and choice of homologs. When another corpus is used, the query is scored again after all other jobs. Up to ${MAX_PER_OWNER} for each user.`,
        ),
      },
    )
    .get(`${PATH}/changes`, ({ request }) => changesOf(queries, ownerOf(request)), {
      detail: operation("listVerdictChanges", "List verdicts that changed with a corpus", ChangesSchema),
    })
    .post(
      `${PATH}/cancel`,
      async ({ request }) => {
        const owner = ownerOf(request);
        await reruns?.cancel(owner);
        return listOf(owner);
      },
      {
        detail: operation("cancelReruns", "Cancel the reruns of your queries", WatchedListSchema, [403]),
      },
    )
    .post(
      `${PATH}/retry`,
      ({ request }) => {
        const owner = ownerOf(request);
        queries.retry(owner);
        void reruns?.advance();
        return listOf(owner);
      },
      {
        detail: operation("retryReruns", "Score failed queries again", WatchedListSchema, [403]),
      },
    )
    .delete(
      `${PATH}/:id`,
      ({ request, params }) => (queries.remove(params.id, ownerOf(request)), listOf(ownerOf(request))),
      {
        params: QueryId,
        detail: operation("unwatchQuery", "Stop watching a query", WatchedListSchema, [403, 404]),
      },
    );
}

function watchedObject(
  query: WatchedQuery,
  { corpus: active, openCorpus }: Pick<WatchedOptions, "corpus" | "openCorpus">,
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
export type WatchedObject = ReturnType<typeof watchedObject>;

const changesOf = (queries: WatchedQueries, owner: string) =>
  singlePage(
    queries.changes(owner).map(({ query, found, comparison }) => ({
      query,
      found: new Date(found).toISOString(),
      comparison,
    })),
  );
export type ChangesObject = ReturnType<typeof changesOf>;
