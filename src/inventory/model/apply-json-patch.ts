import { Problem } from "../../problem.ts";
import type { Json } from "./field.ts";

type Entry = { [key: string]: Json };

/** Operations in one JSON Patch. */
const LIMIT = 1000;
const OPERATIONS = ["add", "remove", "replace", "move", "copy", "test"];

const isEntry = (value: Json | undefined): value is Entry =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** Whether a body is a JSON Patch: a list of operations, which no record is. */
export const isPatch = (body: Json): body is Json[] =>
  Array.isArray(body) &&
  body.length > 0 &&
  body.every((operation) => isEntry(operation) && Object.hasOwn(operation, "op"));

/**
 * Runs a JSON Patch (RFC 6902) on a record and returns the fields that it wrote with their new values: the body of a
 * merge. A field that is removed becomes null. Paths (RFC 6901) may lead into fields that hold lists and objects.
 * @param record the fields that may be read and tested; `writable` those that may be written
 * @throws Problem invalid_request (names the operation), conflict where a test does not hold
 */
export function patchRecord(
  record: Entry,
  writable: ReadonlySet<string>,
  operations: readonly Json[],
): Entry {
  if (operations.length > LIMIT) throw refused("patch", `More than ${LIMIT} operations.`);
  let document = structuredClone(record);
  const touched = new Set<string>();
  for (const [i, operation] of operations.entries()) {
    const where = `[${i}]`;
    if (!isEntry(operation)) throw refused(where, "Expected an operation with op, path and value.");
    const { op } = operation;
    if (typeof op !== "string" || !OPERATIONS.includes(op))
      throw refused(`${where}.op`, `Choices: ${OPERATIONS.join(", ")}.`);
    const path = pointer(operation.path, `${where}.path`);
    const writes = (parts: readonly string[], name: string): void => {
      if (!Object.hasOwn(record, parts[0])) throw refused(`${where}.${name}`, "There is no such field.");
      if (!writable.has(parts[0])) throw refused(`${where}.${name}`, "This field is read-only.");
      touched.add(parts[0]);
    };
    const take = (name: "value" | "from"): Json => {
      if (name === "value") {
        if (operation.value === undefined) throw refused(`${where}.value`, "This field is required.");
        return operation.value;
      }
      const from = pointer(operation.from, `${where}.from`);
      const value = read(document, from);
      if (value === undefined) throw refused(`${where}.from`, "There is nothing at this path.");
      if (op === "move") {
        if (path.length > from.length && from.every((part, at) => part === path[at]))
          throw refused(`${where}.path`, "A value cannot be moved into itself.");
        writes(from, "from");
        document = without(document, from) as Entry;
      }
      return structuredClone(value);
    };
    if (op === "test") {
      const value = take("value");
      if (!Bun.deepEquals(read(document, path), value))
        throw new Problem("conflict", `The test of operation ${i} does not hold.`);
      continue;
    }
    if (op === "remove" || op === "replace") {
      if (read(document, path) === undefined)
        throw refused(`${where}.path`, "There is nothing at this path.");
    }
    if (op === "remove") {
      writes(path, "path");
      document = without(document, path) as Entry;
      continue;
    }
    const value = take(op === "move" || op === "copy" ? "from" : "value");
    writes(path, "path");
    const next = within(document, path, value, op === "replace");
    if (next === undefined) throw refused(`${where}.path`, "There is no place for a value at this path.");
    document = next as Entry;
  }
  return Object.fromEntries([...touched].map((name) => [name, document[name] ?? null]));
}

function pointer(path: Json | undefined, where: string): string[] {
  if (typeof path !== "string" || !path.startsWith("/") || path === "/" || path.length > 1000)
    throw refused(where, "Expected /<field>.");
  return path
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The place of a list that a part of a path names: undefined where it is none. `-` is the one past the end. */
function place(list: readonly Json[], part: string, past: boolean): number | undefined {
  if (past && part === "-") return list.length;
  if (!/^(0|[1-9]\d{0,5})$/.test(part)) return undefined;
  return Number(part) < list.length + (past ? 1 : 0) ? Number(part) : undefined;
}

function read(value: Json | undefined, path: readonly string[]): Json | undefined {
  let here = value;
  for (const part of path) {
    if (Array.isArray(here)) {
      const at = place(here, part, false);
      here = at === undefined ? undefined : here[at];
    } else here = isEntry(here) && Object.hasOwn(here, part) ? here[part] : undefined;
  }
  return here;
}

/** The value with another one at the path; undefined where there is no place for it. */
function within(value: Json, path: readonly string[], added: Json, replace: boolean): Json | undefined {
  const [part, ...rest] = path;
  if (part === undefined) return added;
  if (Array.isArray(value)) {
    const at = place(value, part, rest.length === 0 && !replace);
    if (at === undefined) return undefined;
    if (rest.length === 0) return value.toSpliced(at, replace ? 1 : 0, added);
    const inner = within(value[at], rest, added, replace);
    return inner === undefined ? undefined : value.with(at, inner);
  }
  if (!isEntry(value)) return undefined;
  const inner =
    rest.length === 0
      ? added
      : Object.hasOwn(value, part)
        ? within(value[part], rest, added, replace)
        : undefined;
  return inner === undefined ? undefined : Object.fromEntries([...Object.entries(value), [part, inner]]);
}

/** The value without what is at the path, which is there. */
function without(value: Json, path: readonly string[]): Json {
  const [part, ...rest] = path;
  if (Array.isArray(value)) {
    const at = place(value, part, false)!;
    return rest.length === 0 ? value.toSpliced(at, 1) : value.with(at, without(value[at], rest));
  }
  const entry = value as Entry;
  const kept = Object.entries(entry).filter(([name]) => name !== part);
  return Object.fromEntries(rest.length === 0 ? kept : [...kept, [part, without(entry[part], rest)]]);
}

function refused(field: string, error: string): Problem {
  return new Problem("invalid_request", `${field}: ${error}`, { fields: { [field]: [error] } });
}
