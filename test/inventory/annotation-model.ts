import type { Json } from "../../src/inventory/model/field.ts";
import { MEANINGS, order } from "./meanings.ts";
import { randomText, seeded } from "./random.ts";
import { IDS } from "./sample.ts";

/** A plain model of annotations, of filters and of orderings by them, with random filters. */

export const random = seeded(417);
export const CALLERS = ["admin", "alice", "bob", undefined] as const;
type Caller = (typeof CALLERS)[number];
export const all: readonly Caller[] = CALLERS;
export const insiders: readonly Caller[] = ["admin", "alice"];

/** A record that annotations refer to. Its id is visible to all, its name to these callers. */
export interface Target {
  id: string;
  name: string;
  viewers: readonly Caller[];
}
const gram = { id: IDS.gram, name: "gram", viewers: CALLERS as readonly Caller[] };
export type Item = string | number | boolean | { amount: number; unit: Target } | Target;

export interface Type {
  /** Name or id in requests. */
  word: string;
  id: string;
  kind: "text" | "number" | "amount" | "day" | "flag" | "reference";
  /** Field that names the referenced records. */
  key?: string;
  targets?: Target[];
  multiple?: boolean;
  viewers: readonly Caller[];
}
export interface Specimen {
  id: string;
  viewers: readonly Caller[];
  values: Map<Type, Item[]>;
}

const WORDS = ["wt", "WT", "Δ42", "strasse", "STRASSE", "straße", "p53 wt", "knock-out", "true", "7"];
export function randomItem({ kind, targets }: Type): Item {
  if (kind === "number") return random.pick([0, -1.5, 7, 12, 1e6]);
  if (kind === "amount") return { amount: random.pick([0.5, 5, 7, 50]), unit: gram };
  if (kind === "day") return `202${random.below(4)}-0${1 + random.below(3)}-1${random.below(3)}`;
  if (kind === "flag") return random.chance(0.5);
  if (kind === "reference") return random.pick(targets!);
  return random.chance(0.7) ? random.pick(WORDS) : `${random.pick(WORDS)}${randomText(random)}x`;
}

export const isTarget = (item: Item): item is Target => typeof item === "object" && "name" in item;
const isAmount = (item: Item): item is { amount: number; unit: Target } =>
  typeof item === "object" && "amount" in item;
export const toBody = (item: Item): Json =>
  isTarget(item) ? item.id : isAmount(item) ? `${item.amount} ${item.unit.name}` : item;

interface Filter {
  type: Type;
  /** The part after the name of the type. */
  suffix: string;
  values: string[];
  holds(items: readonly Item[], caller: Caller): boolean;
}

const NUMERIC: Record<string, (stored: number, value: number) => boolean> = {
  exact: (stored, value) => stored === value,
  gt: (stored, value) => stored > value,
  gte: (stored, value) => stored >= value,
  lt: (stored, value) => stored < value,
  lte: (stored, value) => stored <= value,
};
const LOOKUPS: Record<string, string> = { exact: "==", gt: ">", gte: ">=", lt: "<", lte: "<=" };
const TEXTUAL = [
  ...Object.keys(LOOKUPS),
  ..."contains icontains iexact startswith istartswith endswith iendswith".split(" "),
];

const anyOf =
  (values: readonly string[], one: (item: Item, value: string, caller: Caller) => boolean): Filter["holds"] =>
  (items, caller) =>
    items.some((item) => values.some((value) => one(item, value, caller)));
const makeSuffix = (lookup: string): string =>
  lookup === "exact" && random.chance(0.5) ? "" : `__${lookup}`;
const part = (text: string): string =>
  text.slice(random.below(2), text.length - random.below(3)).toWellFormed() || "s";

export function randomFilter(type: Type): Filter {
  if (random.chance(0.1)) {
    const isNull = random.chance(0.5);
    return {
      type,
      suffix: "__isnull",
      values: [String(isNull)],
      holds: (items) => (items.length === 0) === isNull,
    };
  }
  const count = random.chance(0.8) ? 1 : 2;
  const items = Array.from({ length: count }, () => randomItem(type));
  const lookup = random.pick(type.kind === "text" ? TEXTUAL : Object.keys(NUMERIC));
  const numeric = (suffix: string, values: string[], toNumber: (item: Item | string) => number): Filter => ({
    type,
    suffix,
    values,
    holds: anyOf(values, (item, value) => NUMERIC[lookup](toNumber(item), toNumber(value))),
  });
  switch (type.kind) {
    case "number":
      return numeric(makeSuffix(lookup), items.map(String), Number);
    case "day":
      return numeric(makeSuffix(lookup), items.map(String), (day) => Date.parse(String(day)));
    case "flag":
      return {
        type,
        suffix: "",
        values: items.map(String),
        holds: anyOf(items.map(String), (item, value) => String(item) === value),
      };
    case "amount":
      return amountFilter(type, items as { amount: number; unit: Target }[], lookup);
    case "reference":
      return referenceFilter(type, items as Target[]);
    case "text": {
      const values = lookup === "exact" ? items.map(String) : items.map((item) => part(String(item)));
      const meaning = MEANINGS[LOOKUPS[lookup] ?? lookup];
      return {
        type,
        suffix: makeSuffix(lookup),
        values,
        holds: anyOf(values, (item, value) => meaning(String(item), value)),
      };
    }
  }
}

