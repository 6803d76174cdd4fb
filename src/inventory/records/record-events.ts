import type { Actor } from "../model/access.ts";
import { and, compare, type Condition } from "../model/condition.ts";
import { parseExpression } from "../model/expression.ts";
import type { JsonObject, Stored } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import { selectVisible } from "../model/plan.ts";
import { API_ROOT } from "../model/resource.ts";
import { SUB_RESOURCES, RESOURCES, type RoutedResource } from "../resources/index.ts";
import { openStore, type Store } from "./store.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/sqlite.ts";

/** Selects records of one list, or all (null), by an advanced filter. */
export interface RecordFilter {
  resource: string | null;
  expression: string | null;
}

/** A change of a record, without its values. */
export interface RecordEvent {
  /** Place in the order of commits. */
  seq: number;
  event: "record.created" | "record.updated" | "record.deleted" | "record.restored";
  at: string;
  data: JsonObject;
}

const NAMES: Record<string, RecordEvent["event"]> = {
  create: "record.created",
  update: "record.updated",
  delete: "record.deleted",
  restore: "record.restored",
};

/** Changes of records as events, limited to the records that an actor may view. */
export class RecordEvents {
  /** @param base address before /api/v2/ */
  constructor(
    private readonly store: Store,
    private readonly base: string,
  ) {}

  /** The last cursor. */
  last(): number {
    return this.store.history.last();
  }

  /** @throws Problem invalid_request that names `resource` or `query_expression` */
  check(filter: RecordFilter): void {
    const list = this.#findList(filter);
    if (list?.routed && filter.expression !== null) this.#parseCondition(list.routed, filter.expression);
  }

  /** Events after a cursor, and the cursor of the last change examined. */
  since(
    cursor: number,
    actor: Actor,
    filter: RecordFilter,
    limit: number,
  ): { events: RecordEvent[]; cursor: number } {
    return this.store.statements.reading(() => {
      const feed = this.store.history.since(cursor, actor, this.#findList(filter)?.name, limit);
      const changes = (feed.results as JsonObject[]).filter((change) => this.#passes(change, actor, filter));
      return { events: changes.map((change) => this.#parseEvent(change)), cursor: feed.cursor };
    });
  }

  /** True if the filter matches the record of an event now, and the actor may view it. */
  matches(seq: number, actor: Actor, filter: RecordFilter): boolean {
    return this.store.statements.reading(() => {
      const change = this.store.history.change(seq, actor);
      return change !== undefined && this.#passes(change, actor, filter);
    });
  }

  #findList({
    resource,
    expression,
  }: RecordFilter): { name: string; routed: RoutedResource | undefined } | undefined {
    if (resource === null) {
      if (expression !== null) throw parameterProblem("query_expression", "This field requires a resource.");
      return undefined;
    }
    const all = [...RESOURCES, ...Object.values(SUB_RESOURCES)];
    const named = all.find(({ segment }) => segment === resource);
    if (!named)
      throw parameterProblem("resource", `Choices: ${all.map(({ segment }) => segment).join(", ")}.`);
    const routed = RESOURCES.find(({ segment }) => segment === resource);
    if (!routed && expression !== null)
      throw parameterProblem(
        "query_expression",
        `${resource} cannot be filtered, because they have no list.`,
      );
    return { name: named.name, routed };
  }

  #parseCondition(resource: RoutedResource, expression: string): Condition {
    try {
      return parseExpression(this.store.resources, resource, expression);
    } catch (error) {
      throw parameterProblem("query_expression", (error as Error).message);
    }
  }

  #passes(change: JsonObject, actor: Actor, filter: RecordFilter): boolean {
    const list = this.#findList(filter);
    if (list && change.resource !== filter.resource) return false;
    if (!list?.routed || filter.expression === null) return true;
    const { statements, resources } = this.store;
    const condition = this.#parseCondition(list.routed, filter.expression);
    const found = and(compare(["id"], "==", change.id as Stored), condition);
    return statements.get(selectVisible({ resources, actor }, list.routed, "t.rid", found)) !== null;
  }

  #parseEvent(change: JsonObject): RecordEvent {
    const { resource, id, of, op, version, at, user, batch } = change;
    // Sub-resources have the address of their parent.
    const record = (of ?? change) as JsonObject;
    const address = `${this.base}${API_ROOT}${String(record.resource)}/${String(record.id)}/`;
    return {
      seq: Number(change.cursor),
      event: NAMES[String(op)],
      at: String(at),
      data: { resource, id, of, address, version, user, batch },
    };
  }
}

export const recordEvents = (database: Database, clock: Clock, base: string): RecordEvents =>
  new RecordEvents(openStore(database, clock), base);
