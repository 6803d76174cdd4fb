import type { Actor } from "../model/access.ts";
import { and, compare } from "../model/condition.ts";
import { type Json, KINDS } from "../model/field.ts";
import type { RecordReader } from "./record-reader.ts";
import type { RoutedResource } from "../resources/index.ts";

const ALIVE = compare(["deleted"], "==", 0);
const LOOK = { format: undefined, shape: "flat" } as const;

/**
 * What a bare id is, or `byName` a name: the record of the first resource that has it, as far as the caller may view it;
 * else all null.
 */
export function resolve(
  reading: RecordReader,
  resources: readonly RoutedResource[],
  typed: string,
  actor: Actor,
  byName = false,
): Record<string, Json> {
  const isId = KINDS.uuid.parse(typed) !== undefined;
  for (const resource of resources) {
    if (resource.fields.id.kind !== "uuid") continue;
    const rid = isId
      ? reading.find(resource, typed, ALIVE, actor)
      : byName
        ? named(reading, resource, typed, actor)
        : undefined;
    if (rid === undefined) continue;
    const kinds = "model_type" in resource.fields;
    const fields = ["id", resource.key, ...(kinds ? ["model_type"] : [])];
    const around = { base: "", format: undefined };
    const [record] = reading.records(resource, { ...LOOK, fields }, actor, [rid], around).values;
    const [app, model] = resource.model.split(".");
    return {
      id: record.id,
      name: record[resource.key],
      model_type: kinds ? record.model_type : null,
      model_name: model,
      app_name: app,
    };
  }
  return { id: null, name: null, model_type: null, model_name: null, app_name: null };
}

/** The first record with the name, as lists are ordered. */
function named(
  reading: RecordReader,
  resource: RoutedResource,
  name: string,
  actor: Actor,
): number | undefined {
  if (KINDS.text.parse(name) === undefined || name.trim() === "") return undefined;
  const condition = and(compare([resource.key], "==", name.trim()), ALIVE);
  const listing = { ...LOOK, fields: undefined, condition, order: [], page: 1, size: 1, ignored: [] };
  return reading.list(resource, listing, actor).rids[0];
}
