import { Problem } from "../../problem.ts";
import { isObject, type Json, type JsonObject } from "./field.ts";
import { invalidField } from "./parse-body.ts";

/** Operations in one JSON Patch. */
const MAX_OPERATIONS = 1000;
const OPERATIONS = ["add", "remove", "replace", "move", "copy", "test"];

/** Whether a body is a JSON Patch: a list of operations, which no record is. */
export const isPatch = (body: Json): body is Json[] =>
  Array.isArray(body) &&
  body.length > 0 &&
  body.every((operation) => isObject(operation) && Object.hasOwn(operation, "op"));

/** The parts of a JSON pointer (RFC 6901); undefined if it is malformed. */
export const pointerParts = (pointer: Json | undefined): string[] | undefined =>
  typeof pointer === "string" && pointer.startsWith("/") && pointer.length <= 1000
    ? pointer
        .slice(1)
        .split("/")
        .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    : undefined;

/**
 * Applies a JSON Patch (RFC 6902) to a record and returns the changed fields with their new values: the body of a
 * merge. A removed field becomes null. Paths may lead into fields that hold lists and objects.
 * @param record the fields that may be read and tested; `writable` those that may be written
 * @throws Problem invalid_request (names the operation), conflict if a test fails
 */
export function patchRecord(
  record: JsonObject,
  writable: ReadonlySet<string>,
  operations: readonly Json[],
): JsonObject {
  if (operations.length > MAX_OPERATIONS)
    throw invalidField("patch", `More than ${MAX_OPERATIONS} operations.`);
  let document: Json = structuredClone(record);
  const changed = new Set<string>();
  for (const [i, operation] of operations.entries()) {
    const where = `[${i}]`;
    const change = (path: readonly string[], name: string, next: Json | undefined, error = ""): void => {
      if (!Object.hasOwn(record, path[0])) throw invalidField(`${where}.${name}`, "No such field.");
      if (!writable.has(path[0])) throw invalidField(`${where}.${name}`, "This field is read-only.");
      if (next === undefined) throw invalidField(`${where}.${name}`, error);
      changed.add(path[0]);
      document = next;
    };
    const { op, path, value, from } = parseOperation(operation, where);
    const existing = (pointer: readonly string[], name: string): Json => {
      const found = read(document, pointer);
      if (found === undefined) throw invalidField(`${where}.${name}`, "There is nothing at this path.");
      return found;
    };
    if (op === "test") {
      if (!Bun.deepEquals(read(document, path), value))
        throw new Problem("conflict", `The test of operation ${i} failed.`);
      continue;
    }
    if (op === "remove" || op === "replace") existing(path, "path");
    if (op === "remove") {
      change(path, "path", without(document, path));
      continue;
    }
    const added = from ? structuredClone(existing(from, "from")) : value;
    if (op === "move" && from) {
      if (path.length > from.length && from.every((part, at) => part === path[at]))
        throw invalidField(`${where}.path`, "A value cannot be moved into itself.");
      change(from, "from", without(document, from));
    }
    change(
      path,
      "path",
      within(document, path, added, op === "replace"),
      "No value can be added at this path.",
    );
  }
  const result = document as JsonObject;
  return Object.fromEntries([...changed].map((name) => [name, result[name] ?? null]));
}

interface Operation {
  op: string;
  path: string[];
  value: Json;
  /** Of move and copy. */
  from: string[] | undefined;
}

function parseOperation(operation: Json, where: string): Operation {
  if (!isObject(operation)) throw invalidField(where, "Expected an operation with op, path and value.");
  const { op, value } = operation;
  if (typeof op !== "string" || !OPERATIONS.includes(op))
    throw invalidField(`${where}.op`, `Choices: ${OPERATIONS.join(", ")}.`);
  const pointer = (name: "path" | "from"): string[] => {
    const parts = pointerParts(operation[name]);
    if (!parts || parts.join("/") === "") throw invalidField(`${where}.${name}`, "Expected /<field>.");
    return parts;
  };
  const path = pointer("path");
  const copies = op === "move" || op === "copy";
  if (!copies && op !== "remove" && value === undefined)
    throw invalidField(`${where}.value`, "This field is required.");
  return { op, path, value: value ?? null, from: copies ? pointer("from") : undefined };
}

/** The index that a part of a path names; undefined if there is none. `-` is the one past the end. */
function indexIn(list: readonly Json[], part: string, past: boolean): number | undefined {
  if (past && part === "-") return list.length;
  if (!/^(0|[1-9]\d{0,5})$/.test(part)) return undefined;
  return Number(part) < list.length + (past ? 1 : 0) ? Number(part) : undefined;
}

function read(value: Json | undefined, [part, ...rest]: readonly string[]): Json | undefined {
  if (part === undefined) return value;
  if (Array.isArray(value)) {
    const at = indexIn(value, part, false);
    return at === undefined ? undefined : read(value[at], rest);
  }
  return isObject(value) && Object.hasOwn(value, part) ? read(value[part], rest) : undefined;
}

/** The value with another one at the path; undefined if there is no place for it. */
function within(value: Json, path: readonly string[], added: Json, replace: boolean): Json | undefined {
  const [part, ...rest] = path;
  const isLast = rest.length === 0;
  if (Array.isArray(value)) {
    const at = indexIn(value, part, isLast && !replace);
    if (at === undefined) return undefined;
    if (isLast) return value.toSpliced(at, replace ? 1 : 0, added);
    const inner = within(value[at], rest, added, replace);
    return inner === undefined ? undefined : value.with(at, inner);
  }
  if (!isObject(value) || (!isLast && !Object.hasOwn(value, part))) return undefined;
  const inner = isLast ? added : within(value[part], rest, added, replace);
  return inner === undefined ? undefined : Object.fromEntries([...Object.entries(value), [part, inner]]);
}

/** The value without the existing value at the path. */
function without(value: Json, path: readonly string[]): Json {
  const [part, ...rest] = path;
  if (Array.isArray(value)) {
    const at = indexIn(value, part, false)!;
    return rest.length === 0 ? value.toSpliced(at, 1) : value.with(at, without(value[at], rest));
  }
  const object = value as JsonObject;
  const kept = Object.entries(object).filter(([name]) => name !== part);
  return Object.fromEntries(rest.length === 0 ? kept : [...kept, [part, without(object[part], rest)]]);
}
