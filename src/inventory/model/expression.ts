import { Problem } from "../../problem.ts";
import { and, type Condition, not, or } from "./condition.ts";
import { exceeded } from "../../platform/limits.ts";
import { type Json, KINDS, isObject, shownName } from "./field.ts";
import { namesAnnotation, parseAnnotationComparison } from "./annotation-filter.ts";
import { type Budget, parseOperator, parsePath, parseComparison, spend } from "./filter.ts";
import { LIMITS } from "./limits.ts";
import { parseJson } from "../../platform/parse-json.ts";
import { fieldAt, isRelatedPath, listPath, type Resource, type Resources } from "./resource.ts";

/**
 * Meanings of bare names in the advanced filter, where it is not the field itself (specification, "Preset mappings").
 * `deleted` is a field here and needs no function of its own; listing.ts drops its own condition where one speaks of it.
 */
export const PRESETS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    created_by: "created_by__username",
    modified_by: "modified_by__username",
    owner: "owner__username",
    owned_by: "owned_by__name",
    deleted_by: "deleted_by__username",
    notes: "notes__content",
    cv_category: "cv_category__name",
    field_meta: "field_meta__name",
    mandatory_owned_by: "mandatory_owned_by__name",
    user: "user__username",
    credential: "credential__name",
    workflowversion: "workflowversion__name",
    workflowrun: "workflowrun__name",
    dataset: "dataset__name",
  }),
);

/**
 * The advanced filter: `{"category": …, "operator": …, "value": …}`, several separated by commas, all of which must
 * hold. Also read: a list in brackets, a comma at the end, keys in any case, values as numbers or booleans, and
 * `{"and": […]}`, `{"or": […]}`, `{"not": …}` in place of a comparison.
 * @throws Problem invalid_request under the name query_expression
 */
export function parseExpression(
  resources: Resources,
  resource: Resource,
  text: string,
  budget: Budget = { conditions: LIMITS.conditions.max },
): Condition {
  const bare = text.trim().replace(/,\s*$/, "");
  if (bare === "") return and();
  let items: Json[];
  try {
    items = (parseJson(`[${bare}]`, "not a comma-separated series of JSON objects") as Json[]).flat(1);
  } catch (error) {
    throw refused((error as Problem).message);
  }
  return and(...items.map((item, i) => readItem(item, `object ${i + 1}`, LIMITS.nesting.max)));

  function readItem(item: Json, where: string, depth: number): Condition {
    if (!isObject(item)) throw refused(`${where}: expected an object with category, operator and value`);
    if (depth === 0) throw refused(`${where}: ${exceeded(LIMITS.nesting)}`);
    const keys = new Map(Object.entries(item).map(([key, value]) => [key.toLowerCase(), value]));
    for (const [key, join] of [
      ["and", and],
      ["or", or],
    ] as const) {
      if (keys.size !== 1 || !keys.has(key)) continue;
      const parts = keys.get(key);
      if (!Array.isArray(parts)) throw refused(`${where}: expected a list under ${key}`);
      return join(...parts.map((part, i) => readItem(part, `${where}, ${key} ${i + 1}`, depth - 1)));
    }
    if (keys.size === 1 && keys.has("not"))
      return not(readItem(keys.get("not")!, `${where}, not`, depth - 1));
    if (!spend(budget, 1)) throw refused(exceeded(LIMITS.conditions));
    return readComparison(keys, where);
  }

  function readComparison(keys: Map<string, Json>, where: string): Condition {
    const word = (key: string): string => {
      const value = keys.get(key);
      if (value === undefined) throw refused(`${where}: ${key} is missing`);
      if (value !== null && typeof value === "object")
        throw refused(`${where}: expected a string under ${key}`);
      return value === null ? "null" : String(value);
    };
    const category = word("category");
    const operator = parseOperator(word("operator"));
    if (typeof operator !== "string") throw refused(`${where}: ${operator.error}`);
    if (namesAnnotation(resource, category)) {
      const typed = parseAnnotationComparison(resources, resource, category, operator, word("value"));
      if ("error" in typed) throw refused(`${where}: ${shownName(category)}: ${typed.error}`);
      return typed.condition;
    }
    const named = [category, PRESETS.get(category) ?? ""].map((name) => name.split("__"));
    const path =
      named.find((names) => isRelatedPath(resource, names) || listPath(resources, resource, names)) ??
      parsePath(resources, resource, category);
    if ("error" in path) throw refused(`${where}: ${path.error}`);
    const value = word("value");
    const typed = parseComparison(resources, resource, preset(resource, path, value), operator, value);
    if ("error" in typed) throw refused(`${where}: ${path.join("__")}: ${typed.error}`);
    return typed.condition;
  }

  /** The presets name a field of the referenced record; an id or `null` in place of the name is taken as such. */
  function preset(resource: Resource, path: readonly string[], value: string): readonly string[] {
    const mapped = path.length === 1 ? PRESETS.get(path[0])?.split("__") : undefined;
    const isId = KINDS.uuid.parse(value) !== undefined || /^(null|none|)$/i.test(value);
    return mapped && !isId && fieldAt(resources, resource, mapped) ? mapped : path;
  }
}

function refused(error: string): Problem {
  return new Problem("invalid_request", `query_expression: ${error}`, {
    fields: { query_expression: [error] },
  });
}
