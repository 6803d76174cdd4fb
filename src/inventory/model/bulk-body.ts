import { exceeded } from "../../platform/limits.ts";
import { pointerParts } from "./apply-json-patch.ts";
import { isObject, type Json, type JsonObject } from "./field.ts";
import { LIMITS } from "./limits.ts";
import { errorKey } from "../../platform/schema.ts";
import { invalidField } from "./parse-body.ts";

/** The changes of a bulk update to one record. */
export interface BulkChange {
  id: string;
  /** Fields and their new values. */
  body: JsonObject;
  /** Fields and the values that they must have before; from `test` operations. */
  tests: [field: string, value: Json][];
}

/** One change for every record that a filter finds. */
export type FilteredChange = Omit<BulkChange, "id"> & {
  /** Parameters of a list, if the body gives the filter. */
  filters: JsonObject | undefined;
};

interface Operation {
  op: string;
  path: string[];
  value: Json;
}

/** No resource has a field `op`. */
const isOperation = (value: Json): boolean => isObject(value) && Object.hasOwn(value, "op");

/**
 * The changes that the body of a bulk update asks for, one per record, in the order in which records first occur:
 * - a list of objects with `id` and the fields to change;
 * - a list of operations (RFC 6902) whose paths are `/<id>/<field>`; add and replace set a field, remove empties it,
 *   test compares it;
 * - `{"ids": […], "patch": […]}` with paths `/<field>`, applied to each of the records;
 * - `{"items": […ids], <field>: <value>, …}`.
 * @throws Problem invalid_request, naming the entry
 */
export function parseBulkChanges(body: Json): BulkChange[] {
  if (Array.isArray(body)) return body.some(isOperation) ? parseOperations(body) : body.map(parseObject);
  if (isObject(body) && Array.isArray(body.ids) && Array.isArray(body.patch)) {
    const change = parseChange({ patch: body.patch });
    return body.ids.map((id, i) => Object.assign({ id: readId(id, `ids[${i}]`) }, change));
  }
  if (isObject(body) && Array.isArray(body.items)) {
    const { items, ...values } = body;
    return items.map((id, i) => ({ id: readId(id, `items[${i}]`), body: values, tests: [] }));
  }
  throw invalidField(
    "non_field_errors",
    'Expected a list of objects, each with "id" and the fields to change.',
  );
}

/**
 * A change of all records that the filter in the address or in `filters` finds: an object with the fields to change, or
 * with `patch`, or a list of operations with paths `/<field>`. Undefined if the body names records itself.
 * @throws Problem invalid_request
 */
export function parseFilteredChange(body: Json, filtered: boolean): FilteredChange | undefined {
  if (isObject(body) && isObject(body.filters)) {
    const { filters, ...rest } = body;
    return { ...parseChange(rest), filters };
  }
  if (!filtered) return undefined;
  if (Array.isArray(body)) {
    const isPlain = (item: Json) =>
      isOperation(item) && String((item as JsonObject).path).split("/").length === 2;
    return body.length > 0 && body.every(isPlain)
      ? { ...parseChange({ patch: body }), filters: undefined }
      : undefined;
  }
  if (!isObject(body) || Array.isArray(body.ids) || Array.isArray(body.items)) return undefined;
  return { ...parseChange(body), filters: undefined };
}

function parseChange(rest: JsonObject): Omit<BulkChange, "id"> {
  if (!Array.isArray(rest.patch)) return { body: rest, tests: [] };
  if (Object.keys(rest).some((name) => name !== "patch"))
    throw invalidField("patch", "Give either patch or fields, not both.");
  const operations = rest.patch.map((operation, i) => parseOperation(operation, `patch[${i}]`, 1));
  return collect(operations, "patch");
}

function parseObject(value: Json, i: number): BulkChange {
  if (!isObject(value)) throw invalidField(`[${i}].non_field_errors`, "Invalid data. Expected a dictionary.");
  return { id: readId(value.id, `[${i}].id`), body: value, tests: [] };
}

function parseOperations(list: readonly Json[]): BulkChange[] {
  const operations = list.map((entry, i) => parseOperation(entry, `[${i}]`, 2));
  return [...Map.groupBy(operations, ({ path }) => path[0])].map(([id, own]) =>
    Object.assign({ id }, collect(own, id)),
  );
}

function collect(operations: readonly Operation[], where: string): Omit<BulkChange, "id"> {
  if (operations.length > LIMITS.operations.max)
    throw invalidField(errorKey(where), exceeded(LIMITS.operations));
  const fieldName = ({ path }: Operation) => path[path.length - 1];
  const [tests, changes] = [true, false].map((isTest) =>
    operations.filter(({ op }) => (op === "test") === isTest),
  );
  return {
    // Not by assignment: a field may have any name before it is checked.
    body: Object.fromEntries(
      changes.map((operation) => [fieldName(operation), operation.op === "remove" ? null : operation.value]),
    ),
    tests: tests.map((operation) => [fieldName(operation), operation.value]),
  };
}

function parseOperation(entry: Json, where: string, parts: 1 | 2): Operation {
  if (!isObject(entry)) throw invalidField(where, "Expected an operation with op, path and value.");
  const { op, value } = entry;
  if (typeof op !== "string" || !["add", "replace", "remove", "test"].includes(op))
    throw invalidField(`${where}.op`, "Choices: add, replace, remove, test.");
  const path = pointerParts(entry.path) ?? [];
  if (path.length !== parts || path.includes(""))
    throw invalidField(`${where}.path`, `Expected ${parts === 2 ? "/<id>/<field>" : "/<field>"}.`);
  if (op !== "remove" && value === undefined) throw invalidField(`${where}.value`, "This field is required.");
  return { op, path, value: value ?? null };
}

function readId(value: Json | undefined, where: string): string {
  if (typeof value === "string" || typeof value === "number") return String(value);
  throw invalidField(where, "This field is required.");
}
