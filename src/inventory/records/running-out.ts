import { type Actor, hasStock } from "../model/access.ts";
import { ALIVE, ALWAYS, and, compare, type Condition, or } from "../model/condition.ts";
import { DAY } from "../model/field.ts";
import { parseListing } from "../model/listing.ts";
import { selectVisible } from "../model/plan.ts";
import { addAmounts, isConvertible } from "../model/unit.ts";
import { DECLARED, RESOURCES, type RoutedResource } from "../resources/index.ts";
import { EXPIRING_DAYS, RUNNING_OUT } from "../resources/stock-views.ts";
import type { Store } from "./store.ts";

/**
 * Stock that is running out, of what one actor may view: products, over all their tubes, and records without a product.
 * A product without a reorder point is low if all its tubes are.
 */

export const SHORTAGES = ["empty", "expired", "low", "expiring"] as const;
export type Shortage = (typeof SHORTAGES)[number];

/** A product, or a record without one. */
export interface Stock {
  resource: RoutedResource;
  rid: number;
  state: Shortage | null;
  /** Tubes that are not empty. */
  tubes: number;
  /** In `unit`, or tubes if that is "". Null if no tube has an amount in a unit that converts into it. */
  left: number | null;
  unit: string;
  minimum: number | null;
  full: number | null;
  /** Microseconds: day on which the last tube expires (if others last, the first), last change and last receipt. */
  expiry: number | null;
  modified: number | null;
  received: number | null;
}

/** Sums over tubes of one group and unit. Live tubes are not empty, usable ones not expired either, lasting ones not soon. */
interface Sums {
  key: number;
  unit: number | null;
  tubes: number;
  live: number;
  live_amount: number | null;
  usable: number;
  usable_amount: number | null;
  lasting: number;
  lasting_amount: number | null;
  low: number;
  first_expiry: number | null;
  expiry: number | null;
  modified: number;
  received: number | null;
}

/** The names of units are read as they are needed. */
interface Reading {
  store: Store;
  actor: Actor;
  units: Map<number, string>;
}

/** A product or a record, and how much of it there should be. */
interface Target {
  resource: RoutedResource;
  rid: number;
  minimum: number | null;
  full: number | null;
  unit: string;
}

const PRODUCT = DECLARED.get("product") as RoutedResource;
const CONSUMABLE = DECLARED.get("consumable") as RoutedResource;
const TERM = DECLARED.get("term")!;
/** Digits of sums that binary fractions leave right. */
const SUM_DIGITS = 12;
/** No product, or none that the actor may view. */
const NO_PRODUCT = compare(["product", "deleted"], "==", null);

/** Condition on products, and on records without one. */
type Which = (resource: RoutedResource) => Condition;

/** Row numbers of products and of records that are judged together. */
interface Slice {
  resource: RoutedResource;
  from: number;
  to: number;
}

/** Rows of a slice: some milliseconds, in which no request is answered. Products have about twenty tubes. */
const sliceRows = (resource: RoutedResource): number => (resource === PRODUCT ? 100 : 2000);

/** The stock that is running out, the most urgent first. */
export const listRunningOut = (store: Store, actor: Actor): Stock[] =>
  store.statements.reading(() =>
    byUrgency(
      [PRODUCT, ...RESOURCES.filter(hasStock)].flatMap((resource) =>
        listSlice(store, actor, () => ALWAYS, { resource, from: 0, to: Number.MAX_SAFE_INTEGER }),
      ),
    ),
  );

/** Like `listRunningOut`, in slices between which requests are answered. */
export async function findRunningOut(
  store: Store,
  actor: Actor,
  which: Which = () => ALWAYS,
): Promise<Stock[]> {
  const found: Stock[] = [];
  for (const resource of [PRODUCT, ...RESOURCES.filter(hasStock)]) {
    const text = `SELECT coalesce(max(rid), 0) AS last FROM ${resource.table}`;
    const last = Number(store.statements.get({ text, args: [] })!.last);
    const rows = sliceRows(resource);
    for (let from = 0; from <= last; from += rows) {
      await Bun.sleep(0);
      const slice = { resource, from, to: from + rows };
      found.push(...store.statements.reading(() => listSlice(store, actor, which, slice)));
    }
  }
  return byUrgency(found);
}

