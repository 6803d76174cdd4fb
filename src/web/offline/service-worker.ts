import { openDeviceStore } from "./device-store.ts";
import { sendChanges, SYNC_TAG } from "./send-changes.ts";

/**
 * Shows the pages for scanning without a network. It keeps scripts, styles and pages of one version, which hold nothing
 * about people or records, and never answers of the API.
 */

interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface FetchEvent extends ExtendableEvent {
  request: Request;
  respondWith(response: Promise<Response>): void;
}
interface SyncEvent extends ExtendableEvent {
  tag: string;
}
interface Worker {
  registration: ServiceWorkerRegistration;
  clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate", listener: (event: ExtendableEvent) => void): void;
  addEventListener(type: "fetch", listener: (event: FetchEvent) => void): void;
  addEventListener(type: "sync", listener: (event: SyncEvent) => void): void;
}
/** The server writes this before the script. */
declare const OFFLINE: { version: string; assets: readonly string[] };

const worker = globalThis as unknown as Worker;
const base = new URL(worker.registration.scope).pathname.replace(/\/$/, "");
const CACHES = `labd ${base} `;
const CACHE = CACHES + OFFLINE.version;

/** The page that is kept for addresses of each kind; the last is for all others. */
const SHELLS: readonly [pattern: RegExp, address: string][] = [
  [/^\/(inventory\/scan\/?$|i\/)/, "/inventory/scan"],
  [/^\/inventory\/stocktake\/?$/, "/inventory/stocktake"],
  [/^\/inventory\/stocktake\/[^/]+\/?$/, "/inventory/stocktake/offline"],
  [/^/, "/inventory/offline"],
];

worker.addEventListener("install", (event) => event.waitUntil(install()));
worker.addEventListener("activate", (event) => event.waitUntil(activate()));
worker.addEventListener("sync", (event) => {
  if (event.tag === SYNC_TAG) event.waitUntil(sendChanges(base, openDeviceStore(base)));
});
worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  const path = pathname.slice(base.length);
  if (request.mode === "navigate") event.respondWith(navigate(request, path));
  else if (path.startsWith("/assets/")) event.respondWith(asset(request));
});

async function install(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll([
    ...OFFLINE.assets.map((name) => `${base}/assets/${name}`),
    ...SHELLS.map(([, address]) => new Request(base + address, { cache: "reload" })),
  ]);
  await worker.skipWaiting();
}

async function activate(): Promise<void> {
  for (const name of await caches.keys())
    if (name.startsWith(CACHES) && name !== CACHE) await caches.delete(name);
  await worker.clients.claim();
}

async function navigate(request: Request, path: string): Promise<Response> {
  const response = await fetch(request).catch(() => Response.error());
  // No network, or a proxy that does not reach the server.
  if (response.type !== "error" && response.status !== 502 && response.status !== 504) return response;
  const [, address] = SHELLS.find(([pattern]) => pattern.test(path))!;
  const kept = await caches.match(base + address, { cacheName: CACHE, ignoreVary: true });
  return kept ?? response;
}

const asset = async (request: Request): Promise<Response> =>
  (await caches.match(request, { cacheName: CACHE, ignoreVary: true })) ?? fetch(request);
