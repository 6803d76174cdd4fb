import type { DeviceStore } from "../../src/web/offline/device-store.ts";
import { type Change, enqueue } from "../../src/web/offline/queue.ts";
import type { takeSnapshot } from "../../src/web/offline/snapshot.ts";

/** A device without a network, and what it knows of a laboratory. */

export const ME = "person-1";
export const FREEZER = "aebc178f-9012-5abc-8def-000000000001";
export const TUBE = "5f1e627f-8aba-5e10-93ff-82dee93474e6";
export const LISTS: Record<string, object[]> = {
  locations: [
    { id: FREEZER, label: "Rack 2", barcode: "LO1", version: 1, parent: null, equipment: "eq" },
    {
      id: "0b7dd2a5-0000-4000-8000-000000000002",
      label: "Box 7",
      barcode: "LO2",
      version: 3,
      parent: FREEZER,
      grid_rows: 2,
      grid_columns: 2,
      numbering: "A1",
    },
  ],
  equipment: [
    { id: "eq", name: "-80 North", barcode: "", version: 1, place__building: "A", place__room: "002" },
  ],
  "stocks/consumables": [
    {
      id: TUBE,
      name: "BsaI-HF",
      barcode: "CO6",
      version: 4,
      location: "0b7dd2a5-0000-4000-8000-000000000002",
      position: "A2",
      permissions: { public: true, actions: { change: true } },
    },
  ],
  stocktakes: [{ id: "take", name: "Freezer", location: FREEZER }],
};
export const readLists: Parameters<typeof takeSnapshot>[0] = async (segment) => {
  const results = (LISTS[segment] ?? []) as Record<string, unknown>[];
  return { total: results.length, results };
};

function memoryStore(): DeviceStore {
  const values = new Map<string, unknown>();
  return {
    read: async <T>(key: string) => structuredClone(values.get(key)) as T | undefined,
    async update(key, change) {
      const after = change(structuredClone(values.get(key)) as never);
      if (after === undefined) values.delete(key);
      else values.set(key, structuredClone(after));
      return after;
    },
    clear: async () => values.clear(),
  };
}

export async function loadQueue(...changes: Change[]): Promise<DeviceStore> {
  const store = memoryStore();
  for (const [i, change] of changes.entries()) await enqueue(store, ME, { key: `key-${i}`, at: i, change });
  return store;
}

/** A scan in a stocktake that the server has. */
export const scan = (code: string): Change => ({
  kind: "scan",
  stocktake: { id: "take", name: "Freezer" },
  code,
  name: null,
  place: null,
});
