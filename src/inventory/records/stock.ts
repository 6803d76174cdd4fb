import type { Actor } from "../model/access.ts";
import { ALIVE, compare } from "../model/condition.ts";
import { DAY, type JsonObject } from "../model/field.ts";
import { invalidField } from "../model/parse-body.ts";
import { selectVisible } from "../model/plan.ts";
import { LIMITS } from "../model/limits.ts";
import { addAmounts, convertAmount, convertibleUnits, formatAmount, unitSymbol } from "../model/unit.ts";
import type { StoredRecord } from "../model/stored-record.ts";
import type { RoutedResource } from "../resources/index.ts";
import { PUT_BACK } from "../resources/stock.ts";
import { readMicroseconds } from "../../platform/clock.ts";
import { Problem } from "../../problem.ts";
import { chooseSlots, readSpaces } from "./fill-slots.ts";
import type { RecordWriter } from "./record-writer.ts";
import { findHolder, type Right } from "./rights.ts";
import type { Store } from "./store.ts";

/** Consuming, refilling, dividing, thawing, taking out and putting back stock, each within a batch that the caller opens. All throw a Problem. */

export interface StockItem {
  resource: RoutedResource;
  rid: number;
}

/** Statuses that follow the amount; others are not changed. */
const AMOUNT_STATUSES = new Set(["AVAILABLE", "LOW", "EMPTY"]);

function chooseStatus(
  { status, minimum_amount: minimum }: StoredRecord,
  amount: number,
): { status?: string } {
  if (!AMOUNT_STATUSES.has(String(status))) return {};
  const isLow = minimum !== null && amount < Number(minimum);
  return { status: amount === 0 ? "EMPTY" : isLow ? "LOW" : "AVAILABLE" };
}

/** The amount of a record. @throws Problem invalid_request for one without */
function readAmount({ amount }: StoredRecord): number {
  if (amount === null)
    throw invalidField("amount", "The record has no amount. Set its amount and unit first.");
  return Number(amount);
}

/** An amount of a request; without a unit, in that of the record. */
export interface GivenAmount {
  amount: number;
  /** Symbol, name or alias, such as µL. */
  unit?: string | undefined;
}

/** A record with an amount, and its unit: "" if it has none that the actor may view. */
interface Measured {
  record: StoredRecord;
  unit: string;
}

/**
 * The amount after adding `times` the given one.
 * @throws Problem invalid_request if too little is left, or the unit does not convert into that of the record
 */
function amountAfter(
  { record, unit }: Measured,
  { amount, unit: given = unit }: GivenAmount,
  times: number,
): number {
  const now = { value: readAmount(record), unit };
  const parts = Array.from({ length: Math.abs(times) }, () => ({
    value: Math.sign(times) * amount,
    unit: given,
  }));
  const sum = addAmounts([now, ...parts], unit);
  if (sum === undefined) throw invalidField("unit", describeUnits(unit));
  if (sum < 0) throw invalidField("amount", `Only ${formatAmount(now)} is left.`);
  return sum;
}

const describeUnits = (unit: string): string =>
  unit === ""
    ? "The record has no unit. Leave the unit out, or set that of the record first."
    : `The record is measured in ${unitSymbol(unit)}. Choices: ${convertibleUnits(unit).join(", ")}.`;

/** @throws Problem forbidden */
function findMeasured(
  store: Store,
  writer: RecordWriter,
  { resource, rid }: StockItem,
  right: Right,
  actor: Actor,
): Measured {
  writer.require(resource, rid, right, actor);
  const [{ unit__name: unit }] = store.reader.values(resource, ["unit__name"], actor, [rid]);
  return { record: writer.current(resource, rid), unit: String(unit ?? "") };
}

/** Withdraws an amount, for actors who may use the record. */
export function consume(
  store: Store,
  writer: RecordWriter,
  item: StockItem,
  given: GivenAmount,
  actor: Actor,
): void {
  const measured = findMeasured(store, writer, item, "use", actor);
  const left = amountAfter(measured, given, -1);
  writer.use(item.resource, item.rid, { amount: left, ...chooseStatus(measured.record, left) }, actor);
}

/** Adds an amount, of a new lot if one is given. */
export function refill(
  store: Store,
  writer: RecordWriter,
  item: StockItem,
  { amount, unit, ...values }: JsonObject & GivenAmount,
  actor: Actor,
): void {
  const measured = findMeasured(store, writer, item, "change", actor);
  const sum = amountAfter(measured, { amount, unit }, 1);
  const body = { ...values, amount: sum, ...chooseStatus(measured.record, sum) };
  writer.update(item.resource, item.rid, body, "merge", actor);
}

/** Counts one more cycle of freezing and thawing, for actors who may use the record. */
export function thaw(writer: RecordWriter, { resource, rid }: StockItem, actor: Actor): void {
  writer.require(resource, rid, "use", actor);
  const { freeze_thaw_count: count } = writer.current(resource, rid);
  writer.use(resource, rid, { freeze_thaw_count: Number(count) + 1 }, actor);
}

/** Who gets stock that is taken out, and until when. */
export interface Loan {
  /** Microseconds; without it, after the days that the group of the record gives. */
  due?: number | undefined;
  /** Username of a person who may use the record; without it, the actor. */
  holder?: string | undefined;
}

