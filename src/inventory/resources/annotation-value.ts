import { ALIVE, ALWAYS, and, compare, type Condition } from "../model/condition.ts";
import {
  type Decoded,
  isDay,
  type Json,
  KINDS,
  number,
  parseUuid,
  shownName,
  isObject,
} from "../model/field.ts";
import { selectVisible } from "../model/plan.ts";
import { columnName, type Resource } from "../model/resource.ts";
import type { ReadContext } from "../model/resource.ts";

/** Rules for the values of an annotation type or custom property type. */
export interface ValueType {
  type: string;
  multiple: boolean;
  validations: { name: string; error_message: string }[];
  value_choices: Json[][] | null;
  /** Row numbers of categories. */
  cv_category: number | null;
  unit_category: number | null;
  /** Segment of the list of choices, with `?type=…` for records of one type. */
  choices_target: string;
}

/** A value in stored form: references as {"resource", "id"}, numbers with units as {"value", "unit"}. */
export type Checked = { value: Json } | { error: string };

const TEXT_LENGTH = 10_000;
const LIST_LENGTH = 1000;
const NUMBER = number("");

/** Checks a value against its type. */
export function checkValue(type: ValueType, value: Json, context: ReadContext): Checked {
  const several = Array.isArray(value) && type.type !== "JSON" && type.type !== "DMAPPANNOTATION";
  if (several && !type.multiple) return { error: "Only one value is allowed." };
  if (several && value.length > LIST_LENGTH) return { error: `More than ${LIST_LENGTH} values.` };
  if (isEmpty(value) || (several && value.some(isEmpty))) {
    const required = type.validations.find(({ name }) => name === "required");
    return { error: required?.error_message ?? "This field may not be blank." };
  }
  if (!several) return checkOne(type, value, context);
  const checked = value.map((item) => checkOne(type, item, context));
  const wrong = checked.find((item) => "error" in item);
  return wrong ?? { value: checked.map((item) => (item as { value: Json }).value) };
}

function checkOne(type: ValueType, typed: Json, context: ReadContext): Checked {
  const term = (typed: Json, condition: Condition, noun: string) =>
    checkReference(context.resources.get("term")!, typed, condition, noun, context);
  const inCategory = (rid: number | null, otherwise: Condition): Condition =>
    rid === null ? otherwise : compare(["category", "rid"], "==", rid);
  switch (type.type) {
    case "JSON":
    case "DMAPPANNOTATION":
      return { value: typed };
    case "NUMBERUNIT": {
      const units = inCategory(type.unit_category, compare(["category", "kind"], "==", "unit"));
      return checkAmount(typed, (unit) => term(unit, units, "one of the units"));
    }
    case "NUMBER":
      return KINDS.number.decode(typed, NUMBER);
    case "BOOLEAN": {
      const flag: Decoded = KINDS.flag.decode(typed, NUMBER);
      return "error" in flag ? flag : { value: flag.value === 1 };
    }
    case "DATE":
      return typeof typed === "string" && KINDS.instant.parse(typed) !== undefined && isDay(typed)
        ? { value: typed.trim() }
        : { error: "Expected a date, such as 2026-01-31." };
    case "USER":
      return checkReference(context.resources.get("user")!, typed, ALWAYS, "a user", context);
    case "VOCABULARYTERM":
      return term(typed, inCategory(type.cv_category, ALWAYS), "a term of the vocabulary");
    case "OBJECT":
      return checkObject(type, typed, context);
    default:
      return checkText(type, typed);
  }
}

function checkAmount(typed: Json, checkUnit: (unit: Json) => Checked): Checked {
  const given = splitAmount(typed);
  if (!given || given.unit === null)
    return { error: 'Expected a number with a unit: {"value": 5, "unit": "milligram"}.' };
  const amount: Decoded = KINDS.number.decode(given.value, NUMBER);
  if ("error" in amount) return amount;
  const unit = checkUnit(given.unit);
  return "error" in unit ? unit : { value: { value: amount.value, unit: unit.value } };
}

