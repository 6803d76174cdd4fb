import { statSync } from "node:fs";
import type { Corpus } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { type MatchQuery, needsNotes, viewMatches } from "../results/proteome-matches.ts";
import { openedCorpus } from "../corpus/corpus.ts";
import { familiesOverview, organismWithFamilies } from "../proteome/overview.ts";
import { readFlanks } from "../proteome/flanks.ts";
import type { SearchRequest } from "../proteome/search-files.ts";
import type { ProteomeFormatName } from "../results/file-formats.ts";
import { printProteome } from "../results/print-table.ts";
import type { ProteomeSearchObject } from "../api/proteome-schemas.ts";
import { corpusPath } from "../corpus/corpus.ts";
import { featureFilesIn, type FeatureSource, placesCoincide } from "../features/annotation.ts";
import { searchProvenance } from "../prediction/provenance.ts";
import { matchObject } from "../table/column.ts";
import { MATCH_TABLES } from "../table/match-tables.ts";
import { type Provenance, withView } from "../table/provenance.ts";
import { type TableView, viewRows } from "../table/view.ts";
import { withRowNotes } from "../features/row-notes.ts";
import type { OwnSearch } from "../proteome/own-searches.ts";
import { type ProteomeSearch, ProteomeSearches } from "../proteome/searches.ts";
import type { ProteomeRow, ProteomeTable } from "../proteome/table.ts";

/**
 * The thread of proteome searches: it has the searches of the server, starts the threads that score, and ranks, filters and
 * prints matches, so that the thread that answers requests does none of it.
 */
export type ThreadCall =
  | { do: "configure"; dataDirectory: string; workers: number }
  | { do: "check" }
  | { do: "overview"; corpus: { path: string; hash: string } }
  | { do: "identify"; request: SearchRequest }
  | { do: "drop"; id: string }
  | { do: "cancel" | "progress"; id: string }
  | { do: "open"; request: SearchRequest; now: number; client: string; view: View | null }
  | ({ do: "show"; id: string } & View)
  | ({ do: "print"; id: string; format: ProteomeFormatName; view: TableView } & Pick<View, "synonyms">);

/** The view of a search for one caller. */
interface View {
  /** The caller's search, whose computation this is. */
  own: Pick<OwnSearch, "id" | "isCancelled"> & { mayChange: boolean };
  /** Address of searches. */
  base: string;
  query: MatchQuery;
  /** Names that mean one motif class, to find its known instances. */
  synonyms: FeatureSource["synonyms"];
  /** Only matches at these places. */
  places?: readonly Place[];
}

interface Place {
  accession: string;
  start: number;
  end: number;
}

export interface ThreadTask {
  ticket: number;
  call: ThreadCall;
}

/** `isBusy`: searches wait or run. */
export type ThreadReport = { ticket: number; isBusy: boolean } & (
  | { value: unknown }
  | { problem: Pick<Problem, "code" | "message" | "fields" | "headers"> & { cause: string } }
);

declare const self: Worker;

let searches: ProteomeSearches;
let dataDirectory: string;

function work(call: ThreadCall): unknown {
  switch (call.do) {
    case "configure":
      ({ dataDirectory } = call);
      searches = new ProteomeSearches(call);
      return null;
    case "check":
      return null;
    case "overview":
      return familiesOverview(call.corpus);
    case "identify":
      return searches.identify(call.request);
    case "drop":
      return searches.drop(call.id);
    case "cancel":
      searches.cancel(call.id);
      return null;
    case "progress":
      return searches.progress(call.id);
    case "open": {
      const search = searches.open(call.request, call.now, call.client);
      return call.view && shown(search, call.view);
    }
    case "show":
      return shown(searches.get(call.id), call);
    case "print":
      return printed(searches.get(call.id), call);
  }
}

/** A search and a page of its matches, as JSON. */
function shown(search: ProteomeSearch, { own, base, query, synonyms, places }: View): string {
  const { request, submitted, failure } = search;
  const { id, mayChange } = own;
  const state = own.isCancelled ? "cancelled" : search.state;
  const { corpus, pattern, model, organism } = request;
  const { searched, missing, matching, rows: found } = own.isCancelled ? EMPTY_TABLE : search.table();
  const source = makeSource(request, synonyms);
  const rows = rowsAt(selectRows(found, query, pattern.name, source), places);
  const { offset, limit, protein, ...view } = query;
  const wanted = protein === undefined ? rows : rows.filter((row) => row.protein.accession === protein);
  const { passing, facets, labels, pValues } = viewMatches(wanted, view);
  const page = passing.slice(offset, offset + limit);
  const opened = loadCorpus(request);
  const object: ProteomeSearchObject = {
    id,
    state,
    place: own.isCancelled ? null : searches.place(search.id),
    mayChange,
    submitted: new Date(submitted).toISOString(),
    failure,
    provenance: makeProvenance(request, submitted),
    corpus,
    expression: pattern.expression,
    motifClass: pattern.name,
    scoringModel: model,
    organism,
    organismName: organism && opened && findOrganism(request, organism),
    searched,
    total: Math.max(search.total, searched),
    missing,
    matches: rows.length,
    matching,
    labels,
    pValues,
    facets,
    passing: passing.length,
    results: withRowNotes(page, pattern.name, source).map((row) =>
      Object.assign(row, readFlanks(opened, row), matchObject(MATCH_TABLES.proteome.columns, row)),
    ),
    links: { self: `${base}/${id}`, matches: `${base}/${id}/matches` },
  };
  return JSON.stringify(object);
}

