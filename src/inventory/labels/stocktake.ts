import { Type } from "typebox";
import { type Actor, hasStock } from "../model/access.ts";
import { ALIVE, ALWAYS, type Condition } from "../model/condition.ts";
import type { Json } from "../model/field.ts";
import type { Row } from "../model/operator.ts";
import { parameterProblem } from "../model/filter.ts";
import { mayUse, selectVisible } from "../model/plan.ts";
import { columnName } from "../model/resource.ts";
import { nullable } from "../../platform/schema.ts";
import type { RecordWriter } from "../records/record-writer.ts";
import type { Right } from "../records/rights.ts";
import type { Store } from "../records/store.ts";
import { readMicroseconds } from "../../platform/clock.ts";
import { DECLARED, RESOURCES, type RoutedResource } from "../resources/index.ts";
import { hasPosition } from "../resources/position.ts";
import {
  compareSlots,
  judgeReport,
  type Report,
  type ReportLine,
  RESULTS,
} from "../resources/stocktake-report.ts";
import { scan, type ScannedRecord } from "./scan.ts";
import { Problem } from "../../problem.ts";

/** Compares the records in a location and its inner locations with the scanned ones. */

const LOCATION = DECLARED.get("location") as RoutedResource;
export const STOCKTAKE = DECLARED.get("stocktake") as RoutedResource;

/** Resources that are stored in locations, with the field that names the location. */
const LOCATION_FIELDS: ReadonlyMap<string, string> = new Map(
  RESOURCES.flatMap(({ name, fields }): [string, string][] => {
    const field = name === "location" ? "parent" : "location";
    return fields[field]?.to === "location" ? [[name, field]] : [];
  }),
);

const MAX_ITEMS = 50_000;
const MAX_SCANS = 50_000;
const MAX_CODE_LENGTH = 1000;

/** Actions of `apply` on missing items: none, set their status to MISSING, or clear their location. */
export const MISSING = ["keep", "status", "clear"] as const;
export type MissingAction = (typeof MISSING)[number];
const MISSING_STATUS = "MISSING";

/** `place`: a location inside the counted one; `other`: a record that is not stored in locations. */
const VERDICTS = ["found", "misplaced", "place", "unknown", "other"] as const;
type Verdict = (typeof VERDICTS)[number];

interface Item {
  resource: RoutedResource;
  rid: number;
  segment: string;
  id: string;
  name: string;
  barcode: string | null;
  at: { id: string; name: string | null } | null;
  /** Position in the grid of the location. */
  position: string;
  /** Row number of the recorded location. */
  location: number | null;
}

interface ScannedItem {
  code: string;
  item: Item | undefined;
  /** A deleted record that the code stands for. */
  deleted: { segment: string; id: string } | undefined;
  verdict: Verdict;
  place: number | null;
}

/** Recorded and scanned items; the tree maps each location to the one that contains it. */
interface Comparison {
  tree: Tree;
  root: Item;
  expected: Item[];
  scanned: ScannedItem[];
  places: Map<number, Item>;
}
type Tree = ReadonlyMap<number, number | null>;

const RECORD = Type.Object({ segment: Type.String(), id: Type.String(), name: Type.String() });

export const SCAN_RESULT = Type.Object({
  code: Type.String(),
  verdict: Type.Enum([...VERDICTS]),
  again: Type.Boolean({ description: "Whether the code had been scanned before." }),
  record: nullable(RECORD),
  matches: Type.Array(RECORD, { description: "All candidates for an ambiguous code." }),
});
export type ScanResult = Type.Static<typeof SCAN_RESULT>;

const readState = ({ statements }: Store, rid: number) =>
  statements.get({ text: "SELECT location, state, report FROM stocktake WHERE rid = ?", args: [rid] })!;

function requireOpen(store: Store, rid: number): void {
  if (readState(store, rid).state !== "OPEN")
    throw new Problem("conflict", "The stocktake has been applied. Undo that, or start another one.");
}

/** Row numbers of records that the actor may view and whose column has one of the values. */
function findRowsBy(
  { statements }: Store,
  resource: RoutedResource,
  [column, values]: [column: string, values: Iterable<number>],
  actor: Actor,
  condition: Condition = ALIVE,
): number[] {
  const tail =
    ` AND t.${column} IN (SELECT value FROM json_each(?))` +
    ` ORDER BY t.${columnName(resource, resource.key)}, t.rid LIMIT ${MAX_ITEMS + 1}`;
  const viewer = { resources: DECLARED, actor };
  const { text, args } = selectVisible(viewer, resource, "t.rid AS rid", condition, tail);
  return statements.all({ text, args: [...args, JSON.stringify([...values])] }).map(({ rid }) => Number(rid));
}

