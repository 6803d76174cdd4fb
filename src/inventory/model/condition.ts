import { ALL_OPERATORS } from "./operator.ts";
import type { Stored } from "./field.ts";

/**
 * A predicate on records. Filters of clients and rights of access meet in this one algebra: both are conditions,
 * ANDed, planned and compiled by the same code.
 */
export type Condition =
  | { kind: "constant"; value: boolean }
  | { kind: "compare"; path: readonly string[]; operator: keyof typeof ALL_OPERATORS; value: Stored }
  /** Some record on the far side of a to-many relation for which `part` holds; `at`: references that lead to the relation. */
  | { kind: "some"; at: readonly string[]; relation: string; part: Condition }
  | { kind: "and" | "or"; parts: readonly Condition[] }
  | { kind: "not"; part: Condition };

export const ALWAYS: Condition = { kind: "constant", value: true };
export const NEVER: Condition = { kind: "constant", value: false };

/** `path` leads from the record over references to a field; `value` is as SQLite stores it. Null: only with `==`. */
export const compare = (
  path: readonly string[],
  operator: keyof typeof ALL_OPERATORS,
  value: Stored,
): Condition => ({
  kind: "compare",
  path,
  operator,
  value,
});

/** Condition on records that are not deleted, for resources with a life cycle. */
export const ALIVE: Condition = compare(["deleted"], "==", 0);

export const some = (relation: string, part: Condition, at: readonly string[] = []): Condition => ({
  kind: "some",
  at,
  relation,
  part,
});

/** All of the parts; constants fold away. */
export function and(...parts: readonly Condition[]): Condition {
  const left = flatten("and", parts, true);
  if (left.some((part) => part.kind === "constant")) return NEVER;
  return left.length === 0 ? ALWAYS : left.length === 1 ? left[0] : { kind: "and", parts: left };
}

/** At least one of the parts; constants fold away. */
export function or(...parts: readonly Condition[]): Condition {
  const left = flatten("or", parts, false);
  if (left.some((part) => part.kind === "constant")) return ALWAYS;
  return left.length === 0 ? NEVER : left.length === 1 ? left[0] : { kind: "or", parts: left };
}

export function not(part: Condition): Condition {
  if (part.kind === "constant") return part.value ? NEVER : ALWAYS;
  return part.kind === "not" ? part.part : { kind: "not", part };
}

/** Parts except `neutralValue`, with nested conditions of the same kind flattened. */
function flatten(kind: "and" | "or", parts: readonly Condition[], neutralValue: boolean): Condition[] {
  return parts
    .flatMap((part) => (part.kind === kind ? part.parts : [part]))
    .filter((part) => part.kind !== "constant" || part.value !== neutralValue);
}

/** A record for `holds`: stored values by field name, referenced records as nested records, related ones as lists. */
export interface Row {
  [field: string]: Stored | Row | readonly Row[] | undefined;
}

/** True if the condition is true of the row. Two-valued: what cannot be compared is false, and its negation true. */
export function holds(condition: Condition, row: Row): boolean {
  switch (condition.kind) {
    case "constant":
      return condition.value;
    case "and":
      return condition.parts.every((part) => holds(part, row));
    case "or":
      return condition.parts.some((part) => holds(part, row));
    case "not":
      return !holds(condition.part, row);
    case "some":
      return ((readRow(row, condition.at)?.[condition.relation] ?? []) as readonly Row[]).some((related) =>
        holds(condition.part, related),
      );
    case "compare": {
      const stored = readValue(row, condition.path);
      if (condition.value === null) return stored === null;
      return stored !== null && ALL_OPERATORS[condition.operator].holds(stored, condition.value);
    }
  }
}

function readValue(row: Row, path: readonly string[]): Stored {
  const value = readRow(row, path.slice(0, -1))?.[path[path.length - 1]];
  return typeof value === "string" || typeof value === "number" ? value : null;
}

/** The record behind references. */
function readRow(row: Row, references: readonly string[]): Row | undefined {
  let value: Row[string] = row;
  for (const name of references) {
    if (value === null || typeof value !== "object") return undefined;
    value = (value as Row)[name];
  }
  return value === null || typeof value !== "object" ? undefined : (value as Row);
}

/** True if the condition, at any depth, looks at a path that begins with this name. */
export function mentions(condition: Condition, name: string): boolean {
  switch (condition.kind) {
    case "compare":
      return condition.path[0] === name;
    case "and":
    case "or":
      return condition.parts.some((part) => mentions(part, name));
    case "not":
      return mentions(condition.part, name);
    default:
      return false;
  }
}