function listSlice(store: Store, actor: Actor, which: Which, { resource, from, to }: Slice): Stock[] {
  const reading = { store, actor, units: new Map<number, string>() };
  const within = (...path: string[]): Condition => and(compare(path, ">=", from), compare(path, "<", to));
  if (resource === PRODUCT)
    return listProducts(reading, and(ALIVE, within("rid"), which(PRODUCT)), within("product", "rid"));
  const running = or(...RUNNING_OUT.map(toCondition(store, resource, actor)));
  return listSingle(reading, resource, and(within("rid"), which(resource), running));
}

const byUrgency = (all: readonly Stock[]): Stock[] =>
  all
    .filter(({ state }) => state !== null)
    .toSorted((a, b) => SHORTAGES.indexOf(a.state!) - SHORTAGES.indexOf(b.state!));

/** The stock of one product, or of one record without one; undefined if the actor may not view it. */
export function readStock(
  store: Store,
  actor: Actor,
  resource: RoutedResource,
  rid: number,
): Stock | undefined {
  const only = and(ALIVE, compare(["rid"], "==", rid));
  const reading = { store, actor, units: new Map<number, string>() };
  if (resource !== PRODUCT) return listSingle(reading, resource, only)[0];
  return listProducts(reading, only, compare(["product", "rid"], "==", rid))[0];
}

/** The records of a view of a list of stock. */
const toCondition =
  ({ resources }: Store, resource: RoutedResource, actor: Actor) =>
  ({ filters }: (typeof RUNNING_OUT)[number]): Condition =>
    parseListing(resources, resource, new URLSearchParams(filters), actor).condition;

/** Products of one condition, over the tubes of another. */
function listProducts(reading: Reading, condition: Condition, tubes: Condition): Stock[] {
  const { store, actor, units } = reading;
  const columns = "t.rid AS rid, t.unit AS unit, t.minimum_amount AS minimum, t.full_amount AS full";
  const viewer = { resources: store.resources, actor };
  const found = store.statements.all(selectVisible(viewer, PRODUCT, columns, condition));
  const sums = readSums(reading, CONSUMABLE, and(ALIVE, tubes), "t.product AS key");
  nameUnits(reading, [...sums, ...(found as { unit: number | null }[])]);
  const byProduct = Map.groupBy(sums, ({ key }) => key);
  return found.map((row) => {
    const [minimum, full] = [row.minimum as number | null, row.full as number | null];
    const unit = units.get(Number(row.unit)) ?? "";
    const rid = Number(row.rid);
    return judge({ resource: PRODUCT, rid, minimum, full, unit }, byProduct.get(rid) ?? [], units);
  });
}

/** Records without a product, each with its own minimum. */
function listSingle(reading: Reading, resource: RoutedResource, condition: Condition): Stock[] {
  const single = resource === CONSUMABLE ? and(condition, NO_PRODUCT) : condition;
  const rows = readSums(reading, resource, single, "t.rid AS key, t.minimum_amount AS minimum");
  nameUnits(reading, rows);
  return rows.map((row) => {
    const unit = reading.units.get(Number(row.unit)) ?? "";
    // A column of the record says that it is low, so that its minimum is only shown.
    const stock = judge({ resource, rid: row.key, minimum: null, full: null, unit }, [row], reading.units);
    const left = row.live === 0 ? 0 : row.live_amount;
    // Without an amount, a minimum says nothing.
    return Object.assign(stock, { left, minimum: left === null ? null : (row.minimum ?? null) });
  });
}