const readParent = ({ statements }: Store, rid: number): number | null =>
  statements.get({ text: "SELECT parent FROM location WHERE rid = ?", args: [rid] })?.parent as number | null;

const hiddenLocation = (): Problem =>
  new Problem("not_found", "The location of this stocktake was deleted, or you may not view it.");

/** The location of a stocktake, first, and all locations inside it. @throws Problem not_found */
function readTree(store: Store, stocktake: number, actor: Actor): Tree {
  const root = store.reader.find(LOCATION, String(readState(store, stocktake).location), ALIVE, actor);
  if (root === undefined) throw hiddenLocation();
  const found = new Map<number, number | null>([[root, null]]);
  for (let level = [root]; level.length > 0;) {
    level = findRowsBy(store, LOCATION, ["parent", level], actor).filter((rid) => !found.has(rid));
    for (const rid of level) found.set(rid, readParent(store, rid));
  }
  return found;
}

function isWithin(tree: Tree, inner: number | null, outer: number): boolean {
  for (let at = inner; at !== null; at = tree.get(at) ?? null) if (at === outer) return true;
  return false;
}

function listItems(store: Store, resource: RoutedResource, rids: readonly number[], actor: Actor): Item[] {
  const field = LOCATION_FIELDS.get(resource.name);
  const spans = field === undefined ? [] : [field, `${field}__label`];
  const barcode = "barcode" in resource.fields ? ["barcode"] : [];
  const position = hasPosition(resource) ? ["position"] : [];
  const fields = ["id", resource.key, ...barcode, ...position, ...spans];
  const locations = readLocations(store, resource, rids);
  return store.reader.values(resource, fields, actor, rids).map((record, i) => {
    const at = field === undefined ? null : record[field];
    return {
      resource,
      rid: rids[i],
      segment: resource.segment,
      id: String(record.id),
      name: String(record[resource.key]),
      barcode: record.barcode ? String(record.barcode) : null,
      at: at === null ? null : { id: String(at), name: (record[`${field}__label`] as string | null) ?? null },
      position: String(record.position ?? ""),
      location: locations.get(rids[i]) ?? null,
    };
  });
}

function readLocations(
  { statements }: Store,
  resource: RoutedResource,
  rids: readonly number[],
): Map<number, number | null> {
  const field = LOCATION_FIELDS.get(resource.name);
  if (field === undefined) return new Map();
  const text = `SELECT rid, ${columnName(resource, field)} AS location FROM ${resource.table} WHERE rid IN (SELECT value FROM json_each(?))`;
  const rows = statements.all({ text, args: [JSON.stringify(rids)] });
  return new Map(rows.map(({ rid, location }) => [Number(rid), location as number | null]));
}

/** The verdict on an item scanned in `place`, or anywhere in the tree. */
function judge(
  store: Store,
  tree: Tree,
  { resource, rid, location }: Pick<Item, "resource" | "rid" | "location">,
  place: number | null,
): Verdict {
  const [root] = tree.keys();
  if (!LOCATION_FIELDS.has(resource.name)) return "other";
  if (resource === LOCATION) {
    if (tree.has(rid)) return "place";
    // A location that contains the counted one is not misplaced inside it.
    for (let up: number | null = root; up !== null; up = readParent(store, up))
      if (up === rid) return "other";
    return "misplaced";
  }
  return isWithin(tree, location, place ?? root) && tree.has(location!) ? "found" : "misplaced";
}

