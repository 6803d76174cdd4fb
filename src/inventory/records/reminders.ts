import { type Actor, ownedByActorOrGroup } from "../model/access.ts";
import { and, compare } from "../model/condition.ts";
import { parseExpression } from "../model/expression.ts";
import type { Json, JsonObject } from "../model/field.ts";
import { FIRST_PAGE, parseListing } from "../model/listing.ts";
import { selectVisible } from "../model/plan.ts";
import type { Sql } from "../model/operator.ts";
import { API_ROOT } from "../model/resource.ts";
import { RESOURCES, type RoutedResource } from "../resources/index.ts";
import { hasStock } from "../model/access.ts";
import { EXPIRING, LOW, type StockView } from "../resources/stock-views.ts";
import type { RecordFilter } from "./record-events.ts";
import { openStore, type Store } from "./store.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/sqlite.ts";

function toReason({ title, filters, ordering }: StockView): { title: string; query: string } {
  return { title: title.toLowerCase(), query: new URLSearchParams({ ...filters, ordering }).toString() };
}

/** Why people are reminded of records, with the parameters of the list of these records. */
export const REMINDER_REASONS = { expiring: toReason(EXPIRING), below_minimum: toReason(LOW) };
type Reason = keyof typeof REMINDER_REASONS;
const REASONS = Object.keys(REMINDER_REASONS) as Reason[];

/** A record that became due. */
interface ReminderEvent {
  seq: number;
  at: string;
  data: JsonObject;
}

/** The records of a person that are due for one reason in one list. */
export interface DueList {
  reason: Reason;
  /** Path of the list in the API, such as `stocks/consumables`. */
  segment: string;
  total: number;
  /** New entries come first. */
  shown: { values: Record<string, Json>; isNew: boolean }[];
}

interface Row {
  seq: number;
  resource: string;
  record: number;
  reason: Reason;
  since: number;
}

const STOCK: readonly RoutedResource[] = RESOURCES.filter(hasStock);
const FIELDS = [
  "id",
  "name",
  "expiry",
  "amount",
  "unit__name",
  "minimum_amount",
  "location__unique_path",
  "position",
];
/** Records that one scan adds for a reason and a list; the next scan continues. */
const MAX_ADDED = 10_000;
/** Records that are searched for new ones. */
const MAX_EXAMINED = 10_000;
const ANY_READER: Actor = {
  user: null,
  username: null,
  superuser: true,
  groups: [],
  primaryGroup: null,
  token: null,
};

/**
 * Stock that expires or runs out. A scan notes each record once, as long as it is due; events and e-mails follow the notes
 * with a cursor, and contain only what their reader may view.
 */
export class Reminders {
  /** @param base address before /api/v2/ */
  constructor(
    private readonly store: Store,
    private readonly base: string,
  ) {}

