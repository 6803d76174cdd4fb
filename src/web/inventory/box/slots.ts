import type { Slots as ServerSlots } from "../../../inventory/api/route-slots.ts";
import { call } from "../../request.ts";

/** The slots of a location. */

type ServerSlot = ServerSlots["slots"][number];
export type Stored = NonNullable<ServerSlot["record"]> & {
  /** Its move waits for the network. */
  waits?: true | undefined;
  /** Name of the unit of its amount, where the server does not respond. */
  unit?: string | undefined;
};
export type Slot = Omit<ServerSlot, "record"> & { record: Stored | null };
export type Slots = Omit<ServerSlots, "slots" | "others"> & {
  slots: readonly Slot[];
  others: readonly Stored[];
  /** As this device knows them, because the server does not respond. */
  isOffline?: true;
};

export const readSlots = (location: string, signal?: AbortSignal): Promise<Slots> =>
  call("GET /api/v2/:list/:id/slots/", { params: { list: "locations", id: location }, signal });

/** The free positions of a location, in the order of its grid. */
export const freePositionsIn = ({ slots }: Slots): string[] =>
  slots.flatMap(({ free, position }) => (free ? position : []));

export type Movable = Pick<Stored, "segment" | "id" | "version" | "name">;

/** The positions of a rectangle of slots with these corners. */
export function rectangle({ slots, grid_columns }: Slots, one: string, other: string): string[] {
  const columns = grid_columns!;
  const corners = [one, other].map((position) => slots.findIndex((slot) => slot.position === position));
  const rows = corners.map((at) => Math.trunc(at / columns)).toSorted((a, b) => a - b);
  const sides = corners.map((at) => at % columns).toSorted((a, b) => a - b);
  return slots
    .filter((_, at) => {
      const [row, side] = [Math.trunc(at / columns), at % columns];
      return row >= rows[0] && row <= rows[1] && side >= sides[0] && side <= sides[1];
    })
    .map(({ position }) => position);
}
