import type { Condition } from "./condition.ts";
import { type Json, KINDS, type Stored } from "./field.ts";
import { fieldAt, type Resource, type Resources, targetOf } from "./resource.ts";

/** What a row number stands for: the name of a record of this resource, where there is one. */
export type NameOf = (resource: Resource, rid: number) => string | undefined;

/**
 * A condition in the form in which an advanced filter is written: comparisons with category, operator and value, and
 * `and`, `or`, `not`. What only rights use is `{"some": <relation>, "for which": …}`, and constants are true or false.
 * Row numbers are shown as the names that they stand for.
 */
export function wording(
  resources: Resources,
  resource: Resource,
  condition: Condition,
  nameOf: NameOf,
): Json {
  switch (condition.kind) {
    case "constant":
      return condition.value;
    case "and":
    case "or":
      return {
        [condition.kind]: condition.parts.map((part) => wording(resources, resource, part, nameOf)),
      };
    case "not":
      return { not: wording(resources, resource, condition.part, nameOf) };
    case "some":
      return { some: condition.relation, "for which": grantWording(resources, condition.part, nameOf) };
    case "compare": {
      const { path, operator, value } = condition;
      const last = path[path.length - 1];
      if (last !== "rid" || path.length === 1)
        return {
          category: path.join("__"),
          operator,
          value: last === "rid" ? value : shownValue(resources, resource, path, value),
        };
      const reference = path.slice(0, -1);
      const field = fieldAt(resources, resource, reference);
      const name = field && value !== null ? nameOf(targetOf(resources, field), Number(value)) : undefined;
      return { category: reference.join("__"), operator, value: name ?? value };
    }
  }
}

const shownValue = (
  resources: Resources,
  resource: Resource,
  path: readonly string[],
  value: Stored,
): Json => {
  const field = fieldAt(resources, resource, path);
  if (!field || field.kind === "computed" || field.kind === "json" || value === null) return value;
  return KINDS[field.kind].print(value);
};

/** Of a right given on a record: columns that hold row numbers of users and groups, and flags. */
function grantWording(resources: Resources, condition: Condition, nameOf: NameOf): Json {
  switch (condition.kind) {
    case "constant":
      return condition.value;
    case "and":
    case "or":
      return { [condition.kind]: condition.parts.map((part) => grantWording(resources, part, nameOf)) };
    case "not":
      return { not: grantWording(resources, condition.part, nameOf) };
    case "some":
      return { some: condition.relation };
    case "compare": {
      const { path, operator, value } = condition;
      const kind = /^(user|group)_rid$/.exec(path[0])?.[1];
      const far = kind === undefined ? undefined : resources.get(kind);
      if (!far || value === null) return { category: path[0], operator, value: value === 1 ? true : value };
      return { category: far.name, operator, value: nameOf(far, Number(value)) ?? value };
    }
  }
}
