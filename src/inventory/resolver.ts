import type { Actor } from "./model/access.ts";
import { compare } from "./model/condition.ts";
import { type Json, KINDS } from "./model/field.ts";
import type { Reading } from "./reading.ts";
import type { Routed } from "./resources/index.ts";

const ALIVE = compare(["deleted"], "==", 0);
const LOOK = { format: undefined, shape: "flat" } as const;

/** What a bare id is: the record of any resource that has it, as far as the caller may view it; else all null. */
export function resolveId(
  reading: Reading,
  resources: readonly Routed[],
  id: string,
  actor: Actor,
): Record<string, Json> {
  for (const resource of resources) {
    if (resource.fields.id.kind !== "uuid" || KINDS.uuid.parse(id) === undefined) continue;
    const rid = reading.find(resource, id, ALIVE, actor);
    if (rid === undefined) continue;
    const typed = "model_type" in resource.fields;
    const fields = ["id", resource.key, ...(typed ? ["model_type"] : [])];
    const around = { base: "", format: undefined };
    const [record] = reading.records(resource, { ...LOOK, fields }, actor, [rid], around).values;
    const [app, model] = resource.model.split(".");
    return {
      id: record.id,
      name: record[resource.key],
      model_type: typed ? record.model_type : null,
      model_name: model,
      app_name: app,
    };
  }
  return { id: null, name: null, model_type: null, model_name: null, app_name: null };
}
