import { type BlockList, isIP } from "node:net";
import { type Static, Type } from "typebox";
import { bodySchema, nullable, OptionalInput } from "../platform/schema.ts";
import type { Database } from "../platform/sqlite.ts";
import { getWriteLock } from "../platform/write-lock.ts";
import { Problem } from "../problem.ts";
import { isAllowedAddress } from "./address.ts";
import { EVENTS, type EventSources, isReminder } from "./events.ts";
import { newSigningSecret } from "./secret.ts";
import type { Delivery, Webhook, WebhookStore } from "./store.ts";

const MAX_PER_ACCOUNT = 20;
/** Hours for which the previous secret signs too. */
const DEFAULT_OVERLAP = 24;
const MAX_OVERLAP = 720;
const HOUR = 3_600_000;

const filter = (description: string) =>
  Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 10_000 }), { description }));
const Events = Type.Array(Type.Enum([...EVENTS]), { minItems: 1, description: "All events by default." });
const OverlapHours = Type.Integer({
  minimum: 0,
  maximum: MAX_OVERLAP,
  description: `Hours for which the previous secret also signs; ${DEFAULT_OVERLAP} by default.`,
});

export const NewWebhook = bodySchema({
  url: Type.String({
    maxLength: 2000,
    description: "URL to post to, with https.",
    examples: ["https://hooks.example/labd"],
  }),
  events: Type.Optional(Events),
  resource: filter("Only events of records of this list, such as locations."),
  query_expression: filter("Only events of records that match; needs resource."),
  current_password: OptionalInput,
});
type NewWebhook = Static<typeof NewWebhook>;
export const Rotation = bodySchema({
  overlap_hours: Type.Optional(OverlapHours),
  current_password: OptionalInput,
});

export interface ManagementOptions {
  database: Database;
  store: WebhookStore;
  sources: EventSources;
  allowed: BlockList;
  plain: boolean;
}

/** Changes to webhooks, by HTTP and by the command line. The caller has checked whose they are. */
export class WebhookManagement {
  constructor(private readonly options: ManagementOptions) {}

  /** Adds a webhook for events from now on. @throws Problem invalid_request, conflict */
  async add(user: number, { url, events = [...EVENTS], ...filters }: NewWebhook): Promise<Webhook> {
    const { store, sources } = this.options;
    const filter = { resource: filters.resource ?? null, expression: filters.query_expression ?? null };
    const input = { url: this.checkUrl(url), events: [...new Set(events)], ...filter };
    sources.records.check(filter);
    // What is due already is no event.
    const reminder = input.events.some(isReminder)
      ? await sources.reminders.scan(user, () => this.waitUntilWritable())
      : sources.reminders.last();
    await this.waitUntilWritable();
    if (store.list(user).length >= MAX_PER_ACCOUNT)
      throw new Problem("conflict", `The account already has ${MAX_PER_ACCOUNT} webhooks. Remove one first.`);
    const cursors = {
      record: sources.records.last(),
      job: sources.jobs.last(),
      reminder,
    };
    return store.add({ user, secret: newSigningSecret(), ...input }, cursors);
  }

  private checkUrl(text: string): string {
    const { plain, allowed } = this.options;
    if (!URL.canParse(text)) throw urlProblem("Must be a URL that begins with https://.");
    const url = new URL(text);
    if (url.protocol !== "https:" && !(url.protocol === "http:" && plain))
      throw urlProblem(`Must begin with https://${plain ? " or http://" : " (setting webhook_allow)"}.`);
    if (url.username !== "" || url.password !== "")
      throw urlProblem("Must not contain a username or password.");
    const host = url.hostname.replace(/^\[|\]$/g, "");
    // Names are resolved at each call, not here.
    if (isIP(host) !== 0 && !isAllowedAddress(host, allowed))
      throw urlProblem(`${host} is neither a public address nor in a network of the setting webhook_allow.`);
    url.hash = "";
    return url.href;
  }

  /** Creates a new secret; the previous one signs too for some hours. */
  async rotate(webhook: Webhook, overlapHours = DEFAULT_OVERLAP): Promise<Webhook> {
    await this.waitUntilWritable();
    return this.options.store.rotate(webhook, newSigningSecret(), overlapHours * HOUR);
  }

  async remove(webhook: Webhook): Promise<void> {
    await this.waitUntilWritable();
    this.options.store.remove(webhook);
  }

  async resume(webhook: Webhook): Promise<Webhook> {
    await this.waitUntilWritable();
    return this.options.store.resume(webhook);
  }

  /** Repeats a delivery. @throws Problem conflict for a ping */
  async redeliver(delivery: Delivery): Promise<Delivery> {
    if (delivery.source === "ping")
      throw new Problem("conflict", "A ping cannot be redelivered. Send another ping.");
    await this.waitUntilWritable();
    return this.options.store.redeliver(delivery);
  }

  private async waitUntilWritable(): Promise<void> {
    await getWriteLock(this.options.database).free();
  }
}

const urlProblem = (error: string): Problem =>
  new Problem("invalid_request", `url: ${error}`, { fields: { url: [error] } });