function amountFilter(type: Type, items: { amount: number; unit: Target }[], lookup: string): Filter {
  if (random.chance(0.1))
    return { type, suffix: "__unit", values: ["gram"], holds: (stored) => stored.length > 0 };
  const unit = random.pick(["", " gram", ` ${IDS.gram}`, " liver"]);
  const values = items.map(({ amount }) => `${amount}${unit}`);
  const readAmount = (item: Item) => (item as { amount: number }).amount;
  return {
    type,
    suffix: makeSuffix(lookup),
    values,
    holds: anyOf(
      values,
      (item, value) => unit !== " liver" && NUMERIC[lookup](readAmount(item), Number.parseFloat(value)),
    ),
  };
}

function referenceFilter(type: Type, items: Target[]): Filter {
  if (random.chance(0.3))
    return {
      type,
      suffix: "",
      values: items.map(({ id }) => id),
      holds: anyOf(
        items.map(({ id }) => id),
        (item, value) => (item as Target).id === value,
      ),
    };
  const lookup = random.pick(["exact", "icontains", "startswith", "gte"]);
  const values = items.map(({ name }) => (lookup === "exact" ? name : part(name)));
  const meaning = MEANINGS[LOOKUPS[lookup] ?? lookup];
  const holds = anyOf(values, (item, value, caller) => {
    const { name, viewers } = item as Target;
    return viewers.includes(caller) && meaning(name, value);
  });
  const suffix = random.chance(0.5) ? `__${lookup}` : `__${type.key}__${lookup}`;
  return { type, suffix, values, holds };
}

export type Holds = (specimen: Specimen, caller: Caller) => boolean;
export const makeHolds =
  ({ type, holds }: Filter): Holds =>
  (specimen, caller) =>
    holds(specimen.values.get(type) ?? [], caller);

/** A filter expression over annotations. `isnull` is written as a comparison with null. */
export function randomExpression(depth: number, usable: readonly Type[]): { expression: Json; holds: Holds } {
  const shape = depth === 0 ? "compare" : random.pick(["compare", "and", "or", "not"]);
  if (shape === "not") {
    const { expression, holds } = randomExpression(depth - 1, usable);
    return { expression: { not: expression }, holds: (...given) => !holds(...given) };
  }
  if (shape !== "compare") {
    const parts = Array.from({ length: 1 + random.below(3) }, () => randomExpression(depth - 1, usable));
    const holds: Holds = (...given) =>
      shape === "and"
        ? parts.every((each) => each.holds(...given))
        : parts.some((each) => each.holds(...given));
    return { expression: { [shape]: parts.map(({ expression }) => expression) }, holds };
  }
  let filter = randomFilter(random.pick(usable));
  while (filter.values.length > 1) filter = randomFilter(filter.type);
  const { type, suffix, values } = filter;
  const [, path, lookup] =
    /^(.*?)(?:__(exact|gte?|lte?|i?(?:contains|startswith|endswith|exact)|isnull))?$/.exec(suffix)!;
  const category = `annotations__${type.word}${path}`;
  if (lookup === "isnull") {
    const isNull = { category, operator: "==", value: null };
    return { expression: values[0] === "true" ? isNull : { not: isNull }, holds: makeHolds(filter) };
  }
  return { expression: { category, operator: lookup ?? "==", value: values[0] }, holds: makeHolds(filter) };
}

/** The sort key of the list: the first value. */
export function sortKey({ kind }: Type, [item]: readonly Item[], caller: Caller): string | number | null {
  if (item === undefined) return null;
  if (isTarget(item)) return item.viewers.includes(caller) ? item.name : null;
  if (isAmount(item)) return item.amount;
  if (kind === "day") return Date.parse(String(item));
  return kind === "flag" ? Number(item) : (item as string | number);
}

export function compareKeys(a: string | number | null, b: string | number | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  return typeof a === "number" ? a - Number(b) : order(a, String(b));
}
