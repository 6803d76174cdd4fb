import { ownedByActorOrGroup } from "../model/access.ts";
import { ALIVE, and, compare, type Condition } from "../model/condition.ts";
import { parseExpression } from "../model/expression.ts";
import { type Json, type JsonObject, printInstant } from "../model/field.ts";
import { selectVisible } from "../model/plan.ts";
import { API_ROOT } from "../model/resource.ts";
import { DECLARED, type RoutedResource } from "../resources/index.ts";
import type { Actor } from "../../platform/actor.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/sqlite.ts";
import type { RecordFilter } from "./record-events.ts";
import { toActor } from "./rights.ts";
import { findRunningOut, readStock, type Shortage, type Stock } from "./running-out.ts";
import { openStore, type Store } from "./store.ts";

/** Why people are reminded of stock. What is empty is below its minimum, too. */
export const REASONS = ["below_minimum", "expired", "expiring"] as const;
type Reason = (typeof REASONS)[number];
const toReason = (state: Shortage): Reason =>
  state === "empty" || state === "low" ? "below_minimum" : state;

const toKey = ({ resource, rid, state }: Stock): string => `${resource.name} ${rid} ${toReason(state!)}`;

/** Stock that became due. */
interface ReminderEvent {
  seq: number;
  at: string;
  data: JsonObject;
}

/** What an e-mail says about stock. */
export interface DueStock extends Pick<Stock, "state" | "tubes" | "left" | "unit" | "minimum"> {
  /** Path of its list in the API, such as `stocks/consumables`. */
  segment: string;
  values: Record<string, Json>;
  /** Day, such as 2026-01-31. */
  expiry: string;
  isNew: boolean;
}

/** The stock of a person that is due for one reason. */
export interface DueList {
  reason: Reason;
  total: number;
  /** New entries come first. */
  shown: DueStock[];
}

/** Waits while another thread holds the write lock. */
type WaitUntilWritable = () => Promise<void> | undefined;

interface Row {
  seq: number;
  resource: string;
  record: number;
  reason: Reason;
  since: number;
}

const PRODUCT = DECLARED.get("product")!;
const CONSUMABLE = DECLARED.get("consumable") as RoutedResource;
const FIELDS = ["id", "name", "location__unique_path", "position"];
const HOUR = 3_600_000;

/**
 * Stock that is running out, as the list of it says, for each person who is reminded. A scan notes what is due for a
 * person once, as long as it is; events and e-mails follow the notes with a cursor.
 */
export class Reminders {
  /** Times of the last scans by person, in milliseconds. */
  readonly #scanned = new Map<number, number>();

  /** @param base address before /api/v2/ */
  constructor(
    private readonly store: Store,
    private readonly base: string,
  ) {}

