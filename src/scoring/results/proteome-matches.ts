import { type FacetChoice, facetRows, type Facets, type FilterValues } from "../table/filters.ts";
import { MATCH_TABLES } from "../table/match-tables.ts";
import { dependsOnFeatures, orderRows, type TableView } from "../table/view.ts";
import type { ProteomeRow } from "../proteome/table.ts";

export interface MatchQuery extends TableView {
  /** Accession of the only protein that is wanted. */
  protein?: string | undefined;
  offset: number;
  limit: number;
}

const { proteome: TABLE } = MATCH_TABLES;

/** True if a filter or the order depends on imported features of matches, which must then have notes. */
export const needsNotes = (view: TableView): boolean => dependsOnFeatures(TABLE, view);

/** Matches that pass a filter, in some order. */
interface View {
  passing: readonly ProteomeRow[];
  facets: Facets;
}

/** Matches with a P value of at most `p`, above that of the next bin; `expected` if all matches were random. */
export interface PValueBin {
  p: number;
  matches: number;
  expected: number;
}

interface Listing {
  /** Number of all matches by verdict. */
  labels: FacetChoice[];
  pValues: PValueBin[];
  views: Map<string, View>;
}

const listings = new WeakMap<readonly ProteomeRow[], Listing>();
/** Views of one table that are kept: hundreds of thousands of matches are filtered and ordered once, not for each page. */
const MAX_VIEWS = 8;

export function viewMatches(
  rows: readonly ProteomeRow[],
  { values, order }: TableView,
): View & Omit<Listing, "views"> {
  const listing = listings.get(rows) ?? makeListing(rows);
  listings.set(rows, listing);
  const { views, ...rest } = listing;
  const key = JSON.stringify([order, values]);
  const view = views.get(key) ?? newView(rows, values, order);
  views.delete(key);
  views.set(key, view);
  if (views.size > MAX_VIEWS) views.delete(views.keys().next().value!);
  return { ...view, ...rest };
}

function newView(rows: readonly ProteomeRow[], values: FilterValues, order: string | undefined): View {
  const { passing, facets } = facetRows(rows, TABLE.filters, values);
  return { passing: orderRows(TABLE, passing, order), facets };
}

function makeListing(rows: readonly ProteomeRow[]): Listing {
  const { facets } = facetRows(rows, TABLE.filters, {});
  return { labels: facets.verdict, pValues: countBins(rows), views: new Map() };
}

/** Largest P values of the bins. Those above .5 are not told apart. */
const BINS = [0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001];

function countBins(rows: readonly ProteomeRow[]): PValueBin[] {
  const counts = BINS.map(() => 0);
  let scored = 0;
  for (const { overallPValue: p } of rows) {
    if (p === null) continue;
    scored++;
    if (p <= BINS[0]) counts[BINS.findLastIndex((most) => p <= most)]++;
  }
  return BINS.map((p, i) => ({
    p,
    matches: counts[i],
    // Compared in hundredths, because differences of decimals are not exact.
    expected: Math.round(100 * scored * (p - (BINS[i + 1] ?? 0))) / 100,
  }));
}