/** Sums over the tubes of each group that the actor may view. @param key columns that identify the group */
function readSums(
  { store, actor }: Reading,
  resource: RoutedResource,
  condition: Condition,
  key: string,
): (Sums & { minimum?: number | null })[] {
  const today = Math.floor(Date.now() / 86_400_000) * DAY;
  const live = "coalesce(t.amount <> 0, 1) AND t.status <> 'EMPTY'";
  const usable = `${live} AND coalesce(t.expiry >= ${today}, 1)`;
  const lasting = `${live} AND coalesce(t.expiry > ${today + EXPIRING_DAYS * DAY}, 1)`;
  const count = (name: string, which: string): string =>
    `count(*) FILTER (WHERE ${which}) AS ${name}, sum(t.amount) FILTER (WHERE ${which}) AS ${name}_amount`;
  const columns = [
    `${key}, t.unit AS unit, count(*) AS tubes`,
    count("live", live),
    count("usable", usable),
    count("lasting", lasting),
    `count(*) FILTER (WHERE ${live} AND t.below_minimum = 1) AS low`,
    `min(t.expiry) FILTER (WHERE ${usable}) AS first_expiry, max(t.expiry) FILTER (WHERE ${live}) AS expiry`,
    `max(t.modified) AS modified, max(t.received) AS received`,
  ].join(", ");
  const viewer = { resources: store.resources, actor };
  const sums = selectVisible(viewer, resource, columns, condition, " GROUP BY key, t.unit");
  return store.statements.all(sums) as unknown as Sums[];
}

/** Adds the names of units that the actor may view. */
function nameUnits({ store, actor, units }: Reading, rows: readonly { unit: number | null }[]): void {
  const missing = [...new Set(rows.map(({ unit }) => unit))].filter(
    (unit) => unit !== null && !units.has(unit),
  );
  if (missing.length === 0) return;
  const condition = or(...missing.map((rid) => compare(["rid"], "==", rid)));
  const viewer = { resources: store.resources, actor };
  const named = selectVisible(viewer, TERM, "t.rid AS rid, t.name AS name", condition);
  for (const { rid, name } of store.statements.all(named)) units.set(Number(rid), String(name));
}

/** The one rule about which stock is running out, and why. */
function judge(target: Target, rows: readonly Sums[], units: ReadonlyMap<number, string>): Stock {
  const { minimum, unit } = target;
  const sum = (name: "tubes" | "live" | "usable" | "lasting" | "low"): number =>
    rows.reduce((total, row) => total + row[name], 0);
  const last = (name: "expiry" | "modified" | "received"): number | null =>
    rows.reduce<number | null>(
      (latest, { [name]: at }) => (at !== null && at > (latest ?? 0) ? at : latest),
      null,
    );
  const amount = (name: "live" | "usable" | "lasting"): number | null => {
    if (unit === "") return sum(name);
    const known = rows.flatMap((row) => {
      const value = row[`${name}_amount`];
      const own = units.get(Number(row.unit)) ?? "";
      if (value === null || !isConvertible(own, unit)) return [];
      // SQLite adds binary fractions: 20 + 0.2 + 30.1 is 50.300000000000004 there.
      return [{ value: Number(value.toPrecision(SUM_DIGITS)), unit: own }];
    });
    return known.length === 0 && sum(name) > 0 ? null : addAmounts(known, unit)!;
  };
  const isBelow = (name: "usable" | "lasting"): boolean =>
    minimum !== null && (amount(name) ?? minimum) < minimum;
  const findState = (): Shortage | null => {
    if (sum("live") === 0) return sum("tubes") > 0 || minimum !== null ? "empty" : null;
    if (sum("usable") === 0) return "expired";
    if (minimum === null ? sum("low") === sum("live") : isBelow("usable")) return "low";
    return sum("lasting") === 0 || isBelow("lasting") ? "expiring" : null;
  };
  const state = findState();
  const firsts = rows.flatMap(({ first_expiry: first }) => first ?? []);
  return {
    ...target,
    state,
    tubes: sum("live"),
    left: amount("live"),
    expiry: state === "expiring" && sum("lasting") > 0 ? Math.min(...firsts) : last("expiry"),
    modified: last("modified"),
    received: last("received"),
  };
}
