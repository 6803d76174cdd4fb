import type { Actor } from "../accounts/accounts.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { Database } from "../platform/sqlite.ts";
import { writeLockOf } from "../platform/write-lock.ts";
import { readNetworks } from "./address.ts";
import { Deliverer } from "./deliverer.ts";
import { WebhookManagement } from "./management.ts";
import { post, type PostOptions } from "./post.ts";
import { Sealing } from "../platform/encryption.ts";
import { webhookRoutes } from "./route.ts";
import type { EventSources } from "./source.ts";
import { WebhookStore } from "./store.ts";

export { checkSecrets } from "./check-secrets.ts";
export { EVENTS } from "./source.ts";
export type { Webhook } from "./store.ts";

export interface WebhooksOptions {
  database: Database;
  clock: Clock;
  log: Log;
  sources: EventSources;
  authenticate: (request: Request) => Actor;
  actorOf: (user: number) => Actor;
  /** Networks that may be called besides public addresses, as the setting has them. */
  allow: string;
  /** Whether http: may be called. */
  plain: boolean;
  /** Address before /api/, for links. */
  base: string;
  version: string;
  /** File of the key that secrets are encrypted by; null keeps it in memory. */
  keyFile: string | null;
  /** Addresses of a name, and numbers from 0 to 1; for tests. */
  resolve?: PostOptions["resolve"];
  random?: () => number;
}

/** Webhooks, open: they do nothing by themselves until `deliverer` is started. */
export interface Webhooks {
  routes: ReturnType<typeof webhookRoutes>;
  deliverer: Deliverer;
  store: WebhookStore;
  management: WebhookManagement;
}

/** Milliseconds for one attempt. */
const TIMEOUT = 10_000;

/** @throws Problem invalid_setting for networks that are none */
export function openWebhooks(options: WebhooksOptions): Webhooks {
  const { database, clock, log, sources, authenticate, actorOf, plain, base, version, resolve, random } =
    options;
  const allowed = readNetworks(options.allow);
  const store = new WebhookStore(database, clock, new Sealing(options.keyFile));
  try {
    const count = store.sealOld();
    if (count > 0) log.info("webhook secrets sealed", { webhooks: count });
  } catch (error) {
    // A full disk, or one that only reads: they go on as they are, and the next start tries again.
    log.problem("webhook secrets not sealed", { cause: (error as Error).message });
  }
  const deliverer = new Deliverer({
    store,
    sources,
    actorOf,
    send: async (url, headers, body) => {
      const target = new URL(url);
      // Made when the setting was another.
      if (target.protocol !== "https:" && !plain)
        throw new Error("http:// is not allowed (setting webhook_http).");
      return post(target, headers, body, { allowed, timeout: TIMEOUT, ...(resolve ? { resolve } : {}) });
    },
    turn: () => writeLockOf(database).free(),
    clock,
    log,
    base,
    version,
    ...(random ? { random } : {}),
  });
  const management = new WebhookManagement({ database, store, sources, allowed, plain });
  return {
    routes: webhookRoutes({ store, management, deliverer, authenticate }),
    deliverer,
    store,
    management,
  };
}
