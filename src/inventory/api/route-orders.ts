import { Type } from "typebox";
import { type JsonObject, printInstant } from "../model/field.ts";
import { recordsAnswer } from "../model/record-schema.ts";
import { exampleId } from "../model/example.ts";
import { LIMITS } from "../model/limits.ts";
import { nullable } from "../../platform/schema.ts";
import { operation } from "../../platform/operation.ts";
import {
  type Delivery,
  findOpenOrders,
  groupTubes,
  ORDER,
  placeOrders,
  PRODUCT,
  type Purchase,
  receiveOrder,
} from "../records/orders.ts";
import { MAX_ALIQUOTS } from "../records/stock.ts";
import { listRunningOut, readStock, type Shortage, SHORTAGES, type Stock } from "../records/running-out.ts";
import { orderable } from "../model/access.ts";
import { and, compare, or } from "../model/condition.ts";
import { selectVisible } from "../model/plan.ts";
import { DECLARED, type RoutedResource } from "../resources/index.ts";
import { writeBatch } from "./batch.ts";
import { type Call, findRecord, respondJson } from "./call.ts";
import { isLarge } from "./heavy-request.ts";
import { inList } from "./mount-operations.ts";
import { DRY_RUN } from "./parameters.ts";
import { showRecords } from "./read-records.ts";
import { BOOLEAN, closed, COUNT, optional, TEXT } from "./schema.ts";

const CONSUMABLE = DECLARED.get("consumable") as RoutedResource;
const DEFAULT_ROWS = 500;

const NUMBER = Type.Number();
const OPTIONAL_ID = Type.Optional(TEXT);
const day = Type.Optional(nullable(Type.String({ format: "date" })));
const price = Type.Optional(Type.Number({ minimum: 0 }));

const PURCHASE = closed({
  items: Type.Array(
    closed({
      order: OPTIONAL_ID,
      product: OPTIONAL_ID,
      consumable: OPTIONAL_ID,
      quantity: Type.Optional(Type.Integer({ minimum: 1 })),
      price,
    }),
    {
      minItems: 1,
      maxItems: 100,
      description: "Each with the id of a request, a product, or a consumable without one.",
      examples: [[{ product: exampleId(PRODUCT) }]],
    },
  ),
  state: Type.Optional(Type.Enum(["REQUESTED", "ORDERED"], { description: "REQUESTED by default." })),
  account: optional("Account that pays."),
  arrives: day,
});

const DELIVERY = closed({
  tubes: Type.Integer({ minimum: 1, maximum: MAX_ALIQUOTS }),
  barcodes: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: MAX_ALIQUOTS }),
  ),
  amount: Type.Optional(Type.Number({ minimum: 0, description: "Amount of each tube." })),
  unit: optional("Id or name of its unit; by default that of the product."),
  price,
  lot: optional("Lot."),
  expiry: day,
  location: Type.Optional(
    nullable(Type.String({ description: "Id of the location whose free slots the tubes fill." })),
  ),
  complete: Type.Optional(Type.Boolean({ description: "false: more is to come, and the order stays open." })),
});

const OPEN_ORDER = Type.Object({
  id: TEXT,
  state: TEXT,
  quantity: COUNT,
  tubes_received: COUNT,
  owner: TEXT,
  created: TEXT,
  ordered: nullable(TEXT),
  arrives: nullable(TEXT),
});
const ROW = Type.Object(
  {
    segment: TEXT,
    id: TEXT,
    name: TEXT,
    model_type: TEXT,
    state: nullable(Type.Enum([...SHORTAGES])),
    tubes: Type.Integer({ description: "Tubes that are not empty." }),
    left: nullable(NUMBER),
    minimum: nullable(NUMBER),
    full: nullable(NUMBER),
    unit: Type.String({ description: "Unit of the amounts; if empty, they are numbers of tubes." }),
    expiry: nullable(TEXT),
    modified: nullable(TEXT),
    received: nullable(TEXT),
    supplier: TEXT,
    catalogue_number: TEXT,
    price: nullable(NUMBER),
    currency: TEXT,
    may_order: BOOLEAN,
    order: nullable(OPEN_ORDER),
  },
  { $id: "StockLeft" },
);
export type StockLeft = Type.Static<typeof ROW>;
const RUNNING_OUT = Type.Object(
  {
    total: COUNT,
    counts: Type.Object(
      Object.fromEntries(SHORTAGES.map((state) => [state, COUNT])) as Record<Shortage, typeof COUNT>,
    ),
    unrequested: Type.Integer({ description: "Those without an order." }),
    orders: Type.Object({ requested: COUNT, ordered: COUNT }),
    results: Type.Array(ROW),
  },
  { $id: "RunningOut" },
);
export type RunningOut = Type.Static<typeof RUNNING_OUT>;

