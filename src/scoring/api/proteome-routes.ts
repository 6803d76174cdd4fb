import type { Static } from "typebox";
import { type Ownership, requireOwner } from "../../accounts/owner.ts";
import { type ClassModel, type PatternRequest, SCORING_MODELS } from "../../motif/index.ts";
import { paced } from "../../platform/byte-budget.ts";
import type { Clock } from "../../platform/clock.ts";
import { NO_STORE } from "../../platform/json-response.ts";
import { mount } from "../../platform/mount.ts";
import { type Guards, operation } from "../../platform/operation.ts";
import { readBody } from "./json-schemas.ts";
import { Problem } from "../../problem.ts";
import type { Corpora, CorpusInfo } from "../corpus/corpus.ts";
import type { MotifClasses } from "../corpus/motif-classes.ts";
import type { MotifTables } from "../corpus/motif-tables.ts";
import type { SearchedFeatures } from "../features/knowledge.ts";
import { type EvidenceChoice, readEvidenceChoice } from "../jobs/job.ts";
import type { MatchQuery } from "../results/proteome-matches.ts";
import type { ProteomeBuilds } from "../proteome/builds.ts";
import type { FamiliesOverview } from "../proteome/overview.ts";
import { PROTEOME_FORMATS } from "../results/file-formats.ts";
import type { ProteomeSearchClient } from "./proteome-search-client.ts";
import type { OwnSearch, OwnSearches } from "../proteome/own-searches.ts";
import { readFilters } from "../table/filters.ts";
import { MATCH_TABLES } from "../table/match-tables.ts";
import type { TableView } from "../table/view.ts";
import { readExpression, readMotifClass } from "../corpus/patterns.ts";
import { describeContent, describeLocation, OWNER_KEY } from "./openapi-parts.ts";
import {
  DEFAULT_LIMIT,
  DownloadParameters,
  PageParameters,
  ProteomeSchema,
  ProteomeSearchRequest,
  ProteomeSearchSchema,
  SearchId,
} from "./proteome-schemas.ts";

/** Dependencies of the operations of proteome searches. */
export interface ProteomeParts {
  client: ProteomeSearchClient;
  corpora: Corpora;
  builds: Pick<ProteomeBuilds, "ongoing">;
  classes: MotifClasses & Pick<MotifTables, "synonyms">;
  clock: Clock;
  /** The client of a request, as a key. */
  identifyClient: (request: Request) => string;
  /** @throws Problem if the disk takes none */
  requireWritable: () => void;
  /** The searches of callers, which share computations. */
  own: OwnSearches;
  ownership: Ownership;
  knowledge: {
    /** Imported features and the class model that count as evidence. */
    forProteome(
      pattern: PatternRequest,
      choice: EvidenceChoice,
      corpus: string,
    ): { features: SearchedFeatures | undefined; classModel: ClassModel | undefined };
  };
}

const SEARCHES = "/api/scoring/proteome/searches";
const HEADERS = { ...NO_STORE, "Content-Type": "application/json" };

const searchParameters = {
  access: "public",
  params: { id: SearchId.properties.id },
  returns: ProteomeSearchSchema,
} as const;

