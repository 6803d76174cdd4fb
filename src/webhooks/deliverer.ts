import type { Accounts } from "../accounts/accounts.ts";
import type { Actor } from "../platform/actor.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { Problem } from "../problem.ts";
import { type Cursors, type EventSources, isJobEvent, isRecordEvent, isReminder } from "./events.ts";
import type { WebhookResponse } from "./post.ts";
import { signedHeaders } from "./secret.ts";
import type { Attempt, Delivery, NewDelivery, Webhook, WebhookStore } from "./store.ts";

export interface DelivererOptions {
  store: WebhookStore;
  sources: EventSources;
  accounts: Pick<Accounts, "readActor">;
  /** @throws Error whose message says why there was no response */
  send: (url: string, headers: Record<string, string>, body: string) => Promise<WebhookResponse>;
  /** Waits while another thread holds the write lock. */
  waitUntilWritable: () => Promise<void> | undefined;
  clock: Clock;
  log: Log;
  /** URL of the service without /api/, for links. */
  base: string;
  version: string;
  random: () => number;
}

/** Attempts after which a webhook is failing: about ten hours. */
export const MAX_ATTEMPTS = 20;
const FIRST_DELAY = 5000;
const MAX_DELAY = 3_600_000;
/** Pending deliveries per webhook; later events wait in their source. */
const MAX_PENDING = 200;
const BATCH_SIZE = 100;
const CONCURRENCY = 8;
const GONE_STATUS = 410;
const POLL_INTERVAL = 500;
/** Milliseconds that `close` waits for responses. */
const CLOSE_TIMEOUT = 1000;

/**
 * Milliseconds from a failed attempt to the next: 5 s, doubled each time up to an hour, then halved at most by the random
 * number, so that a receiver that recovers is not called by everybody at once.
 */
export function delayAfter(attempts: number, random: number): number {
  const full = Math.min(FIRST_DELAY * 2 ** (attempts - 1), MAX_DELAY);
  return Math.round(full * (0.5 + random / 2));
}

/**
 * Delivers events to webhooks. Events are not written when they happen: each webhook has a cursor into each source, from
 * which its deliveries are made in order, one at a time.
 */
export class Deliverer {
  readonly #options: DelivererOptions;
  readonly #busy = new Map<number, Promise<void>>();
  readonly #pinging = new Set<number>();
  #timer: Timer | undefined;
  #polling: Promise<void> | undefined;
  /** Ended jobs up to this cursor have been discarded. */
  #discarded = 0;
  #closing = false;
  #closed = false;

