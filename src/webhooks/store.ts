import type { Clock } from "../platform/clock.ts";
import { type AuditLog, auditOf, type AuditDetail } from "../accounts/audit.ts";
import type { Sealing } from "../platform/encryption.ts";
import { sha256 } from "../platform/secret.ts";
import { type Database, withoutWaiting } from "../platform/sqlite.ts";
import { encryptSecret, sealOld, decryptSecret } from "./sealed-secret.ts";
import type { RecordFilter } from "./source.ts";

/** A webhook as it is kept. Times are milliseconds since 1970-01-01 UTC. */
export interface Webhook extends RecordFilter {
  rid: number;
  id: string;
  user: number;
  username: string;
  url: string;
  /** Null where the key that it is encrypted by is missing or another one. */
  secret: string | null;
  /** The one before, which signs, too, up to `formerUntil`. */
  formerSecret: string | null;
  formerUntil: number | null;
  events: string[];
  state: "active" | "failing";
  created: number;
  recordCursor: number;
  jobCursor: number;
}

export interface Delivery {
  rid: number;
  id: string;
  webhook: number;
  event: string;
  source: "record" | "job" | "ping";
  /** Row of what happened, in its source. */
  seq: number;
  payload: string;
  state: "pending" | "delivered" | "failed" | "withheld";
  created: number;
  due: number;
  attempts: number;
  attempted: number | null;
  status: number | null;
  answer: string | null;
  error: string | null;
}

export type NewDelivery = Pick<Delivery, "event" | "source" | "seq" | "payload">;

/** What an attempt came to. */
export interface Attempt {
  state: Delivery["state"];
  /** When the next one may be made. */
  due: number;
  status: number | null;
  answer: string | null;
  error: string | null;
}

/** Deliveries of one webhook that are kept once they have ended. */
const KEPT = 1000;

const WEBHOOK = `SELECT w.rid, w.id, w.user_rid AS user, u.username, w.url, w.sealed_secret AS secret, w.events,
  w.former_sealed_secret AS formerSecret, w.former_until AS formerUntil, w.resource, w.expression,
  w.state, w.created, w.record_cursor AS recordCursor, w.job_cursor AS jobCursor
  FROM webhook AS w JOIN user_account AS u ON u.rid = w.user_rid`;

