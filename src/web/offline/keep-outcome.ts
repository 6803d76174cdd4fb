import type { Count } from "../inventory/stocktake-parts.tsx";
import { countKey, OfflineCount } from "./count.ts";
import type { DeviceStore } from "./device-store.ts";
import type { Change } from "./queue.ts";
import { SNAPSHOT, type Snapshot, withMove } from "./snapshot.ts";

const startedKey = (id: string): string => `started ${id}`;

/** The server's id of a stocktake that was begun without a network, once it has been sent. */
export const idOnServer = (store: DeviceStore, id: string): Promise<string | undefined> =>
  store.read<string>(startedKey(id));

/** Puts a change that the server has taken into what this device knows: it may lose the network again at once. */
export async function keepOutcome(
  store: DeviceStore,
  change: Change,
  { version, id }: { version?: number | undefined; id?: string | undefined },
): Promise<void> {
  if (change.kind === "start") await store.update<string>(startedKey(change.stocktake.id), () => id);
  const known = await store.update<Snapshot>(SNAPSHOT, (before) => {
    if (!before) return undefined;
    if (change.kind === "move")
      return version === undefined ? before : withMove(before, { ...change, version });
    const others = before.stocktakes.filter((each) => each.id !== change.stocktake.id);
    if (change.kind === "apply") return { ...before, stocktakes: others };
    if (change.kind === "scan" || id === undefined) return before;
    const { stocktake, location } = change;
    return { ...before, stocktakes: [{ id, name: stocktake.name, location }, ...others] };
  });
  const stocktake =
    change.kind === "scan" ? known?.stocktakes.find((each) => each.id === change.stocktake.id) : undefined;
  if (known && stocktake && change.kind === "scan")
    await store.update<Count>(countKey(stocktake.id), (last) =>
      new OfflineCount(known, stocktake).count(last, [change]),
    );
}
