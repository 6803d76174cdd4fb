import type { Slots as ServerSlots } from "../../../inventory/api/route-slots.ts";
import { get } from "../../request.ts";
import { api } from "../declaration.ts";

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
  get<Slots>(api("locations", `${location}/slots/`), {}, signal);

/** The free positions of a location, in the order of its grid. */
export const freePositionsIn = ({ slots }: Slots): string[] =>
  slots.flatMap(({ free, position }) => (free ? position : []));

export type Movable = Pick<Stored, "segment" | "id" | "version" | "name">;
