import type { Slots } from "../../../inventory/api/route-slots.ts";
import { showToast } from "../../components/toast.tsx";
import { get, send } from "../../request.ts";
import { api } from "../declaration.ts";
import { write } from "../write-record.ts";

/** The slots of a location, and moves between them. */

export type { Slots };
export type Slot = Slots["slots"][number];
export type Stored = NonNullable<Slot["record"]>;

/** Lists of records that are stored in slots. */
export const STORED_LISTS = ["stocks/consumables", "stocks/specimen"] as const;

export const readSlots = (location: string, signal?: AbortSignal): Promise<Slots> =>
  get<Slots>(api("locations", `${location}/slots/`), {}, signal);

/** The free positions of a location, in the order of its grid. */
export const freePositionsIn = ({ slots }: Slots): string[] =>
  slots.flatMap(({ free, position }) => (free ? position : []));

/** Where records go: to these positions, or to the first free slots. */
export interface Move {
  records: readonly string[];
  positions?: readonly string[];
}

/** @throws ApiError */
export const moveInto = (location: string, move: Move): Promise<Response> =>
  send("POST", api("locations", `${location}/free_slots/`), { body: move });

export type Movable = Pick<Stored, "segment" | "id" | "version">;

/** Changes where a record is. @throws ApiError also if somebody has changed the record since */
export const relocate = (
  { segment, id, version }: Movable,
  to: { location: string | null; position?: string },
): Promise<Response> =>
  send("PATCH", api(segment, `${id}/`), { body: to, headers: { "If-Match": `"${version}"` } });

/** Moves a record to a slot; one that is there takes its slot in return. */
export async function moveToSlot(box: Slots, record: Stored, to: Slot, onDone: () => void): Promise<void> {
  if (to.position === record.position) return;
  if (to.free) {
    const move = { records: [record.id], positions: [to.position] };
    return write(() => moveInto(box.id, move), `Moved ${record.name} to ${to.position}.`, onDone);
  }
  const other = to.record;
  if (!other?.change || record.position === "")
    return showToast(`${to.position} is occupied. Choose a free slot.`, "error");
  const exchange = { records: [record.id, other.id], positions: [to.position, record.position] };
  return write(() => moveInto(box.id, exchange), `Exchanged ${record.name} and ${other.name}.`, onDone);
}

/** Clears the location of a record. */
export const takeOut = (record: Stored, onDone: () => void): Promise<void> =>
  write(() => relocate(record, { location: null }), `Took out ${record.name}.`, onDone);