/** Searches of all proteins for a motif. A thread does all work that grows with the corpus or the matches. */
export const proteomeOperations = [
  operation("GET /api/scoring/proteome", {
    access: "public",
    operationId: "getProteome",
    summary: "Get the proteins that can be searched",
    description:
      "Families (homologs, alignment, tree and disorder of a protein) are computed once, by the server or `labd proteome build`. Searches score with them.",
    returns: ProteomeSchema,
    errors: [404],
    async run(_, { client, corpora, builds }: ProteomeParts) {
      const { name, hash, sequences, path } = activeCorpus(corpora);
      const found = await client.call<FamiliesOverview>({ do: "overview", corpus: { path, hash } });
      const { proteins: families, bytes, organisms } = found;
      const { progress = null } = builds.ongoing(hash) ?? {};
      const building = progress && {
        done: progress.done,
        missing: progress.missing,
        secondsLeft: progress.seconds_left,
      };
      return { corpus: name, sequences, families, bytes, building, organisms };
    },
  }),
  operation("POST /api/scoring/proteome/searches", {
    access: "anyone",
    operationId: "startProteomeSearch",
    summary: "Search all proteins for a motif",
    description:
      "Looks for a pattern or motif class in all proteins with stored families, or in those of an organism. The response is sent once the search is stored durably; a restart runs it again. Equal searches share one computation and its result, which is kept as long as there is room: another one has its result at once. Poll its address for progress and the first matches.",
    parameters: [OWNER_KEY],
    body: ProteomeSearchRequest,
    status: 202,
    returns: ProteomeSearchSchema,
    answerHeaders: describeLocation("search"),
    errors: [404, 409, 413, 415, 503],
    async run({ body, request, context: { baseUrl } }, parts: ProteomeParts) {
      const { id, json, headers } = await open(parts, body, request, baseUrl);
      const Location = `${baseUrl}${SEARCHES}/${id}`;
      return new Response(paced(json), { status: 202, headers: { ...HEADERS, ...headers, Location } });
    },
  }),
  operation("GET /api/scoring/proteome/searches/:id", {
    ...searchParameters,
    operationId: "getProteomeSearch",
    summary: "Get a proteome search",
    description:
      "Progress, counts, and a page of the matches, by z, the highest first, with q-values (Benjamini and Hochberg) over all matches. Verdicts do not depend on q. Filters leave ranks and q-values unchanged. The numbers are those of a job that scores the protein.",
    query: PageParameters,
    errors: [404],
    async run({ params, query, request, context: { baseUrl } }, parts: ProteomeParts) {
      const search = parts.own.find(params.id);
      const shown = describeSearch(parts, { search, request, baseUrl, query });
      const json = await parts.client.call<string>({ do: "show", id: search.computation, ...shown });
      return new Response(paced(json), { headers: HEADERS });
    },
  }),
  operation("DELETE /api/scoring/proteome/searches/:id", {
    ...searchParameters,
    access: "anyone",
    operationId: "cancelProteomeSearch",
    summary: "Cancel a proteome search",
    description:
      "Cancels a queued or running search of the caller. The computation goes on if others have started an equal one.",
    parameters: [OWNER_KEY],
    errors: [404, 409],
    async run({ params, request, context: { baseUrl } }, parts: ProteomeParts) {
      const json = await cancel(parts, parts.own.find(params.id), request, baseUrl);
      return new Response(paced(json), { headers: HEADERS });
    },
  }),
  operation("GET /api/scoring/proteome/searches/:id/matches", {
    access: "public",
    params: searchParameters.params,
    operationId: "downloadProteomeMatches",
    summary: "Download the matches of a proteome search",
    description: "All matches that pass the filters, as `labd proteome search` prints them.",
    query: DownloadParameters,
    formats: describeContent(PROTEOME_FORMATS),
    errors: [404, 409],
    run: ({ params: { id }, query }, parts: ProteomeParts) => downloadMatches(parts, id, query),
  }),
];

/** The routes of proteome searches. */
export const proteomeRoutes = (dependencies: ProteomeParts, guards: Guards) =>
  mount(proteomeOperations, { tag: "scoring", guards, dependencies, readBody });

interface Shown {
  search: OwnSearch;
  request: Request;
  baseUrl: string;
  query?: Partial<Static<typeof PageParameters>>;
}

/** The view of a search that the thread prints for the caller. */
export function describeSearch(
  { classes, ownership }: ProteomeParts,
  { search, request, baseUrl, query = {} }: Shown,
) {
  const { id, owner, isCancelled } = search;
  const { keys, isAdministrator } = ownership.identify(request);
  return {
    own: { id, isCancelled, mayChange: isAdministrator || keys.includes(owner) },
    base: baseUrl + SEARCHES,
    query: readQuery(query),
    synonyms: classes.synonyms(),
  };
}

