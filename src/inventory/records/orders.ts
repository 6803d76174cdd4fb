import { type Actor, changeable } from "../model/access.ts";
import { ALIVE, and, compare, not, or } from "../model/condition.ts";
import { DAY, type JsonObject, printInstant } from "../model/field.ts";
import { foldCase } from "../model/operator.ts";
import { invalidField } from "../model/parse-body.ts";
import { selectVisible } from "../model/plan.ts";
import type { StoredRecord } from "../model/stored-record.ts";
import { DECLARED, type RoutedResource } from "../resources/index.ts";
import { Problem } from "../../problem.ts";
import type { RecordWriter } from "./record-writer.ts";
import { hasRight } from "./rights.ts";
import { freeSlots, type StockItem } from "./stock.ts";
import type { Store } from "./store.ts";

/** Requesting, ordering and receiving products, and grouping tubes into products; each within a batch of the caller. */

export const ORDER = DECLARED.get("order") as RoutedResource;
export const PRODUCT = DECLARED.get("product") as RoutedResource;
const CONSUMABLE = DECLARED.get("consumable") as RoutedResource;

/** What an order copies from a product, or from a record without one. */
const PURCHASE = ["name", "supplier", "catalogue_number", "price", "currency"];

export interface Purchase {
  items: { order?: string; product?: string; consumable?: string; quantity?: number; price?: number }[];
  state?: string;
  account?: string;
  arrives?: string | null;
}

const today = ({ clock }: Store): number => Math.floor(clock.now() / 86_400_000) * DAY;

/** Requests or orders items; requests that exist are ordered. @returns row numbers of the orders */
export function placeOrders(store: Store, writer: RecordWriter, purchase: Purchase, actor: Actor): number[] {
  const { items, state = "REQUESTED", account, arrives } = purchase;
  const common = {
    ...(account === undefined ? {} : { account }),
    ...(arrives === undefined ? {} : { arrives }),
  };
  return items.map(({ order, product, consumable, ...values }, i) => {
    if ([order, product, consumable].filter((id) => id !== undefined).length !== 1)
      throw invalidField("items", `[${i}]: Give one of order, product and consumable.`);
    const given = findGiven(store, { order, product, consumable }, i, actor);
    const rid = given.resource === ORDER ? given.rid : request(store, writer, given, state, actor);
    const record = writer.current(ORDER, rid);
    if (record.state !== "REQUESTED")
      throw invalidField("items", `[${i}]: ${String(record.name)} is ordered already.`);
    const changes = { ...common, ...values };
    if (Object.keys(changes).length > 0 && (state === "ORDERED" || given.resource !== ORDER))
      writer.setValues(ORDER, rid, readChanges(changes), actor);
    if (state !== "ORDERED") return rid;
    requireOrder(store, writer, rid, actor);
    writer.setValues(ORDER, rid, { state, ordered: today(store), ordered_by: actor.user }, actor);
    return rid;
  });
}

const readChanges = ({
  arrives,
  ...changes
}: {
  arrives?: string | null;
  [name: string]: unknown;
}): StoredRecord => ({
  ...(changes as StoredRecord),
  ...(arrives === undefined ? {} : { arrives: arrives === null ? null : Date.parse(arrives) * 1000 }),
});

/** The order, product or consumable of an item. */
function findGiven(
  store: Store,
  ids: Readonly<Record<"order" | "product" | "consumable", string | undefined>>,
  i: number,
  actor: Actor,
): StockItem {
  for (const [name, id] of Object.entries(ids)) {
    if (id === undefined) continue;
    const resource = DECLARED.get(name) as RoutedResource;
    const rid = store.reader.find(resource, id, ALIVE, actor);
    if (rid === undefined)
      throw invalidField("items", `[${i}]: This ${name} does not exist, or you may not view it.`);
    const { product } =
      name === "consumable" ? readTarget(store, resource, rid, actor) : { product: undefined };
    return product === undefined ? { resource, rid } : { resource: PRODUCT, rid: product };
  }
  throw invalidField("items", `[${i}]: Give one of order, product and consumable.`);
}

/** The product of an order or of a consumable, and the consumable of an order; those that the actor may view. */
function readTarget(
  { reader }: Store,
  resource: RoutedResource,
  rid: number,
  actor: Actor,
): { product?: number | undefined; consumable?: number | undefined } {
  const names = ["product", "consumable"].filter((name) => name in resource.fields);
  const [values] = reader.values(resource, names, actor, [rid]);
  const find = (name: string): number | undefined =>
    typeof values[name] === "string"
      ? reader.find(DECLARED.get(name)!, values[name], ALIVE, actor)
      : undefined;
  return Object.fromEntries(names.map((name) => [name, find(name)]));
}

