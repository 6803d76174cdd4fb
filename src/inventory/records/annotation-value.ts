import { type Actor, visible } from "../model/access.ts";
import { and, compare, type Condition } from "../model/condition.ts";
import { isDay, type Json, KINDS, parseUuid, quoted } from "../model/field.ts";
import { plan } from "../model/plan.ts";
import { columnOf, type Resource, type Resources } from "../model/resource.ts";
import { compile, rows } from "../model/sql.ts";
import type { Statements } from "./statements.ts";

/** What an annotation type, or a custom property type, says about its values. */
export interface ValueType {
  type: string;
  multiple: boolean;
  validations: { name: string; error_message: string }[];
  value_choices: Json[][] | null;
  /** Row numbers of categories. */
  cv_category: number | null;
  unit_category: number | null;
  /** Segment of the list of choices, with `?type=…` where only records of one type are. */
  choices_target: string;
}

/** A value as it is kept: references as {"resource", "id"}, numbers with units as {"value", "unit"}. */
export type Checked = { value: Json } | { error: string };

const TEXT_LENGTH = 10_000;
const LIST_LENGTH = 1000;

/** Checks values against their types, and shows them. */
export interface AnnotationValues {
  check(type: ValueType, value: Json, actor: Actor): Checked;
  /** References as {"id", "name"}; the name only where the actor may view the record. */
  show(value: Json, actor: Actor): Json;
}

