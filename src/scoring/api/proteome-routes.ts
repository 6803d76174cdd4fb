import { Elysia } from "elysia";
import type { Static } from "typebox";
import { SCORING_MODELS } from "../../motif/index.ts";
import { readJson } from "../../platform/body.ts";
import { paced } from "../../platform/byte-budget.ts";
import { requestPlugin } from "../../platform/http.ts";
import type { Clock } from "../../platform/clock.ts";
import { Problem } from "../../problem.ts";
import type { Corpora, CorpusInfo } from "../corpus/corpus.ts";
import type { MotifClasses } from "../corpus/motif-classes.ts";
import type { MotifTables } from "../corpus/motif-tables.ts";
import type { JobPattern } from "../jobs/job.ts";
import type { MatchFilter, MatchQuery } from "../proteome/matches.ts";
import type { FamiliesOverview } from "../proteome/overview.ts";
import { PROTEOME_FORMS } from "../proteome/print.ts";
import type { ProteomeSearchClient } from "../proteome/search-client.ts";
import type { ShownSearch } from "../proteome/search-thread.ts";
import { readPatterns } from "./handlers.ts";
import { omitNulls, requireJson } from "./json-schemas.ts";
import * as operations from "./proteome-operations.ts";
import {
  DEFAULT_LIMIT,
  DownloadParameters,
  PageParameters,
  ProteomeSearchRequest,
  SearchId,
} from "./proteome-schemas.ts";
import { FieldErrors } from "./submission.ts";

interface ProteomeOptions {
  client: ProteomeSearchClient;
  corpora: Corpora;
  classes: MotifClasses & Pick<MotifTables, "synonyms">;
  clock: Clock;
  /** The client of a request, as a key. */
  clientOf: (request: Request) => string;
  /** @throws Problem forbidden for callers that may not start or cancel searches */
  requireWriter: (request: Request) => void;
  /** @throws Problem if the disk takes none */
  requireWritable: () => void;
}

const API = "/api/scoring/proteome";
const SEARCHES = `${API}/searches`;
const HEADERS = { "Cache-Control": "no-store", "Content-Type": "application/json" };

/** Searches of all proteins for a motif, as JSON. A thread does all work that grows with the corpus or the matches. */
export function proteomeRoutes({
  client,
  corpora,
  classes,
  clock,
  clientOf,
  requireWriter,
  requireWritable,
}: ProteomeOptions) {
  const view = (baseUrl: string, query: Partial<Static<typeof PageParameters>> = {}) => ({
    base: baseUrl + SEARCHES,
    query: readQuery(query),
    synonyms: classes.synonyms(),
  });
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
      async ({ body, request, requestContext }) => {
        requireWriter(request);
        const pattern = readMotif(body, classes);
        const { name, hash } = activeCorpus(corpora);
        const { scoringModel: model = SCORING_MODELS[0], organism = null } = body;
        requireWritable();
        const { id, json } = await client.call<ShownSearch>({
          do: "open",
          request: { corpus: { name, hash }, pattern, model, organism: organism?.trim() ?? null },
          now: clock.now(),
          client: clientOf(request),
          ...view(requestContext.baseUrl),
        });
        return new Response(json, {
          status: 202,
          headers: { ...HEADERS, Location: `${requestContext.baseUrl}${SEARCHES}/${id}` },
        });
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
      async ({ params: { id }, query, requestContext }) => {
        const shown = view(requestContext.baseUrl, query);
        const { json } = await client.call<ShownSearch>({ do: "show", id, ...shown });
        return new Response(json, { headers: HEADERS });
      },
      { params: SearchId, query: PageParameters, detail: operations.SEARCH },
    )
    .delete(
      `${SEARCHES}/:id`,
      async ({ params: { id }, request, requestContext }) => {
        requireWriter(request);
        const shown = view(requestContext.baseUrl);
        const { json } = await client.call<ShownSearch>({ do: "cancel", id, ...shown });
        return new Response(json, { headers: HEADERS });
      },
      { params: SearchId, detail: operations.CANCEL },
    )
    .use(downloadRoute(client, classes));
}

const downloadRoute = (client: ProteomeSearchClient, classes: Pick<MotifTables, "synonyms">) =>
  new Elysia({ detail: { tags: ["scoring"] } }).get(
    `${SEARCHES}/:id/matches`,
    async ({ params: { id }, query }) => {
      const { format: form = "tsv" } = query;
      const bytes = await client.call<Uint8Array<ArrayBuffer>>({
        do: "print",
        id,
        form,
        filter: readFilter(query),
        synonyms: classes.synonyms(),
      });
      const { contentType, extension } = PROTEOME_FORMS[form];
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
): JobPattern {
  const errors = new FieldErrors();
  const given = [pattern, motifClass].filter(
    (text) => text !== undefined && text !== null && text.trim() !== "",
  );
  if (given.length !== 1) errors.add("pattern", "give exactly one of pattern and motifClass.");
  errors.check();
  try {
    const expressions = pattern?.trim() ? [pattern.trim()] : [];
    return readPatterns(expressions, motifClass ? [motifClass.trim()] : [], classes)[0];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const field = pattern?.trim() ? "pattern" : "motifClass";
    errors.add(
      field,
      error.message.replace(/^(regularExpression|elmIdentifierName) 1(, |: )/, ""),
      error.code,
    );
    errors.check();
    throw error;
  }
}

type Filters = Partial<Static<typeof DownloadParameters>>;

const readFilter = ({ max_q: maxQ, ...of }: Filters): MatchFilter => ({
  label: of.label,
  species: of.species,
  region: of.region,
  kept: of.kept,
  domain: of.domain,
  phosphosite: of.phosphosite,
  known: of.known,
  maxQ,
});

const readQuery = (query: Partial<Static<typeof PageParameters>>): MatchQuery => ({
  ...readFilter(query as Filters),
  order: query.order,
  offset: query.offset ?? 0,
  limit: query.limit ?? DEFAULT_LIMIT,
});