/** Orders that have not been received, with the row numbers of what they are about. */
export function findOpenOrders(
  store: Store,
  actor: Actor,
): { rid: number; product: number; consumable: number }[] {
  const open = and(ALIVE, or(compare(["state"], "==", "REQUESTED"), compare(["state"], "==", "ORDERED")));
  const columns = "t.rid AS rid, t.product AS product, t.consumable AS consumable";
  return store.statements.all(
    selectVisible({ resources: store.resources, actor }, ORDER, columns, open),
  ) as never;
}

/** The request of an item: an existing one that is ordered now, or a new one. */
function request(
  store: Store,
  writer: RecordWriter,
  { resource, rid }: StockItem,
  state: string,
  actor: Actor,
): number {
  const name = resource === PRODUCT ? "product" : "consumable";
  const open = findOpenOrders(store, actor).find((order) => order[name] === rid);
  const [values] = store.reader.values(resource, ["id", ...PURCHASE], actor, [rid]);
  if (open && state === "REQUESTED")
    throw new Problem("conflict", `${String(values.name)} is requested or ordered already.`);
  if (open) return open.rid;
  const { id, ...copied } = values;
  const record = writer.current(resource, rid);
  const order = writer.create(ORDER, { ...copied, [name]: id, public: record.public === 1 }, actor);
  // Those who may order must see the request.
  writer.setValues(ORDER, order, { owned_by: record.owned_by }, actor);
  return order;
}

/** @throws Problem forbidden, unless the actor may order what an order is about */
function requireOrder(store: Store, writer: RecordWriter, rid: number, actor: Actor): void {
  const { product, consumable } = readTarget(store, ORDER, rid, actor);
  if (product !== undefined) writer.require(PRODUCT, product, "order", actor);
  else if (consumable !== undefined) writer.require(CONSUMABLE, consumable, "order", actor);
  else writer.require(ORDER, rid, "order", actor);
}

export interface Delivery {
  tubes: number;
  /** Of the tubes in turn, which take codes by the pattern of their type without them. */
  barcodes?: string[];
  amount?: number;
  unit?: string;
  price?: number;
  lot?: string;
  expiry?: string | null;
  /** Id of the location whose free slots the tubes fill. */
  location?: string | null;
  /** False if more is to come. */
  complete?: boolean;
}

/** Makes the tubes of a delivery, in free slots. @returns their row numbers */
export function receiveOrder(
  store: Store,
  writer: RecordWriter,
  rid: number,
  { tubes, barcodes: scanned = [], complete = true, location = null, ...values }: Delivery,
  actor: Actor,
): number[] {
  const order = writer.current(ORDER, rid);
  if (order.state === "RECEIVED")
    throw new Problem("conflict", `${String(order.name)} was received already.`);
  requireOrder(store, writer, rid, actor);
  const barcodes = scanned.map((code) => code.trim());
  refuseKnownCodes(store, barcodes, tubes, actor);
  const product = productOf(store, writer, rid, actor);
  const [{ name, supplier, catalogue_number, price, currency }] = store.reader.values(
    ORDER,
    PURCHASE,
    actor,
    [rid],
  );
  const source =
    product === undefined
      ? {}
      : store.reader.values(PRODUCT, ["id", "model_type", "unit", "public"], actor, [product])[0];
  const { id = null, ...kind } = source as JsonObject;
  const first = product === undefined ? 0 : countTubes(store, product, actor);
  const isMember = actor.superuser || actor.groups.includes(Number(order.owned_by));
  const [{ owned_by }] = store.reader.values(ORDER, ["owned_by"], actor, [rid]);
  const made = freeSlots(store, { location, count: tubes }, actor).map((slot, i) =>
    writer.create(
      CONSUMABLE,
      {
        ...kind,
        ...slot,
        ...(isMember ? { owned_by } : {}),
        ...(barcodes[i] === undefined ? {} : { barcode: barcodes[i] }),
        name: tubes === 1 && order.quantity === 1 ? name : `${String(name)} ${first + i + 1}`,
        status: "AVAILABLE",
        product: id,
        supplier,
        catalogue_number,
        price,
        currency,
        received: printInstant(today(store)).slice(0, 10),
        ...(values as JsonObject),
      },
      actor,
    ),
  );
  const changes = {
    ...(product === undefined ? {} : { product }),
    tubes_received: Number(order.tubes_received) + tubes,
  };
  const end = complete ? { state: "RECEIVED", received: today(store), received_by: actor.user } : {};
  writer.setValues(ORDER, rid, { ...changes, ...end }, actor);
  return made;
}

