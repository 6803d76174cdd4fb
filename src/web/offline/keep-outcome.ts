import { OfflineCount } from "./count.ts";
import type { DeviceStore } from "./device-store.ts";
import { inVersions } from "./move.ts";
import type { Change, Done } from "./queue.ts";
import { SNAPSHOT, type Snapshot, withCount, withMove } from "./snapshot.ts";

const startedKey = (id: string): string => `started ${id}`;

/** The server's id of a stocktake that was begun without a network, once it has been sent. */
export const idOnServer = (store: DeviceStore, id: string): Promise<string | undefined> =>
  store.read<string>(startedKey(id));

/** Puts a change that the server has taken into what this device knows: it may lose the network again at once. */
export async function keepOutcome(store: DeviceStore, change: Change, { versions, id }: Done): Promise<void> {
  if (change.kind === "start") await store.update<string>(startedKey(change.stocktake.id), () => id);
  await store.update<Snapshot>(SNAPSHOT, (known) => {
    if (!known) return undefined;
    if (change.kind === "move") return withMove(known, inVersions(change, versions ?? {}));
    const stocktake = known.stocktakes.find((each) => each.id === change.stocktake.id);
    if (change.kind === "scan" || change.kind === "remove") {
      if (!stocktake) return known;
      const count = new OfflineCount(known, stocktake).count(known.counts?.[stocktake.id], [change]);
      return withCount(known, stocktake.id, count);
    }
    const others = known.stocktakes.filter((each) => each !== stocktake);
    if (change.kind === "apply") return { ...known, stocktakes: others };
    const { stocktake: begun, location } = change;
    return id === undefined ? known : { ...known, stocktakes: [{ ...begun, id, location }, ...others] };
  });
}
