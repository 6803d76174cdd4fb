import type { Actor } from "../model/access.ts";
import { ALIVE, ALWAYS, and, compare, type Condition } from "../model/condition.ts";
import type { Row } from "../model/operator.ts";
import { selectVisible } from "../model/plan.ts";
import { columnName, isGuarded, type Resource, type Resources, type Viewer } from "../model/resource.ts";
import type { RoutedResource } from "../resources/index.ts";
import type { Statements } from "./statements.ts";

/** A field by which records of one list refer to records of another. */
export interface ReferringField {
  resource: RoutedResource;
  field: string;
}

/** The fields by which records that have owners refer to records of this resource. */
export const fieldsReferringTo = (resources: Resources, resource: Resource): ReferringField[] =>
  [...resources.values()]
    .filter((other): other is RoutedResource => other.segment !== null && isGuarded(other))
    .flatMap((other) =>
      Object.entries(other.fields)
        .filter(([, { to }]) => to === resource.name)
        .map(([field]) => ({ resource: other, field })),
    );

/** Counts the records visible to the actor that refer by this field to each of the row numbers; zeros are left out. */
export function countReferring(
  statements: Statements,
  viewer: Viewer,
  { resource, field }: ReferringField,
  to: readonly number[],
  condition: Condition = ALWAYS,
): Map<number, number> {
  const column = `t.${columnName(resource, field)}`;
  const { text, args } = selectVisible(
    viewer,
    resource,
    `${column} AS far, count(*) AS total`,
    and(ALIVE, condition),
    ` AND ${column} IN (SELECT value FROM json_each(?)) GROUP BY far`,
  );
  const found = statements.all({ text, args: [...args, JSON.stringify(to)] });
  return new Map(found.map(({ far, total }) => [Number(far), Number(total)]));
}

/** Records that have an annotation of one type which refers to the record. */
export interface Annotated {
  resource: RoutedResource;
  /** Name of the type; null if the actor may not view it. */
  annotation: string | null;
  /** Filter of the list that finds the records; undefined if the actor may not use it. */
  filter: string | undefined;
  /** Row numbers, in the order of the records' names. */
  rids: number[];
}

/** The records that the actor may view and whose annotations refer to the record of this id, by list and type. */
export function countAnnotated(
  statements: Statements,
  resources: Resources,
  { name }: Resource,
  id: string,
  actor: Actor,
): Annotated[] {
  const viewer = { resources, actor };
  // References in the forms of annotation-value.ts: alone, in lists and as units.
  const stored = JSON.stringify({ resource: name, id });
  const pairs = statements.all({
    text:
      "SELECT DISTINCT a.object_kind AS kind, a.annotation_type AS type, f.kind AS family FROM annotation AS a" +
      " JOIN field_type AS f ON f.rid = a.annotation_type WHERE a.deleted = 0 AND instr(a.value, ?) > 0 ORDER BY 1, 2",
    args: [stored],
  });
  return pairs.flatMap(({ kind, type, family }): Annotated[] => {
    const resource = resources.get(String(kind)) as RoutedResource;
    const { text, args } = selectVisible(
      viewer,
      resource,
      "t.rid AS rid",
      ALIVE,
      " AND t.rid IN (SELECT a.object_rid FROM annotation AS a WHERE a.object_kind = ? AND a.annotation_type = ?" +
        ` AND a.deleted = 0 AND instr(a.value, ?) > 0) ORDER BY t.${columnName(resource, resource.key)}, t.rid`,
    );
    const rids = statements.all({ text, args: [...args, kind, type, stored] }).map(({ rid }) => Number(rid));
    if (rids.length === 0) return [];
    const types = resources.get(family === "annotation" ? "annotation_type" : "custom_property_type")!;
    const columns = "t.name AS name, t.id AS id, t.type AS type, t.searchable AS searchable";
    const row = statements.get(selectVisible(viewer, types, columns, compare(["rid"], "==", type)));
    return [
      {
        resource,
        annotation: row === null ? null : String(row.name),
        filter: row ? makeFilter(row) : undefined,
        rids,
      },
    ];
  });
}

/** The filter on values of a type that refer to a record. */
function makeFilter({ id, type, searchable }: Row): string | undefined {
  const name = `annotations__${String(id)}`;
  if (type === "NUMBERUNIT") return `${name}__unit`;
  return searchable === 1 && ["VOCABULARYTERM", "USER", "OBJECT"].includes(String(type)) ? name : undefined;
}
