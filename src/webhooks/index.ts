import type { Accounts } from "../accounts/accounts.ts";
import { makeGuards } from "../accounts/guards.ts";
import type { Clock } from "../platform/clock.ts";
import { Sealing } from "../platform/encryption.ts";
import type { Log } from "../platform/log.ts";
import { mount } from "../platform/mount.ts";
import type { Database } from "../platform/sqlite.ts";
import { getWriteLock } from "../platform/write-lock.ts";
import { readNetworks } from "./address.ts";
import { Deliverer } from "./deliverer.ts";
import type { EventSources } from "./events.ts";
import { WebhookManagement } from "./management.ts";
import { post } from "./post.ts";
import { webhookOperations } from "./route.ts";
import { WebhookStore } from "./store.ts";

export { readNetworks } from "./address.ts";
export { EVENTS } from "./events.ts";
export { NewWebhook, Rotation } from "./management.ts";
export { checkSecrets } from "./secret.ts";
export { showDelivery, showWebhook } from "./route.ts";
export type { Webhook } from "./store.ts";

export interface WebhooksOptions {
  database: Database;
  clock: Clock;
  log: Log;
  sources: EventSources;
  accounts: Accounts;
  /** Networks that may be called besides public addresses: the setting webhook_allow. */
  allow: string;
  plain: boolean;
  /** URL of the service without /api/, for links. */
  base: string;
  version: string;
  /** File of the key that encrypts secrets. */
  keyFile: string;
  /** A random number from 0 to 1, for delays. */
  random?: () => number;
}

/** Webhooks. Nothing is delivered until `deliverer` is started. */
export interface Webhooks {
  routes: ReturnType<typeof mount>;
  deliverer: Deliverer;
  store: WebhookStore;
  management: WebhookManagement;
}

const TIMEOUT = 10_000;

/** @throws Problem invalid_setting */
export function openWebhooks(options: WebhooksOptions): Webhooks {
  const { database, clock, sources, accounts, plain, random = Math.random } = options;
  const allowed = readNetworks(options.allow);
  const store = new WebhookStore(database, clock, new Sealing(options.keyFile));
  const deliverer = new Deliverer({
    ...options,
    random,
    store,
    send: async (address, headers, body) => {
      const url = new URL(address);
      // The setting may have changed since the webhook was added.
      if (url.protocol !== "https:" && !plain)
        throw new Error("http:// is not allowed (setting webhook_allow).");
      return post(url, headers, body, { allowed, timeout: TIMEOUT });
    },
    waitUntilWritable: () => getWriteLock(database).free(),
  });
  const management = new WebhookManagement({ database, store, sources, allowed, plain });
  const routes = mount(webhookOperations, {
    tag: "webhooks",
    guards: makeGuards(accounts),
    dependencies: { store, management, deliverer },
  });
  return { routes, deliverer, store, management };
}
