import { type Actor, visible } from "./model/access.ts";
import { and, compare, type Condition } from "./model/condition.ts";
import { plan } from "./model/plan.ts";
import { columnOf, isGuarded, type Resource, type Resources } from "./model/resource.ts";
import { compile, rows } from "./model/sql.ts";
import type { Routed } from "./resources/index.ts";
import type { Statements } from "./statements.ts";

/** A field by which records of one list refer to records of another. */
export interface Referring {
  resource: Routed;
  field: string;
}

/** The fields by which records that have owners refer to records of this resource. */
export function referringTo(resources: Resources, resource: Resource): Referring[] {
  const found: Referring[] = [];
  for (const other of resources.values()) {
    if (other.segment === null || !isGuarded(other)) continue;
    for (const [field, { kind, to }] of Object.entries(other.fields))
      if (kind === "reference" && to === resource.name) found.push({ resource: other as Routed, field });
  }
  return found;
}

const ALIVE = compare(["deleted"], "==", 0);

/** How many records, of those that the actor may view, refer by this field to each of the row numbers; none where absent. */
export function countReferring(
  statements: Statements,
  resources: Resources,
  { resource, field }: Referring,
  to: readonly number[],
  actor: Actor,
  also: Condition = and(),
): Map<number, number> {
  const joined = plan(resources, resource, actor);
  const where = compile(and(ALIVE, also, visible(resource, actor)), joined);
  const joins = joined.joins();
  const column = `t.${columnOf(resource, field)}`;
  const found = statements.all({
    text:
      `SELECT ${column} AS far, count(*) AS total FROM ${resource.table} AS t${joins.text}` +
      ` WHERE ${rows(resource)}${column} IN (SELECT value FROM json_each(?)) AND (${where.text}) GROUP BY far`,
    args: [...joins.args, JSON.stringify(to), ...where.args],
  });
  return new Map(found.map(({ far, total }) => [Number(far), Number(total)]));
}
