import { type Actor, visible } from "../model/access.ts";
import { and, type Condition } from "../model/condition.ts";
import { type Field, type Json, KINDS } from "../model/field.ts";
import { plan } from "../model/plan.ts";
import { type Resource, type Resources, targetOf } from "../model/resource.ts";
import { compile, rows } from "../model/sql.ts";
import type { Statements } from "./statements.ts";

/** One value of a field, and how many records have it. */
export interface FieldValue {
  /** What a filter on the field takes; null: none. */
  value: Json;
  /** References: name of the record that it refers to; null where the actor may not view it. Else the value. */
  label: Json;
  total: number;
}

/**
 * The values that a field has in the records that the actor may view and for which the condition holds, the most
 * frequent first, and whether there are more than `most`.
 */
export function fieldValues(
  statements: Statements,
  resources: Resources,
  resource: Resource,
  path: readonly string[],
  field: Field,
  condition: Condition,
  actor: Actor,
  most: number,
): { values: FieldValue[]; more: boolean } {
  const joined = plan(resources, resource, actor);
  const refers = field.kind === "reference";
  // The row number of what is referred to stands in the row itself: no join.
  const column = joined.operand(refers ? [...path, "rid"] : path).plain;
  const where = compile(and(condition, visible(resource, actor)), joined);
  const joins = joined.joins();
  const found = statements.all({
    text:
      `SELECT ${column} AS value, count(*) AS total FROM ${resource.table} AS t${joins.text}` +
      ` WHERE ${rows(resource)}${where.text} GROUP BY value ORDER BY total DESC, value LIMIT ?`,
    args: [...joins.args, ...where.args, most + 1],
  });
  const shown = found.slice(0, most);
  const more = found.length > most;
  if (!refers) {
    const { print } = KINDS[field.kind as keyof typeof KINDS];
    const values = shown.map(({ value, total }) => ({
      value: print(value),
      label: print(value),
      total: Number(total),
    }));
    return { values, more };
  }
  const far = targetOf(resources, field);
  const seen = compile(visible(far, actor), plan(resources, far, actor));
  const columnOfFar = (name: string) => `t.${far.fields[name].column ?? name}`;
  const named = statements.all({
    text:
      `SELECT t.rid AS rid, ${columnOfFar("id")} AS id, CASE WHEN ${seen.text} THEN ${columnOfFar(far.key)} END AS label` +
      ` FROM json_each(?) AS page CROSS JOIN ${far.table} AS t ON t.rid = page.value`,
    args: [...seen.args, JSON.stringify(shown.map(({ value }) => value))],
  });
  const byRid = new Map(named.map((row) => [row.rid, row]));
  const values = shown.map(({ value, total }) => {
    const row = byRid.get(value);
    const id = far.shownAs === "key" ? row?.label : row?.id;
    return { value: id ?? null, label: row?.label ?? null, total: Number(total) };
  });
  return { values, more };
}