/** @throws Problem invalid_request for barcodes that are given twice, or that records have which the actor may view */
function refuseKnownCodes(store: Store, barcodes: readonly string[], tubes: number, actor: Actor): void {
  if (barcodes.length > tubes) throw invalidField("barcodes", `More barcodes than tubes.`);
  for (const [i, code] of barcodes.entries()) {
    if (code === "") throw invalidField("barcodes", "A barcode is blank.");
    if (barcodes.indexOf(code) < i) throw invalidField("barcodes", `${code} is given twice.`);
    const same = and(ALIVE, compare(["barcode"], "==", code));
    const viewer = { resources: store.resources, actor };
    const known = store.statements.get(selectVisible(viewer, CONSUMABLE, "t.name AS name", same));
    if (known !== null)
      throw invalidField("barcodes", `${String(known.name)} has the barcode ${code} already.`);
  }
}

/** The product of an order. A record without one gets one, so that its old and new tubes belong together. */
function productOf(store: Store, writer: RecordWriter, rid: number, actor: Actor): number | undefined {
  const { product, consumable } = readTarget(store, ORDER, rid, actor);
  if (product !== undefined || consumable === undefined) return product;
  const { product: known } = readTarget(store, CONSUMABLE, consumable, actor);
  const reader = { query: store.statements, resources: store.resources, actor };
  if (known !== undefined || !hasRight(reader, CONSUMABLE, consumable, "change")) return known;
  return makeProduct(store, writer, [consumable], actor);
}

const countTubes = (store: Store, product: number, actor: Actor): number => {
  const of = compare(["product", "rid"], "==", product);
  const counted = selectVisible({ resources: store.resources, actor }, CONSUMABLE, "count(*) AS total", of);
  return Number(store.statements.get(counted)?.total);
};

/** Makes a product of records with values of the first one, and lets all refer to it. */
function makeProduct(store: Store, writer: RecordWriter, rids: readonly number[], actor: Actor): number {
  const fields = [...PURCHASE, "model_type", "unit", "minimum_amount", "public", "owned_by"];
  const [{ owned_by, ...values }] = store.reader.values(CONSUMABLE, fields, actor, rids.slice(0, 1));
  const isMember =
    actor.superuser || actor.groups.includes(Number(writer.current(CONSUMABLE, rids[0]).owned_by));
  // Without a unit, the minimum of a product would be a number of tubes.
  const minimum_amount = values.unit === null ? null : values.minimum_amount;
  const access = isMember ? { owned_by } : {};
  const product = writer.create(PRODUCT, { ...values, ...access, minimum_amount }, actor);
  addTubes(writer, product, rids, actor);
  return product;
}

function addTubes(writer: RecordWriter, product: number, rids: readonly number[], actor: Actor): void {
  const { id } = writer.current(PRODUCT, product);
  for (const rid of rids) writer.update(CONSUMABLE, rid, { product: id }, "merge", actor);
}

/** Records that one request groups. */
export const MAX_GROUPED = 5000;

/**
 * Groups the consumables without a product that the actor may change by supplier and catalogue number.
 * @returns row numbers of the products, and of their new tubes
 */
export function groupTubes(
  store: Store,
  writer: RecordWriter,
  actor: Actor,
): { product: number; tubes: number[] }[] {
  const viewer = { resources: store.resources, actor };
  const named = and(not(compare(["supplier"], "==", "")), not(compare(["catalogue_number"], "==", "")));
  const columns = "t.rid AS rid, t.supplier AS supplier, t.catalogue_number AS number";
  const key = (row: Record<string, unknown>): string =>
    `${foldCase(String(row.supplier))}\n${foldCase(String(row.number))}`;
  const loose = and(ALIVE, named, compare(["product", "rid"], "==", null), changeable(CONSUMABLE, actor));
  const rows = store.statements.all(
    selectVisible(viewer, CONSUMABLE, columns, loose, ` ORDER BY t.rid LIMIT ${MAX_GROUPED}`),
  );
  const known = new Map(
    store.statements
      .all(selectVisible(viewer, PRODUCT, columns, and(ALIVE, named)))
      .map((row) => [key(row), Number(row.rid)]),
  );
  return [...Map.groupBy(rows, key)].map(([of, members]) => {
    const tubes = members.map(({ rid }) => Number(rid));
    const product = known.get(of) ?? makeProduct(store, writer, tubes, actor);
    if (known.has(of)) addTubes(writer, product, tubes, actor);
    return { product, tubes };
  });
}
