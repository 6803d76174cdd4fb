import type { Slots as ServerSlots } from "../../../inventory/api/route-slots.ts";
import { call } from "../../request.ts";

/** The slots of a location. */

type ServerSlot = ServerSlots["slots"][number];
export type Stored = NonNullable<ServerSlot["record"]> & {
  /** Its move waits for the network. */
  waits?: true | undefined;
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
