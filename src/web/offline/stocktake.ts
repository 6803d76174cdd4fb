import { isUnreachable, callForResponse } from "../request.ts";
import { addChange, deviceStore, sendOrWait, snapshot, waitingChanges, worksOffline } from "./device.ts";
import type { Count, LoggedScan } from "../inventory/stocktake-parts.tsx";
import { isAbout, type QueuedChange, type StocktakeScan } from "./queue.ts";
import { findCode, findRecord, type KnownStocktake, SNAPSHOT, type Snapshot, withCount } from "./snapshot.ts";

/** Stocktakes without a network: scans wait, and the server counts them once it responds. */

/** A stocktake as this device knows it. */
export interface OfflineStocktake {
  stocktake: KnownStocktake;
  place: string;
  /** The last counts of the server; undefined if this device has never seen them. */
  count: Count | undefined;
  person: string;
  /** Changes of the stocktake that the server has not accepted. */
  changes: readonly QueuedChange[];
  /** The stocktake was begun on this device and has not been sent. */
  isBegunHere: boolean;
  /** The stocktake was applied on this device. */
  isApplied: boolean;
}

/** A stocktake that was open when the snapshot was taken, or that was begun on this device. */
export async function readStocktake(id: string): Promise<OfflineStocktake | undefined> {
  const known = await snapshot();
  if (!known) return undefined;
  const person = known.person.id;
  const changes = (await waitingChanges(person)).filter(({ change }) => isAbout(change, id));
  const start = changes.map(({ change }) => change).find(({ kind }) => kind === "start");
  const begun = start?.kind === "start" ? { ...start.stocktake, location: start.location } : undefined;
  const stocktake = begun ?? known.stocktakes.find((each) => each.id === id);
  if (!stocktake) return undefined;
  return {
    stocktake,
    place: findRecord(known, stocktake.location)?.name ?? "",
    count: known.counts?.[id],
    person,
    changes,
    isBegunHere: begun !== undefined,
    isApplied: changes.some(({ change }) => change.kind === "apply"),
  };
}

/** Stores the counts of the server for later. */
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
 * Keeps a scan for later where the server could not be reached. @returns the record that this device finds for the code
 * @throws the error of the request where the scan cannot be kept
 */
export async function queueScan(
  { stocktake: { id, name }, place, code }: Scanned,
  error: unknown,
): Promise<{ results: LoggedScan[] }> {
  const known = isUnreachable(error) && worksOffline() ? await snapshot() : undefined;
  if (!known) throw error;
  const [record = null] = findCode(known, code);
  const stocktake = { id, name };
  await addChange({ kind: "scan", stocktake, code, name: record?.name ?? null, place });
  return { results: [{ code, verdict: "waiting", again: false, record, matches: [] }] };
}

/** Removes a scan, also one that waits. @throws ApiError */
export async function removeScan({ id, name }: { id: string; name: string }, code: string): Promise<void> {
  const known = await snapshot();
  const [record] = known ? findCode(known, code) : [];
  await sendOrWait({ kind: "remove", stocktake: { id, name }, code, name: record?.name ?? null }, () =>
    callForResponse("DELETE /api/v2/:list/:id/scans/", {
      params: { list: "stocktakes", id },
      query: { code },
    }),
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

/** Applies a stocktake once the server responds. */
export const queueApplication = ({ id, name }: { id: string; name: string }): Promise<void> =>
  addChange({ kind: "apply", stocktake: { id, name } });