export function openAnnotationValues(statements: Statements, resources: Resources): AnnotationValues {
  /** Ids of at most two records that the words may mean. */
  const idsOf = (resource: Resource, typed: Json, also: Condition, actor: Actor): string[] => {
    const named =
      typed !== null && typeof typed === "object" && !Array.isArray(typed)
        ? (typed.id ?? typed.name ?? typed.username ?? typed.value ?? null)
        : typed;
    if (typeof named !== "string" || KINDS.text.parse(named) === undefined) return [];
    const id = parseUuid(named);
    const alive = "deleted" in resource.fields ? compare(["deleted"], "==", 0) : and();
    const by = id === undefined ? compare([resource.key], "==", named.trim()) : compare(["id"], "==", id);
    const where = compile(and(by, alive, also, visible(resource, actor)), plan(resources, resource, actor));
    const text = `SELECT t.id AS id FROM ${resource.table} AS t WHERE ${rows(resource)}${where.text} LIMIT 2`;
    return statements.all({ text, args: where.args }).map((row) => String(row.id));
  };

  const reference = (
    resource: Resource,
    typed: Json,
    also: Condition,
    what: string,
    actor: Actor,
  ): Checked => {
    const found = idsOf(resource, typed, also, actor);
    if (found.length === 1) return { value: { resource: resource.name, id: found[0] } };
    const shown = typeof typed === "string" ? quoted(typed) : "The given value";
    return {
      error:
        found.length === 0
          ? `${shown} is not ${what}.`
          : `Several records have this name; give the id of one.`,
    };
  };

  const ofCategory = (category: number | null, otherwise: Condition): Condition =>
    category === null ? otherwise : compare(["category", "rid"], "==", category);

  const object = (type: ValueType, typed: Json, actor: Actor): Checked => {
    const [segment, query = ""] = type.choices_target.split("?");
    const candidates = [...resources.values()].filter(
      (resource) =>
        resource.segment !== null &&
        resource.fields.id.kind === "uuid" &&
        (segment === "" || resource.segment === segment || resource.aliases?.includes(segment)),
    );
    const kind = /^type=(\w+)$/.exec(query)?.[1];
    for (const resource of candidates) {
      const also = kind && "model_type" in resource.fields ? compare(["model_type"], "==", kind) : and();
      const found = reference(resource, typed, also, `a record of ${resource.segment}`, actor);
      if ("value" in found || segment !== "") return found;
    }
    return { error: "There is no such record." };
  };

  const amount = (type: ValueType, typed: Json, actor: Actor): Checked => {
    const split = typeof typed === "string" ? /^\s*(\S+)\s+(\S.*?)\s*$/.exec(typed) : null;
    const given = split
      ? { value: split[1], unit: split[2] }
      : typed !== null && typeof typed === "object" && !Array.isArray(typed)
        ? { value: typed.value ?? typed.number ?? null, unit: typed.unit ?? typed.unit_id ?? null }
        : undefined;
    if (!given || given.unit === null)
      return { error: 'Expected a number with a unit: {"value": 5, "unit": "milligram"}.' };
    const number = KINDS.number.decode(given.value, NUMBER);
    if ("error" in number) return number;
    const among = ofCategory(type.unit_category, compare(["category", "kind"], "==", "unit"));
    const unit = reference(resources.get("term")!, given.unit, among, "one of the units", actor);
    return "error" in unit ? unit : { value: { value: number.value, unit: unit.value } };
  };

  const one = (type: ValueType, typed: Json, actor: Actor): Checked => {
    switch (type.type) {
      case "JSON":
      case "DMAPPANNOTATION":
        return { value: typed };
      case "NUMBERUNIT":
        return amount(type, typed, actor);
      case "NUMBER": {
        return KINDS.number.decode(typed, NUMBER);
      }
      case "DATE":
        return typeof typed === "string" && KINDS.instant.parse(typed) !== undefined && isDay(typed)
          ? { value: typed.trim() }
          : { error: "Expected a date, such as 2026-01-31." };
      case "USER":
        return reference(resources.get("user")!, typed, and(), "a user", actor);
      case "VOCABULARYTERM": {
        const among = ofCategory(type.cv_category, and());
        return reference(resources.get("term")!, typed, among, "a term of the vocabulary", actor);
      }
      case "OBJECT":
        return object(type, typed, actor);
      default: {
        if (typeof typed !== "string" && typeof typed !== "number") return { error: "Not a valid string." };
        const text = String(typed).trim();
        if (KINDS.text.parse(text) === undefined) return { error: "Expected text without NUL characters." };
        if (text.length > TEXT_LENGTH)
          return { error: `Ensure this field has no more than ${TEXT_LENGTH} characters.` };
        const choices = type.value_choices?.map(([value]) => String(value));
        if (choices && !choices.includes(text))
          return { error: `${quoted(text)} is not a valid choice. Choices: ${choices.join(", ")}.` };
        return { value: text };
      }
    }
  };

  return {
    check(type, value, actor) {
      const several = Array.isArray(value) && type.type !== "JSON" && type.type !== "DMAPPANNOTATION";
      if (several && !type.multiple) return { error: "Only one value can be given." };
      if (several && value.length > LIST_LENGTH) return { error: `More than ${LIST_LENGTH} values.` };
      if (isEmpty(value) || (several && value.some(isEmpty))) {
        const required = type.validations.find(({ name }) => name === "required");
        return { error: required?.error_message ?? "This field may not be blank." };
      }
      if (!several) return one(type, value, actor);
      const values: Json[] = [];
      for (const item of value) {
        const checked = one(type, item, actor);
        if ("error" in checked) return checked;
        values.push(checked.value);
      }
      return { value: values };
    },
    show(value, actor) {
      const shown = (part: Json): Json => {
        if (Array.isArray(part)) return part.map(shown);
        if (part === null || typeof part !== "object") return part;
        const keys = Object.keys(part).join();
        if (keys === "value,unit") return { value: part.value, unit: shown(part.unit) };
        const resource = keys === "resource,id" ? resources.get(String(part.resource)) : undefined;
        if (!resource) return part;
        const where = compile(
          and(compare(["id"], "==", String(part.id)), visible(resource, actor)),
          plan(resources, resource, actor),
        );
        const row = statements.get({
          text: `SELECT t.${columnOf(resource, resource.key)} AS name FROM ${resource.table} AS t WHERE ${where.text}`,
          args: where.args,
        });
        return { id: part.id, name: row?.name ?? null };
      };
      return shown(value);
    },
  };
}

const NUMBER = { kind: "number", doc: "", shown: "always", write: "optional", nullable: false } as const;

const isEmpty = (value: Json): boolean =>
  value === null ||
  (typeof value === "string" && value.trim() === "") ||
  (Array.isArray(value) && value.length === 0);
