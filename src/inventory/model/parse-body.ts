import { nearest, Problem } from "../../problem.ts";
import { type Field, type Json, KINDS, quoted, type Stored } from "./field.ts";
import { type Resource, type Resources, targetOf } from "./resource.ts";

/** create: a new record; replace: PUT, which must have the required fields; merge: PATCH. */
export type WriteMode = "create" | "replace" | "merge";

/** A reference that a body gives, still to be looked up. */
export interface UnresolvedReference {
  field: string;
  /** Field of the referenced resource that has the value. */
  by: string;
  value: string | number;
}

/** What a body says, field by field. */
export interface ParsedBody {
  values: Map<string, Stored>;
  pending: UnresolvedReference[];
  /** Names of the fields that the body gave, references among them. */
  given: Set<string>;
  errors: Map<string, string[]>;
}

const REQUIRED = "This field is required.";
const NULL = "This field may not be null.";

/**
 * Reads a body by the resource's declaration. What clients send back unchanged is ignored where it is read-only;
 * unknown names are refused, because a misspelt field would otherwise be lost without a word.
 */
export function parseBody(resources: Resources, resource: Resource, body: Json, mode: WriteMode): ParsedBody {
  const change: ParsedBody = { values: new Map(), pending: [], given: new Set(), errors: new Map() };
  if (body === null || typeof body !== "object" || Array.isArray(body)) {
    const got = Array.isArray(body) ? "list" : body === null ? "null" : typeof body;
    const text = `Invalid data. Expected a dictionary, but got ${got}.`;
    change.errors.set("non_field_errors", [text]);
    return change;
  }
  const writable = Object.entries(resource.fields).filter(
    ([, { write, shown }]) => write !== "never" && shown !== "internal",
  );
  for (const [name, value] of Object.entries(body)) {
    const field = Object.hasOwn(resource.fields, name) ? resource.fields[name] : undefined;
    if (!field || field.shown === "internal") {
      const near = nearest(
        name,
        writable.map(([known]) => known),
      );
      const key = /^\w{1,60}$/.test(name) ? name : "non_field_errors";
      const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
      const choices = writable.map(([known]) => known).join(", ");
      change.errors.set(key, [
        `${quoted(name)} is not a field of ${resource.name}.${hint} Choices: ${choices}.`,
      ]);
    } else if (field.write !== "never") {
      change.given.add(name);
      readValue(change, resources, name, field, unwrapped(value, field));
    }
  }
  if (mode !== "merge") {
    for (const [name, field] of writable)
      if (field.write === "required" && !change.given.has(name)) change.errors.set(name, [REQUIRED]);
  }
  return change;
}

function readValue(change: ParsedBody, resources: Resources, name: string, field: Field, value: Json): void {
  if (value === null || (field.kind === "reference" && value === "")) {
    if (field.nullable) change.values.set(name, null);
    else change.errors.set(name, [NULL]);
    return;
  }
  if (field.kind === "reference") {
    const pending = readReference(targetOf(resources, field), name, value);
    if (typeof pending === "string") change.errors.set(name, [pending]);
    else change.pending.push(pending);
    return;
  }
  const decoded = KINDS[field.kind as "text"].decode(value, field);
  if ("error" in decoded) change.errors.set(name, [decoded.error]);
  else change.values.set(name, decoded.value);
}

/** A property as nested answers show it, {"name", "value", "category"}, or {"value"}, stands for its value. */
function unwrapped(value: Json, field: Field): Json {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  if (!Object.hasOwn(value, "value")) return value;
  const keys = Object.keys(value);
  const plain = keys.every((key) => ["name", "value", "category"].includes(key));
  return plain && (field.kind !== "json" || keys.length === 3) ? unwrapped(value.value, field) : value;
}

/** A reference by id, by name, or as an object with one of id, name, username or the resource's own key. */
function readReference(far: Resource, field: string, value: Json): UnresolvedReference | string {
  if (typeof value === "string" || typeof value === "number") {
    const text = String(value).trim();
    const id = KINDS[far.fields.id.kind as "uuid"].parse(text);
    if (id !== undefined && id !== null) return { field, by: "id", value: id };
    if (KINDS.text.parse(text) === undefined || text === "") return "Not a valid string.";
    return { field, by: far.key, value: text };
  }
  if (value !== null && typeof value === "object" && !Array.isArray(value)) {
    const id = value.id ?? null;
    if (id !== null) {
      const read = readReference(far, field, id);
      return typeof read === "string" || read.by === "id"
        ? read
        : far.fields.id.kind === "uuid"
          ? "Enter a valid UUID."
          : "A valid integer is required.";
    }
    for (const key of [far.key, "name", "username"]) {
      const named = value[key];
      if (typeof named === "string" && named.trim() !== "" && KINDS.text.parse(named) !== undefined)
        return { field, by: far.key, value: named.trim() };
    }
  }
  return `Expected an id, a ${far.key}, or an object with one of them.`;
}

/** What a reference says of a record that is not there, or not for the caller's eyes. */
export function missingReference({ by, value }: UnresolvedReference): string {
  return by === "id"
    ? `Invalid pk ${quoted(String(value))} - object does not exist.`
    : `Object with ${by}=${quoted(String(value))} does not exist.`;
}

/** 400 with an entry per field; the message is the first of them. */
export function fieldProblem(errors: ReadonlyMap<string, string[]>): Problem {
  const [[name, [text]]] = errors;
  return new Problem("invalid_request", `${name}: ${text}`, { fields: Object.fromEntries(errors) });
}

/** 400 with one error for one field. */
export const invalidField = (name: string, text: string): Problem => fieldProblem(new Map([[name, [text]]]));
