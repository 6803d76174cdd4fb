import { Type } from "typebox";
import { exampleId } from "../model/example.ts";
import { ALIVE, and, compare, not } from "../model/condition.ts";
import { listPositions } from "../model/grid.ts";
import { FIRST_PAGE } from "../model/listing.ts";
import { mayUse } from "../model/plan.ts";
import { makeNouns } from "../model/schema.ts";
import { nullable } from "../../platform/schema.ts";
import { countHidden, evict } from "../records/evict.ts";
import { fillSlots, readSpaces } from "../records/fill-slots.ts";
import { freeSlots, type Slot, type Space, sumUsage } from "../records/storage-space.ts";
import { forbidden } from "../records/rights.ts";
import { IN_TREE } from "../records/tree-fields.ts";
import { DECLARED, RESOURCES, type RoutedResource } from "../resources/index.ts";
import { readGrid, hasPosition } from "../resources/position.ts";
import { writeBatch } from "./batch.ts";
import { type Call, findRecord, mayChange, respondJson } from "./call.ts";
import { DRY_RUN, SEVERAL } from "./parameters.ts";
import { inList } from "./mount-operations.ts";
import { operation } from "../../platform/operation.ts";
import { isLarge } from "./heavy-request.ts";
import { BOOLEAN, COUNT, TEXT } from "./schema.ts";

const MAX_SLOTS = 1000;
const DEFAULT_SLOTS = 100;
const MAX_RECORDS = 10_000;

const LOCATION = DECLARED.get("location") as RoutedResource;
/** Lists whose records are stored in slots. */
const RECORDS_WITH_POSITION = RESOURCES.filter(hasPosition);

const USAGE = {
  capacity: COUNT,
  used: Type.Integer({
    description: "Slots or places in use, also by records that the caller may not view.",
  }),
  free: COUNT,
};
export const SPACE = nullable(
  Type.Object(USAGE, {
    $id: "SlotUsage",
    description: "Slots of the locations inside; null if none has a grid or a capacity.",
  }),
);

const PLACE = Type.Object({ id: TEXT, label: TEXT });
const POSITION = Type.String({ description: "Empty in a location without a grid." });
const SLOT = Type.Object({ location: PLACE, position: POSITION });
const FREE = Type.Object(
  {
    ...USAGE,
    next: nullable(
      Type.Object({ location: Type.Object({ ...PLACE.properties, unique_path: TEXT }), position: POSITION }),
    ),
    locations: Type.Array(Type.Object({ ...USAGE, id: TEXT, label: TEXT, path: Type.Array(TEXT) }), {
      description: `Locations with free slots, in the order of the tree, at most ${MAX_SLOTS}.`,
    }),
    slots: Type.Array(SLOT, { description: "The first free slots, in the order in which they are filled." }),
  },
  { $id: "FreeSlots" },
);
export type FreeSlots = Type.Static<typeof FREE>;

const STORED_RECORD = Type.Object({
  segment: TEXT,
  id: TEXT,
  name: TEXT,
  model_type: TEXT,
  status: TEXT,
  barcode: TEXT,
  amount: nullable(Type.Number()),
  below_minimum: BOOLEAN,
  taken_out: BOOLEAN,
  expiry: nullable(Type.String({ format: "date" })),
  position: TEXT,
  version: COUNT,
  change: Type.Boolean({ description: "Whether the caller may change the record." }),
  use: Type.Boolean({ description: "Whether the caller may use and move it." }),
});
type StoredRecord = Type.Static<typeof STORED_RECORD>;
const SLOTS = Type.Object(
  {
    id: TEXT,
    label: TEXT,
    unique_path: TEXT,
    grid_rows: nullable(COUNT),
    grid_columns: nullable(COUNT),
    space: SPACE,
    next: nullable(Type.String({ description: "The first free position." })),
    use: Type.Boolean({ description: "Whether the caller may put records into the location." }),
    slots: Type.Array(
      Type.Object({
        position: TEXT,
        free: BOOLEAN,
        record: nullable(STORED_RECORD),
      }),
      {
        description:
          "All slots, row by row. The record of an occupied slot is null if the caller may not view it.",
      },
    ),
    hidden: nullable(
      Type.Integer({
        description:
          "Number of records directly in the location that the caller may not view; null for callers who may not change it.",
      }),
    ),
    others: Type.Array(STORED_RECORD, {
      description: `Records in the location without a position, at most ${MAX_SLOTS}.`,
    }),
  },
  { $id: "Slots" },
);
export type Slots = Type.Static<typeof SLOTS>;