  /** The last cursor. */
  last(): number {
    return Number(this.#get("SELECT max(0, coalesce(max(seq), 0)) AS seq FROM reminder")!.seq);
  }

  /** `scan`, at most once an hour. */
  async scanHourly(user: number, waitUntilWritable: WaitUntilWritable): Promise<void> {
    const last = this.#scanned.get(user) ?? Number.NEGATIVE_INFINITY;
    if (Math.abs(this.store.clock.now() - last) >= HOUR) await this.scan(user, waitUntilWritable);
  }

  /**
   * Notes what has become due for a person, and forgets what no longer is. Requests are answered meanwhile.
   * @returns the last cursor
   */
  async scan(user: number, waitUntilWritable: WaitUntilWritable): Promise<number> {
    const text = "SELECT rid, username, is_superuser, primary_group FROM user_account WHERE rid = ?";
    const actor = toActor(this.store.statements, this.#get(text, user)!);
    const due = await findRunningOut(this.store, actor);
    await waitUntilWritable();
    return this.#note(user, due);
  }

  /** The caller holds the write lock. */
  #note(user: number, due: readonly Stock[]): number {
    const { statements, clock } = this.store;
    const noted = this.#readNoted(user);
    const keys = new Set(due.map(toKey));
    const gone = [...noted].filter(([key]) => !keys.has(key)).map(([, seq]) => seq);
    const added = due.filter((stock) => !noted.has(toKey(stock)));
    const rows = added.map(({ resource, rid, state }) => [resource.name, toReason(state!), rid]);
    statements.writing(() => {
      const removing = "DELETE FROM reminder WHERE seq IN (SELECT value FROM json_each(?))";
      if (gone.length > 0) statements.run({ text: removing, args: [JSON.stringify(gone)] });
      if (rows.length === 0) return;
      // Another process may add a webhook of the same person.
      const adding = `INSERT OR IGNORE INTO reminder (reader, resource, reason, record, since)
        SELECT ?, value ->> 0, value ->> 1, value ->> 2, ? FROM json_each(?)`;
      statements.run({ text: adding, args: [user, clock.now(), JSON.stringify(rows)] });
    });
    this.#scanned.set(user, clock.now());
    return this.last();
  }

  /** Events after a cursor, limited to stock that the actor may view and the filter selects. */
  since(
    cursor: number,
    actor: Actor,
    filter: RecordFilter,
    limit: number,
  ): { events: ReminderEvent[]; cursor: number } {
    return this.store.statements.reading(() => {
      const text = "SELECT * FROM reminder WHERE seq > ? AND reader = ? ORDER BY seq LIMIT ?";
      const args = [cursor, actor.user, limit];
      const rows = this.store.statements.all({ text, args }) as unknown as Row[];
      const events = rows.flatMap((row) => this.#makeEvent(row, actor, filter) ?? []);
      return { events, cursor: rows.length === limit ? rows.at(-1)!.seq : Math.max(cursor, this.last()) };
    });
  }

  /** True if the stock of an event is still due, the filter selects it, and the actor may view it. */
  matches(seq: number, actor: Actor, filter: RecordFilter): boolean {
    return this.store.statements.reading(() => {
      const row = this.#get("SELECT * FROM reminder WHERE seq = ?", seq);
      return row !== null && this.#makeEvent(row as unknown as Row, actor, filter) !== undefined;
    });
  }

  /**
   * The stock that the actor may view, and that it or one of its groups owns; at most `size` of each reason.
   * @param seen reminders after this one are new
   */
  async listDue(actor: Actor, seen: number, size: number): Promise<DueList[]> {
    const all = await findRunningOut(this.store, actor, (resource) => ownedByActorOrGroup(resource, actor));
    return this.store.statements.reading(() => {
      const added = this.#readNoted(actor.user!, seen);
      const isNew = (stock: Stock): boolean => added.has(toKey(stock));
      return REASONS.map((reason) => {
        const due = all.filter(({ state }) => toReason(state!) === reason);
        const sorted = due.toSorted((a, b) => Number(isNew(b)) - Number(isNew(a)));
        const shown = sorted.slice(0, size).map((stock) => this.#describe(stock, isNew(stock), actor));
        return { reason, total: due.length, shown };
      }).filter(({ total }) => total > 0);
    });
  }

  /** Notes of a person after a cursor, by what they are about. */
  #readNoted(user: number, after = Number.MIN_SAFE_INTEGER): Map<string, number> {
    const text = "SELECT seq, resource, record, reason FROM reminder WHERE reader = ? AND seq > ?";
    const rows = this.store.statements.all({ text, args: [user, after] });
    return new Map(
      rows.map(({ seq, resource, record, reason }) => [`${resource} ${record} ${reason}`, Number(seq)]),
    );
  }

  #describe({ resource, rid, expiry, ...stock }: Stock, isNew: boolean, actor: Actor): DueStock {
    const fields = FIELDS.filter((name) => name.split("__")[0] in resource.fields);
    const [values] = this.store.reader.values(resource, fields, actor, [rid]);
    const day = expiry === null ? "" : printInstant(expiry).slice(0, 10);
    return { ...stock, segment: resource.segment, values, expiry: day, isNew };
  }

  #makeEvent(row: Row, actor: Actor, filter: RecordFilter): ReminderEvent | undefined {
    const { resources, statements } = this.store;
    const resource = DECLARED.get(row.resource) as RoutedResource;
    // A webhook for consumables hears of the products that they are tubes of.
    const isOfTubes = resource === PRODUCT && filter.resource === CONSUMABLE.segment;
    if (filter.resource !== null && filter.resource !== resource.segment && !isOfTubes) return undefined;
    const state = readStock(this.store, actor, resource, row.record)?.state ?? null;
    if (state === null || toReason(state) !== row.reason) return undefined;
    const { expression } = filter;
    const listed = isOfTubes ? CONSUMABLE : resource;
    const selected = expression === null ? [] : [parseExpression(resources, listed, expression)];
    const find = (of: RoutedResource, path: string[], ...also: Condition[]) => {
      const condition = and(compare(path, "==", row.record), ...also);
      return statements.get(selectVisible({ resources, actor }, of, "t.id AS id", condition, " LIMIT 1"));
    };
    if (isOfTubes && find(CONSUMABLE, ["product", "rid"], ALIVE, ...selected) === null) return undefined;
    const found = find(resource, ["rid"], ...(isOfTubes ? [] : selected));
    if (found === null) return undefined;
    const { segment } = resource;
    const id = String(found.id);
    const address = `${this.base}${API_ROOT}${segment}/${id}/`;
    const data = { resource: segment, id, address, reason: row.reason };
    return { seq: row.seq, at: new Date(row.since).toISOString(), data };
  }

  #get(text: string, ...args: number[]) {
    return this.store.statements.get({ text, args });
  }
}

export const reminders = (database: Database, clock: Clock, base: string): Reminders =>
  new Reminders(openStore(database, clock), base);
