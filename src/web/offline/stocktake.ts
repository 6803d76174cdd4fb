import type { MissingAction } from "../../inventory/labels/stocktake.ts";
import { isUnreachable, send } from "../request.ts";
import { OfflineCount } from "./count.ts";
import { addChange, deviceStore, sendOrWait, snapshot, waitingChanges, worksOffline } from "./device.ts";
import type { Count, ScanResult } from "../inventory/stocktake-parts.tsx";
import { isAbout, type StocktakeScan } from "./queue.ts";
import { findCode, findRecord, type KnownStocktake, SNAPSHOT, type Snapshot, withCount } from "./snapshot.ts";

/** Stocktakes without a network. */

/** A stocktake as this device knows it, with the changes that wait. */
export interface OfflineStocktake {
  stocktake: KnownStocktake;
  place: string;
  count: Count;
  /** It was begun on this device, and the server does not have it yet. */
  isBegunHere: boolean;
  /** It was applied on this device. */
  isApplied: boolean;
}

/** A stocktake that was open when the snapshot was taken, or that was begun on this device. */
export async function readStocktake(id: string): Promise<OfflineStocktake | undefined> {
  const known = await snapshot();
  if (!known) return undefined;
  const changes = (await waitingChanges(known.person.id))
    .map(({ change }) => change)
    .filter((change) => isAbout(change, id));
  const start = changes.find(({ kind }) => kind === "start");
  const begun = start?.kind === "start" ? { ...start.stocktake, location: start.location } : undefined;
  const stocktake = begun ?? known.stocktakes.find((each) => each.id === id);
  if (!stocktake) return undefined;
  const scans = changes.flatMap((change) =>
    change.kind === "scan" || change.kind === "remove" ? change : [],
  );
  return {
    stocktake,
    place: findRecord(known, stocktake.location)?.name ?? "",
    count: new OfflineCount(known, stocktake).count(known.counts?.[id], scans),
    isBegunHere: begun !== undefined,
    isApplied: changes.some(({ kind }) => kind === "apply"),
  };
}

/** Keeps what the server counted, for later. */
export const keepCount = (id: string, count: Count): Promise<unknown> =>
  worksOffline()
    ? deviceStore().update<Snapshot>(SNAPSHOT, (known) => known && withCount(known, id, count))
    : Promise.resolve();

interface Scanned {
  stocktake: KnownStocktake;
  place: StocktakeScan["place"];
  code: string;
}

/**
 * Keeps a scan for later where the server could not be reached. @returns what the device knows of it, in the form of
 * the server's answer @throws the error of the request where the scan cannot be kept
 */
export async function queueScan(
  { stocktake, place, code }: Scanned,
  error: unknown,
): Promise<{ results: ScanResult[] }> {
  const known = isUnreachable(error) && worksOffline() ? await snapshot() : undefined;
  if (!known) throw error;
  const verdict = new OfflineCount(known, stocktake).judge({ code, place });
  const record = "record" in verdict ? verdict.record : null;
  await addChange({
    kind: "scan",
    stocktake: { id: stocktake.id, name: stocktake.name },
    code,
    name: record?.name ?? null,
    place,
  });
  const matches = "matches" in verdict ? verdict.matches : [];
  return {
    results: [
      { code, verdict: verdict.list === "places" ? "place" : verdict.list, again: false, record, matches },
    ],
  };
}

/** Removes a scan, also one that waits. @throws ApiError */
export async function removeScan({ id, name }: { id: string; name: string }, code: string): Promise<void> {
  const known = await snapshot();
  const [record] = known ? findCode(known, code) : [];
  await sendOrWait({ kind: "remove", stocktake: { id, name }, code, name: record?.name ?? null }, () =>
    send("DELETE", `/api/v2/stocktakes/${id}/scans/`, { query: { code } }),
  );
}

/** Begins a stocktake where the server could not be reached. @returns its id @throws the error of the request */
export async function queueStart(
  { name, location }: { name: string; location: string },
  error: unknown,
): Promise<{ id: string }> {
  if (!isUnreachable(error) || !worksOffline()) throw error;
  const id = crypto.randomUUID();
  await addChange({ kind: "start", stocktake: { id, name }, location });
  return { id };
}

/** Applies a stocktake once the server responds, if it then counts as this device does. */
export async function queueApplication(
  { id, name }: { id: string; name: string },
  { counts: { misplaced, missing: absent } }: Count,
  missing: MissingAction,
): Promise<void> {
  const counted = { misplaced, missing: absent };
  await addChange({ kind: "apply", stocktake: { id, name }, missing, counted });
}
