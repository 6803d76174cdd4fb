import type { DeviceStore } from "./device-store.ts";
import { type Answer, type SendRequest, sendQueue } from "./queue.ts";

/** Sends the waiting changes of the person who is signed in. Pages and the service worker do it, one at a time. */

/** Told to all pages of the service after the queue has changed. */
export const QUEUE_CHANGED = "labd queue";

/** Name of the event with which the browser wakes the service worker when the network returns. */
export const SYNC_TAG = "labd-queue";

/** @returns how many the server has taken */
export const sendChanges = (base: string, store: DeviceStore): Promise<number> =>
  navigator.locks.request(`labd queue ${base}`, async () => {
    const { status, body } = await request(base, {}, "GET", "/api/v2/session/");
    if (status !== 200) return 0;
    const { user, csrf_token } = body as { user: { id: string }; csrf_token: string };
    const send: SendRequest = (method, path, options) =>
      request(base, { "X-CSRFToken": csrf_token }, method, path, options);
    const sent = await sendQueue(store, user.id, send);
    announceQueue();
    return sent;
  });

export function announceQueue(): void {
  const channel = new BroadcastChannel(QUEUE_CHANGED);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have an origin
  channel.postMessage(null);
  channel.close();
}

async function request(
  base: string,
  proof: Record<string, string>,
  ...[method, path, { body, headers, query = {} } = {}]: Parameters<SendRequest>
): Promise<Answer> {
  const search = new URLSearchParams(query);
  try {
    const response = await fetch(`${base}${path}${search.size > 0 ? `?${search}` : ""}`, {
      method,
      headers: { Accept: "application/json", "Content-Type": "application/json", ...proof, ...headers },
      credentials: "same-origin",
      body: body === undefined ? null : JSON.stringify(body),
    });
    return {
      status: response.status,
      body: (await response.json().catch(() => ({}))) as Answer["body"],
    };
  } catch {
    return { status: 0, body: {} };
  }
}