function compareItems(store: Store, rid: number, actor: Actor): Comparison {
  const tree = readTree(store, rid, actor);
  const expected = RESOURCES.filter(({ name }) => LOCATION_FIELDS.has(name) && name !== "location").flatMap(
    (resource) =>
      listItems(store, resource, findRowsBy(store, resource, ["location", tree.keys()], actor), actor),
  );
  if (expected.length > MAX_ITEMS)
    throw new Problem("too_large", `More than ${MAX_ITEMS} items are recorded there.`);
  const places = new Map(listItems(store, LOCATION, [...tree.keys()], actor).map((item) => [item.rid, item]));
  const scans = store.statements.all({
    text: "SELECT code, object_kind, object_rid, place FROM stocktake_scan WHERE stocktake = ? ORDER BY at, code",
    args: [rid],
  });
  const { living, deleted } = scannedRecords(store, scans, actor);
  const scanned = scans.flatMap((row): ScannedItem[] => {
    const key = `${row.object_kind} ${row.object_rid}`;
    // The code of a record that the actor may not view would reveal it.
    const isHidden = row.object_kind !== null && !living.has(key) && !deleted.has(key);
    if (isHidden && !actor.superuser) return [];
    const item = living.get(key);
    const place = tree.has(Number(row.place ?? -1)) ? Number(row.place) : null;
    const verdict = item ? judge(store, tree, item, place) : "unknown";
    return [{ code: String(row.code), item, deleted: deleted.get(key), place, verdict }];
  });
  return { tree, root: places.values().next().value!, expected, scanned, places };
}

/** The records behind scanned codes that the actor may view. Deleted ones count as unknown. */
function scannedRecords(store: Store, scans: readonly Row[], actor: Actor) {
  const living = new Map<string, Item>();
  const deleted = new Map<string, Pick<Item, "segment" | "id">>();
  for (const resource of RESOURCES) {
    const rids = scans
      .filter((row) => row.object_kind === resource.name)
      .map((row) => Number(row.object_rid));
    if (rids.length === 0) continue;
    const alive = new Set(findRowsBy(store, resource, ["rid", rids], actor));
    const visibleRids = findRowsBy(store, resource, ["rid", rids], actor, ALWAYS);
    for (const item of listItems(store, resource, visibleRids, actor))
      if (alive.has(item.rid)) living.set(itemKey(item), item);
      else deleted.set(itemKey(item), { segment: item.segment, id: item.id });
  }
  return { living, deleted };
}

const itemKey = ({ resource, rid }: Item): string => `${resource.name} ${rid}`;

/** `done`: the action taken for an item, for the report of an applied stocktake. */
function makeReport(
  { tree, root, expected, scanned, places }: Comparison,
  done?: { misplaced(item: Item, place: Item): string; missing(item: Item): string },
): Report {
  const line = ({ segment, id, name, barcode, at, position }: Item, more: ReportLine = {}): ReportLine =>
    Object.assign({ segment, id, name, barcode, at }, position === "" ? {} : { position }, more);
  // The last scan of an item counts.
  const last = new Map(scanned.map((each) => [each.item ? itemKey(each.item) : each.code, each]));
  const listLines = (
    verdict: Verdict,
    print = ({ code, item }: ScannedItem) => line(item!, { code }),
  ): ReportLine[] =>
    [...last.values()]
      .filter((each) => each.verdict === verdict)
      .map(print)
      .toSorted(compareSlots);
  const lists: Pick<Report, (typeof RESULTS)[number]> = {
    found: listLines("found"),
    misplaced: listLines("misplaced", ({ code, item, place }) => {
      const to = place === null ? root : places.get(place)!;
      const action = done ? { done: done.misplaced(item!, to) } : {};
      const expected = tree.has(item!.location ?? -1);
      return line(item!, { code, expected, to: { id: to.id, name: to.name }, ...action });
    }),
    missing: expected
      .filter((item) => !last.has(itemKey(item)))
      .map((item) => line(item, done ? { done: done.missing(item) } : {}))
      .toSorted(compareSlots),
    unknown: listLines("unknown", ({ code, deleted }) => ({ code, ...deleted })),
    other: listLines("other"),
    places: listLines("place"),
  };
  const counts = [["expected", expected.length], ...RESULTS.map((name) => [name, lists[name].length])];
  return {
    location: { id: root.id, name: root.name },
    counts: Object.fromEntries(counts) as Report["counts"],
    ...lists,
  };
}