const FILL = Type.Object(
  {
    records: Type.Array(TEXT, {
      minItems: 1,
      maxItems: MAX_RECORDS,
      description: `Ids of records of ${RECORDS_WITH_POSITION.map(({ segment }) => segment).join(" and ")}.`,
      examples: [[exampleId(RECORDS_WITH_POSITION[0])]],
    }),
    start: Type.Optional(Type.String({ description: "First position to use, in a location with a grid." })),
    positions: Type.Optional(
      Type.Array(TEXT, {
        description:
          "Position of each record, in a location with a grid. Records may exchange their positions.",
      }),
    ),
    versions: Type.Optional(
      Type.Array(COUNT, { description: "Version of each record; 412 if one has changed since." }),
    ),
  },
  { $id: "FillSlots", additionalProperties: false },
);
const EVICT = Type.Object(
  {
    positions: Type.Optional(Type.Array(TEXT, { maxItems: MAX_RECORDS, examples: [[]] })),
    records: Type.Optional(
      Type.Array(TEXT, { maxItems: MAX_RECORDS, description: "Ids of records that the caller may view." }),
    ),
    hidden: Type.Optional(
      Type.Boolean({
        description: "true: all records there that the caller may not view.",
        examples: [true],
      }),
    ),
  },
  { $id: "Evict", additionalProperties: false },
);
const EVICTION = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        position: TEXT,
        record: nullable(Type.Object({ segment: TEXT, id: TEXT, name: TEXT }), {
          description: "The record; null if the caller may not view it.",
        }),
      }),
    ),
  },
  { $id: "Evicted" },
);
const FILLING = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        segment: TEXT,
        id: TEXT,
        name: TEXT,
        version: COUNT,
        location: PLACE,
        position: POSITION,
      }),
    ),
  },
  { $id: "FilledSlots" },
);

/** Slots of locations: their records, the free ones, and moving records into them. */
export const slotOperations = () => [
  ...inList(LOCATION, [
    operation("GET /api/v2/:list/:id/slots/", {
      access: "anyone",
      summary: "Get the slots of a location",
      description: "The record in each slot of the grid. Locations inside are left out.",
      returns: SLOTS,
      run: ({ params }, call: Call) => respondJson(readSlots(call, params.id)),
    }),
    evictionOperation(),
  ]),
  ...RESOURCES.filter(({ name }) => IN_TREE.includes(name)).flatMap((resource) =>
    inList(resource, freeSlotOperations(resource)),
  ),
];

function freeSlotOperations(resource: RoutedResource) {
  const { one } = makeNouns(resource);
  return [
    operation("GET /api/v2/:list/:id/free_slots/", {
      access: "anyone",
      summary: `Get the free slots in ${one}`,
      description:
        "Free slots in all enclosed locations that the caller may view, at any depth. Slots of hidden records count as occupied.",
      query: Type.Object({
        count: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: MAX_SLOTS,
            description: `Maximum number of slots to list; ${DEFAULT_SLOTS} by default.`,
          }),
        ),
      }),
      returns: FREE,
      heavy: (_, call: Call) => isLarge(call, "location"),
      run({ params, query: { count = DEFAULT_SLOTS } }, call: Call) {
        const target = { resource, rid: findRecord(call, resource, params.id) };
        const spaces = readSpaces(call.store, target, call.actor);
        const locations = spaces.filter(({ free }) => free > 0).slice(0, MAX_SLOTS);
        const slots = freeSlots(spaces, Math.max(count, 1));
        return respondJson({
          ...(sumUsage(spaces) ?? { capacity: 0, used: 0, free: 0 }),
          next: slots.length === 0 ? null : named(call, slots[0], spaces),
          locations: locations.map(({ id, label, path, capacity, used, free }) => ({
            id,
            label,
            path,
            capacity,
            used,
            free,
          })),
          slots: slots.slice(0, count),
        });
      },
    }),
    operation("POST /api/v2/:list/:id/free_slots/", {
      access: "signedIn",
      summary: `Move records into ${one}`,
      description:
        "Fills free slots in order, in the location and the locations inside it. All records are moved or none, in one batch.",
      parameters: [DRY_RUN, SEVERAL],
      body: FILL,
      returns: FILLING,
      heavy: ({ body }, call: Call) => body.records.length > 100 || isLarge(call, "location"),
      run({ params, body }, call: Call) {
        const { records, ...options } = body;
        return writeBatch(call, body, {
          kind: "bulk_update",
          work(writer) {
            const target = { resource, rid: findRecord(call, resource, params.id) };
            return fillSlots(call.store, writer, target, records, { ...options, actor: call.actor });
          },
          respond: (results) => respondJson({ results }),
        });
      },
    }),
  ];
}

