import type { DeletedFilter, ReadableParent, RecordSource } from "../records/sub-resources.ts";
import { listTag, recordTag } from "./entity-tag.ts";
import { and, ALIVE } from "../model/condition.ts";
import { type Json, KINDS } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import type { Resource } from "../model/resource.ts";
import { showOther } from "./alternative-formats.ts";
import type { Call } from "./response.ts";
import type { Store } from "../records/store.ts";
import { forbidden } from "../records/record-writer.ts";
import { Problem } from "../../problem.ts";

/** What requests about parts of records have in common. */

/** `deleted` of a request about parts. @throws Problem invalid_request */
function lifeOf(parameters: URLSearchParams): DeletedFilter {
  const typed = parameters.get("deleted") ?? "";
  if (typed === "") return "living";
  if (typed.toLowerCase() === "all") return "all";
  const deleted = KINDS.flag.parse(typed);
  if (deleted === undefined) throw parameterProblem("deleted", "Expected true, false or all.");
  return deleted === 1 ? "deleted" : "living";
}

/** What is asked of; of a deleted record only with `deleted=true` or `all`. @throws Problem not_found */
export function readableParent(store: Store, call: Call, resource: Resource, id: string): ReadableParent {
  const { searchParams } = call.url;
  const life = lifeOf(searchParams);
  const past = searchParams.has("as_of") ? store.past(resource, searchParams, call.actor) : undefined;
  const source: RecordSource = past
    ? { statements: past.statements, reader: past.reader, actor: past.everyone }
    : { statements: store.statements, reader: store.reader, actor: call.actor };
  const rid = source.reader.find(resource, id, life === "living" ? ALIVE : and(), source.actor);
  if (rid === undefined) throw new Problem("not_found", "Not found.");
  return { ...source, rid, deletedFilter: life };
}

/** A record whose parts are to be written. @throws Problem not_found, forbidden */
export function changeableParent(store: Store, call: Call, resource: Resource, id: string): number {
  const rid = store.reader.find(resource, id, ALIVE, call.actor);
  if (rid === undefined) throw new Problem("not_found", "Not found.");
  if (!store.reader.rights(resource, call.actor, [rid]).get(rid)?.change) throw forbidden();
  return rid;
}

/** JSON with a tag: of one part with its version, of anything else without. */
export function showSubResource(
  call: Call,
  value: Json,
  allow: string,
  { status = 200, version }: { status?: number; version?: number } = {},
): Response {
  const json = JSON.stringify(value);
  const tag = version === undefined ? listTag(json) : recordTag(version, json, "json");
  const headers = { Allow: allow, ETag: tag };
  return showOther(call, json, { status, headers });
}
