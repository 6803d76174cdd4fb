import { type Database } from "../platform/sqlite.ts";
import { writeLockOf } from "../platform/write-lock.ts";
import { Problem } from "../problem.ts";
import type { EventSources } from "./events.ts";
import { parseOverlap, parseWebhook, type UrlPolicy } from "./parse-webhook.ts";
import { newSigningSecret } from "./secret.ts";
import type { Delivery, Webhook, WebhookStore } from "./store.ts";

const MAX_PER_ACCOUNT = 20;
const HOUR = 3_600_000;

export interface ManagementOptions extends UrlPolicy {
  database: Database;
  store: WebhookStore;
  sources: EventSources;
}

/** Changes to webhooks, by HTTP and by the command line. The caller has checked whose they are. */
export class WebhookManagement {
  constructor(private readonly options: ManagementOptions) {}

  /** Adds a webhook for events from now on. @throws Problem invalid_request, conflict */
  async add(user: number, body: Record<string, unknown>): Promise<Webhook> {
    const { store, sources } = this.options;
    const input = parseWebhook(body, this.options);
    sources.records.check(input);
    await this.whenWritable();
    if (store.list(user).length >= MAX_PER_ACCOUNT)
      throw new Problem("conflict", `The account already has ${MAX_PER_ACCOUNT} webhooks. Remove one first.`);
    const cursors = { record: sources.records.last(), job: sources.jobs.last() };
    return store.add({ user, secret: newSigningSecret(), ...input }, cursors);
  }

  /** Creates a new secret; the previous one signs too for a while. @throws Problem invalid_request */
  async rotate(webhook: Webhook, body: Record<string, unknown>): Promise<Webhook> {
    const overlap = parseOverlap(body) * HOUR;
    await this.whenWritable();
    return this.options.store.rotate(webhook, newSigningSecret(), overlap);
  }

  async remove(webhook: Webhook): Promise<void> {
    await this.whenWritable();
    this.options.store.remove(webhook);
  }

  /** Continues deliveries to a failing webhook. */
  async resume(webhook: Webhook): Promise<Webhook> {
    await this.whenWritable();
    return this.options.store.resume(webhook);
  }

  /** Repeats a delivery. @throws Problem conflict for a ping */
  async redeliver(delivery: Delivery): Promise<Delivery> {
    if (delivery.source === "ping")
      throw new Problem("conflict", "A ping cannot be redelivered. Send another ping.");
    await this.whenWritable();
    return this.options.store.redeliver(delivery);
  }

  private async whenWritable(): Promise<void> {
    await writeLockOf(this.options.database).free();
  }
}
