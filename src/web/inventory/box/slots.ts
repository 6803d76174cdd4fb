import type { Slots } from "../../../inventory/api/route-slots.ts";
import { showToast, withErrorToast } from "../../components/toast.tsx";
import { get, send } from "../../request.ts";
import { api } from "../declaration.ts";
import { showDone, undo } from "../write-record.ts";

/** The slots of a location, and moves between them. */

export type { Slots };
export type Slot = Slots["slots"][number];
export type Stored = NonNullable<Slot["record"]>;

/** Lists of records that are stored in slots. */
export const STORED_LISTS = ["stocks/consumables", "stocks/specimen"] as const;

export const readSlots = (location: string, signal?: AbortSignal): Promise<Slots> =>
  get<Slots>(api("locations", `${location}/slots/`), {}, signal);

/** Where records go: to these positions, or to the first free slots. */
export interface Move {
  records: readonly string[];
  positions?: readonly string[];
}

export interface Moved {
  batch: string | null;
  results: { name: string; position: string }[];
}

/** @throws ApiError */
export async function moveInto(location: string, move: Move): Promise<Moved> {
  const response = await send("POST", api("locations", `${location}/free_slots/`), { body: move });
  const { results } = (await response.json()) as Pick<Moved, "results">;
  return { batch: response.headers.get("Batch-Id"), results };
}

/** Moves a record to a slot; one that is there takes its slot in return. */
export const moveToSlot = (box: Slots, record: Stored, to: Slot, onDone: () => void): Promise<void> =>
  withErrorToast(async () => {
    if (to.position === record.position) return;
    const other = to.record;
    const isExchange = !to.free;
    if (isExchange && !(other?.change && record.position !== ""))
      return showToast(`${to.position} is occupied. Choose a free slot.`, "error");
    const move = isExchange
      ? { records: [record.id, other!.id], positions: [to.position, record.position] }
      : { records: [record.id], positions: [to.position] };
    const { batch } = await moveInto(box.id, move);
    const done = isExchange
      ? `Exchanged ${record.name} and ${other!.name}.`
      : `Moved ${record.name} to ${to.position}.`;
    showDone(done, batch, onDone);
    onDone();
  });

/** Clears the location of a record. */
export const takeOut = ({ segment, id, name, version }: Stored, onDone: () => void): Promise<void> =>
  withErrorToast(async () => {
    const headers = { "If-Match": `"${version}"` };
    const response = await send("PATCH", api(segment, `${id}/`), { body: { location: null }, headers });
    showDone(`Took out ${name}.`, response.headers.get("Batch-Id"), onDone);
    onDone();
  });

export { undo };