/** What is running out, and its orders. */
export const orderOperations = () => [
  ...inList(PRODUCT, [runningOutOperation(), groupOperation()]),
  ...inList(ORDER, [placeOperation(), receiveOperation()]),
];

const runningOutOperation = () =>
  operation("GET /api/v2/:list/running_out/", {
    access: "anyone",
    summary: "Find stock that is running out",
    description:
      "Products, over the consumables that the caller may view, and other stock without a product: empty, low, expired or expiring within 30 days.",
    query: Type.Object({
      state: Type.Optional(Type.Enum([...SHORTAGES], { description: "Only this state." })),
      product: optional("Id of a product: its stock, even if it is not running out."),
      consumable: optional("Id of a consumable: its stock, or that of its product."),
      count: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: LIMITS.rows.max,
          description: `Maximum number of results; ${DEFAULT_ROWS} by default.`,
        }),
      ),
    }),
    returns: RUNNING_OUT,
    heavy: ({ query }, call: Call) =>
      query.product === undefined && query.consumable === undefined && isLarge(call, "consumable"),
    run: ({ query }, call: Call) => respondJson(findRunningOut(call, query)),
  });

function findRunningOut(
  call: Call,
  query: { state?: Shortage; product?: string; consumable?: string; count?: number },
): RunningOut {
  const { store, actor } = call;
  const { count = DEFAULT_ROWS } = query;
  const all = findStock(call, query);
  const orders = findOpenOrders(store, actor);
  const rids = orders.map(({ rid }) => rid);
  const described = store.reader.values(ORDER, ORDER_FIELDS, actor, rids) as NonNullable<
    StockLeft["order"]
  >[];
  const byTarget = new Map(
    orders.flatMap(({ product, consumable }, i) => [
      [`product ${product}`, described[i]],
      [`consumable ${consumable}`, described[i]],
    ]),
  );
  const findOrder = ({ resource, rid }: Stock) => byTarget.get(`${resource.name} ${rid}`) ?? null;
  const shown = all.filter(({ state }) => query.state === undefined || state === query.state).slice(0, count);
  const total = (wanted: string): number => described.filter(({ state }) => state === wanted).length;
  return {
    total: all.length,
    counts: Object.fromEntries(
      SHORTAGES.map((state) => [state, all.filter((stock) => stock.state === state).length]),
    ) as Record<Shortage, number>,
    unrequested: all.filter((stock) => findOrder(stock) === null).length,
    orders: { requested: total("REQUESTED"), ordered: total("ORDERED") },
    results: describeStock(call, shown, findOrder),
  };
}

/** The stock that is running out, or that of one product or consumable. */
function findStock(call: Call, { product, consumable }: { product?: string; consumable?: string }): Stock[] {
  const { store, actor } = call;
  if (product === undefined && consumable === undefined) return listRunningOut(store, actor);
  const [resource, id] = product === undefined ? [CONSUMABLE, consumable!] : [PRODUCT, product];
  const rid = findRecord(call, resource, id);
  const [{ product: of }] =
    resource === CONSUMABLE
      ? store.reader.values(CONSUMABLE, ["product"], actor, [rid])
      : [{ product: null }];
  const parent = of === null ? undefined : store.reader.find(PRODUCT, String(of), and(), actor);
  const stock =
    parent === undefined ? readStock(store, actor, resource, rid) : readStock(store, actor, PRODUCT, parent);
  return stock ? [stock] : [];
}

const ORDER_FIELDS = Object.keys(OPEN_ORDER.properties);
const ROW_FIELDS = ["id", "name", "model_type", "supplier", "catalogue_number", "price", "currency"];
const printDay = (micros: number | null): string | null =>
  micros === null ? null : printInstant(micros).slice(0, 10);

