import { href } from "../address.ts";
import { readStored, writeStored } from "../stored.ts";
import { type DeviceStore, openDeviceStore } from "./device-store.ts";
import { type Change, enqueue, type QueuedChange, readQueue } from "./queue.ts";
import { announceQueue, QUEUE_CHANGED, sendChanges, SYNC_TAG } from "./send-changes.ts";
import { SNAPSHOT, type Snapshot, takeSnapshot, withMove } from "./snapshot.ts";
import { isUnreachable } from "../request.ts";
import { readList } from "../inventory/read-list.ts";

/** Work without a network on this device: switched on by people, cleared when they sign out. */

/** Milliseconds after which the snapshot is taken again. */
const FRESH_MILLISECONDS = 15 * 60_000;

type Person = Snapshot["person"];

let opened: DeviceStore | undefined;
export const deviceStore = (): DeviceStore => (opened ??= openDeviceStore(href("")));

/** Browsers have service workers on HTTPS pages and on the server's machine only. */
export const canWorkOffline = (): boolean => globalThis.isSecureContext && "serviceWorker" in navigator;

/** True if the person at this device has switched it on. An installed application has it on until it is switched off. */
export const worksOffline = (): boolean =>
  canWorkOffline() && readStored<boolean>("offline", matchMedia("(display-mode: standalone)").matches);

/** True if it has ever been switched on, so that the device may keep something. */
const wasOffline = (): boolean => canWorkOffline() && readStored("offline", null) !== null;

export async function startOffline(person: Person): Promise<void> {
  writeStored("offline", true);
  await register();
  await refreshSnapshot(person);
  announceQueue();
}

/** Also discards changes that have not been sent. */
export async function stopOffline(): Promise<void> {
  await clearDevice();
  writeStored("offline", false);
}

/** Removes what this device keeps: pages, the snapshot and all waiting changes. */
export async function clearDevice(): Promise<void> {
  if (!wasOffline()) return;
  await deviceStore().clear();
  const registration = await navigator.serviceWorker.getRegistration(href("/"));
  await registration?.unregister();
  for (const name of await caches.keys()) if (name.startsWith(`labd ${href("")} `)) await caches.delete(name);
  announceQueue();
}

/** Keeps the snapshot for its person only: it is removed once the session has ended or another person signs in. */
export async function keepSnapshotFor(person: string | null): Promise<void> {
  if (!wasOffline()) return;
  await deviceStore().update<Snapshot>(SNAPSHOT, (kept) => (kept?.person.id === person ? kept : undefined));
}

/** The records on this device, after the moves that wait. */
export async function snapshot(): Promise<Snapshot | undefined> {
  if (!worksOffline()) return undefined;
  const kept = await deviceStore().read<Snapshot>(SNAPSHOT);
  if (!kept) return undefined;
  const changes = await readQueue(deviceStore(), kept.person.id);
  return changes.reduce(
    (known, { change, conflict }) =>
      "records" in change && !conflict ? withMove(known, change, true) : known,
    kept,
  );
}

/** Applies a move that the server has accepted to the snapshot of this device. */
export const keepMove = (moved: Parameters<typeof withMove>[1]): Promise<unknown> =>
  worksOffline()
    ? deviceStore().update<Snapshot>(SNAPSHOT, (known) => known && withMove(known, moved))
    : Promise.resolve();

const readFlatList: Parameters<typeof takeSnapshot>[0] = (segment, query) =>
  readList(segment, { ...query, response_format: "flat" });

export async function refreshSnapshot(person: Person): Promise<void> {
  const taken = await takeSnapshot(readFlatList, person, Date.now());
  const isOpen = (stocktake: string): boolean => taken.stocktakes.some(({ id }) => id === stocktake);
  await deviceStore().update<Snapshot>(SNAPSHOT, (before) => {
    const counts = Object.entries(before?.counts ?? {}).filter(([stocktake]) => isOpen(stocktake));
    return { ...taken, counts: Object.fromEntries(counts) };
  });
}

/** Called once per page: updates the snapshot and sends waiting changes. */
export async function updateDevice(person: Person): Promise<void> {
  if (!worksOffline()) return;
  writeStored("offline", true);
  await register();
  await sendWaiting();
  const kept = await snapshot();
  if (!kept || Date.now() - kept.at > FRESH_MILLISECONDS) await refreshSnapshot(person);
}

async function register(): Promise<void> {
  // The pages' policy accepts addresses of scripts from a policy only.
  const { trustedTypes } = globalThis as unknown as {
    trustedTypes?: { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } };
  };
  const address = href("/service-worker.js");
  const policy = trustedTypes?.createPolicy("labd-service-worker", { createScriptURL: () => address });
  await navigator.serviceWorker.register(policy?.createScriptURL(address) ?? address, {
    scope: href("/"),
    updateViaCache: "none",
  });
  await navigator.serviceWorker.ready;
}

/** The person's waiting and rejected changes. */
export const waitingChanges = (person: string): Promise<QueuedChange[]> =>
  worksOffline() ? readQueue(deviceStore(), person) : Promise.resolve([]);

/** Puts a change into the queue of the person whose snapshot this is, and sends the queue if there is a network. */
export async function addChange(change: Change, key: string = crypto.randomUUID()): Promise<void> {
  const person = (await snapshot())?.person.id;
  if (person === undefined) throw new Error("This device does not know the inventory. Turn on Offline use.");
  await enqueue(deviceStore(), person, { key, at: Date.now(), change });
  announceQueue();
  await sendWaiting();
  if ((await waitingChanges(person)).every(({ conflict }) => conflict)) return;
  const registration = (await navigator.serviceWorker.getRegistration(href("/"))) as
    (ServiceWorkerRegistration & { sync?: { register(tag: string): Promise<void> } }) | undefined;
  // Browsers without Background Sync send when a page is open.
  await registration?.sync?.register(SYNC_TAG).catch(() => {});
}

/**
 * Sends a change at once; it waits where the server does not respond, and after others that wait. Both have the same
 * key, so that a change whose answer was lost is done once.
 * @returns the server's answer; null if it waits @throws ApiError
 */
export async function sendOrWait(
  change: Change,
  sendNow: (key: string) => Promise<Response>,
): Promise<Response | null> {
  const key = crypto.randomUUID();
  const known = await snapshot();
  const waiting = known === undefined ? [] : await waitingChanges(known.person.id);
  if (waiting.every(({ conflict }) => conflict))
    try {
      return await sendNow(key);
    } catch (error) {
      if (!isUnreachable(error) || !worksOffline()) throw error;
    }
  await addChange(change, key);
  return null;
}

export const sendWaiting = (): Promise<number> => sendChanges(href(""), deviceStore());

/** Calls after every change of the queue, also by other pages and the service worker. */
export function onQueueChange(listener: () => void, signal: AbortSignal): void {
  const channel = new BroadcastChannel(QUEUE_CHANGED);
  channel.addEventListener("message", listener);
  signal.addEventListener("abort", () => channel.close());
}
