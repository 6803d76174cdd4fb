import { type AuditDetail, type AuditLog, getAuditLog } from "../accounts/audit.ts";
import type { RecordFilter } from "../inventory/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { Sealing } from "../platform/encryption.ts";
import { sha256 } from "../platform/secret.ts";
import { type Database, withoutSync } from "../platform/sqlite.ts";
import { type Cursors, type EventName, isJobEvent } from "./events.ts";
import { decryptSecret, encryptSecret } from "./secret.ts";

/** A webhook. Times are milliseconds since 1970-01-01 UTC. */
export interface Webhook extends RecordFilter {
  rid: number;
  id: string;
  user: number;
  username: string;
  url: string;
  /** Secret; null if it cannot be decrypted. */
  secret: string | null;
  /** The previous secret, which signs too until `formerUntil`. */
  formerSecret: string | null;
  formerUntil: number | null;
  events: EventName[];
  state: "active" | "failing";
  created: number;
  recordCursor: number;
  jobCursor: number;
  reminderCursor: number;
}

export type NewWebhook = Pick<Webhook, "user" | "url" | "events" | "resource" | "expression"> & {
  secret: string;
};

export interface Delivery {
  rid: number;
  id: string;
  webhook: number;
  event: EventName | "ping";
  source: "record" | "job" | "reminder" | "ping";
  /** Number of the event in its source. */
  seq: number;
  payload: string;
  state: "pending" | "delivered" | "failed" | "withheld";
  created: number;
  /** Earliest time of the next attempt. */
  due: number;
  attempts: number;
  attempted: number | null;
  status: number | null;
  answer: string | null;
  error: string | null;
}

export type NewDelivery = Pick<Delivery, "event" | "source" | "seq" | "payload">;

export type Attempt = Pick<Delivery, "state" | "due" | "status" | "answer" | "error">;

/** Ended deliveries kept per webhook. */
const KEPT = 1000;

const SELECT = `SELECT w.rid, w.id, w.user_rid AS user, u.username, w.url, w.sealed_secret AS secret, w.events,
  w.former_sealed_secret AS formerSecret, w.former_until AS formerUntil, w.resource, w.expression,
  w.state, w.created, w.record_cursor AS recordCursor, w.job_cursor AS jobCursor,
  w.reminder_cursor AS reminderCursor
  FROM webhook AS w JOIN user_account AS u ON u.rid = w.user_rid`;

const INSERT_DELIVERY = `INSERT INTO webhook_delivery (id, webhook, event, source, seq, payload, state, created, due)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8) ON CONFLICT DO NOTHING RETURNING *`;

