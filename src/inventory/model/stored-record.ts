import { type Json, printerOf, type Stored } from "./field.ts";
import { columnOf, type Resource, type Resources, targetOf } from "./resource.ts";

/** A record as it is stored, by field name; references are row numbers. */
export type StoredRecord = Record<string, Stored>;

/** Names and columns of the fields that are in the table. */
export const storedFields = (resource: Resource): [name: string, column: string][] =>
  Object.entries(resource.fields)
    .filter(([, field]) => field.kind !== "computed")
    .map(([name]) => [name, columnOf(resource, name)]);

/** Made once per resource: every write reads its record before and after. */
const statements = new WeakMap<Resource, string>();

/** Reads one record by its row number. */
export function storedStatement(resource: Resource): string {
  let text = statements.get(resource);
  if (text === undefined) {
    const columns = storedFields(resource).map(([name, column]) => `${column} AS "${name}"`);
    text = `SELECT ${columns.join(", ")} FROM ${resource.table} WHERE rid = ?`;
    statements.set(resource, text);
  }
  return text;
}

/** What every write changes. */
const BOOKKEEPING = new Set(["rid", "version", "modified", "modified_by"]);

/** Names of the fields that differ between two states of a record, except those that every write changes. */
export const changedFields = (
  before: Readonly<StoredRecord> | undefined,
  after: Readonly<StoredRecord>,
): string[] =>
  Object.keys(after).filter(
    (name) => !BOOKKEEPING.has(name) && (before === undefined || before[name] !== after[name]),
  );

/** The shown field of a referenced record; undefined if the record no longer exists. */
export type ReferencePrinter = (far: Resource, column: string, rid: number) => Stored | undefined;

/** A stored value as a flat answer shows it. Ids are shown to everyone. */
export function printStored(
  resources: Resources,
  resource: Resource,
  name: string,
  value: Stored,
  named: ReferencePrinter,
): Json {
  const field = resource.fields[name];
  if (value === null || value === undefined) return null;
  if (field.kind !== "reference") return printerOf(field)(value);
  const far = targetOf(resources, field);
  return named(far, columnOf(far, far.shownAs === "key" ? far.key : "id"), Number(value)) ?? null;
}

/** Whether a field of a history can be shown. */
export const isShown = (resource: Resource, name: string): boolean =>
  Object.hasOwn(resource.fields, name) &&
  resource.fields[name].shown !== "internal" &&
  resource.fields[name].kind !== "computed";