const evictionOperation = () =>
  operation("POST /api/v2/:list/:id/evict/", {
    access: "signedIn",
    summary: "Take records out of a location",
    description:
      "The records lose their location and position. Callers who may change the location name any record, also hidden ones; callers who may use it release slots of records that are taken out.",
    body: EVICT,
    returns: EVICTION,
    run: ({ params, body }, call: Call) =>
      writeBatch(call, body, {
        kind: "evict",
        work(writer) {
          const rid = findRecord(call, LOCATION, params.id);
          const onlyTakenOut = !mayChange(call, LOCATION, rid);
          if (onlyTakenOut && !mayUse(call.store.reader.makeContext(call.actor), LOCATION, rid))
            throw forbidden();
          return evict(call.store, writer, rid, { ...body, onlyTakenOut }, call.actor);
        },
        respond: (results) => respondJson({ results }),
      }),
  });

/** A slot with the unique name of its location. */
function named({ store, actor }: Call, { location, position }: Slot, spaces: readonly Space[]) {
  const { rid } = spaces.find(({ id }) => id === location.id)!;
  const unique_path = store.reader.uniquePaths(LOCATION, [rid], actor).get(rid) ?? location.label;
  return { location: { ...location, unique_path }, position };
}

function readSlots(call: Call, id: string): Slots {
  const { store, actor } = call;
  const rid = findRecord(call, LOCATION, id);
  const [location] = store.reader.values(LOCATION, ["id", "label", "unique_path"], actor, [rid]);
  const space = readSpaces(store, { resource: LOCATION, rid }, actor).find((each) => each.rid === rid);
  const grid = readGrid(store.statements, rid);
  const placed = RECORDS_WITH_POSITION.flatMap((resource) => readStored(call, resource, rid, true));
  const records = new Map(placed.map((record) => [record.position, record]));
  const free = new Set(space && grid ? space.positions(space.capacity) : []);
  return {
    id: String(location.id),
    label: String(location.label),
    unique_path: String(location.unique_path),
    grid_rows: grid?.rows ?? null,
    grid_columns: grid?.columns ?? null,
    space: space ? sumUsage([space]) : null,
    next: free.values().next().value ?? null,
    use: mayUse(store.reader.makeContext(actor), LOCATION, rid),
    slots: (grid ? listPositions(grid) : []).map((position) => ({
      position,
      free: free.has(position),
      record: records.get(position) ?? null,
    })),
    hidden: mayChange(call, LOCATION, rid) ? countHidden(store, rid, actor) : null,
    others: RECORDS_WITH_POSITION.flatMap((resource) => readStored(call, resource, rid, false)).slice(
      0,
      MAX_SLOTS,
    ),
  };
}

const SHOWN_FIELDS = [
  "id",
  "name",
  "model_type",
  "status",
  "barcode",
  "amount",
  "below_minimum",
  "taken_out",
  "expiry",
  "position",
  "version",
];

/** The records of one list with or without a position in the location, of those that the caller may view. */
function readStored(
  { store, actor }: Call,
  resource: RoutedResource,
  location: number,
  placed: boolean,
): StoredRecord[] {
  const unplaced = compare(["position"], "==", "");
  const listing = {
    ...FIRST_PAGE,
    condition: and(ALIVE, compare(["location", "rid"], "==", location), placed ? not(unplaced) : unplaced),
    order: [{ path: [resource.key], descending: false }],
    size: placed ? ("max" as const) : MAX_SLOTS,
  };
  const { rids } = store.reader.list(resource, listing, actor);
  const rights = store.reader.rights(resource, actor, rids);
  return store.reader.values(resource, SHOWN_FIELDS, actor, rids).map((values, i) => {
    const { change, use } = rights.get(rids[i])!;
    return Object.assign(values, { segment: resource.segment, change, use }) as StoredRecord;
  });
}