export class WebhookStore {
  private readonly audit: AuditLog;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly sealing: Sealing,
  ) {
    this.audit = getAuditLog(database, clock);
  }

  list(user?: number): Webhook[] {
    return user === undefined ? this.select("TRUE") : this.select("w.user_rid = ?", user);
  }

  find(id: string): Webhook | undefined {
    return this.select("w.id = ?", id)[0];
  }

  /** Webhooks to deliver to: not failing, and of active accounts. */
  active(): Webhook[] {
    return this.select("w.state = 'active' AND u.is_active");
  }

  private select(condition: string, ...values: (string | number)[]): Webhook[] {
    type Row = Omit<Webhook, "events"> & { events: string };
    const rows = this.database.query(`${SELECT} WHERE ${condition} ORDER BY w.rid`).all(...values) as Row[];
    const decrypt = (secret: string | null, id: string): string | null =>
      secret === null ? null : decryptSecret(this.sealing, secret, id);
    return rows.map((row) =>
      Object.assign(row, {
        events: JSON.parse(row.events) as EventName[],
        secret: decrypt(row.secret, row.id),
        formerSecret: decrypt(row.formerSecret, row.id),
      }),
    );
  }

  add({ user, url, events, resource, expression, secret }: NewWebhook, cursors: Cursors): Webhook {
    const id = this.clock.newId();
    const { username } = this.database.query("SELECT username FROM user_account WHERE rid = ?").get(user) as {
      username: string;
    };
    this.audited({ id, username, url }, "webhook.create", { events, resource }, () =>
      this.database
        .query(
          `INSERT INTO webhook (id, user_rid, url, sealed_secret, events, jobs, resource, expression, created, record_cursor, job_cursor,
           reminder_cursor) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(
          id,
          user,
          url,
          encryptSecret(this.sealing, secret, id),
          JSON.stringify(events),
          events.some(isJobEvent) ? 1 : 0,
          resource,
          expression,
          this.clock.now(),
          cursors.record,
          cursors.job,
          cursors.reminder,
        ),
    );
    return this.find(id)!;
  }

  remove(webhook: Webhook): void {
    this.audited(webhook, "webhook.remove", {}, () =>
      this.database.query("DELETE FROM webhook WHERE rid = ?").run(webhook.rid),
    );
  }

  /** Replaces the secret; the previous one signs too for `overlap` milliseconds. */
  rotate({ rid, id, username, url, secret: previous }: Webhook, secret: string, overlap: number): Webhook {
    const former = overlap > 0 ? previous : null;
    const until = former === null ? null : this.clock.now() + overlap;
    const detail = { former_until: until === null ? null : new Date(until).toISOString() };
    this.audited({ id, username, url }, "webhook.secret", detail, () =>
      this.database
        .query(
          "UPDATE webhook SET sealed_secret = ?, former_sealed_secret = ?, former_until = ? WHERE rid = ?",
        )
        .run(
          encryptSecret(this.sealing, secret, id),
          former === null ? null : encryptSecret(this.sealing, former, id),
          until,
          rid,
        ),
    );
    return this.find(id)!;
  }

  dropFormerSecret(webhook: Webhook): void {
    withoutSync(this.database, () =>
      this.database
        .query("UPDATE webhook SET former_sealed_secret = NULL, former_until = NULL WHERE rid = ?")
        .run(webhook.rid),
    );
  }

  /** Writes, with an audit entry in the same transaction. It names only the host: the rest of the URL may be secret. */
  private audited(
    { id, username, url }: Pick<Webhook, "id" | "username" | "url">,
    action: string,
    detail: AuditDetail,
    write: () => unknown,
  ): void {
    this.database
      .transaction(() => {
        write();
        const subject = { kind: "webhook", id };
        this.audit.record({ action, subject, detail: { username, host: new URL(url).host, ...detail } });
      })
      .immediate();
  }

  /**
   * Adds deliveries and moves the cursors in one transaction. A power cut may undo it; the events are then collected
   * again under the same identifiers.
   */
  collect(webhook: Webhook, deliveries: readonly NewDelivery[], cursors: Cursors): void {
    const now = this.clock.now();
    const write = this.database.transaction(() => {
      for (const { event, source, seq, payload } of deliveries) {
        const id = deliveryId(`${webhook.id} ${source} ${seq}`);
        this.database
          .query(INSERT_DELIVERY)
          .run(id, webhook.rid, event, source, seq, payload, "pending", now);
      }
      this.database
        .query("UPDATE webhook SET record_cursor = ?, job_cursor = ?, reminder_cursor = ? WHERE rid = ?")
        .run(cursors.record, cursors.job, cursors.reminder, webhook.rid);
      this.prune(webhook);
    });
    withoutSync(this.database, () => write.immediate());
  }

  private prune(webhook: Webhook): void {
    this.database
      .query(
        `DELETE FROM webhook_delivery WHERE webhook = ?1 AND state <> 'pending' AND rid <
         (SELECT rid FROM webhook_delivery WHERE webhook = ?1 ORDER BY rid DESC LIMIT 1 OFFSET ${KEPT})`,
      )
      .run(webhook.rid);
  }

  /** Adds a ping. It is never pending: it is attempted once, by the caller. */
  addPing(webhook: Webhook, payload: string): Delivery {
    this.prune(webhook);
    const id = deliveryId(this.clock.newId());
    return this.database
      .query(INSERT_DELIVERY)
      .get(id, webhook.rid, "ping", "ping", 0, payload, "failed", this.clock.now()) as Delivery;
  }

  waiting(webhook: Webhook): number {
    const { n } = this.database
      .query("SELECT count(*) AS n FROM webhook_delivery WHERE webhook = ? AND state = 'pending'")
      .get(webhook.rid) as { n: number };
    return n;
  }

  /** The next pending delivery, due or not: deliveries of one webhook keep their order. */
  next(webhook: Webhook): Delivery | null {
    return this.database
      .query("SELECT * FROM webhook_delivery WHERE webhook = ? AND state = 'pending' ORDER BY rid LIMIT 1")
      .get(webhook.rid) as Delivery | null;
  }

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

  /** Records an attempt. A power cut may undo it; the delivery is then repeated. */
  recordAttempt(delivery: Delivery, { state, due, status, answer, error }: Attempt, failing: boolean): void {
    const write = this.database.transaction(() => {
      this.database
        .query(
          `UPDATE webhook_delivery SET state = ?, due = ?, attempts = attempts + 1, attempted = ?, status = ?, answer = ?,
           error = ? WHERE rid = ?`,
        )
        .run(state, due, this.clock.now(), status, answer, error, delivery.rid);
      if (failing) this.fail(delivery.webhook);
    });
    withoutSync(this.database, () => write.immediate());
  }

  /** Ends a delivery whose record or job the owner may no longer view. */
  withhold(delivery: Delivery): void {
    withoutSync(this.database, () =>
      this.database.query("UPDATE webhook_delivery SET state = 'withheld' WHERE rid = ?").run(delivery.rid),
    );
  }

  /** Stops deliveries to a webhook until it is resumed. @param rid row of the webhook */
  fail(rid: number): void {
    this.database.query("UPDATE webhook SET state = 'failing' WHERE rid = ?").run(rid);
  }

  resume(webhook: Webhook): Webhook {
    this.audited(webhook, "webhook.resume", {}, () => {
      this.database.query("UPDATE webhook SET state = 'active' WHERE rid = ?").run(webhook.rid);
      this.database
        .query("UPDATE webhook_delivery SET attempts = 0, due = ? WHERE webhook = ? AND state = 'pending'")
        .run(this.clock.now(), webhook.rid);
    });
    return this.find(webhook.id)!;
  }

  redeliver(delivery: Delivery): Delivery {
    return this.database
      .query("UPDATE webhook_delivery SET state = 'pending', attempts = 0, due = ? WHERE rid = ? RETURNING *")
      .get(this.clock.now(), delivery.rid) as Delivery;
  }
}

const deliveryId = (key: string): string => `msg_${sha256(key).slice(0, 32)}`;
