import { nearest, Problem } from "../../problem.ts";
import { type Field, type Json, KINDS, quoted, shownName, type Stored, isObject } from "./field.ts";
import { errorKey } from "../../platform/schema.ts";
import { LIMITS } from "./limits.ts";
import { type Resource, type Resources, findTarget } from "./resource.ts";

/** create: a new record; replace: PUT, which must have the required fields; merge: PATCH. */
export type WriteMode = "create" | "replace" | "merge";

/** A reference in a body that is still to be looked up. */
export interface UnresolvedReference {
  field: string;
  /** Field of the referenced resource that has the value. */
  by: string;
  value: string | number;
}

/** Values and errors of a body, field by field. */
export interface ParsedBody {
  values: Map<string, Stored>;
  pending: UnresolvedReference[];
  /** Names of the fields that the body gave, references among them. */
  given: Set<string>;
  errors: Map<string, string[]>;
}

/**
 * Parses a body by the resource's declaration. Read-only fields are ignored, so that an answer can be sent back;
 * unknown names are refused, as a misspelt field would otherwise be lost.
 */
export function parseBody(resources: Resources, resource: Resource, body: Json, mode: WriteMode): ParsedBody {
  const parsed: ParsedBody = { values: new Map(), pending: [], given: new Set(), errors: new Map() };
  if (!isObject(body)) {
    const actual = Array.isArray(body) ? "list" : body === null ? "null" : typeof body;
    parsed.errors.set("non_field_errors", [`Invalid data. Expected a dictionary, but got ${actual}.`]);
    return parsed;
  }
  const writable = Object.entries(resource.fields).filter(
    ([, { write, shown }]) => write !== "never" && shown !== "internal",
  );
  const names = writable.map(([name]) => name);
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(body)) {
    const field = Object.hasOwn(resource.fields, name) ? resource.fields[name] : undefined;
    if (!field || field.shown === "internal") unknown.push(name);
    else if (field.write !== "never") {
      parsed.given.add(name);
      parseValue(parsed, resources, name, field, unwrapped(value, field));
    }
  }
  addUnknown(parsed.errors, resource.name, names, unknown);
  for (const [name, field] of mode === "merge" ? [] : writable)
    if (field.write === "required" && !parsed.given.has(name))
      parsed.errors.set(name, ["This field is required."]);
  return parsed;
}

/** Names the first unknown fields and counts the others. */
export function addUnknown(
  errors: ParsedBody["errors"],
  what: string,
  names: readonly string[],
  unknown: readonly string[],
): void {
  const max = LIMITS.unknown.max;
  for (const [i, name] of unknown.slice(0, max).entries()) {
    const near = nearest(name, names);
    const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
    const choices = i === 0 ? ` Choices: ${names.join(", ")}.` : "";
    errors.set(errorKey(name), [`${quoted(name)} is not a field of ${what}.${hint}${choices}`]);
  }
  const more = unknown.length - max;
  if (more > 0) errors.set("non_field_errors", [`And ${more.toLocaleString("en")} more unknown fields.`]);
}

function parseValue(
  { values, pending, errors }: ParsedBody,
  resources: Resources,
  name: string,
  field: Field,
  value: Json,
): void {
  if (value === null || (field.kind === "reference" && value === "")) {
    if (field.nullable) values.set(name, null);
    else errors.set(name, ["This field may not be null."]);
  } else if (field.kind === "reference") {
    const reference = parseReference(findTarget(resources, field), name, value);
    if (typeof reference === "string") errors.set(name, [reference]);
    else pending.push(reference);
  } else {
    const decoded = KINDS[field.kind as "text"].decode(value, field);
    if ("error" in decoded) errors.set(name, [decoded.error]);
    else values.set(name, decoded.value);
  }
}

/** A property of a nested answer, {"name", "value", "category"}, or {"value"}, stands for its value. */
function unwrapped(value: Json, field: Field): Json {
  if (!isObject(value) || !Object.hasOwn(value, "value")) return value;
  const keys = Object.keys(value);
  const plain = keys.every((key) => ["name", "value", "category"].includes(key));
  return plain && (field.kind !== "json" || keys.length === 3) ? unwrapped(value.value, field) : value;
}

/** A reference by id or name, or as an object with one of id, name, username or the resource's own key. */
export function parseReference(far: Resource, field: string, value: Json): UnresolvedReference | string {
  const parseId = KINDS[far.fields.id.kind as "uuid"].parse;
  if (typeof value === "string" || typeof value === "number") {
    const text = String(value).trim();
    const id = parseId(text);
    if (id !== undefined && id !== null) return { field, by: "id", value: id };
    if (!isName(text)) return "Not a valid string.";
    return { field, by: far.key, value: text };
  }
  const object = isObject(value) ? value : {};
  if ((object.id ?? null) !== null) {
    const id = typeof object.id === "object" ? undefined : parseId(String(object.id).trim());
    if (id !== undefined && id !== null) return { field, by: "id", value: id };
    return far.fields.id.kind === "uuid" ? "Enter a valid UUID." : "A valid integer is required.";
  }
  const named = [far.key, "name", "username"].map((key) => object[key]).find(isName);
  return named === undefined
    ? `Expected an id, a ${far.key}, or an object with one of them.`
    : { field, by: far.key, value: String(named).trim() };
}

const isName = (value: Json | undefined): boolean =>
  typeof value === "string" && value.trim() !== "" && KINDS.text.parse(value) !== undefined;

/** The error for a reference to a record that does not exist or that the caller may not view. */
export function missingReference({ by, value }: UnresolvedReference): string {
  return by === "id"
    ? `Invalid pk ${quoted(String(value))} - object does not exist.`
    : `Object with ${by}=${shownName(String(value))} does not exist.`;
}

/** 400 with an entry per field; the message is the first of them. */
export function fieldProblem(errors: ReadonlyMap<string, string[]>): Problem {
  const [[name, [text]]] = errors;
  return new Problem("invalid_request", `${name}: ${text}`, { fields: Object.fromEntries(errors) });
}

/** 400 with one error for one field. */
export const invalidField = (name: string, text: string): Problem => fieldProblem(new Map([[name, [text]]]));