/** Rows with the names of what is running out, in the same order. */
function describeStock(
  { store, actor }: Call,
  all: readonly Stock[],
  findOrder: (stock: Stock) => StockLeft["order"],
): StockLeft[] {
  const values = new Map<Stock, JsonObject>();
  for (const [resource, of] of Map.groupBy(all, (stock) => stock.resource)) {
    const rids = of.map(({ rid }) => rid);
    const mayOrder = readOrderable(store, actor, resource, rids);
    const fields = ROW_FIELDS.filter((name) => name in resource.fields);
    for (const [i, record] of store.reader.values(resource, fields, actor, rids).entries())
      values.set(of[i], { ...record, may_order: mayOrder.has(rids[i]) });
  }
  return all.map((stock): StockLeft => {
    const { resource, state, tubes, left, minimum, full, unit, expiry, received, modified } = stock;
    const own = { catalogue_number: "", price: null, currency: "" };
    return Object.assign(own, values.get(stock), {
      segment: resource.segment,
      state,
      tubes,
      left,
      minimum,
      full,
      unit,
      expiry: printDay(expiry),
      received: printDay(received),
      modified: modified === null ? null : printInstant(modified),
      order: findOrder(stock),
    }) as never;
  });
}

/** Those of the records that the actor may order again. */
function readOrderable(
  { resources, statements }: Call["store"],
  actor: Call["actor"],
  resource: RoutedResource,
  rids: readonly number[],
): Set<number> {
  if (rids.length === 0 || actor.user === null) return new Set();
  const among = and(or(...rids.map((rid) => compare(["rid"], "==", rid))), orderable(resource, actor));
  return new Set(
    statements
      .all(selectVisible({ resources, actor }, resource, "t.rid AS rid", among))
      .map(({ rid }) => Number(rid)),
  );
}

const GROUPED = Type.Object(
  { results: Type.Array(Type.Object({ id: TEXT, name: TEXT, tubes: COUNT })) },
  { $id: "GroupedTubes" },
);

const groupOperation = () =>
  operation("POST /api/v2/:list/group/", {
    access: "signedIn",
    summary: "Group consumables into products",
    description:
      "Those that the caller may change and that have no product, by supplier and catalogue number, in one batch. `dry_run=true` shows them.",
    parameters: [DRY_RUN],
    body: closed({}),
    returns: GROUPED,
    run: ({ body }, call: Call) =>
      writeBatch(call, body as unknown as JsonObject, {
        kind: "bulk_update",
        work: (writer) => groupTubes(call.store, writer, call.actor),
        respond: (groups) => {
          const names = call.store.reader.values(
            PRODUCT,
            ["id", "name"],
            call.actor,
            groups.map(({ product }) => product),
          );
          return respondJson({
            results: names.map(({ id, name }, i) => ({ id, name, tubes: groups[i].tubes.length })),
          });
        },
      }),
  });

const placeOperation = () =>
  operation("POST /api/v2/:list/place/", {
    access: "signedIn",
    summary: "Request or order products",
    description: "Makes requests, or marks them as ordered, which takes the right to order the product.",
    parameters: [DRY_RUN],
    body: PURCHASE,
    status: 201,
    returns: recordsAnswer(DECLARED, ORDER),
    run: ({ body }, call: Call) =>
      writeBatch(call, body as unknown as JsonObject, {
        kind: "bulk_update",
        work: (writer) => placeOrders(call.store, writer, body as Purchase, call.actor),
        respond: (rids) => showRecords(call, ORDER, rids, 201),
      }),
  });

const receiveOperation = () =>
  operation("POST /api/v2/:list/:id/receive/", {
    access: "signedIn",
    summary: "Receive an order",
    description: "Makes the tubes of a delivery, and closes the order.",
    parameters: [DRY_RUN],
    body: DELIVERY,
    status: 201,
    returns: recordsAnswer(DECLARED, CONSUMABLE),
    run: ({ params, body }, call: Call) =>
      writeBatch(call, body as unknown as JsonObject, {
        kind: "bulk_create",
        work: (writer) =>
          receiveOrder(call.store, writer, findRecord(call, ORDER, params.id), body as Delivery, call.actor),
        respond: (rids) => showRecords(call, CONSUMABLE, rids, 201),
      }),
  });
