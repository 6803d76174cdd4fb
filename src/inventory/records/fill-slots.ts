import type { Actor } from "../model/access.ts";
import { ALIVE } from "../model/condition.ts";
import { shownName } from "../model/field.ts";
import { formatRange, findSlot } from "../model/grid.ts";
import { invalidField } from "../model/parse-body.ts";
import { mayUse } from "../model/plan.ts";
import { Problem } from "../../problem.ts";
import type { RoutedResource } from "../resources/index.ts";
import { readGrid, hasPosition } from "../resources/position.ts";
import { each, refusal } from "./bulk.ts";
import type { RecordWriter } from "./record-writer.ts";
import { freeSlots, type Slot, type Space, StorageSpace } from "./storage-space.ts";
import type { Store } from "./store.ts";

/** A record of the tree whose free slots are filled. */
export interface Target {
  resource: RoutedResource;
  rid: number;
}

export interface Moved extends Slot {
  segment: string;
  id: string;
  name: string;
  version: number;
}

interface Item {
  resource: RoutedResource;
  rid: number;
  id: string;
}

/** The first free position to use, or the position of each record; the version that each was seen with. */
interface Options {
  start?: string | undefined;
  positions?: readonly string[] | undefined;
  versions?: readonly number[] | undefined;
}

/** The spaces in a record of the tree, at any depth. */
export const readSpaces = (store: Store, { resource, rid }: Target, actor: Actor): Space[] =>
  new StorageSpace(store.statements, { resources: store.resources, actor }).spaces(resource, [rid]).get(rid)!;

/** The named location, and the spaces in it that the actor may put records into. @throws Problem invalid_request if there are none */
function usableSpaces(
  store: Store,
  spaces: readonly Space[],
  targetSpace: Space | undefined,
  actor: Actor,
): Space[] {
  const context = store.reader.makeContext(actor);
  const location = store.resources.get("location")!;
  const found = spaces.filter((space) => space === targetSpace || mayUse(context, location, space.rid));
  if (found.length === 0 && spaces.length > 0)
    throw invalidField("location", "You may not put records into the locations there.");
  return found;
}

/**
 * Moves records into the free slots of a location, or of the locations in a piece of equipment or a place, in order.
 * Their own slots are free for that. All are moved or none.
 * @throws Problem with a verdict on every record that is refused
 */
export function fillSlots(
  store: Store,
  writer: RecordWriter,
  target: Target,
  records: readonly string[],
  { actor, versions, ...options }: Options & { actor: Actor },
): Moved[] {
  const items = records.map((id, i) => findItem(store, id, i, actor));
  if (new Set(items.map(({ id }) => id)).size < items.length)
    throw invalidField("records", "A record occurs more than once. Name each record once.");
  if (versions && versions.length !== items.length)
    throw invalidField("versions", `Give one version for each of the ${items.length} records.`);
  return writer.rearrange(
    items.map(({ resource, rid }) => [resource, rid] as const),
    () => {
      const slots = chooseSlots(store, target, items.length, { ...options, actor });
      const { refusals } = each(items, ({ resource, rid }, i) => {
        const { location, position } = slots[i];
        const { version } = writer.current(resource, rid);
        if (versions && version !== versions[i])
          throw new Problem(
            "precondition_failed",
            `The record has version ${version}, not ${versions[i]}. Read it again.`,
          );
        writer.update(resource, rid, { location: location.id, position }, "merge", actor);
        return rid;
      });
      if (refusals.length > 0) throw refusal(refusals, (i) => items[i].id);
      return items.map(({ resource, rid, id }, i) => {
        const [values] = store.reader.values(resource, [resource.key, "version"], actor, [rid]);
        const { segment, key } = resource;
        const moved = { segment, id, name: String(values[key]), version: Number(values.version) };
        return Object.assign(moved, slots[i]);
      });
    },
  );
}

function findItem({ reader, resources }: Store, id: string, i: number, actor: Actor): Item {
  for (const resource of resources.values()) {
    if (!hasPosition(resource)) continue;
    const rid = reader.find(resource, id, ALIVE, actor);
    if (rid !== undefined) return { resource: resource as RoutedResource, rid, id: id.trim().toLowerCase() };
  }
  const lists = [...resources.values()].filter(hasPosition).map(({ segment }) => segment);
  throw invalidField(
    "records",
    `[${i}]: ${shownName(id)} is not the id of a record of ${lists.join(" or ")}.`,
  );
}

/** Chooses as many slots. `field`: the field that an error names. @throws Problem invalid_request */
export function chooseSlots(
  store: Store,
  target: Target,
  count: number,
  { start, positions, actor, field = "records" }: Options & { actor: Actor; field?: string },
): Slot[] {
  const spaces = readSpaces(store, target, actor);
  const grid = target.resource.name === "location" ? readGrid(store.statements, target.rid) : undefined;
  const name = start === undefined ? "positions" : "start";
  if ((start ?? positions) !== undefined && !grid)
    throw invalidField(name, "Only a location with a grid has positions.");
  const targetSpace =
    target.resource.name === "location" ? spaces.find(({ rid }) => rid === target.rid) : undefined;
  if (positions) {
    if (positions.length !== count)
      throw invalidField("positions", `Give one position for each of the ${count} records.`);
    return positions.map((position) => ({
      location: { id: targetSpace!.id, label: targetSpace!.label },
      position,
    }));
  }
  const from = start === undefined ? 0 : findSlot(grid!, start.toUpperCase());
  if (from === undefined)
    throw invalidField(
      "start",
      `${shownName(start!)} is not a position of the location. Its positions: ${formatRange(grid!)}.`,
    );
  // The right to use the named location itself is checked when the records are written.
  const filled =
    start === undefined
      ? usableSpaces(store, spaces, targetSpace, actor)
      : [
          {
            ...targetSpace!,
            positions: () => free(targetSpace!).filter((position) => findSlot(grid!, position)! >= from),
          },
        ];
  const slots = freeSlots(filled, count);
  if (slots.length < count) throw invalidField(field, tooFewMessage(count, slots.length, spaces));
  return slots;
}

/** All free positions of a location with a grid. */
const free = ({ positions, capacity }: Space): string[] => positions(capacity);

function tooFewMessage(records: number, slots: number, spaces: readonly Space[]): string {
  if (spaces.length === 0)
    return "No location there has a grid or a capacity. Give one rows and columns, or a capacity.";
  const free = slots === 0 ? "no free slot" : slots === 1 ? "one free slot" : `${slots} free slots`;
  return `${records === 1 ? "One record" : `${records} records`}, but ${free}.`;
}
