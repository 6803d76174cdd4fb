import { Problem } from "../problem.ts";
import { type Database } from "../platform/sqlite.ts";
import { writeLockOf } from "../platform/write-lock.ts";
import { newSigningSecret } from "./signature.ts";
import type { EventSources } from "./source.ts";
import type { Delivery, Webhook, WebhookStore } from "./store.ts";
import { type UrlPolicy, parseOverlap, parseWebhook } from "./parse-webhook.ts";

/** Webhooks that one account may have. */
const MOST = 20;
const HOUR = 3_600_000;

export interface ManagementOptions extends UrlPolicy {
  database: Database;
  store: WebhookStore;
  sources: EventSources;
}

/** What is done with webhooks, over HTTP and at the command line alike. Whose they are, the caller has asked. */
export class WebhookManagement {
  constructor(private readonly options: ManagementOptions) {}

  /** A new one that is told of what happens from now on; its secret is shown this once. @throws Problem invalid_request, conflict */
  async add(user: number, body: Record<string, unknown>): Promise<Webhook> {
    const { store, sources } = this.options;
    const wanted = parseWebhook(body, this.options);
    sources.records.check(wanted);
    await this.turn();
    if (store.list(user).length >= MOST)
      throw new Problem("conflict", `An account has at most ${MOST} webhooks.`);
    const cursors = { record: sources.records.last(), job: sources.jobs.last() };
    return store.add({ user, secret: newSigningSecret(), ...wanted }, cursors);
  }

  /**
   * A new secret, in the place of the one that it has, which signs besides for a while: receivers take either
   * signature until all of them have the new one. @throws Problem invalid_request
   */
  async rotate(webhook: Webhook, body: Record<string, unknown>): Promise<Webhook> {
    const { store } = this.options;
    const overlap = parseOverlap(body) * HOUR;
    await this.turn();
    store.rotate(webhook, newSigningSecret(), overlap);
    return store.find(webhook.id)!;
  }

  async remove(webhook: Webhook): Promise<void> {
    await this.turn();
    this.options.store.remove(webhook);
  }

  /** Lets a failing one go on where it stopped. */
  async resume(webhook: Webhook): Promise<Webhook> {
    await this.turn();
    this.options.store.resume(webhook);
    return this.options.store.find(webhook.id)!;
  }

  /** Has a delivery made once more. @throws Problem conflict for a ping */
  async redeliver(webhook: Webhook, delivery: Delivery): Promise<Delivery> {
    const { store } = this.options;
    if (delivery.source === "ping") throw new Problem("conflict", "A ping is not made again: make another.");
    await this.turn();
    store.redeliver(delivery);
    return store.delivery(webhook, delivery.id)!;
  }

  private async turn(): Promise<void> {
    await writeLockOf(this.options.database).free();
  }
}