/** Starts a search of the caller, or shares the computation of an equal search. */
async function open(
  options: ProteomeParts,
  body: Static<typeof ProteomeSearchRequest>,
  request: Request,
  baseUrl: string,
): Promise<{ id: string; json: string; headers: Record<string, string> }> {
  const { client, classes, clock, identifyClient, corpora, own, ownership, knowledge } = options;
  const pattern = readMotif(body, classes);
  const { name, hash } = activeCorpus(corpora);
  const { scoringModel: model = SCORING_MODELS[0], organism = null } = body;
  options.requireWritable();
  const evidence = readEvidenceChoice(body);
  const { features, classModel } = knowledge.forProteome(pattern, evidence, hash);
  const wanted = {
    corpus: { name, hash },
    pattern,
    model,
    prior: evidence.prior,
    organism: organism?.trim() ?? null,
    features,
    classModel,
  };
  const { key, headers } = ownership.claim(request);
  const computation = await client.call<string>({ do: "identify", request: wanted });
  // Recorded first: whoever cancels an equal search meanwhile must not stop this one.
  const search = own.add(computation, wanted, identifyClient(request), key);
  const view = describeSearch(options, { search, request, baseUrl });
  try {
    const json = await client.call<string>({
      do: "open",
      request: wanted,
      now: clock.now(),
      client: identifyClient(request),
      view: { ...view, own: { ...view.own, mayChange: true } },
    });
    return { id: search.id, json, headers };
  } catch (error) {
    await own.remove(search.id);
    throw error;
  }
}

/** Ends the caller's search; its computation only if nobody else waits for it. @throws Problem not_found, forbidden, conflict */
async function cancel(
  options: ProteomeParts,
  search: OwnSearch,
  request: Request,
  baseUrl: string,
): Promise<string> {
  const { client, own, ownership } = options;
  const { computation: id } = search;
  const view = describeSearch(options, { search, request, baseUrl });
  const shown = await client.call<string>({ do: "show", id, ...view });
  requireOwner(ownership.identify(request), search.owner, "search");
  const { state } = JSON.parse(shown) as { state: string };
  if (state === "cancelled") return shown;
  if (state !== "queued" && state !== "running")
    throw new Problem("conflict", `The search has ended: it is ${state}.`);
  const { isCancelled } = await own.cancel(search);
  return client.call<string>({ do: "show", id, ...view, own: { ...view.own, isCancelled } });
}

async function downloadMatches(
  { client, classes, own }: ProteomeParts,
  id: string,
  query: Static<typeof DownloadParameters>,
): Promise<Response> {
  const { format = "tsv" } = query;
  const { computation, isCancelled } = own.find(id);
  if (isCancelled) throw new Problem("job_cancelled", "The search was cancelled.");
  const bytes = await client.call<Uint8Array<ArrayBuffer>>({
    do: "print",
    id: computation,
    format,
    view: readView(query),
    synonyms: classes.synonyms(),
  });
  const { contentType, extension } = PROTEOME_FORMATS[format];
  const headers = {
    ...NO_STORE,
    "Content-Type": contentType,
    "Content-Disposition": `inline; filename="proteome-${id.slice(0, 8)}.${extension}"`,
  };
  return new Response(paced(bytes), { headers });
}

/** @throws Problem not_found */
export function activeCorpus(corpora: Corpora): CorpusInfo {
  const active = corpora.active();
  if (active) return active;
  throw new Problem("not_found", "There is no corpus. Add one with `labd corpus add FILE`.");
}

/** @throws Problem invalid_request, invalid_pattern, unknown_motif_class, with the field */
function readMotif(
  { pattern, motifClass }: Static<typeof ProteomeSearchRequest>,
  classes: MotifClasses,
): PatternRequest {
  const [expression = "", name = ""] = [pattern?.trim(), motifClass?.trim()];
  if ((expression === "") === (name === ""))
    throw new Problem("invalid_request", "give exactly one of pattern and motifClass.", {
      path: ["pattern"],
    });
  return name === ""
    ? readExpression(expression, ["pattern"])
    : readMotifClass(name, classes, ["motifClass"]);
}

const readView = (query: object): TableView => ({
  values: readFilters(MATCH_TABLES.proteome.filters, query as Record<string, unknown>),
  order: (query as { order?: string }).order,
});

const readQuery = (query: Partial<Static<typeof PageParameters>>): MatchQuery => ({
  ...readView(query),
  protein: query.protein,
  offset: query.offset ?? 0,
  limit: query.limit ?? DEFAULT_LIMIT,
});