  constructor(options: DelivererOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => void (this.#polling ??= this.#pollLogged()), POLL_INTERVAL);
    this.#timer.unref();
  }

  /** Stops. Deliveries not answered within a second are repeated by the next process. */
  async close(): Promise<void> {
    this.#closing = true;
    clearInterval(this.#timer);
    await this.#polling;
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, CLOSE_TIMEOUT);
    await Promise.race([Promise.all(this.#busy.values()), late.promise]);
    clearTimeout(timer);
    this.#closed = true;
  }

  /** Polls until nothing is due or it is closed, for tests, which set the clock. */
  async deliverAll(): Promise<void> {
    do {
      await this.poll();
      await Promise.all(this.#busy.values());
    } while (!this.#closing && this.#options.store.active().some((webhook) => this.#isDue(webhook)));
  }

  async #pollLogged(): Promise<void> {
    try {
      await this.poll();
    } catch (error) {
      // An error such as a full disk; the next poll tries again.
      this.#options.log.problem("webhooks", { cause: String(error) });
    } finally {
      this.#polling = undefined;
    }
  }

  async poll(): Promise<void> {
    const { store, sources, waitUntilWritable, clock } = this.#options;
    if (store.active().length === 0) return;
    for (const { user, events } of store.active())
      if (events.some(isReminder)) await sources.reminders.scanHourly(user, waitUntilWritable);
    for (let hasMore = true; hasMore && !this.#closing;) {
      await waitUntilWritable();
      hasMore = false;
      for (const webhook of store.active()) {
        if (webhook.formerUntil !== null && webhook.formerUntil <= clock.now())
          store.dropFormerSecret(webhook);
        if (this.#collect(webhook)) hasMore = true;
      }
      this.#startDue();
      // Lets requests be answered between steps.
      if (hasMore) await Bun.sleep(0);
    }
    if (!this.#closing) this.#discardCompletions();
  }

  /** Discards ended jobs that every webhook has seen, failing ones included. */
  #discardCompletions(): void {
    const { store, sources } = this.#options;
    const cursors = store
      .list()
      .filter(({ events }) => events.some(isJobEvent))
      .map(({ jobCursor }) => jobCursor);
    const seen = Math.min(...cursors);
    if (cursors.length === 0 || seen <= this.#discarded) return;
    sources.jobs.discardUntil(seen);
    this.#discarded = seen;
  }

  #isDue(webhook: Webhook): boolean {
    const next = this.#options.store.next(webhook);
    if (next === null) return false;
    const wait = next.due - this.#options.clock.now();
    // A longer wait means that the clock was set back.
    return wait <= 0 || wait > MAX_DELAY;
  }

  #startDue(): void {
    const { store, log } = this.#options;
    for (const { rid, id } of store.active().filter((webhook) => this.#isDue(webhook))) {
      if (this.#closing || this.#busy.size >= CONCURRENCY) return;
      if (this.#busy.has(rid)) continue;
      const work = this.#deliverDue(id)
        .catch((error: unknown) => log.problem("webhook", { webhook: id, cause: String(error) }))
        .finally(() => this.#busy.delete(rid));
      this.#busy.set(rid, work);
    }
  }

  /** Turns the next events into deliveries. @returns whether there are more events, and room for them */
  #collect(webhook: Webhook): boolean {
    const { store, sources, log } = this.#options;
    const cursors: Cursors = {
      record: webhook.recordCursor,
      job: webhook.jobCursor,
      reminder: webhook.reminderCursor,
    };
    const hasMore = (): boolean =>
      ((webhook.events.some(isRecordEvent) && sources.records.last() > cursors.record) ||
        (webhook.events.some(isJobEvent) && sources.jobs.last() > cursors.job) ||
        (webhook.events.some(isReminder) && sources.reminders.last() > cursors.reminder)) &&
      store.waiting(webhook) < MAX_PENDING;
    if (!hasMore()) return false;
    try {
      const found = this.#nextDeliveries(webhook, cursors);
      store.collect(
        webhook,
        found.filter(({ event }) => event !== "ping" && webhook.events.includes(event)),
        cursors,
      );
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "invalid_request") throw error;
      // The filter names a field that this version no longer has.
      store.fail(webhook.rid);
      log.problem("webhook failing", { webhook: webhook.id, cause: error.message });
      return false;
    }
    const hasMoved =
      cursors.record > webhook.recordCursor ||
      cursors.job > webhook.jobCursor ||
      cursors.reminder > webhook.reminderCursor;
    return hasMoved && hasMore();
  }

  /** The next events of each source that the webhook asks for. Moves the cursors. */
  #nextDeliveries(webhook: Webhook, cursors: Cursors): NewDelivery[] {
    const { sources, accounts, base } = this.#options;
    const actor = accounts.readActor(webhook.user);
    const found: NewDelivery[] = [];
    if (webhook.events.some(isRecordEvent)) {
      const { events, cursor } = sources.records.since(cursors.record, actor, webhook, BATCH_SIZE);
      cursors.record = cursor;
      for (const { seq, event, at, data } of events)
        found.push({ event, source: "record", seq, payload: formatPayload(event, at, data) });
    }
    if (webhook.events.some(isJobEvent)) {
      const { ends, cursor } = sources.jobs.since(cursors.job, identifyClient(actor), BATCH_SIZE);
      cursors.job = cursor;
      for (const { row, id, state, ended } of ends) {
        const event = `job.${state}` as const;
        const data = { id, state, address: `${base}/api/scoring/jobs/${id}` };
        const payload = formatPayload(event, new Date(ended).toISOString(), data);
        found.push({ event, source: "job", seq: row, payload });
      }
    }
    if (webhook.events.some(isReminder)) {
      const { events, cursor } = sources.reminders.since(cursors.reminder, actor, webhook, BATCH_SIZE);
      cursors.reminder = cursor;
      for (const { seq, at, data } of events)
        found.push({
          event: "reminder",
          source: "reminder",
          seq,
          payload: formatPayload("reminder", at, data),
        });
    }
    return found;
  }

  /** Delivers in order until the next delivery is not due or fails. */
  async #deliverDue(id: string): Promise<void> {
    const { store, waitUntilWritable } = this.#options;
    for (;;) {
      // Read again each time: it may have been removed or changed meanwhile.
      const webhook = store.find(id);
      if (this.#closing || webhook?.state !== "active" || !this.#isDue(webhook)) return;
      const delivery = store.next(webhook)!;
      if (!this.#mayView(webhook, delivery)) {
        await waitUntilWritable();
        store.withhold(delivery);
      } else if ((await this.#attempt(webhook, delivery)).state !== "delivered") return;
    }
  }

  #mayView(webhook: Webhook, { source, seq }: Delivery): boolean {
    const { sources, accounts } = this.#options;
    const actor = accounts.readActor(webhook.user);
    if (source === "reminder") return sources.reminders.matches(seq, actor, webhook);
    if (source === "record") return sources.records.matches(seq, actor, webhook);
    const client = identifyClient(actor);
    return client === undefined || sources.jobs.belongsTo(seq, client);
  }

  async #attempt(webhook: Webhook, delivery: Delivery): Promise<Attempt> {
    const { store, waitUntilWritable, clock, log, random } = this.#options;
    const isPing = delivery.source === "ping";
    const result = await this.#send(webhook, delivery);
    const attempts = delivery.attempts + 1;
    const hasFailed = result.error !== null;
    const isFailing = hasFailed && !isPing && (attempts >= MAX_ATTEMPTS || result.status === GONE_STATUS);
    const attempt: Attempt = {
      status: result.status,
      answer: result.answer,
      error: result.error,
      state: hasFailed ? (isPing ? "failed" : "pending") : "delivered",
      due: clock.now() + Math.max(delayAfter(attempts, random()), result.retryAfter),
    };
    await waitUntilWritable();
    // The database may be closed by now; the next process repeats the delivery.
    if (this.#closed) return attempt;
    store.recordAttempt(delivery, attempt, isFailing);
    // Without the URL, which may hold a secret of the owner.
    if (isFailing) log.problem("webhook failing", { webhook: webhook.id, user: webhook.username, attempts });
    return attempt;
  }

  async #send(
    webhook: Webhook,
    { id, payload }: Delivery,
  ): Promise<Pick<Attempt, "status" | "answer" | "error"> & { retryAfter: number }> {
    const { send, clock, log, version } = this.#options;
    try {
      const seconds = Math.floor(clock.now() / 1000);
      const headers = {
        "Content-Type": "application/json",
        "User-Agent": `labd/${version}`,
        ...signedHeaders(signingSecrets(webhook, clock.now()), id, seconds, payload),
      };
      const { status, text, retryAfter = 0 } = await send(webhook.url, headers, payload);
      const error = status >= 200 && status < 300 ? null : `The response had status ${status}.`;
      return { status, answer: text, error, retryAfter: Math.min(retryAfter, MAX_DELAY) };
    } catch (error) {
      const { message, cause } = error as Error;
      // Addresses are for administrators.
      if (cause !== undefined) log.info("webhook not delivered", { webhook: webhook.id, cause });
      return { status: null, answer: null, error: message, retryAfter: 0 };
    }
  }

  /** Sends a test event at once. A failing webhook that responds is resumed. @throws Problem conflict */
  async ping(webhook: Webhook): Promise<Delivery> {
    const { store, clock, waitUntilWritable } = this.#options;
    if (this.#pinging.has(webhook.rid)) throw new Problem("conflict", "A ping is in progress.");
    this.#pinging.add(webhook.rid);
    try {
      await waitUntilWritable();
      const at = new Date(clock.now()).toISOString();
      const ping = store.addPing(webhook, formatPayload("ping", at, { webhook: webhook.id }));
      const { state } = await this.#attempt(webhook, ping);
      if (state === "delivered" && store.find(webhook.id)?.state === "failing") store.resume(webhook);
      return store.delivery(webhook, ping.id) ?? ping;
    } finally {
      this.#pinging.delete(webhook.rid);
    }
  }
}

/** The current secret, and the previous one until it expires. @throws Error if the secret cannot be decrypted */
function signingSecrets({ secret, formerSecret, formerUntil }: Webhook, now: number): string[] {
  if (secret === null)
    throw new Error(
      "Its secret cannot be decrypted: the server's key file is missing or belongs to another database. Create a new secret.",
    );
  return formerSecret !== null && (formerUntil ?? 0) > now ? [secret, formerSecret] : [secret];
}

/** The client whose jobs somebody is notified of; undefined for administrators, who see all jobs. */
const identifyClient = (actor: Actor): string | undefined =>
  actor.superuser ? undefined : `user ${String(actor.username)}`;

const formatPayload = (type: string, timestamp: string, data: object): string =>
  JSON.stringify({ type, timestamp, data });