/** Webhooks and deliveries in SQLite. */
export class WebhookStore {
  private readonly audit: AuditLog;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly sealing: Sealing,
  ) {
    this.audit = auditOf(database, clock);
  }

  /** Encrypts secrets of before they were; see `sealOld`. */
  sealOld(): number {
    return sealOld(this.database, this.sealing);
  }

  /** Of a user, or of all, in the order in which they were made. */
  list(user?: number): Webhook[] {
    return this.read(user === undefined ? "" : "WHERE w.user_rid = ?", user === undefined ? [] : [user]);
  }

  find(id: string): Webhook | undefined {
    return this.read("WHERE w.id = ?", [id])[0];
  }

  /** Those that are to be told: not failing, and of accounts that may sign in. */
  active(): Webhook[] {
    return this.read("WHERE w.state = 'active' AND u.is_active", []);
  }

  private read(where: string, args: (string | number)[]): Webhook[] {
    const rows = this.database.query(`${WEBHOOK} ${where} ORDER BY w.rid`).all(...args) as Webhook[];
    for (const row of rows) {
      // As they come from the database the names of events are one text, and secrets are encrypted.
      row.events = JSON.parse(String(row.events)) as string[];
      for (const name of ["secret", "formerSecret"] as const)
        row[name] = row[name] === null ? null : decryptSecret(this.sealing, row[name], row.id);
    }
    return rows;
  }

  /** Adds a webhook that is told of what happens from now on. */
  add(
    about: Pick<Webhook, "user" | "url" | "events" | "resource" | "expression"> & { secret: string },
    cursors: { record: number; job: number },
  ): Webhook {
    const id = this.clock.newId();
    const { username } = this.database
      .query("SELECT username FROM user_account WHERE rid = ?")
      .get(about.user) as { username: string };
    const { url, events, resource } = about;
    const insert = (): unknown =>
      this.database
        .query(
          `INSERT INTO webhook (id, user_rid, url, sealed_secret, events, jobs, resource, expression, created, record_cursor, job_cursor)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(
          id,
          about.user,
          url,
          encryptSecret(this.sealing, about.secret, id),
          JSON.stringify(events),
          events.some((event) => event.startsWith("job.")) ? 1 : 0,
          resource,
          about.expression,
          this.clock.now(),
          cursors.record,
          cursors.job,
        );
    this.noting({ id, username, url }, "webhook.create", insert, { events, resource });
    return this.find(id)!;
  }

  remove(webhook: Webhook): void {
    this.noting(webhook, "webhook.remove", () =>
      this.database.query("DELETE FROM webhook WHERE rid = ?").run(webhook.rid),
    );
  }

  /** Sets another secret; the one before goes on for `overlap` milliseconds. */
  rotate(webhook: Webhook, secret: string, overlap: number): void {
    const { id, secret: present } = webhook;
    // One that cannot be read signs nothing any more.
    const until = overlap === 0 || present === null ? null : this.clock.now() + overlap;
    const kept = until === null || present === null ? null : encryptSecret(this.sealing, present, id);
    const former = until === null ? null : new Date(until).toISOString();
    this.noting(
      webhook,
      "webhook.secret",
      () =>
        this.database
          .query(
            "UPDATE webhook SET sealed_secret = ?, former_sealed_secret = ?, former_until = ? WHERE rid = ?",
          )
          .run(encryptSecret(this.sealing, secret, id), kept, until, webhook.rid),
      { former_until: former },
    );
  }

  /** Lets go of a former secret whose time is over. */
  dropFormerSecret(webhook: Webhook): void {
    withoutWaiting(this.database, () =>
      this.database
        .query("UPDATE webhook SET former_sealed_secret = NULL, former_until = NULL WHERE rid = ?")
        .run(webhook.rid),
    );
  }

  /** Writes, and notes it in the audit log in the same transaction. Of the address the host alone: the rest may be secret. */
  private noting(
    webhook: Pick<Webhook, "id" | "username" | "url">,
    action: string,
    write: () => unknown,
    more: AuditDetail = {},
  ): void {
    const { id, username, url } = webhook;
    this.database
      .transaction(() => {
        write();
        const detail = { username, host: new URL(url).host, ...more };
        this.audit.record({ action, subject: { kind: "webhook", id }, detail });
      })
      .immediate();
  }

  /**
   * Notes what is to be delivered and how far was looked, in one transaction. A power cut may take it back: then it is
   * collected again, under the same identifiers.
   */
  collect(
    webhook: Webhook,
    deliveries: readonly NewDelivery[],
    cursors: { record: number; job: number },
  ): void {
    const insert = this.database.query(
      `INSERT INTO webhook_delivery (id, webhook, event, source, seq, payload, created, due)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    );
    const now = this.clock.now();
    const write = this.database.transaction(() => {
      for (const { event, source, seq, payload } of deliveries)
        insert.run(deliveryId(webhook, source, seq), webhook.rid, event, source, seq, payload, now, now);
      this.database
        .query("UPDATE webhook SET record_cursor = ?, job_cursor = ? WHERE rid = ?")
        .run(cursors.record, cursors.job, webhook.rid);
      this.prune(webhook);
    });
    withoutWaiting(this.database, () => write.immediate());
  }

  private prune(webhook: Webhook): void {
    this.database
      .query(
        `DELETE FROM webhook_delivery WHERE webhook = ?1 AND state <> 'pending' AND rid <
         (SELECT rid FROM webhook_delivery WHERE webhook = ?1 ORDER BY rid DESC LIMIT 1 OFFSET ${KEPT})`,
      )
      .run(webhook.rid);
  }

  /** Adds a delivery that nothing caused but its owner. */
  addPing(webhook: Webhook, payload: string): Delivery {
    const now = this.clock.now();
    this.prune(webhook);
    // Not pending: it is attempted once, by whoever asked for it.
    return this.database
      .query(
        `INSERT INTO webhook_delivery (id, webhook, event, source, seq, payload, state, created, due)
         VALUES (?, ?, 'ping', 'ping', 0, ?, 'failed', ?, ?) RETURNING *`,
      )
      .get(`msg_${sha256(this.clock.newId()).slice(0, 32)}`, webhook.rid, payload, now, now) as Delivery;
  }

  /** How many wait to be delivered. */
  waiting(webhook: Webhook): number {
    const row = this.database
      .query("SELECT count(*) AS n FROM webhook_delivery WHERE webhook = ? AND state = 'pending'")
      .get(webhook.rid);
    return (row as { n: number }).n;
  }

  /** The next one, whether it is due or not: those of one webhook keep their order. */
  next(webhook: Webhook): Delivery | null {
    return this.database
      .query("SELECT * FROM webhook_delivery WHERE webhook = ? AND state = 'pending' ORDER BY rid LIMIT 1")
      .get(webhook.rid) as Delivery | null;
  }

  /** The last ones, the newest first. */
  deliveries(webhook: Webhook, limit: number): Delivery[] {
    return this.database
      .query("SELECT * FROM webhook_delivery WHERE webhook = ? ORDER BY rid DESC LIMIT ?")
      .all(webhook.rid, limit) as Delivery[];
  }

  delivery(webhook: Webhook, id: string): Delivery | null {
    return this.database
      .query("SELECT * FROM webhook_delivery WHERE webhook = ? AND id = ?")
      .get(webhook.rid, id) as Delivery | null;
  }

  /** Notes an attempt. A power cut may take it back: then it is delivered once more. */
  recordAttempt(delivery: Delivery, { state, due, status, answer, error }: Attempt, failing: boolean): void {
    const now = this.clock.now();
    const write = this.database.transaction(() => {
      this.database
        .query(
          `UPDATE webhook_delivery SET state = ?, due = ?, attempts = attempts + 1, attempted = ?, status = ?, answer = ?,
           error = ? WHERE rid = ?`,
        )
        .run(state, due, now, status, answer, error, delivery.rid);
      if (failing)
        this.database.query("UPDATE webhook SET state = 'failing' WHERE rid = ?").run(delivery.webhook);
    });
    withoutWaiting(this.database, () => write.immediate());
  }

  /** What its owner may not view any more is not told. */
  withhold(delivery: Delivery): void {
    withoutWaiting(this.database, () =>
      this.database.query("UPDATE webhook_delivery SET state = 'withheld' WHERE rid = ?").run(delivery.rid),
    );
  }

  fail(webhook: Webhook): void {
    this.database.query("UPDATE webhook SET state = 'failing' WHERE rid = ?").run(webhook.rid);
  }

  /** Lets a failing webhook go on at once, where it stopped. */
  resume(webhook: Webhook): void {
    const now = this.clock.now();
    this.noting(webhook, "webhook.resume", () => {
      this.database.query("UPDATE webhook SET state = 'active' WHERE rid = ?").run(webhook.rid);
      this.database
        .query("UPDATE webhook_delivery SET attempts = 0, due = ? WHERE webhook = ? AND state = 'pending'")
        .run(now, webhook.rid);
    });
  }

  /** Has a delivery made again, under the identifier that it had. */
  redeliver(delivery: Delivery): void {
    this.database
      .query("UPDATE webhook_delivery SET state = 'pending', attempts = 0, due = ? WHERE rid = ?")
      .run(this.clock.now(), delivery.rid);
  }
}

const deliveryId = (webhook: Webhook, source: string, seq: number): string =>
  `msg_${sha256(`${webhook.id} ${source} ${seq}`).slice(0, 32)}`;