/** "5 milligram", or an object with value or number, and unit or unit_id. */
function splitAmount(typed: Json): { value: Json; unit: Json } | undefined {
  if (typeof typed === "string") {
    const [, value, unit] = /^\s*(\S+)\s+(\S.*?)\s*$/.exec(typed) ?? [];
    return unit === undefined ? undefined : { value, unit };
  }
  if (!isObject(typed)) return undefined;
  return { value: typed.value ?? typed.number ?? null, unit: typed.unit ?? typed.unit_id ?? null };
}

function checkObject(type: ValueType, typed: Json, context: ReadContext): Checked {
  const [segment, query = ""] = type.choices_target.split("?");
  const candidates = [...context.resources.values()].filter(
    (resource) =>
      resource.segment !== null &&
      resource.fields.id.kind === "uuid" &&
      (segment === "" || resource.segment === segment || resource.aliases?.includes(segment)),
  );
  const kind = /^type=(\w+)$/.exec(query)?.[1];
  for (const resource of candidates) {
    const ofKind = kind && "model_type" in resource.fields ? compare(["model_type"], "==", kind) : ALWAYS;
    const found = checkReference(resource, typed, ofKind, `a record of ${resource.segment}`, context);
    if ("value" in found || segment !== "") return found;
  }
  return { error: "No such record." };
}

function checkText(type: ValueType, typed: Json): Checked {
  if (typeof typed !== "string" && typeof typed !== "number") return { error: "Not a valid string." };
  const text = String(typed).trim();
  if (KINDS.text.parse(text) === undefined) return { error: "Expected text without NUL characters." };
  if (text.length > TEXT_LENGTH)
    return { error: `Ensure this field has no more than ${TEXT_LENGTH} characters.` };
  const choices = type.value_choices?.map(([value]) => String(value));
  if (choices && !choices.includes(text))
    return { error: `${shownName(text)} is not a valid choice. Choices: ${choices.join(", ")}.` };
  return { value: text };
}

/** A reference to the one record that the actor may view and that has this id or name. */
function checkReference(
  resource: Resource,
  typed: Json,
  condition: Condition,
  noun: string,
  { query, resources, actor }: ReadContext,
): Checked {
  const named = isObject(typed) ? (typed.id ?? typed.name ?? typed.username ?? typed.value ?? null) : typed;
  let found: string[] = [];
  if (typeof named === "string" && KINDS.text.parse(named) !== undefined) {
    const id = parseUuid(named);
    const alive = "deleted" in resource.fields ? ALIVE : ALWAYS;
    const by = id === undefined ? compare([resource.key], "==", named.trim()) : compare(["id"], "==", id);
    const sql = selectVisible({ resources, actor }, resource, "t.id", and(by, alive, condition), " LIMIT 2");
    found = query.all(sql).map((row) => String(row.id));
  }
  if (found.length === 1) return { value: { resource: resource.name, id: found[0] } };
  if (found.length > 1) return { error: "Several records have this name. Give the id of one." };
  const shown = typeof typed === "string" ? shownName(typed) : "The given value";
  return { error: `${shown} is not ${noun}.` };
}

/** A stored value as answers show it: references as {"id", "name"}; the name only if the actor may view the record. */
export function showValue(value: Json, context: ReadContext): Json {
  if (Array.isArray(value)) return value.map((item) => showValue(item, context));
  if (value === null || typeof value !== "object") return value;
  const keys = Object.keys(value).join();
  if (keys === "value,unit") return { value: value.value, unit: showValue(value.unit, context) };
  const { resources, actor, query } = context;
  const resource = keys === "resource,id" ? resources.get(String(value.resource)) : undefined;
  if (!resource) return value;
  const name = `t.${columnName(resource, resource.key)} AS name`;
  const byId = compare(["id"], "==", String(value.id));
  const row = query.get(selectVisible({ resources, actor }, resource, name, byId));
  return { id: value.id, name: row?.name ?? null };
}

const isEmpty = (value: Json): boolean =>
  value === null ||
  (typeof value === "string" && value.trim() === "") ||
  (Array.isArray(value) && value.length === 0);