  /** The last cursor. */
  last(): number {
    return Number(this.#get("SELECT max(seq) AS seq FROM reminder")?.seq ?? 0);
  }

  /** Notes records that have become due, and forgets records that no longer are. The caller holds the write lock. */
  scan(): void {
    const { statements, clock } = this.store;
    for (const resource of STOCK)
      for (const reason of REASONS) {
        const due = this.#select(resource, reason, ANY_READER, "t.rid AS rid");
        const noted = "SELECT record FROM reminder WHERE resource = ? AND reason = ?";
        const key = [resource.name, reason];
        statements.writing(() => {
          statements.run({
            text: `DELETE FROM reminder WHERE resource = ? AND reason = ? AND record NOT IN (${due.text})`,
            args: [...key, ...due.args],
          });
          statements.run({
            text: `INSERT INTO reminder (resource, reason, record, since) SELECT ?, ?, rid, ? FROM (${due.text})
             WHERE rid NOT IN (${noted}) LIMIT ${MAX_ADDED}`,
            args: [...key, clock.now(), ...due.args, ...key],
          });
        });
      }
  }

  /** Events after a cursor, limited to records that the actor may view and the filter selects. */
  since(
    cursor: number,
    actor: Actor,
    filter: RecordFilter,
    limit: number,
  ): { events: ReminderEvent[]; cursor: number } {
    return this.store.statements.reading(() => {
      const text = "SELECT * FROM reminder WHERE seq > ? ORDER BY seq LIMIT ?";
      const rows = this.store.statements.all({ text, args: [cursor, limit] }) as unknown as Row[];
      const events = rows.flatMap((row) => this.#makeEvent(row, actor, filter) ?? []);
      return { events, cursor: rows.at(-1)?.seq ?? cursor };
    });
  }

  /** True if the record of an event is still due, the filter selects it, and the actor may view it. */
  matches(seq: number, actor: Actor, filter: RecordFilter): boolean {
    return this.store.statements.reading(() => {
      const row = this.#get("SELECT * FROM reminder WHERE seq = ?", seq);
      return row !== null && this.#makeEvent(row as unknown as Row, actor, filter) !== undefined;
    });
  }

  /**
   * The records that the actor may view, and that it or one of its groups owns; at most `size` of each list.
   * @param seen reminders after this one are new
   */
  listDue(actor: Actor, seen: number, size: number): DueList[] {
    return this.store.statements
      .reading(() =>
        REASONS.flatMap((reason) =>
          STOCK.map((resource) => this.#dueIn(resource, reason, actor, seen, size)),
        ),
      )
      .filter(({ total }) => total > 0);
  }

  #dueIn(resource: RoutedResource, reason: Reason, actor: Actor, seen: number, size: number): DueList {
    const { reader, statements } = this.store;
    const { condition, order } = this.#listing(resource, reason, actor);
    const own = and(condition, ownedByActorOrGroup(resource, actor));
    const { rids, total } = reader.list(
      resource,
      { ...FIRST_PAGE, condition: own, order, size: MAX_EXAMINED },
      actor,
    );
    const text = `SELECT record AS rid FROM reminder WHERE resource = ? AND reason = ? AND seq > ?`;
    const added = new Set(statements.numbers({ text, args: [resource.name, reason, seen] }));
    const fresh = rids.filter((rid) => added.has(rid));
    const page = [...fresh, ...rids.filter((rid) => !added.has(rid))].slice(0, size);
    const values = reader.values(resource, FIELDS, actor, page);
    const shown = values.map((one, index) => ({ values: one, isNew: index < fresh.length }));
    return { reason, segment: resource.segment, total, shown };
  }

  #listing(resource: RoutedResource, reason: Reason, actor: Actor) {
    const parameters = new URLSearchParams(REMINDER_REASONS[reason].query);
    return parseListing(this.store.resources, resource, parameters, actor);
  }

  #select(resource: RoutedResource, reason: Reason, actor: Actor, columns: string): Sql {
    const { condition } = this.#listing(resource, reason, actor);
    return selectVisible({ resources: this.store.resources, actor }, resource, columns, condition);
  }

  #makeEvent(row: Row, actor: Actor, filter: RecordFilter): ReminderEvent | undefined {
    const { resources, statements } = this.store;
    const resource = STOCK.find(({ name }) => name === row.resource);
    if (!resource || (filter.resource !== null && filter.resource !== resource.segment)) return undefined;
    const selected =
      filter.expression === null ? [] : [parseExpression(resources, resource, filter.expression)];
    const condition = and(
      compare(["rid"], "==", row.record),
      this.#listing(resource, row.reason, actor).condition,
      ...selected,
    );
    const found = statements.get(selectVisible({ resources, actor }, resource, "t.id AS id", condition));
    if (found === null) return undefined;
    const { segment } = resource;
    const id = String(found.id);
    const data = {
      resource: segment,
      id,
      address: `${this.base}${API_ROOT}${segment}/${id}/`,
      reason: row.reason,
    };
    return { seq: row.seq, at: new Date(row.since).toISOString(), data };
  }

  #get(text: string, ...args: number[]) {
    return this.store.statements.get({ text, args });
  }
}

export const reminders = (database: Database, clock: Clock, base: string): Reminders =>
  new Reminders(openStore(database, clock), base);
