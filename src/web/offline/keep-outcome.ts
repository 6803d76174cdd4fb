import type { DeviceStore } from "./device-store.ts";
import { withVersions } from "./move.ts";
import type { Change, Done } from "./queue.ts";
import { SNAPSHOT, type Snapshot, withMove } from "./snapshot.ts";

const startedKey = (id: string): string => `started ${id}`;

/** The server's id of a stocktake that was begun without a network, once it has been sent. */
export const idOnServer = (store: DeviceStore, id: string): Promise<string | undefined> =>
  store.read<string>(startedKey(id));

/** Stores the server's answers on this device immediately: the network may be lost again. */
export async function keepOutcome(store: DeviceStore, change: Change, { versions, id }: Done): Promise<void> {
  if (change.kind === "start") await store.update<string>(startedKey(change.stocktake.id), () => id);
  await store.update<Snapshot>(SNAPSHOT, (known) => {
    if (known && "records" in change) return withMove(known, withVersions(change, versions ?? {}));
    if (!known || change.kind !== "start" || id === undefined) return known;
    const begun = { ...change.stocktake, id, location: change.location };
    return { ...known, stocktakes: [begun, ...known.stocktakes] };
  });
}
