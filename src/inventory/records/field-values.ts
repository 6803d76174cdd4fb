import { visible } from "../model/access.ts";
import type { Condition } from "../model/condition.ts";
import { type Json, choosePrinter } from "../model/field.ts";
import type { Query } from "../model/operator.ts";
import { plan, visibleOnly } from "../model/plan.ts";
import {
  ANNOTATIONS,
  columnName,
  fieldAt,
  type Resource,
  findTarget,
  type Viewer,
} from "../model/resource.ts";
import { compile, selecting } from "../model/sql.ts";
import { UniquePaths } from "./unique-path.ts";

/** One value of a field, and how many records have it. */
export interface FieldValue {
  /** The value for a filter on the field; null for none. */
  value: Json;
  /** References: name of the record that it refers to, of places their unique path; null where the actor may not view it. Else the value. */
  label: Json;
  total: number;
}

/**
 * The values that a field has in the records that the actor may view and for which the condition holds, the most
 * frequent first, and whether there are more than `maximum`.
 */
export function fieldValues(
  statements: Query,
  { resources, actor }: Viewer,
  resource: Resource,
  path: readonly string[],
  { condition, maximum }: { condition: Condition; maximum: number },
): { values: FieldValue[]; more: boolean } {
  const field = fieldAt(resources, resource, path)!;
  const joined = plan(resources, resource, actor, undefined, "every value");
  // The row itself has the row number of the referenced record: no join.
  const end = field.kind === "reference" ? [...path, "rid"] : path;
  const column = joined.operand(end).plain;
  // A record counts once for each of its annotations.
  const total = path[0] === ANNOTATIONS ? "count(DISTINCT t.rid)" : "count(*)";
  const where = selecting(resource, compile(visibleOnly(resource, actor, condition), joined));
  const joins = joined.joins();
  const found = statements.all({
    text:
      `SELECT ${column} AS value, ${total} AS total FROM ${resource.table} AS t${joins.text}` +
      ` WHERE ${where.text} GROUP BY value ORDER BY total DESC, value LIMIT ?`,
    args: [...joins.args, ...where.args, maximum + 1],
  });
  const shown = found.slice(0, maximum);
  const more = found.length > maximum;
  if (field.kind !== "reference") {
    const print = choosePrinter(field);
    const values = shown.map(({ value, total }) => ({
      value: print(value),
      label: print(value),
      total: Number(total),
    }));
    return { values, more };
  }
  const far = findTarget(resources, field);
  const seen = compile(visible(far, actor), plan(resources, far, actor));
  const key = `t.${columnName(far, far.key)}`;
  // A value of an annotation refers by id.
  const linked = path[0] === ANNOTATIONS && path.length === 3 ? "id" : "rid";
  const named = statements.all({
    text:
      `SELECT t.rid AS rid, t.${columnName(far, "id")} AS id, CASE WHEN ${seen.text} THEN ${key} END AS label` +
      ` FROM json_each(?) AS page CROSS JOIN ${far.table} AS t ON t.${linked} = page.value`,
    args: [...seen.args, JSON.stringify(shown.map(({ value }) => value))],
  });
  const byRid = new Map(named.map((row) => [row[linked], row]));
  const rids = "unique_path" in far.fields ? named.map(({ rid }) => Number(rid)) : [];
  const paths = new UniquePaths(statements, resources).of(far, rids, actor);
  const values = shown.map(({ value, total }) => {
    const row = byRid.get(value);
    const id = far.shownAs === "key" ? row?.label : row?.id;
    const label = paths.get(Number(row?.rid)) ?? row?.label ?? null;
    return { value: id ?? null, label, total: Number(total) };
  });
  return { values, more };
}
