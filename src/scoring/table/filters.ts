import { isMatch, type MatchRow, type TableRow } from "./match-row.ts";

/** The parts that all filters have. The name is that of the parameter in the API and in addresses of pages. */
interface Named {
  name: string;
  /** Heading on pages. */
  title: string;
  description: string;
  /** Flags of `labd` without a value, each with the value that it sets and its help. Without them the flag is `--name VALUE`. */
  switches?: Readonly<Record<string, readonly [value: string, help: string]>>;
  /** Name of the flag with a value, if it is not that of the filter. */
  flag?: string;
  /** Earlier names of the parameter, each with what its values mean now. */
  aliases?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Lists the rows that have one of the chosen values. Rows without a value pass no choice. */
export interface ChoiceFilter extends Named {
  kind: "choice";
  /** All values with their names on pages; null if they follow from the rows. */
  choices: Readonly<Record<string, string>> | null;
  /** Only one value can be chosen; `boolean` also documents it as true or false. */
  single?: "text" | "boolean";
  readValue: (row: TableRow) => string | null;
  /** Earlier names of the parameter, with the same values. */
  formerNames?: readonly string[];
  /** Name of the value on pages, of filters whose values follow from the rows. */
  readName?: (row: TableRow) => string | null | undefined;
}

/** Lists the rows whose number is at most the given one. Rows without a number do not pass. */
export interface LimitFilter extends Named {
  kind: "limit";
  type: "fraction" | "count";
  maximum: number;
  readValue: (row: TableRow) => number | null | undefined;
}

export type Filter = ChoiceFilter | LimitFilter;

/** Chosen values by the name of the filter: texts of a choice, the number of a limit. */
export type FilterValues = Readonly<Record<string, readonly string[] | number | undefined>>;

/** Makes a function of matches one of rows: rows without a match have no value. */
export const forMatch =
  <Value>(readValue: (row: MatchRow) => Value) =>
  (row: TableRow): Value | null =>
    isMatch(row) ? readValue(row) : null;

/** A function that tells whether a row passes all filters, but the one named `except`. */
export function passes(
  filters: readonly Filter[],
  values: FilterValues,
  except?: string,
): (row: TableRow) => boolean {
  const tests = filters.flatMap((filter): ((row: TableRow) => boolean)[] => {
    const value = values[filter.name];
    if (value === undefined || filter.name === except) return [];
    if (filter.kind === "limit") return [(row) => (filter.readValue(row) ?? Infinity) <= (value as number)];
    const chosen = new Set<string | null>(value as readonly string[]);
    return [(row) => chosen.has(filter.readValue(row))];
  });
  return (row) => tests.every((test) => test(row));
}

export const filterRows = <Row extends TableRow>(
  rows: readonly Row[],
  filters: readonly Filter[],
  values: FilterValues,
): readonly Row[] => (isEmpty(values) ? rows : rows.filter(passes(filters, values)));

export const isEmpty = (values: FilterValues): boolean =>
  Object.values(values).every((value) => value === undefined);

/** Parameters of a request, validated by the schema that was made from the filters. */
type Parameters = Readonly<Record<string, unknown>>;

/** The chosen values in validated parameters, also by earlier names. */
export function readFilters(filters: readonly Filter[], parameters: Parameters): FilterValues {
  const values: Record<string, readonly string[] | number> = {};
  for (const filter of filters) {
    const given =
      parameters[filter.name] ??
      listFormerNames(filter)
        .map((name) => parameters[name])
        .find(isGiven);
    if (given !== undefined) values[filter.name] = filter.kind === "limit" ? Number(given) : textsIn(given);
    for (const [alias, meanings] of Object.entries(filter.aliases ?? {}))
      for (const text of textsIn(parameters[alias]))
        if (Object.hasOwn(meanings, text)) values[filter.name] = [meanings[text]];
  }
  return values;
}

const isGiven = (value: unknown): boolean => value !== undefined;

/** Earlier names of the parameter that have the same values. */
export const listFormerNames = (filter: Filter): readonly string[] =>
  (filter.kind === "choice" && filter.formerNames) || [];

const textsIn = (given: unknown): string[] => (given === undefined ? [] : [given].flat().map(String));

/** The valid choices in the address of a page; others are ignored. */
export function filtersIn(filters: readonly Filter[], search: URLSearchParams): FilterValues {
  const values: Record<string, readonly string[] | number> = {};
  for (const filter of filters) {
    const given = search.getAll(filter.name);
    if (given.length === 0) continue;
    if (filter.kind === "limit") {
      const limit = given[0].trim() === "" ? NaN : Number(given[0]);
      if (limit >= 0 && limit <= filter.maximum) values[filter.name] = limit;
    } else {
      const { choices } = filter;
      const valid = choices ? given.filter((value) => Object.hasOwn(choices, value)) : given;
      if (valid.length > 0) values[filter.name] = filter.single ? valid.slice(0, 1) : valid;
    }
  }
  return values;
}

/** The chosen values as parameters of a request. */
export const filterParameters = (values: FilterValues): Record<string, string | number | undefined> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === "number" ? value : value?.join(","),
    ]),
  );

/** A value of a choice, and how many rows it leaves that pass the other filters. */
export interface FacetChoice {
  value: string;
  name: string;
  count: number;
}

/** Values of each choice by the name of the filter. */
export type Facets = Record<string, FacetChoice[]>;

/** Values of a choice that are listed. */
const MAX_CHOICES = 25;

/** The rows that pass the filters, and the values of each choice, counted in one pass. */
export function facetRows<Row extends TableRow>(
  rows: readonly Row[],
  filters: readonly Filter[],
  values: FilterValues,
): { passing: Row[]; facets: Facets } {
  const facets = filters.filter((filter) => filter.kind === "choice");
  const isWithin = passes(
    filters.filter(({ kind }) => kind === "limit"),
    values,
  );
  const chosen = facets.map(({ name }) => {
    const value = values[name] as readonly string[] | undefined;
    return value ? new Set(value) : null;
  });
  const found = facets.map(() => new Map<string, FacetChoice>());
  const passing: Row[] = [];
  for (const row of rows) {
    const own = facets.map((facet, i) => findChoice(found[i], facet, row));
    if (!isWithin(row)) continue;
    let failures = 0;
    let failed: FacetChoice | null = null;
    for (let i = 0; i < own.length; i++) {
      if (!chosen[i] || chosen[i]!.has(own[i]?.value ?? "")) continue;
      failed = own[i];
      failures++;
    }
    if (failures === 0) {
      passing.push(row);
      for (const choice of own) if (choice) choice.count++;
    } else if (failures === 1 && failed) failed.count++;
  }
  const listed = facets.flatMap((filter, i) => {
    const choices = mostFrequent([...found[i].values()], chosen[i]);
    return [filter.name, ...listFormerNames(filter)].map((name) => [name, choices] as const);
  });
  return { passing, facets: Object.fromEntries(listed) };
}

/** The choice that a row belongs to; null for a row without a value. */
function findChoice(known: Map<string, FacetChoice>, facet: ChoiceFilter, row: TableRow): FacetChoice | null {
  const value = facet.readValue(row);
  if (value === null) return null;
  let choice = known.get(value);
  if (!choice) known.set(value, (choice = { value, name: facet.readName?.(row) ?? value, count: 0 }));
  return choice;
}

/** The most frequent choices, and those that are chosen. */
const mostFrequent = (choices: FacetChoice[], chosen: ReadonlySet<string> | null): FacetChoice[] =>
  choices
    .toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
    .filter(({ value }, i) => i < MAX_CHOICES || chosen?.has(value));
