import { Problem } from "../../problem.ts";
import type { Json } from "./field.ts";

/** What a bulk update does to one record. */
export interface BulkChange {
  id: string;
  /** Fields and their new values. */
  body: { [field: string]: Json };
  /** Fields and the values that they must have before; from `test` operations. */
  tests: [field: string, value: Json][];
}

type Entry = { [key: string]: Json };

/**
 * The changes that the body of a bulk update asks for, one per record, in the order in which records first occur:
 * - a list of objects with `id` and the fields to change;
 * - a list of operations (RFC 6902) whose paths are `/<id>/<field>`; add and replace set a field, remove empties it,
 *   test compares it;
 * - `{"ids": […], "patch": […]}` with paths `/<field>`, done to each of the records;
 * - `{"items": […ids], <field>: <value>, …}`.
 * @throws Problem invalid_request, naming the entry
 */
export function parseBulkChanges(body: Json): BulkChange[] {
  if (Array.isArray(body)) return body.some(isOperation) ? fromOperations(body) : body.map(fromObject);
  if (isEntry(body) && Array.isArray(body.ids) && Array.isArray(body.patch)) {
    const { ids, patch } = body;
    const patched = patch.map((operation, i) => readOperation(operation, `patch[${i}]`, 1));
    return ids.map((id, i) => collect(idOf(id, `ids[${i}]`), patched));
  }
  if (isEntry(body) && Array.isArray(body.items)) {
    const { items, ...values } = body;
    return items.map((id, i) => ({ id: idOf(id, `items[${i}]`), body: values, tests: [] }));
  }
  throw refused("non_field_errors", 'Expected a list of objects, each with "id" and the fields to change.');
}

interface Operation {
  op: string;
  /** Parts of the path. */
  path: string[];
  value: Json;
}

const isEntry = (value: Json | undefined): value is Entry =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** No resource has a field `op`. */
const isOperation = (value: Json): boolean => isEntry(value) && Object.hasOwn(value, "op");

function fromObject(value: Json, i: number): BulkChange {
  if (!isEntry(value)) throw refused(`[${i}].non_field_errors`, "Invalid data. Expected a dictionary.");
  return { id: idOf(value.id, `[${i}].id`), body: value, tests: [] };
}

function fromOperations(list: readonly Json[]): BulkChange[] {
  const byRecord = new Map<string, Operation[]>();
  for (const [i, entry] of list.entries()) {
    const operation = readOperation(entry, `[${i}]`, 2);
    const [id] = operation.path;
    byRecord.set(id, [...(byRecord.get(id) ?? []), operation]);
  }
  return [...byRecord].map(([id, operations]) => collect(id, operations));
}

function collect(id: string, operations: readonly Operation[]): BulkChange {
  const change: BulkChange = { id, body: {}, tests: [] };
  const fields: [string, Json][] = [];
  for (const { op, path, value } of operations) {
    const field = path[path.length - 1];
    if (op === "test") change.tests.push([field, value]);
    else fields.push([field, op === "remove" ? null : value]);
  }
  // Not by assignment: a field may have any name before it is looked at.
  change.body = Object.fromEntries(fields);
  return change;
}

function readOperation(entry: Json, where: string, parts: 1 | 2): Operation {
  if (!isEntry(entry)) throw refused(where, "Expected an operation with op, path and value.");
  const { op, path, value } = entry;
  if (typeof op !== "string" || !["add", "replace", "remove", "test"].includes(op))
    throw refused(`${where}.op`, "Choices: add, replace, remove, test.");
  const form = parts === 2 ? "/<id>/<field>" : "/<field>";
  const names =
    typeof path === "string" && path.startsWith("/") ? path.slice(1).split("/").map(unescaped) : [];
  if (names.length !== parts || names.includes("")) throw refused(`${where}.path`, `Expected ${form}.`);
  if (op !== "remove" && value === undefined) throw refused(`${where}.value`, "This field is required.");
  return { op, path: names, value: value ?? null };
}

/** RFC 6901: ~1 stands for a slash, ~0 for a tilde. */
const unescaped = (part: string): string => part.replaceAll("~1", "/").replaceAll("~0", "~");

function idOf(value: Json | undefined, where: string): string {
  if (typeof value === "string" || typeof value === "number") return String(value);
  throw refused(where, "This field is required.");
}

function refused(field: string, error: string): Problem {
  return new Problem("invalid_request", `${field}: ${error}`, { fields: { [field]: [error] } });
}

/** What a body says of every record that a filter finds: `body` is all there is of it besides the ids. */
export type FilteredChange = Omit<BulkChange, "id"> & {
  /** Parameters of a list, where the body gives the filter. */
  filters: { [name: string]: Json } | undefined;
};

/**
 * A change of whatever the filter in the address or in `filters` finds: an object with the fields to change, or with
 * `patch`, or a list of operations with paths `/<field>`. Undefined where the body names records itself.
 * @throws Problem invalid_request
 */
export function parseFilteredChange(body: Json, filtered: boolean): FilteredChange | undefined {
  if (isEntry(body) && isEntry(body.filters)) {
    const { filters, ...rest } = body;
    return { ...changeOf(rest), filters };
  }
  if (!filtered) return undefined;
  if (Array.isArray(body)) {
    const bare = (item: Json) => isEntry(item) && String(item.path).split("/").length === 2;
    return body.length > 0 && body.every((item) => isOperation(item) && bare(item))
      ? { ...changeOf({ patch: body }), filters: undefined }
      : undefined;
  }
  if (!isEntry(body) || Array.isArray(body.ids) || Array.isArray(body.items)) return undefined;
  return { ...changeOf(body), filters: undefined };
}

function changeOf(rest: Entry): Omit<BulkChange, "id"> {
  if (!Array.isArray(rest.patch)) return { body: rest, tests: [] };
  const odd = Object.keys(rest).find((name) => name !== "patch");
  if (odd !== undefined) throw refused("patch", "Give patch, or fields, but not both.");
  return collect(
    "",
    rest.patch.map((operation, i) => readOperation(operation, `patch[${i}]`, 1)),
  );
}
