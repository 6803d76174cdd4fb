import { DISORDERED, type OverallVerdict } from "../../motif/index.ts";
import { passesPlaces, type PlaceFilter } from "./ranked-columns.ts";
import type { ProteomeRow } from "../proteome/table.ts";

/** Bands of the fraction of homologs that keep a match. */
export const KEPT_BANDS = ["90-100", "50-89", "0-49", "no homologs"] as const;
export type KeptBand = (typeof KEPT_BANDS)[number];
export const NOT_SCORED = "not scored";
export const LABELS = [
  "likely functional",
  "possible",
  "no evidence",
  NOT_SCORED,
] as const satisfies readonly (OverallVerdict | typeof NOT_SCORED)[];
export const REGIONS = ["disordered", "ordered"] as const;

/** Limits the listed matches; ranks and q-values are those of all matches. */
export interface MatchFilter extends PlaceFilter {
  label?: readonly (typeof LABELS)[number][] | undefined;
  /** Taxa, or scientific names without commas of organisms without one. */
  species?: readonly string[] | undefined;
  region?: readonly (typeof REGIONS)[number][] | undefined;
  kept?: readonly KeptBand[] | undefined;
  maxQ?: number | undefined;
}

export interface MatchQuery extends MatchFilter {
  order?: string | undefined;
  offset: number;
  limit: number;
}

/** A choice of a filter, and how many matches it leaves that pass the others. */
export interface FacetChoice {
  value: string;
  name: string;
  count: number;
}

export type Facets = Record<keyof typeof VALUE_OF, FacetChoice[]>;

export const isDisordered = ({ disorder }: Pick<ProteomeRow, "disorder">): boolean => disorder > DISORDERED;

function keptBand({ kept, homologs }: ProteomeRow): KeptBand {
  if (homologs === 0) return "no homologs";
  const percent = Math.floor((100 * kept) / homologs);
  return percent >= 90 ? "90-100" : percent >= 50 ? "50-89" : "0-49";
}

/** Commas separate the values of a filter. */
const speciesOf = ({ protein: { taxon, organism } }: ProteomeRow): string =>
  taxon === null ? (organism ?? "unknown").replaceAll(",", "") : String(taxon);

const VALUE_OF = {
  label: (row: ProteomeRow): string => row.label ?? NOT_SCORED,
  species: speciesOf,
  region: (row: ProteomeRow): string => (isDisordered(row) ? "disordered" : "ordered"),
  kept: (row: ProteomeRow): string => keptBand(row),
} as const;

type Facet = keyof typeof VALUE_OF;
const FACETS = Object.keys(VALUE_OF) as Facet[];

/** Choices of each facet that are listed. */
const MAX_CHOICES = 25;

/** Whether a filter asks for what is known at matches, which must then have notes. */
export const needsNotes = ({ domain, phosphosite, known }: PlaceFilter): boolean =>
  domain !== undefined || phosphosite !== undefined || known !== undefined;

/** The matches that pass a filter, and the choices that it has. */
export function filterMatches(
  rows: readonly ProteomeRow[],
  filter: MatchFilter,
): { passing: ProteomeRow[]; facets: Facets } {
  const chosen = FACETS.map((facet) => (filter[facet] ? new Set<string>(filter[facet]) : null));
  const choices = FACETS.map(() => new Map<string, FacetChoice>());
  const passing: ProteomeRow[] = [];
  for (const row of rows) {
    const own = FACETS.map((facet, i) => choiceOf(choices[i], facet, row));
    if (!passesOthers(row, filter)) continue;
    let failed: FacetChoice | undefined;
    let failures = 0;
    for (let i = 0; i < own.length; i++) {
      if (!chosen[i] || chosen[i]!.has(own[i].value)) continue;
      failed = own[i];
      failures++;
    }
    if (failures === 0) {
      passing.push(row);
      for (const choice of own) choice.count++;
    } else if (failures === 1) failed!.count++;
  }
  const facets = FACETS.map((facet, i) => [facet, listed([...choices[i].values()], chosen[i])] as const);
  return { passing, facets: Object.fromEntries(facets) as Facets };
}

/** The choice that a row belongs to. */
function choiceOf(known: Map<string, FacetChoice>, facet: Facet, row: ProteomeRow): FacetChoice {
  const value = VALUE_OF[facet](row);
  let choice = known.get(value);
  if (!choice) known.set(value, (choice = { value, name: nameOf(facet, value, row), count: 0 }));
  return choice;
}

