import { Problem } from "../problem.ts";
import type { Actor } from "../accounts/accounts.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { WebhookResponse } from "./post.ts";
import { signedHeaders } from "./signature.ts";
import type { EventSources } from "./source.ts";
import type { Attempt, Delivery, NewDelivery, Webhook, WebhookStore } from "./store.ts";

export interface DelivererOptions {
  store: WebhookStore;
  sources: EventSources;
  /** Who an account is now. */
  actorOf: (user: number) => Actor;
  /** Posts. @throws Error that says why there was no answer */
  send: (url: string, headers: Record<string, string>, body: string) => Promise<WebhookResponse>;
  /** A promise where somebody else has the turn to write. */
  turn: () => Promise<void> | undefined;
  clock: Clock;
  log: Log;
  /** Address before /api/, for links. */
  base: string;
  version: string;
  /** From 0 to 1. */
  random?: () => number;
  /** Webhooks that are called at a time. */
  concurrency?: number;
}

/** Attempts after which a webhook is failing: some ten hours. */
export const MAX_ATTEMPTS = 20;
const FIRST_DELAY = 5000;
const LONGEST_DELAY = 3_600_000;
/** Deliveries of a webhook that wait at most; what else happened waits in its source. */
const MOST_WAITING = 200;
/** Changes that one look takes. */
const LOOK = 100;
const GONE = 410;
/** Milliseconds that the end of the service waits for answers. */
const PATIENCE = 1000;

/**
 * Milliseconds from a failed attempt to the next: 5 s, then twice as long each time, up to an hour; between half and all
 * of that, so that receivers which come back are not called by everybody at once.
 */
export function delayAfter(attempts: number, random: number): number {
  const full = Math.min(FIRST_DELAY * 2 ** (attempts - 1), LONGEST_DELAY);
  return Math.round(full * (0.5 + random / 2));
}

/**
 * Tells webhooks what happened. Nothing is written where it happens: each webhook has a place in the sequences of
 * changes and of ended jobs, from which its deliveries are made, in order. One is delivered before the next is begun.
 */
export class Deliverer {
  readonly #options: Required<DelivererOptions>;
  readonly #busy = new Map<number, Promise<void>>();
  #timer: Timer | undefined;
  #looking: Promise<void> | undefined;
  readonly #pinged = new Set<number>();
  /** Up to which ends of jobs were let go of. */
  #forgotten = 0;
  #closed = false;
  #abandoned = false;

  constructor(options: DelivererOptions) {
    this.#options = { random: Math.random, concurrency: 8, ...options };
  }

  /** Looks now, and then every `interval` milliseconds. */
  start(interval = 500): void {
    this.#timer = setInterval(() => void (this.#looking ??= this.#lookOnce()), interval);
    this.#timer.unref();
  }

