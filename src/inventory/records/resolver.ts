import { ALIVE, and, compare } from "../model/condition.ts";
import { type Json, KINDS, parseUuid } from "../model/field.ts";
import type { Query } from "../model/operator.ts";
import { selectVisible } from "../model/plan.ts";
import { columnName, type Viewer } from "../model/resource.ts";
import type { RoutedResource } from "../resources/index.ts";

/** The first record with this id or, with `byName`, this name, that the actor may view; all null if there is none. */
export function resolve(
  query: Query,
  viewer: Viewer,
  resources: readonly RoutedResource[],
  typed: string,
  byName = false,
): Record<string, Json> {
  const id = parseUuid(typed);
  const name = byName && KINDS.text.parse(typed) !== undefined ? typed.trim() : "";
  for (const resource of id === undefined && name === "" ? [] : resources) {
    if (resource.fields.id.kind !== "uuid") continue;
    const named = id === undefined ? compare([resource.key], "==", name) : compare(["id"], "==", id);
    const type = "model_type" in resource.fields ? "t.model_type" : "NULL";
    const columns = `t.id AS id, t.${columnName(resource, resource.key)} AS name, ${type} AS model_type`;
    const tail = " ORDER BY t.id LIMIT 1";
    const row = query.get(selectVisible(viewer, resource, columns, and(named, ALIVE), tail));
    const [app_name, model_name] = resource.model.split(".");
    if (row) return { id: row.id, name: row.name, model_type: row.model_type, model_name, app_name };
  }
  return { id: null, name: null, model_type: null, model_name: null, app_name: null };
}
