import { showToast, withErrorToast } from "../components/toast.tsx";
import {
  freePositionsIn,
  type Movable,
  readSlots,
  type Slot,
  type Slots,
  type Stored,
} from "../inventory/box/slots.ts";
import { showDone } from "../inventory/write-record.ts";
import { call, callForResponse, isUnreachable } from "../request.ts";
import { keepMove, sendOrWait, snapshot } from "./device.ts";
import {
  withVersions,
  type Move,
  type MovedRecord,
  requestMove,
  requestStockChange,
  readVersions,
  type StockChange,
} from "./move.ts";
import type { Answer } from "./queue.ts";
import { slotsIn } from "./known-slots.ts";
import { findCode } from "./snapshot.ts";
import { readFlat } from "../inventory/read-list.ts";

/** Moves of records, which wait where the server does not respond. */

/** A record that a code stands for, as a move needs it. */
export interface Found extends Movable {
  /** Free positions of a location with a grid. */
  free: readonly string[] | null;
}

/** The records that a code stands for. @throws ApiError */
export const findScanned = (code: string): Promise<Found[]> =>
  findOnline(code).catch((error: unknown) => findOffline(code, error));

async function findOnline(code: string): Promise<Found[]> {
  const { results } = await call("GET /api/v2/scan/", { query: { code } });
  if (results.length !== 1) return results as object[] as Found[];
  const [{ segment, id, unique_path, name: own }] = results;
  const name = unique_path ?? own;
  const record = await readFlat<{ version: number }>(segment, id, { fields: "version" });
  const box = segment === "locations" ? await readSlots(id) : null;
  const free = box?.grid_rows ? freePositionsIn(box) : null;
  return [{ segment, id, name, version: record.version, free }];
}

async function findOffline(code: string, error: unknown): Promise<Found[]> {
  const known = isUnreachable(error) ? await snapshot() : undefined;
  if (!known) throw error;
  return findCode(known, code).map((record) => {
    const { segment, id, name, version, grid } = record;
    return { segment, id, name, version, free: grid ? freePositionsIn(slotsIn(known, record)) : null };
  });
}

/** A record as a move needs it. */
export const movedTo = (position: string, { segment, id, name, version }: Movable): MovedRecord => ({
  segment,
  id,
  name,
  version,
  position,
});

/** Moves records. @returns the server's answer; null if the move waits for the network @throws ApiError */
export const moveRecords = (
  location: Move["location"],
  ...records: readonly MovedRecord[]
): Promise<Response | null> =>
  sendOrWait({ kind: "move", location, records }, async (key) => {
    const response = await requestMove({ location, records }, key, callForResponse);
    const versions = readVersions((await response.clone().json()) as Answer["body"], { records });
    await keepMove(withVersions({ location, records }, versions));
    return response;
  });

/** Moves a record to a slot; one that is there takes its slot in return. */
export async function moveToSlot(box: Slots, record: Stored, slot: Slot, onDone: () => void): Promise<void> {
  const { position, free, record: other } = slot;
  if (position === record.position) return;
  const location = { id: box.id, name: box.unique_path };
  if (free)
    return announceMove(
      moveRecords(location, movedTo(position, record)),
      `Moved ${record.name} to ${position}.`,
      onDone,
    );
  if (!other?.use || record.position === "")
    return showToast(`${position} is occupied. Choose a free slot.`, "error");
  const exchange = moveRecords(location, movedTo(position, record), movedTo(record.position, other));
  return announceMove(exchange, `Exchanged ${record.name} and ${other.name}.`, onDone);
}

/** Uses stock, takes it out or puts it back. `text`: what is done then. @returns null if it waits @throws ApiError */
export function sendStockChange(
  action: StockChange["action"],
  record: Movable,
  body: StockChange["body"],
  text: string,
): Promise<Response | null> {
  const { segment, id, name, version } = record;
  const change: StockChange = {
    kind: "stock",
    action,
    records: [{ segment, id, name, version }],
    body,
    text,
  };
  return sendOrWait(change, async (key) => {
    const response = await requestStockChange(change, key, callForResponse);
    const versions = readVersions((await response.clone().json()) as Answer["body"], change);
    await keepMove(withVersions(change, versions));
    return response;
  });
}

/** Changes stock and shows the outcome, with Undo. */
export const changeStock = (
  ...[action, record, body, text, onDone]: [...Parameters<typeof sendStockChange>, onDone: () => void]
): Promise<void> => announceMove(sendStockChange(action, record, body, text), text, onDone);

/** Reports the outcome of a move; the box may have changed even after a failure. */
const announceMove = (moving: Promise<Response | null>, done: string, onDone: () => void): Promise<void> =>
  withErrorToast(async () => showDone(done, await moving, onDone)).finally(onDone);
