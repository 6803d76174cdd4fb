import type { Options } from "../motif/index.ts";
import { Problem } from "../problem.ts";
import {
  dependsOnFeatures,
  type EvidenceChoice,
  type Filter,
  type FilterValues,
  listFormerNames,
  listOrders,
  type MatchTable,
  readEvidenceChoice,
  type Scoring,
  type TableView,
} from "../scoring/index.ts";
import { type Call, type Flags, unknownWord } from "./command.ts";

const flagOf = (name: string): string => `--${name.replaceAll("_", "-")}`;
const flagName = ({ flag, name }: Filter): string => flag ?? flagOf(name);
/** Flags by earlier names of the filter. */
const formerFlags = (filter: Filter): string[] => listFormerNames(filter).map(flagOf);

/** The flags of one filter, with their help. */
function listFlags(filter: Filter): [string, string][] {
  if (filter.switches) return Object.entries(filter.switches).map(([flag, [, help]]) => [flag, help]);
  const help = `Print o${filter.description.slice(1)}`;
  if (filter.kind === "limit")
    return [[`${flagName(filter)} ${filter.type === "count" ? `0-${filter.maximum}` : "N"}`, help]];
  const choices = filter.choices ? `: ${Object.keys(filter.choices).join(", ")}` : "";
  return [
    [`${flagName(filter)} VALUES`, `${help.replace(/\.$/, "")}, separated by commas${choices}.`],
    ...formerFlags(filter).map((flag): [string, string] => [
      `${flag} VALUES`,
      `Earlier name of ${flagName(filter)}.`,
    ]),
  ];
}

/** The flags that limit and order the printed matches. */
export const viewFlags = ({ filters }: MatchTable): Flags => ({
  ...Object.fromEntries(filters.flatMap(listFlags)),
  "--order COLUMN": "Order of the printed matches: a column such as start; -start begins with the largest.",
});

/** The flags that leave out knowledge beside the sequences. */
export const EVIDENCE_FLAGS: Flags = {
  "--ignore-features": "Score as if no features were imported.",
  "--no-class-model": "Score without models of motif classes.",
  "--prior SHARE":
    "Share of true motifs among the matches, above 0 and below 1, for the probability alone; by default 0.005, that of motif classes in human proteins.",
};

export const readEvidence = (call: Call): EvidenceChoice =>
  readEvidenceChoice({
    ignoreFeatures: call.has("--ignore-features"),
    ignoreClassModels: call.has("--no-class-model"),
    prior: readPrior(call),
  });

/** The options of a run by the same flags, which override those of a file; undefined without any. */
export function readOptions(call: Call, recorded?: Partial<Options>): Partial<Options> | undefined {
  const { prior } = readEvidence(call);
  return prior === undefined ? recorded : { ...recorded, prior };
}

/** @throws Problem usage */
function readPrior(call: Call): number | undefined {
  const text = call.value("--prior");
  if (text === undefined) return undefined;
  const prior = text.trim() === "" ? Number.NaN : Number(text);
  if (prior > 0 && prior < 1) return prior;
  throw new Problem("usage", `--prior: "${text}" is not a number above 0 and below 1.`);
}

/** The filters and the order that are given. @throws Problem usage for a value that does not exist, and for opposite flags */
export function readView(call: Call, table: MatchTable, help: string): TableView {
  const values = filterValues(call, table, help);
  const order = call.value("--order");
  if (order === undefined) return { values };
  if (listOrders(table).includes(order)) return { values, order };
  const names = listOrders(table).filter((name) => !name.startsWith("-"));
  throw unknownWord("column", order, names, help.replace(/^See (.*)\.$/, "$1"));
}

/** True if a view leaves out or moves rows. */
export const isLimited = ({ values, order }: TableView): boolean =>
  order !== undefined || Object.keys(values).length > 0;

function filterValues(call: Call, { filters }: MatchTable, help: string): FilterValues {
  const values: Record<string, readonly string[] | number> = {};
  for (const filter of filters) {
    const value = filter.switches
      ? switchedValue(call, filter.switches, help)
      : givenValue(call, filter, help);
    if (value !== undefined) values[filter.name] = value;
  }
  return values;
}

function switchedValue(
  call: Call,
  switches: NonNullable<Filter["switches"]>,
  help: string,
): string[] | undefined {
  const given = Object.keys(switches).filter((flag) => call.has(flag));
  if (given.length > 1) throw new Problem("usage", `${given.join(" and ")} exclude each other. ${help}`);
  return given.length === 0 ? undefined : [switches[given[0]][0]];
}

function givenValue(call: Call, filter: Filter, help: string): string[] | number | undefined {
  const flag = [flagName(filter), ...formerFlags(filter)].find((each) => call.has(each));
  const given = flag && call.value(flag);
  if (given === undefined) return undefined;
  const wrong = (expected: string): Problem =>
    new Problem("usage", `${flag}: expected ${expected}; "${given}" was given. ${help}`);
  if (filter.kind === "limit") {
    const limit = given.trim() === "" ? NaN : Number(given);
    if (limit >= 0 && limit <= filter.maximum) return limit;
    throw wrong(`a number from 0 to ${filter.maximum}`);
  }
  const { choices } = filter;
  const texts = splitList(given);
  if (texts.length === 0 || (choices && texts.some((text) => !Object.hasOwn(choices, text))))
    throw wrong(`${choices ? Object.keys(choices).join(", ") : "values"}, separated by commas`);
  return texts;
}

/** Texts separated by commas. */
export const splitList = (text: string): string[] => text.split(",").flatMap((part) => part.trim() || []);

/** Explains that filters by features need imported features. */
export function warnWithoutFeatures(
  call: Call,
  { features }: Scoring,
  table: MatchTable,
  view: TableView,
): void {
  if (features.isEmpty && dependsOnFeatures(table, view))
    call.warn(
      "no features are imported, so that filters by them find none. Import some: labd features add FILE",
    );
}
