import { type Actor, visible } from "../model/access.ts";
import { and, compare, type Condition } from "../model/condition.ts";
import { plan } from "../model/plan.ts";
import { columnOf, isGuarded, type Resource, type Resources } from "../model/resource.ts";
import { compile, rows } from "../model/sql.ts";
import type { RoutedResource } from "../resources/index.ts";
import type { Statements } from "./statements.ts";

/** A field by which records of one list refer to records of another. */
export interface ReferringField {
  resource: RoutedResource;
  field: string;
}

/** The fields by which records that have owners refer to records of this resource. */
export function fieldsReferringTo(resources: Resources, resource: Resource): ReferringField[] {
  const found: ReferringField[] = [];
  for (const other of resources.values()) {
    if (other.segment === null || !isGuarded(other)) continue;
    for (const [field, { kind, to }] of Object.entries(other.fields))
      if (kind === "reference" && to === resource.name)
        found.push({ resource: other as RoutedResource, field });
  }
  return found;
}

const ALIVE = compare(["deleted"], "==", 0);

/** How many records, of those that the actor may view, refer by this field to each of the row numbers; none where absent. */
export function countReferring(
  statements: Statements,
  resources: Resources,
  { resource, field }: ReferringField,
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

/** Records that have an annotation of one type which names the record. */
export interface Annotated {
  resource: RoutedResource;
  /** Name of the type; null where the actor may not view it. */
  annotation: string | null;
  /** Row numbers, in the order of the records' names. */
  rids: number[];
}

/** The records that the actor may view and whose annotations refer to the record of this id, by list and type. */
export function annotatedWith(
  statements: Statements,
  resources: Resources,
  { name }: Resource,
  id: string,
  actor: Actor,
): Annotated[] {
  // As annotation-value.ts keeps references, alone, in lists and as units.
  const kept = JSON.stringify({ resource: name, id });
  const pairs = statements.all({
    text:
      "SELECT DISTINCT a.object_kind AS kind, a.annotation_type AS type, f.kind AS family FROM annotation AS a" +
      " JOIN field_type AS f ON f.rid = a.annotation_type WHERE a.deleted = 0 AND instr(a.value, ?) > 0 ORDER BY 1, 2",
    args: [kept],
  });
  return pairs.flatMap(({ kind, type, family }): Annotated[] => {
    const resource = resources.get(String(kind)) as RoutedResource;
    const seen = compile(and(ALIVE, visible(resource, actor)), plan(resources, resource, actor));
    const found = statements.all({
      text:
        `SELECT t.rid AS rid FROM ${resource.table} AS t WHERE ${rows(resource)}(${seen.text}) AND t.rid IN (SELECT a.object_rid` +
        " FROM annotation AS a WHERE a.object_kind = ? AND a.annotation_type = ? AND a.deleted = 0 AND instr(a.value, ?) > 0)" +
        ` ORDER BY t.${columnOf(resource, resource.key)}, t.rid`,
      args: [...seen.args, kind, type, kept],
    });
    if (found.length === 0) return [];
    const types = [...resources.values()].find(
      (each) => each.table === "field_type" && each.where?.kind === family,
    )!;
    const may = compile(visible(types, actor), plan(resources, types, actor));
    const row = statements.get({
      text: `SELECT t.name AS name FROM field_type AS t WHERE t.rid = ? AND (${may.text})`,
      args: [type, ...may.args],
    });
    const annotation = row === null ? null : String(row.name);
    return [{ resource, annotation, rids: found.map(({ rid }) => Number(rid)) }];
  });
}
