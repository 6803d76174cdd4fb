import { listPositions } from "../../inventory/model/grid.ts";
import { readSlots, type Slots, type Stored } from "../inventory/box/slots.ts";
import { isUnreachable } from "../request.ts";
import { snapshot } from "./device.ts";
import { findRecord, type KnownRecord, type Snapshot, whereIs } from "./snapshot.ts";

/** Slots of a location, from the server or else from what this device knows. @throws ApiError */
export async function readKnownSlots(location: string, signal?: AbortSignal): Promise<Slots> {
  try {
    return await readSlots(location, signal);
  } catch (error) {
    const known = isUnreachable(error) ? await snapshot() : undefined;
    const box = known && findRecord(known, location);
    if (!box) throw error;
    return { ...slotsIn(known, box), isOffline: true };
  }
}

/** The slots of a location in what this device knows. */
export function slotsIn(known: Snapshot, box: KnownRecord): Slots {
  const { id, name: label, grid } = box;
  const stored = known.records
    .filter((record) => record.location === id && record.segment !== "locations")
    .map(storedIn);
  const slots = (grid ? listPositions(grid) : []).map((position) => {
    const record = stored.find((each) => each.position === position) ?? null;
    return { position, free: record === null, record };
  });
  const free = slots.filter((slot) => slot.free);
  const space = { capacity: slots.length, used: slots.length - free.length, free: free.length };
  return {
    id,
    label,
    unique_path: [whereIs(known, box), label].filter(Boolean).join(" › "),
    grid_rows: grid?.rows ?? null,
    grid_columns: grid?.columns ?? null,
    space: grid ? space : null,
    next: free[0]?.position ?? null,
    slots,
    // Refusals of the server are shown after sending.
    use: true,
    hidden: null,
    others: stored.filter(({ position }) => !slots.some((slot) => slot.position === position)),
  };
}

const storedIn = ({ segment, id, name, barcode, version, position = "", ...known }: KnownRecord): Stored => ({
  segment,
  id,
  name,
  model_type: "",
  status: "",
  barcode,
  amount: known.amount ?? null,
  unit: known.unit,
  below_minimum: false,
  taken_out: known.out === true,
  expiry: null,
  position,
  version,
  change: known.change === true,
  use: known.use === true,
  waits: known.waits,
});