/** Whether a row passes the filters that are no facets. */
const passesOthers = (row: ProteomeRow, filter: MatchFilter): boolean =>
  (filter.maxQ === undefined || (row.q !== null && row.q <= filter.maxQ)) &&
  passesPlaces(row.notes ?? null, filter);

const nameOf = (facet: Facet, value: string, { protein: { organism } }: ProteomeRow): string =>
  facet === "species" ? (organism ?? value) : value;

/** The most frequent choices, and those that are chosen. */
const listed = (choices: FacetChoice[], chosen: ReadonlySet<string> | null): FacetChoice[] =>
  choices
    .toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
    .filter(({ value }, i) => i < MAX_CHOICES || chosen?.has(value));

/** Values that matches can be ordered by. */
const ORDERS = {
  rank: () => null,
  protein: ({ protein }) => protein.gene ?? protein.accession,
  species: ({ protein }) => protein.organism,
  start: ({ start }) => start,
  p: ({ overallPValue }) => overallPValue,
  q: ({ q }) => q,
  z: ({ z }) => z,
  kept: ({ kept, homologs }) => (homologs === 0 ? null : kept / homologs),
  disorder: ({ disorder }) => disorder,
} as const satisfies Record<string, (row: ProteomeRow) => string | number | null>;

export const MATCH_ORDERS = Object.keys(ORDERS).flatMap((name) => [name, `-${name}`]);

/** Ordered by a value, or descending by `-value`; matches without it come last, and equal ones stay in order of rank. */
export function orderMatches(rows: readonly ProteomeRow[], order: string): readonly ProteomeRow[] {
  const isDescending = order.startsWith("-");
  const name = order.replace(/^-/, "") as keyof typeof ORDERS;
  if (name === "rank") return isDescending ? rows.toReversed() : rows;
  const valueOf: (row: ProteomeRow) => string | number | null = ORDERS[name];
  return rows
    .map((row) => ({ row, value: valueOf(row) }))
    .sort((a, b) => compare(a.value, b.value, isDescending ? -1 : 1))
    .map(({ row }) => row);
}

const collator = new Intl.Collator("en", { numeric: true });

function compare(a: string | number | null, b: string | number | null, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return sign * (typeof a === "string" ? collator.compare(a, String(b)) : a - Number(b));
}

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
  /** Number of all matches by label. */
  labels: FacetChoice[];
  pValues: PValueBin[];
  rankOf: (row: ProteomeRow) => number;
  views: Map<string, View>;
}

const listings = new WeakMap<readonly ProteomeRow[], Listing>();
/** Views of one table that are kept: hundreds of thousands of matches are filtered and ordered once, not for each page. */
const MAX_VIEWS = 8;

export function viewMatches(
  rows: readonly ProteomeRow[],
  { order = "rank", ...filter }: MatchFilter & { order?: string | undefined },
): View & Omit<Listing, "views"> {
  const listing = listings.get(rows) ?? listingOf(rows);
  listings.set(rows, listing);
  const { views, ...rest } = listing;
  const key = JSON.stringify([order, filter]);
  const view = views.get(key) ?? newView(rows, filter, order);
  views.delete(key);
  views.set(key, view);
  if (views.size > MAX_VIEWS) views.delete(views.keys().next().value!);
  return { ...view, ...rest };
}

function newView(rows: readonly ProteomeRow[], filter: MatchFilter, order: string): View {
  const { passing, facets } = filterMatches(rows, filter);
  return { passing: orderMatches(passing, order), facets };
}

function listingOf(rows: readonly ProteomeRow[]): Listing {
  const ranks = new Map(rows.map((row, i) => [row, i + 1]));
  const { facets } = filterMatches(rows, {});
  const rankOf = (row: ProteomeRow): number => ranks.get(row)!;
  return { labels: facets.label, pValues: binsOf(rows), rankOf, views: new Map() };
}

/** Largest P values of the bins. Those above .5 are not told apart. */
const BINS = [0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001];

function binsOf(rows: readonly ProteomeRow[]): PValueBin[] {
  const counts = BINS.map(() => 0);
  let scored = 0;
  for (const { overallPValue: p, overallPValueIs: is } of rows) {
    if (p === null) continue;
    scored++;
    if (is !== "at least") counts[BINS.findLastIndex((most) => p <= most)]++;
  }
  return BINS.map((p, i) => ({
    p,
    matches: counts[i],
    // To hundredths, as differences of decimals are not exact.
    expected: Math.round(100 * scored * (p - (BINS[i + 1] ?? 0))) / 100,
  }));
}