/** The part of a computation, needed by other searches, that a cancelled search shows. */
const EMPTY_TABLE: ProteomeTable = { searched: 0, missing: 0, matching: 0, rows: [] };

/** The rows that were last filtered by their features: notes of all rows take longer than those of a page. */
let noted: { found: readonly ProteomeRow[]; features: string; rows: readonly ProteomeRow[] } | undefined;

/** The rows, with notes if the filter asks for them. */
function selectRows(
  found: readonly ProteomeRow[],
  view: TableView,
  motif: string | null,
  source: FeatureSource,
): readonly ProteomeRow[] {
  if (!needsNotes(view)) return found;
  const features = featureFilesIn(dataDirectory).version();
  if (noted?.found !== found || noted.features !== features)
    noted = { found, features, rows: withRowNotes(found, motif, source) };
  return noted.rows;
}

function rowsAt(rows: readonly ProteomeRow[], places: readonly Place[] | undefined): readonly ProteomeRow[] {
  if (!places) return rows;
  const ofProtein = Map.groupBy(places, ({ accession }) => accession);
  return rows.filter((row) =>
    ofProtein.get(row.protein.accession)?.some((place) => placesCoincide(place, row)),
  );
}

/** The scientific name of an organism that may be given by taxon; null if it is not known. */
const findOrganism = ({ corpus: { hash } }: SearchRequest, organism: string): string | null =>
  organismWithFamilies({ path: corpusPath(dataDirectory, hash), hash }, organism)?.organism ?? null;

/** The corpus of a search; null once it has been removed. */
function loadCorpus({ corpus: { hash } }: SearchRequest): Corpus | null {
  const path = corpusPath(dataDirectory, hash);
  return statSync(path, { throwIfNoEntry: false }) ? openedCorpus(path) : null;
}

function makeProvenance(request: SearchRequest, submitted: number): Provenance {
  const { corpus, ...rest } = request;
  const sequences = loadCorpus(request)?.sequenceCount ?? 0;
  return searchProvenance({ at: submitted, ...rest, corpus: { ...corpus, sequences } });
}

const makeSource = ({ corpus }: SearchRequest, synonyms: FeatureSource["synonyms"]): FeatureSource => ({
  dataDirectory,
  corpusPath: corpusPath(dataDirectory, corpus.hash),
  synonyms,
});

/** All matches that pass the filter. @throws Problem not_finished, job_failed, job_cancelled */
async function printed(
  { state, failure, request, submitted, table }: ProteomeSearch,
  { format, view, synonyms }: { format: ProteomeFormatName; view: TableView } & Pick<View, "synonyms">,
): Promise<Uint8Array<ArrayBuffer>> {
  if (state === "failed") throw new Problem("job_failed", `The search failed. ${failure}`);
  if (state === "cancelled") throw new Problem("job_cancelled", "The search was cancelled.");
  if (state !== "finished")
    throw new Problem("not_finished", `The search is ${state}: it has no result yet.`, {
      headers: { "Retry-After": "1" },
    });
  const { pattern } = request;
  const source = makeSource(request, synonyms);
  const provenance = withView(makeProvenance(request, submitted), view);
  const passing = viewRows(MATCH_TABLES.proteome, selectRows(table().rows, view, pattern.name, source), view);
  const rows = needsNotes(view) ? passing : withRowNotes(passing, pattern.name, source);
  const file = await printProteome(format, rows, provenance);
  return typeof file === "string" ? new TextEncoder().encode(file) : file;
}

async function report(ticket: number, call: ThreadCall): Promise<ThreadReport> {
  try {
    const value = await work(call);
    return { ticket, value, isBusy: searches.isBusy };
  } catch (error) {
    const { code, message, fields, headers } = Problem.from(error);
    const problem = { code, message, fields, headers, cause: String(error) };
    return { ticket, problem, isBusy: searches.isBusy };
  }
}

self.addEventListener("message", async ({ data: { ticket, call } }: MessageEvent<ThreadTask>) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
  self.postMessage(await report(ticket, call));
});
