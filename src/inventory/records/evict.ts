import type { Actor } from "../model/access.ts";
import { ALWAYS } from "../model/condition.ts";
import { quoted, shownName } from "../model/field.ts";
import { invalidField } from "../model/parse-body.ts";
import { selectVisible } from "../model/plan.ts";
import { columnName } from "../model/resource.ts";
import { clause, selecting } from "../model/sql.ts";
import { RESOURCES, type RoutedResource } from "../resources/index.ts";
import { hasPosition } from "../resources/position.ts";
import type { RecordWriter } from "./record-writer.ts";
import { forbidden } from "./rights.ts";
import type { Store } from "./store.ts";

/** Removes records from a location for users who may change it, including records that they may not view. */

/** A record in a location. */
interface EnclosedRecord {
  resource: RoutedResource;
  /** Field by which the record is in the location. */
  field: string;
  rid: number;
  /** Empty without a position. */
  position: string;
  /** Record; null if the actor may not view it. */
  record: { segment: string; id: string; name: string } | null;
  isTakenOut: boolean;
}
export type Evicted = Pick<EnclosedRecord, "position" | "record">;

/** The records to remove: by position, by id, and all that the actor may not view. */
interface Choice {
  positions?: readonly string[] | undefined;
  records?: readonly string[] | undefined;
  hidden?: boolean | undefined;
  /** Refuses records that nobody has taken out, and hidden ones. */
  onlyTakenOut?: boolean;
}

/** The fields by which records are in locations. */
const LOCATION_FIELDS = RESOURCES.flatMap((resource) =>
  Object.entries(resource.fields).flatMap(([field, { places, to }]) =>
    places && to === "location" ? [{ resource, field }] : [],
  ),
);

/** Records directly in a location, in the order of its slots. */
function inside({ statements, resources }: Store, location: number, actor: Actor): EnclosedRecord[] {
  return LOCATION_FIELDS.flatMap(({ resource, field }) => {
    const inLocation = clause(`t.${columnName(resource, field)} = ? AND t.deleted = 0`, [location]);
    const position = hasPosition(resource) ? "t.position" : "''";
    const takenOut = "taken_out" in resource.fields ? "t.taken_out" : "0";
    const { text, args } = selecting(resource, inLocation);
    const all = statements.all({
      text: `SELECT t.rid AS rid, ${position} AS position, ${takenOut} AS taken_out FROM ${resource.table} AS t WHERE ${text} ORDER BY length(position), position`,
      args,
    });
    const columns = `t.rid AS rid, t.id AS id, t.${columnName(resource, resource.key)} AS name`;
    const tail = ` AND ${inLocation.text}`;
    const seen = selectVisible({ resources, actor }, resource, columns, ALWAYS, tail);
    const visible = new Map(
      statements
        .all({ text: seen.text, args: [...seen.args, ...inLocation.args] })
        .map(({ rid, id, name }) => [rid, { segment: resource.segment, id: String(id), name: String(name) }]),
    );
    return all.map(({ rid, position, taken_out }) => ({
      resource,
      field,
      rid: Number(rid),
      position: String(position),
      record: visible.get(rid) ?? null,
      isTakenOut: taken_out === 1,
    }));
  });
}

/** Counts the records directly in a location that the actor may not view. */
export const countHidden = (store: Store, location: number, actor: Actor): number =>
  inside(store, location, actor).filter(({ record }) => record === null).length;

/** Runs in a batch; the caller has checked the rights on the location. @throws Problem invalid_request, forbidden */
export function evict(
  store: Store,
  writer: RecordWriter,
  location: number,
  { positions = [], records = [], hidden = false, onlyTakenOut = false }: Choice,
  actor: Actor,
): Evicted[] {
  if (positions.length + records.length === 0 && !hidden)
    throw invalidField("positions", "Name positions or records, or set hidden to true.");
  const all = inside(store, location, actor);
  const [slots, ids] = [positions, records].map((named) => new Set(named.map((each) => each.toLowerCase())));
  for (const [i, position] of positions.entries())
    if (!all.some((each) => each.position.toLowerCase() === position.toLowerCase()))
      throw invalidField("positions", `[${i}]: Nothing is in ${shownName(position)}.`);
  for (const [i, id] of records.entries())
    if (!all.some(({ record }) => record?.id === id.toLowerCase()))
      throw invalidField("records", `[${i}]: ${quoted(id)} is not the id of a record in this location.`);
  const chosen = all.filter(
    ({ position, record }) =>
      (position !== "" && slots.has(position.toLowerCase())) ||
      (record === null ? hidden : ids.has(record.id)),
  );
  const mayRelease = chosen.every(({ record, isTakenOut }) => record !== null && isTakenOut);
  if (onlyTakenOut && (hidden || !mayRelease)) throw forbidden();
  for (const { resource, rid, field } of chosen) writer.removeFromLocation(resource, rid, field, actor);
  return chosen.map(({ position, record }) => ({ position, record }));
}
