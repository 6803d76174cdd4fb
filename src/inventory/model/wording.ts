import type { Condition } from "./condition.ts";
import { type Field, type Json, choosePrinter, type Stored } from "./field.ts";
import { ANNOTATIONS, fieldAt, listPath, type Resource, type Resources, findTarget } from "./resource.ts";

/** The name of a record by its row number, if it has one. */
export type FindName = (resource: Resource, rid: number) => string | undefined;

/**
 * A condition in the form in which an advanced filter is written: comparisons with category, operator and value, and
 * `and`, `or`, `not`. Grants are `{"some": <relation>, "for which": …}`, and constants are true or false. Names replace
 * row numbers.
 */
export function wording(
  resources: Resources,
  resource: Resource,
  condition: Condition,
  findName: FindName,
): Json {
  const words = (part: Condition): Json => wording(resources, resource, part, findName);
  switch (condition.kind) {
    case "constant":
      return condition.value;
    case "and":
    case "or":
      return { [condition.kind]: condition.parts.map(words) };
    case "not":
      return { not: words(condition.part) };
    case "some": {
      const path = [...condition.at, condition.relation];
      const far =
        condition.relation === ANNOTATIONS
          ? resources.annotationValue!
          : (listPath(resources, resource, path)?.target ?? resource);
      return { some: path.join("__"), "for which": wording(resources, far, condition.part, findName) };
    }
    case "compare":
      break;
  }
  return comparison(resources, resource, condition, findName);
}

function comparison(
  resources: Resources,
  resource: Resource,
  { path, operator, value }: Extract<Condition, { kind: "compare" }>,
  findName: FindName,
): Json {
  if (resource === resources.annotationValue && path[0] === "type") {
    const types = ["annotation_type", "custom_property_type"].map((name) => resources.get(name)!);
    const named = types.map((of) => findName(of, Number(value))).find((name) => name !== undefined);
    return { category: "type", operator, value: named ?? value };
  }
  const grantee = /^(user|group)_rid$/.exec(path[0])?.[1];
  const reference = path.at(-1) === "rid" ? fieldAt(resources, resource, path.slice(0, -1)) : undefined;
  const far = grantee ? resources.get(grantee) : reference && findTarget(resources, reference);
  const category = grantee ?? (reference ? path.slice(0, -1) : path).join("__");
  const named = far && value !== null ? findName(far, Number(value)) : undefined;
  return { category, operator, value: named ?? shownValue(fieldAt(resources, resource, path), value) };
}

/** A stored value as answers show it. Columns of grants are not fields; they are flags. */
function shownValue(field: Field | undefined, value: Stored): Json {
  if (!field) return value === 1 ? true : value;
  if (field.kind === "computed" || field.kind === "json" || value === null) return value;
  return choosePrinter(field)(value);
}
