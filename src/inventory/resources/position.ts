import { changeable } from "../model/access.ts";
import { ALIVE, and, compare, not } from "../model/condition.ts";
import { type Field, reference, shownName, text } from "../model/field.ts";
import {
  type Grid,
  normalPosition,
  type Numbering,
  listPositions,
  formatRange,
  findSlot,
} from "../model/grid.ts";
import type { Query } from "../model/operator.ts";
import { plan, selectVisible } from "../model/plan.ts";
import type { ReadContext, Resource } from "../model/resource.ts";
import { compile, selecting } from "../model/sql.ts";
import type { StoredRecord } from "../model/stored-record.ts";

/** The position of a record in the grid of its location. The table `slot` keeps it unique there. */

/** The place that a record is stored in. */
export const storageField = (): Field =>
  reference("location", "Storage location.", {
    places: true,
    synonyms:
      "freezer box,box,storage box,place,storage,storage place,stored in,stored at,where,box name,rack,drawer,shelf,freezer",
    form: { group: "Location", hint: "", shownIn: "location", suffix: "position" },
  });

export const positionField = (): Field =>
  text("Position in the grid of the location; unique there.", {
    maxLength: 8,
    synonyms: "well,slot,pos,place in box,box position,coordinate,coordinates,spot",
    dependent: true,
    form: {
      group: "Location",
      hint: "Slot such as A1 or 17, in a location with a grid.",
      shownIn: "location",
    },
    pattern: { expression: /^(?:[A-Za-z]{1,2}[ -]?)?\d{1,5}$/, rule: "a position such as A1 or 17" },
  });

/** Advice on items of others in a location; empty if the actor may change everything directly in it. */
export function evictionHint({ query, resources, actor }: ReadContext, location: number): string {
  const isForeign = (resource: Resource, field: string): boolean => {
    const joined = plan(resources, resource, actor);
    const inLocation = and(ALIVE, compare([field, "rid"], "==", location), not(changeable(resource, actor)));
    const { text, args } = selecting(resource, compile(inLocation, joined));
    return query.get({ text: `SELECT 1 FROM ${resource.table} AS t WHERE ${text} LIMIT 1`, args }) !== null;
  };
  const isAny = [...resources.values()].some((resource) =>
    Object.keys(resource.fields).some((name) => resource.fields[name].places && isForeign(resource, name)),
  );
  return isAny
    ? " You may not change some of these records: evict them on the page of the location, or by POST locations/<id>/evict/."
    : "";
}

/** True if records are stored in slots. */
export const hasPosition = ({ fields }: Resource): boolean =>
  "position" in fields && fields.location?.to === "location";

type Rules = NonNullable<Resource["rules"]>;

/** A record that moves without a new position has none. */
export const positionRules: Rules = (record, given, previous) => {
  if (previous && record.location !== previous.location && !given.has("position")) record.position = "";
  record.position = normalPosition(String(record.position));
  return {};
};

/** The grid of a location; undefined if it has none. */
export function readGrid(query: Query, location: number): Grid | undefined {
  const text = "SELECT grid_rows AS rows, grid_columns AS columns, numbering FROM location WHERE rid = ?";
  const row = query.get({ text, args: [location] });
  if (!row || row.rows === null || row.columns === null) return undefined;
  return { rows: Number(row.rows), columns: Number(row.columns), numbering: row.numbering as Numbering };
}

/** Positions that are occupied, also by records that the caller may not view. */
export const readOccupied = (query: Query, location: number): Set<string> =>
  new Set(
    query
      .all({ text: "SELECT position FROM slot WHERE location = ?", args: [location] })
      .map(({ position }) => String(position)),
  );

/** True if the grid of a location has a position, and nothing is in it. */
export function isFree(query: Query, location: number, position: string): boolean {
  const grid = readGrid(query, location);
  return Boolean(
    grid && findSlot(grid, position) !== undefined && !readOccupied(query, location).has(position),
  );
}

/** Checks that the position is in the grid of the location, and free. */
export const checkPosition =
  (kind: string): NonNullable<Resource["check"]> =>
  (record, previous, context) => {
    const { position, location } = record;
    const same =
      previous && ["position", "location", "deleted"].every((name) => previous[name] === record[name]);
    if (position === "" || same) return {};
    if (location === null) return { position: "Give a location too, or leave the position empty." };
    const wrong = positionError(kind, record, previous, context);
    return wrong === undefined ? {} : { position: wrong };
  };

function positionError(
  kind: string,
  { rid, position, location }: StoredRecord,
  previous: StoredRecord | undefined,
  { query, resources, actor }: ReadContext,
): string | undefined {
  const at = Number(location);
  const grid = readGrid(query, at);
  const is = compare(["rid"], "==", at);
  const isVisible =
    query.get(selectVisible({ resources, actor }, resources.get("location")!, "1", is)) !== null;
  // An earlier position may be restored.
  if (!isVisible && previous) return "You may not view the location, so you cannot choose a position in it.";
  if (!grid)
    return "The location has no grid. Leave the position empty, or give the location rows and columns.";
  if (findSlot(grid, String(position)) === undefined)
    return !isVisible
      ? "The location no longer has this position."
      : `${shownName(String(position))} is not a position of the location. Its positions: ${formatRange(grid)}.`;
  const found = query.get({
    text: "SELECT object_kind, object_rid FROM slot WHERE location = ? AND position = ?",
    args: [at, position],
  });
  if (!found || (found.object_kind === kind && found.object_rid === rid)) return undefined;
  if (!isVisible) return `${String(position)} is occupied.`;
  const occupied = readOccupied(query, at);
  const next = listPositions(grid).find((free) => !occupied.has(free));
  return `${String(position)} is occupied. ${next === undefined ? "The location is full." : `${NEXT_FREE}${next}.`}`;
}

const NEXT_FREE = "Next free position: ";

/** The position that the error about an occupied one offers. */
export function offeredPosition(error: string): string[] {
  const [, offered] = error.split(NEXT_FREE);
  return offered === undefined ? [] : [offered.replace(/\.$/, "")];
}