/** Records codes, each once. `place`: id of the location inside the counted one in which they were scanned. */
export function addScans(
  store: Store,
  rid: number,
  codes: readonly string[],
  place: string | null,
  actor: Actor,
): ScanResult[] {
  const { statements, reader } = store;
  requireOpen(store, rid);
  const tree = readTree(store, rid, actor);
  const at = place === null ? null : (reader.find(LOCATION, place, ALIVE, actor) ?? -1);
  if (at !== null && !tree.has(at))
    throw parameterProblem("place", "The counted location contains no such location.");
  const stored = statements.get({
    text: "SELECT count(*) AS total FROM stocktake_scan WHERE stocktake = ?",
    args: [rid],
  });
  if (Number(stored?.total) + codes.length > MAX_SCANS)
    throw new Problem("too_large", `A stocktake contains at most ${MAX_SCANS} codes.`);
  const now = readMicroseconds(store.clock);
  return codes.map((scanned) => {
    const code = scanned.trim().slice(0, MAX_CODE_LENGTH);
    const matches = scan(reader, RESOURCES, code, actor);
    // The only candidate that can be stored in a location; undefined if several can.
    const storable = matches.filter(({ resource }) => LOCATION_FIELDS.has(resource.name));
    const match = [matches, storable].find(({ length }) => length === 1)?.[0];
    const again = isScanned(store, rid, code);
    statements.run({
      text:
        "INSERT INTO stocktake_scan (stocktake, code, object_kind, object_rid, place, at, user_rid) VALUES (?, ?, ?, ?, ?, ?, ?)" +
        " ON CONFLICT (stocktake, code) DO UPDATE SET object_kind = excluded.object_kind, object_rid = excluded.object_rid," +
        " place = excluded.place, at = excluded.at, user_rid = excluded.user_rid",
      args: [rid, code, match?.resource.name ?? null, match?.rid ?? null, at, now, actor.user],
    });
    if (!match) return { code, verdict: "unknown", again, record: null, matches: matches.map(printName) };
    const location = readLocations(store, match.resource, [match.rid]).get(match.rid) ?? null;
    const verdict = judge(store, tree, { ...match, location }, at);
    return { code, verdict, again, record: printName(match), matches: [] };
  });
}

const printName = ({ resource, id, name }: ScannedRecord) => ({ segment: resource.segment, id, name });

const isScanned = ({ statements }: Store, rid: number, code: string): boolean =>
  statements.get({
    text: "SELECT 1 AS found FROM stocktake_scan WHERE stocktake = ? AND code = ?",
    args: [rid, code],
  }) !== null;

/** @throws Problem not_found if the code was not scanned */
export function removeScan(store: Store, rid: number, scanned: string): void {
  const code = scanned.trim();
  requireOpen(store, rid);
  if (!isScanned(store, rid, code)) throw new Problem("not_found", "This code was not scanned.");
  store.statements.run({
    text: "DELETE FROM stocktake_scan WHERE stocktake = ? AND code = ?",
    args: [rid, code],
  });
}

/**
 * The current report; for an applied stocktake, the part of the stored one that the actor may view.
 * @throws Problem not_found
 */
export function readReport(store: Store, rid: number, actor: Actor): Report {
  const { state, report } = readState(store, rid);
  if (state !== "APPLIED" || report === null)
    return store.statements.reading(() => makeReport(compareItems(store, rid, actor)));
  const judged = judgeReport(JSON.parse(String(report)) as Report, store.reader.makeContext(actor));
  if (judged === null) throw hiddenLocation();
  return judged;
}

/** Stock may be moved by those who may use it. */
const moveRight = ({ resource }: Item): Right => (hasStock(resource) ? "use" : "change");

/** Moves misplaced items, handles missing ones and stores the report; to be called within a batch. */
export function applyStocktake(
  store: Store,
  writer: RecordWriter,
  rid: number,
  missing: MissingAction,
  actor: Actor,
): Report {
  requireOpen(store, rid);
  const reader = store.reader.makeContext(actor);
  const change = (
    { resource, rid: row }: Item,
    body: Record<string, Json>,
    done: string,
    right: Right = "change",
  ): string => {
    if (!writer.allows(resource, row, right, actor)) return "not permitted";
    writer.update(resource, row, body, "merge", actor);
    return done;
  };
  const report = makeReport(compareItems(store, rid, actor), {
    misplaced: (item, place) =>
      mayUse(reader, LOCATION, place.rid)
        ? change(item, { [LOCATION_FIELDS.get(item.resource.name)!]: place.id }, "moved", moveRight(item))
        : "not permitted",
    missing(item) {
      if (missing === "clear") return change(item, { location: null }, "location emptied", moveRight(item));
      if (missing === "status") return change(item, { status: MISSING_STATUS }, "marked as missing");
      return "left";
    },
  });
  const stored: Report = { ...report, cursor: store.history.last() };
  writer.setValues(STOCKTAKE, rid, { state: "APPLIED", report: JSON.stringify(stored) }, actor);
  return report;
}