  /** Begins nothing more; what is not answered within a second is delivered again by the next process. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#looking;
    const patience = Promise.withResolvers<void>();
    const timer = setTimeout(patience.resolve, PATIENCE);
    await Promise.race([Promise.all(this.#busy.values()), patience.promise]);
    clearTimeout(timer);
    this.#abandoned = true;
  }

  /** Whatever is due, and what follows from it, until nothing is. For tests, whose clock stands still. */
  async deliverAll(): Promise<void> {
    do {
      await this.poll();
      await Promise.all(this.#busy.values());
    } while (this.#options.store.active().some((webhook) => this.#isDue(webhook)));
  }

  async #lookOnce(): Promise<void> {
    try {
      await this.poll();
    } catch (error) {
      // The disk is full, say: the next time.
      this.#options.log.problem("webhooks", { cause: String(error) });
    } finally {
      this.#looking = undefined;
    }
  }

  /** Collects what happened, and begins to deliver what is due. */
  async poll(): Promise<void> {
    const { store, sources, turn, clock } = this.#options;
    if (store.active().length === 0) return;
    for (let isBehind = true; isBehind && !this.#closed;) {
      await turn();
      isBehind = false;
      for (const webhook of store.active()) {
        if (webhook.formerUntil !== null && webhook.formerUntil <= clock.now())
          store.dropFormerSecret(webhook);
        if (this.#collect(webhook)) isBehind = true;
      }
      this.#begin();
      // After many changes: requests are answered in between.
      if (isBehind) await Bun.sleep(0);
    }
    if (this.#closed) return;
    const ofJobs = store.list().filter(({ events }) => events.some(isOfJobs));
    const read = Math.min(...ofJobs.map(({ jobCursor }) => jobCursor));
    // Those that are failing, or whose owners are disabled, have not read yet what came since.
    if (ofJobs.length > 0 && read > this.#forgotten) {
      sources.jobs.discardUntil(read);
      this.#forgotten = read;
    }
  }

  #isDue(webhook: Webhook): boolean {
    const next = this.#options.store.next(webhook);
    if (next === null) return false;
    const wait = next.due - this.#options.clock.now();
    // None waits longer: the clock was set back.
    return wait <= 0 || wait > LONGEST_DELAY;
  }

  /** Begins with webhooks that have something due, as many as may be called at a time. */
  #begin(): void {
    if (this.#closed) return;
    const { store, concurrency, log } = this.#options;
    for (const webhook of store.active()) {
      if (this.#busy.size >= concurrency) return;
      if (this.#busy.has(webhook.rid) || !this.#isDue(webhook)) continue;
      const work = this.#deliverAll(webhook.id)
        .catch((error: unknown) => log.problem("webhook", { webhook: webhook.id, cause: String(error) }))
        .finally(() => this.#busy.delete(webhook.rid));
      this.#busy.set(webhook.rid, work);
    }
  }

  /** Notes the next of what happened as deliveries. @returns whether there is more of it, and room */
  #collect(webhook: Webhook): boolean {
    const { store, sources, actorOf, log } = this.#options;
    const cursors = { record: webhook.recordCursor, job: webhook.jobCursor };
    const isBehind = (): boolean =>
      (webhook.events.some(isOfRecords) && sources.records.last() > cursors.record) ||
      (webhook.events.some(isOfJobs) && sources.jobs.last() > cursors.job);
    const hasRoom = (): boolean => store.waiting(webhook) < MOST_WAITING;
    if (!isBehind() || !hasRoom()) return false;
    const found: NewDelivery[] = [];
    const actor = actorOf(webhook.user);
    try {
      if (webhook.events.some(isOfRecords)) {
        const { events, cursor } = sources.records.since(cursors.record, actor, webhook, LOOK);
        cursors.record = cursor;
        for (const { seq, event, at, data } of events)
          found.push({ event, source: "record", seq, payload: bodyOf(event, at, data) });
      }
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "invalid_request") throw error;
      // A filter on what this version has no more.
      store.fail(webhook);
      log.problem("webhook failing", { webhook: webhook.id, cause: error.message });
      return false;
    }
    if (webhook.events.some(isOfJobs)) {
      const { ends, cursor } = sources.jobs.since(cursors.job, clientOf(actor), LOOK);
      cursors.job = cursor;
      for (const { row, id, state, ended } of ends) {
        const event = `job.${state}`;
        const data = { id, state, address: `${this.#options.base}/api/scoring/jobs/${id}` };
        found.push({
          event,
          source: "job",
          seq: row,
          payload: bodyOf(event, new Date(ended).toISOString(), data),
        });
      }
    }
    store.collect(
      webhook,
      found.filter(({ event }) => webhook.events.includes(event)),
      cursors,
    );
    const isMoved = cursors.record > webhook.recordCursor || cursors.job > webhook.jobCursor;
    return isMoved && isBehind() && hasRoom();
  }

  /** One after the other, until the next is not due or fails. */
  async #deliverAll(id: string): Promise<void> {
    const { store, turn } = this.#options;
    for (;;) {
      // Anew each time: it may be gone, or failing, or its owner's rights may have changed.
      const webhook = store.find(id);
      if (this.#closed || webhook?.state !== "active" || !this.#isDue(webhook)) return;
      const delivery = store.next(webhook)!;
      if (!this.#mayBeTold(webhook, delivery)) {
        await turn();
        store.withhold(delivery);
        continue;
      }
      if ((await this.attempt(webhook, delivery)).state !== "delivered") return;
    }
  }

  #mayBeTold(webhook: Webhook, { source, seq }: Delivery): boolean {
    const { sources, actorOf } = this.#options;
    const actor = actorOf(webhook.user);
    if (source === "record") return sources.records.matches(seq, actor, webhook);
    const client = clientOf(actor);
    return source === "ping" || client === undefined || sources.jobs.belongsTo(seq, client);
  }

  /** One attempt, and what it came to. */
  async attempt(webhook: Webhook, delivery: Delivery): Promise<Attempt> {
    const { store, send, turn, clock, log, random, version } = this.#options;
    const isPing = delivery.source === "ping";
    const seconds = Math.floor(clock.now() / 1000);
    let came: Omit<Attempt, "state" | "due">;
    let wait = 0;
    const secrets = secretsOf(webhook, clock.now());
    try {
      if (secrets === undefined) throw new Error(UNREADABLE);
      const {
        status,
        text,
        wait: asked,
      } = await send(
        webhook.url,
        {
          "Content-Type": "application/json",
          "User-Agent": `labd/${version}`,
          ...signedHeaders(secrets, delivery.id, seconds, delivery.payload),
        },
        delivery.payload,
      );
      const isGood = status >= 200 && status < 300;
      came = { status, answer: text, error: isGood ? null : `The answer was ${status}.` };
      wait = Math.min(asked ?? 0, LONGEST_DELAY);
    } catch (error) {
      came = { status: null, answer: null, error: (error as Error).message };
    }
    const attempts = delivery.attempts + 1;
    const due = clock.now() + Math.max(delayAfter(attempts, random()), wait);
    const failed = came.error !== null;
    const state = failed ? (isPing ? "failed" : "pending") : "delivered";
    const failing = failed && !isPing && (attempts >= MAX_ATTEMPTS || came.status === GONE);
    const attempt: Attempt = { ...came, state, due };
    await turn();
    // The database is no longer ours; the next process delivers it once more.
    if (this.#abandoned) return attempt;
    store.recordAttempt(delivery, attempt, failing);
    // The address may hold secrets of its owner's; the log of deliveries has what was wrong.
    if (failing) log.problem("webhook failing", { webhook: webhook.id, user: webhook.username, attempts });
    return attempt;
  }

  /** Tells a webhook that it is there. One that answers and was failing goes on. @throws Problem conflict */
  async ping(webhook: Webhook): Promise<Delivery> {
    const { store, clock, turn } = this.#options;
    if (this.#pinged.has(webhook.rid)) throw new Problem("conflict", "A ping is under way.");
    this.#pinged.add(webhook.rid);
    try {
      await turn();
      const at = new Date(clock.now()).toISOString();
      const ping = store.addPing(webhook, bodyOf("ping", at, { webhook: webhook.id }));
      const { state } = await this.attempt(webhook, ping);
      if (state === "delivered" && store.find(webhook.id)?.state === "failing") store.resume(webhook);
      return store.delivery(webhook, ping.id) ?? ping;
    } finally {
      this.#pinged.delete(webhook.rid);
    }
  }
}

/** The secret, and the one before while receivers may still have that; undefined where it cannot be read. */
function secretsOf({ secret, formerSecret, formerUntil }: Webhook, now: number): string[] | undefined {
  if (secret === null) return undefined;
  return formerSecret !== null && (formerUntil ?? 0) > now ? [secret, formerSecret] : [secret];
}

/** What is not signed is not sent. */
const UNREADABLE =
  "Its secret cannot be read: the key file of the server is missing or another one, as after a restore elsewhere. Give it another secret.";

const isOfJobs = (event: string): boolean => event.startsWith("job.");
const isOfRecords = (event: string): boolean => event.startsWith("record.");

/** Whose jobs somebody is told of: the own ones; undefined for administrators, who are told of all. */
const clientOf = (actor: Actor): string | undefined =>
  actor.superuser ? undefined : `user ${String(actor.username)}`;

const bodyOf = (type: string, timestamp: string, data: object): string =>
  JSON.stringify({ type, timestamp, data });