/** Takes stock out, hands it to another person, or changes when it is due back. Its slot stays reserved. */
export function takeOut(
  store: Store,
  writer: RecordWriter,
  item: StockItem,
  { due, holder }: Loan,
  actor: Actor,
): void {
  const { resource, rid } = item;
  writer.require(resource, rid, "use", actor);
  const { taken_out_by: former, taken_out_at: since, owned_by: group } = writer.current(resource, rid);
  const now = readMicroseconds(store.clock);
  if (due !== undefined && due <= now) throw invalidField("due_back", "Give a time in the future.");
  const text = "SELECT due_back_days AS days FROM user_group WHERE rid = ?";
  const days = Number(store.statements.get({ text, args: [group] })!.days);
  const { statements: query, resources } = store;
  const by =
    holder === undefined
      ? actor.user
      : findHolder({ query, resources }, item, "use", { field: "taken_out_by", username: holder });
  const values = { taken_out_by: by, taken_out_at: former === by ? since : now };
  writer.use(resource, rid, { ...values, due_back: due ?? now + days * DAY }, actor);
}

/** Puts stock back into its slot, if it has one, or into the place that the body names. */
export function putBack(
  writer: RecordWriter,
  { resource, rid }: StockItem,
  body: { location?: string; position?: string },
  actor: Actor,
): void {
  writer.require(resource, rid, "use", actor);
  const { taken_out_by: holder } = writer.current(resource, rid);
  if (holder === null) throw new Problem("conflict", "It is not taken out.");
  if (body.location !== undefined) writer.update(resource, rid, body, "merge", actor);
  // Also where it was put into its own slot.
  if (writer.current(resource, rid).taken_out_by !== null) writer.use(resource, rid, PUT_BACK, actor);
}

export interface Division {
  count: number;
  /** Amount of each aliquot, and its unit. */
  amount?: number | undefined;
  unit?: string | undefined;
  /** Beginning of the names, followed by numbers; by default the name of the record. */
  name?: string | undefined;
  /** Id of the location whose free slots they fill; by default that of the record. */
  location?: string | null | undefined;
}

/** Fields that aliquots share with their source. */
const SHARED = [
  "description",
  "model_type",
  "unit",
  "supplier",
  "catalogue_number",
  "product",
  "lot",
  "received",
  "expiry",
  "freeze_thaw_count",
];

/** Makes aliquots, whose amount is taken out of the record. @returns their row numbers */
export function divide(
  store: Store,
  writer: RecordWriter,
  item: StockItem,
  { count, amount, unit, name, location }: Division,
  actor: Actor,
): number[] {
  const { resource, rid } = item;
  const measured = findMeasured(store, writer, item, "change", actor);
  const { record } = measured;
  const each = amount === undefined ? null : readEach(measured, { amount, unit });
  // Untracked amounts stay untracked.
  if (each !== null && record.amount !== null) {
    const left = amountAfter(measured, { amount: each }, -count);
    writer.update(resource, rid, { amount: left, ...chooseStatus(record, left) }, "merge", actor);
  }
  const names = SHARED.filter((field) => field in resource.fields);
  const [values] = store.reader.values(resource, ["id", "name", ...names, "location", "owned_by"], actor, [
    rid,
  ]);
  const common: JsonObject = Object.fromEntries(names.map((field) => [field, values[field]]));
  const slots = freeSlots(
    store,
    { location: location === undefined ? (values.location as string | null) : location, count },
    actor,
  );
  // Readers of the record may view its aliquots, as far as the actor may decide that.
  const isMember = actor.superuser || actor.groups.includes(Number(record.owned_by));
  const access = { public: record.public === 1, ...(isMember ? { owned_by: values.owned_by } : {}) };
  const first = earlierAliquots(store, item, actor) + 1;
  const status = AMOUNT_STATUSES.has(String(record.status)) ? "AVAILABLE" : String(record.status);
  return slots.map((slot, i) =>
    writer.create(
      resource,
      {
        ...common,
        ...slot,
        ...access,
        status,
        amount: each,
        name: `${name ?? String(values.name)} ${first + i}`,
        aliquot_of: String(values.id),
      },
      actor,
    ),
  );
}

/** The amount of each aliquot in the unit of the record. @throws Problem invalid_request */
function readEach({ unit }: Measured, { amount, unit: given = unit }: GivenAmount): number {
  const each = convertAmount({ value: amount, unit: given }, unit);
  if (each === undefined) throw invalidField("unit", describeUnits(unit));
  return each;
}

/** The destination of new tubes: free slots of the location, if it has any kind of slots. */
export function freeSlots(
  store: Store,
  { location, count }: { location: string | null; count: number },
  actor: Actor,
): JsonObject[] {
  const unplaced = Array.from({ length: count }, (): JsonObject => ({ location, position: "" }));
  if (location === null) return unplaced;
  const resource = store.resources.get("location") as RoutedResource;
  const rid = store.reader.find(resource, location, ALIVE, actor);
  if (rid === undefined)
    throw invalidField(
      "location",
      "This location does not exist, or you may not view it. Give another location.",
    );
  const target = { resource, rid };
  if (readSpaces(store, target, actor).length === 0) return unplaced;
  return chooseSlots(store, target, count, { actor, field: "location" }).map(
    ({ location: { id }, position }) => ({
      location: id,
      position,
    }),
  );
}

/** Counts the aliquots of the record that the actor may view. */
function earlierAliquots(
  { statements, resources }: Store,
  { resource, rid }: StockItem,
  actor: Actor,
): number {
  const of = compare(["aliquot_of", "rid"], "==", rid);
  const { text, args } = selectVisible({ resources, actor }, resource, "count(*) AS total", of);
  return Number(statements.get({ text, args })?.total);
}

export const MAX_ALIQUOTS = LIMITS.rows.max;
