import { compare, or, some } from "./condition.ts";
import { type Field, type Json, choosePrinter, type Stored } from "./field.ts";
import { selectVisible } from "./plan.ts";
import { columnName, type ReadContext, type Resource, findTarget } from "./resource.ts";

/** A stored record by field name; references are row numbers. */
export type StoredRecord = Record<string, Stored>;

/** Names and columns of the fields that are in the table. */
export const storedFields = (resource: Resource): [name: string, column: string][] =>
  Object.entries(resource.fields)
    .filter(([, field]) => field.kind !== "computed")
    .map(([name]) => [name, columnName(resource, name)]);

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

/** Fields that every write changes. */
export const BOOKKEEPING = new Set(["rid", "version", "modified", "modified_by"]);

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

/** A stored value in the flat format, as one reader may view it. Ids of single references are shown to everyone. */
export function printStored(
  resource: Resource,
  name: string,
  value: Stored,
  named: ReferencePrinter,
  reader: ReadContext,
): Json {
  const field = resource.fields[name];
  if (value === null || value === undefined) return null;
  if (field.kind !== "reference") return printFor(reader, resource, name, choosePrinter(field)(value));
  const far = findTarget(reader.resources, field);
  return named(far, columnName(far, far.shownAs === "key" ? far.key : "id"), Number(value)) ?? null;
}

/** The part of a value with other records that a reader may view: the same in records, histories and previews. */
export function printFor(reader: ReadContext, resource: Resource, name: string, value: Json): Json {
  const field = resource.fields[name];
  if (field.listOf !== undefined || field.referring !== undefined) return namedRecords(field, value, reader);
  return resource.printValue ? resource.printValue(name, value, reader) : value;
}

/** The listed records, or the records that refer to the one with this id, as far as the reader may view them. */
export function namedRecords({ listOf, referring }: Field, value: Json, reader: ReadContext): Json {
  const far = reader.resources.get(listOf ?? referring!.resource)!;
  const condition = referring
    ? far.fields[referring.field].listOf === undefined
      ? compare([referring.field, "id"], "==", String(value))
      : some(referring.field, compare(["id"], "==", String(value)))
    : or(...(value as string[]).map((id) => compare(["id"], "==", id)));
  const alive = referring ? " AND t.deleted = 0" : "";
  const [key, id] = [columnName(far, far.key), columnName(far, "id")];
  const columns = `t.${id} AS id, t.${key} AS name`;
  const statement = selectVisible(reader, far, columns, condition, `${alive} ORDER BY t.${key}, t.${id}`);
  return reader.query.all(statement).map(({ id, name }): Json => ({ id, name }));
}

/** True if a field of a history can be shown. */
export const isShown = (resource: Resource, name: string): boolean =>
  Object.hasOwn(resource.fields, name) &&
  resource.fields[name].shown !== "internal" &&
  resource.fields[name].kind !== "computed";
