import { Problem } from "../../problem.ts";
import { exceeded } from "../../platform/limits.ts";
import { isObject, type Json, type JsonObject } from "./field.ts";
import { LIMITS } from "./limits.ts";
import { invalidField } from "./parse-body.ts";

const OPERATIONS = ["add", "remove", "replace", "move", "copy", "test"];

/** True if a body is a JSON Patch: a list of operations. */
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
 * merge. A removed field becomes null. Paths may lead into fields that hold lists and objects. All that is added counts
 * against the limit, also what is removed again, so that copies of copies cost no time.
 * @param record the fields that may be read and tested; `writable` those that may be written
 * @throws Problem invalid_request (names the operation), conflict if a test fails
 */
export function patchRecord(
  record: JsonObject,
  writable: ReadonlySet<string>,
  operations: readonly Json[],
): JsonObject {
  if (operations.length > LIMITS.operations.max) throw invalidField("patch", exceeded(LIMITS.operations));
  const patched = new PatchedRecord(record, writable);
  for (const [i, operation] of operations.entries()) patched.apply(operation, i);
  return patched.changes();
}

class PatchedRecord {
  readonly #document: JsonObject;
  readonly #changed = new Set<string>();
  #growth = 0;

  constructor(
    private readonly record: JsonObject,
    private readonly writable: ReadonlySet<string>,
  ) {
    this.#document = structuredClone(record);
  }

  apply(operation: Json, i: number): void {
    const where = `[${i}]`;
    const { op, path, value, from } = parseOperation(operation, where);
    if (op === "test") {
      if (Bun.deepEquals(read(this.#document, path), value)) return;
      throw new Problem("conflict", `The test of operation ${i} failed.`);
    }
    const added = from ? this.#existing(from, `${where}.from`) : value;
    if (op === "remove" || op === "replace") this.#existing(path, `${where}.path`);
    // Parsing is several times as fast as structuredClone.
    const text = op === "move" ? "" : JSON.stringify(added);
    if (op === "move") this.#checkMove(from!, path, where);
    else this.#count(text, where);
    this.#change(path, `${where}.path`);
    if (op === "remove" || op === "move") removeAt(this.#document, from ?? path);
    if (op === "remove") return;
    if (!addAt(this.#document, path, op === "copy" ? (JSON.parse(text) as Json) : added, op === "replace"))
      throw invalidField(`${where}.path`, "No value can be added at this path.");
  }

  changes(): JsonObject {
    return Object.fromEntries([...this.#changed].map((name) => [name, this.#document[name] ?? null]));
  }

  #existing(path: readonly string[], where: string): Json {
    const found = read(this.#document, path);
    if (found === undefined) throw invalidField(where, "There is nothing at this path.");
    return found;
  }

  #change([field]: readonly string[], where: string): void {
    if (!Object.hasOwn(this.record, field)) throw invalidField(where, "No such field.");
    if (!this.writable.has(field)) throw invalidField(where, "This field is read-only.");
    this.#changed.add(field);
  }

  #checkMove(from: readonly string[], path: readonly string[], where: string): void {
    if (path.length > from.length && from.every((part, at) => part === path[at]))
      throw invalidField(`${where}.path`, "A value cannot be moved into itself.");
    this.#change(from, `${where}.from`);
  }

  #count(added: string, where: string): void {
    this.#growth += added.length;
    if (this.#growth > LIMITS.growth.max) throw invalidField(where, exceeded(LIMITS.growth));
  }
}

interface Operation {
  op: string;
  path: string[];
  value: Json;
  /** Source path of move and copy. */
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
function parseIndex(list: readonly Json[], part: string, past: boolean): number | undefined {
  if (past && part === "-") return list.length;
  if (!/^(0|[1-9]\d{0,5})$/.test(part)) return undefined;
  return Number(part) < list.length + (past ? 1 : 0) ? Number(part) : undefined;
}

function read(value: Json | undefined, [part, ...rest]: readonly string[]): Json | undefined {
  if (part === undefined) return value;
  if (Array.isArray(value)) {
    const at = parseIndex(value, part, false);
    return at === undefined ? undefined : read(value[at], rest);
  }
  return isObject(value) && Object.hasOwn(value, part) ? read(value[part], rest) : undefined;
}

/** Adds a value, or puts it in place of another; false if there is no place for it. */
function addAt(document: Json, path: readonly string[], added: Json, replace: boolean): boolean {
  const container = read(document, path.slice(0, -1));
  const part = path.at(-1)!;
  if (Array.isArray(container)) {
    const at = parseIndex(container, part, !replace);
    if (at !== undefined) container.splice(at, replace ? 1 : 0, added);
    return at !== undefined;
  }
  if (!isObject(container)) return false;
  // Not by assignment: a member may have any name.
  Object.defineProperty(container, part, {
    value: added,
    configurable: true,
    enumerable: true,
    writable: true,
  });
  return true;
}

/** Removes the existing value at the path. */
function removeAt(document: Json, path: readonly string[]): void {
  const container = read(document, path.slice(0, -1)) as Json[] | JsonObject;
  const part = path.at(-1)!;
  if (Array.isArray(container)) container.splice(Number(part), 1);
  else delete container[part];
}
