import { Elysia } from "elysia";
import type { Static } from "typebox";
import { type Ownership, requireOwner } from "../../accounts/owner.ts";
import { type PatternRequest, SCORING_MODELS } from "../../motif/index.ts";
import { readJson } from "../../platform/body.ts";
import { paced } from "../../platform/byte-budget.ts";
import { requestPlugin } from "../../platform/http.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Guards } from "../../platform/operation.ts";
import { Problem } from "../../problem.ts";
import type { Corpora, CorpusInfo } from "../corpus/corpus.ts";
import type { MotifClasses } from "../corpus/motif-classes.ts";
import type { MotifTables } from "../corpus/motif-tables.ts";
import type { MatchQuery } from "../results/proteome-matches.ts";
import type { FamiliesOverview } from "../proteome/overview.ts";
import { PROTEOME_FORMATS } from "../results/file-formats.ts";
import type { ProteomeSearchClient } from "./proteome-search-client.ts";
import type { OwnSearch, OwnSearches } from "../proteome/own-searches.ts";
import { readFilters } from "../table/filters.ts";
import { MATCH_TABLES } from "../table/match-tables.ts";
import type { TableView } from "../table/view.ts";
import { readExpression, readMotifClass } from "../corpus/patterns.ts";
import { omitNulls, requireJson } from "./json-schemas.ts";
import * as operations from "./proteome-operations.ts";
import {
  DEFAULT_LIMIT,
  DownloadParameters,
  PageParameters,
  ProteomeSearchRequest,
  SearchId,
} from "./proteome-schemas.ts";

interface ProteomeOptions {
  client: ProteomeSearchClient;
  corpora: Corpora;
  classes: MotifClasses & Pick<MotifTables, "synonyms">;
  clock: Clock;
  /** The client of a request, as a key. */
  clientOf: (request: Request) => string;
  guards: Guards;
  /** @throws Problem if the disk takes none */
  requireWritable: () => void;
  /** The searches of callers, which share computations. */
  own: OwnSearches;
  ownership: Ownership;
}

const API = "/api/scoring/proteome";
const SEARCHES = `${API}/searches`;
const HEADERS = { "Cache-Control": "no-store", "Content-Type": "application/json" };

/** Searches of all proteins for a motif, as JSON. A thread does all work that grows with the corpus or the matches. */
export function proteomeRoutes(options: ProteomeOptions) {
  const { client, corpora, own, guards } = options;
  const respond = (json: string, status = 200, headers = {}): Response =>
    new Response(paced(json), { status, headers: { ...HEADERS, ...headers } });
  return new Elysia({ name: "scoring-proteome", detail: { tags: ["scoring"] } })
    .use(requestPlugin)
    .parser("proteomeJson", ({ request }) => {
      requireJson(request.headers);
      return readJson(request);
    })
    .get(
      API,
      async () => {
        const { name, hash, sequences, path } = activeCorpus(corpora);
        const found = await client.call<FamiliesOverview>({ do: "overview", corpus: { path, hash } });
        const { proteins: families, bytes, organisms } = found;
        return { corpus: name, sequences, families, bytes, organisms };
      },
      { detail: operations.PROTEOME },
    )
    .post(
      SEARCHES,
      async ({ body, request, requestContext: { baseUrl } }) => {
        guards.anyone(request);
        const { id, json, headers } = await open(options, body, request, baseUrl);
        return respond(json, 202, { ...headers, Location: `${baseUrl}${SEARCHES}/${id}` });
      },
      {
        parse: "proteomeJson",
        transform: ({ body }) => omitNulls(body, ProteomeSearchRequest),
        body: ProteomeSearchRequest,
        detail: operations.START,
      },
    )
    .get(
      `${SEARCHES}/:id`,
      async ({ params, query, request, requestContext: { baseUrl } }) => {
        const search = own.find(params.id);
        const shown = viewOf(options, { search, request, baseUrl, query });
        return respond(await client.call<string>({ do: "show", id: search.computation, ...shown }));
      },
      { params: SearchId, query: PageParameters, detail: operations.SEARCH },
    )
    .delete(
      `${SEARCHES}/:id`,
      async ({ params, request, requestContext: { baseUrl } }) => {
        guards.anyone(request);
        return respond(await cancel(options, own.find(params.id), request, baseUrl));
      },
      { params: SearchId, detail: operations.CANCEL },
    )
    .use(downloadRoute(options));
}

interface Shown {
  search: OwnSearch;
  request: Request;
  baseUrl: string;
  query?: Partial<Static<typeof PageParameters>>;
}

/** How the thread shows a search to the caller. */
function viewOf({ classes, ownership }: ProteomeOptions, { search, request, baseUrl, query = {} }: Shown) {
  const { id, owner, isCancelled } = search;
  const { keys, isAdministrator } = ownership.identify(request);
  return {
    own: { id, isCancelled, mayChange: isAdministrator || keys.includes(owner) },
    base: baseUrl + SEARCHES,
    query: readQuery(query),
    synonyms: classes.synonyms(),
  };
}

/** Starts a search of the caller, or joins the computation of an equal one. */
async function open(
  options: ProteomeOptions,
  body: Static<typeof ProteomeSearchRequest>,
  request: Request,
  baseUrl: string,
): Promise<{ id: string; json: string; headers: Record<string, string> }> {
  const { client, classes, clock, clientOf, corpora, own, ownership } = options;
  const pattern = readMotif(body, classes);
  const { name, hash } = activeCorpus(corpora);
  const { scoringModel: model = SCORING_MODELS[0], organism = null } = body;
  options.requireWritable();
  const wanted = { corpus: { name, hash }, pattern, model, organism: organism?.trim() ?? null };
  const { key, headers } = ownership.claim(request);
  const computation = await client.call<string>({ do: "identify", request: wanted });
  // Recorded first: whoever cancels an equal search meanwhile must not stop this one.
  const search = own.add(computation, wanted, clientOf(request), key);
  const view = viewOf(options, { search, request, baseUrl });
  try {
    const json = await client.call<string>({
      do: "open",
      request: wanted,
      now: clock.now(),
      client: clientOf(request),
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
  options: ProteomeOptions,
  search: OwnSearch,
  request: Request,
  baseUrl: string,
): Promise<string> {
  const { client, own, ownership } = options;
  const { computation: id } = search;
  const view = viewOf(options, { search, request, baseUrl });
  const shown = await client.call<string>({ do: "show", id, ...view });
  requireOwner(ownership.identify(request), search.owner, "search");
  const { state } = JSON.parse(shown) as { state: string };
  if (state === "cancelled") return shown;
  if (state !== "queued" && state !== "running")
    throw new Problem("conflict", `The search has ended: it is ${state}.`);
  const { isCancelled } = await own.cancel(search);
  return client.call<string>({ do: "show", id, ...view, own: { ...view.own, isCancelled } });
}

const downloadRoute = ({ client, classes, own }: ProteomeOptions) =>
  new Elysia({ detail: { tags: ["scoring"] } }).get(
    `${SEARCHES}/:id/matches`,
    async ({ params: { id }, query }) => {
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
        ...HEADERS,
        "Content-Type": contentType,
        "Content-Disposition": `inline; filename="proteome-${id.slice(0, 8)}.${extension}"`,
      };
      return new Response(paced(bytes), { headers });
    },
    { params: SearchId, query: DownloadParameters, detail: operations.MATCHES },
  );

/** @throws Problem not_found */
function activeCorpus(corpora: Corpora): CorpusInfo {
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
  offset: query.offset ?? 0,
  limit: query.limit ?? DEFAULT_LIMIT,
});
