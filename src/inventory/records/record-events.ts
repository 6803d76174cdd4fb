import { type Actor, visible } from "../model/access.ts";
import { and, compare } from "../model/condition.ts";
import { parseExpression } from "../model/expression.ts";
import type { JsonObject, Stored } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import { plan } from "../model/plan.ts";
import { countStatement } from "../model/sql.ts";
import { ROOT } from "../api/call.ts";
import { SUB_RESOURCES, RESOURCES, type RoutedResource } from "../resources/index.ts";
import { openStore } from "./store.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/sqlite.ts";

/** Of which records somebody wants to be told: those of one list, and of these those that hold. */
export interface RecordFilter {
  resource: string | null;
  expression: string | null;
}

/** What happened to a record, without any of its values. */
export interface RecordEvent {
  /** Place in the order of commits. */
  seq: number;
  event: "record.created" | "record.updated" | "record.deleted" | "record.restored";
  /** When, as an instant. */
  at: string;
  data: JsonObject;
}

/** What is done to records, as events for one of those who may view them. */
export interface RecordEvents {
  /** The last cursor that there is. */
  last(): number;
  /** @throws Problem invalid_request that names `resource` or `query_expression` */
  check(filter: RecordFilter): void;
  /** Events after a cursor, and the cursor of what was looked at. */
  since(
    cursor: number,
    actor: Actor,
    filter: RecordFilter,
    limit: number,
  ): { events: RecordEvent[]; cursor: number };
  /** Whether the actor may view what an event is of, now, and the filter holds for it. */
  matches(seq: number, actor: Actor, filter: RecordFilter): boolean;
}

const NAMES: Record<string, RecordEvent["event"]> = {
  create: "record.created",
  update: "record.updated",
  delete: "record.deleted",
  restore: "record.restored",
};

/** @param base address before /api/v2/ */
export function recordEvents(database: Database, clock: Clock, base: string): RecordEvents {
  const store = openStore(database, clock);
  const { history, statements } = store;

  const listOf = ({
    resource,
    expression,
  }: RecordFilter): { name: string; routed: RoutedResource | undefined } | undefined => {
    if (resource === null) {
      if (expression !== null) throw parameterProblem("query_expression", "It needs a resource.");
      return undefined;
    }
    const routed = RESOURCES.find(({ segment }) => segment === resource);
    const part = Object.values(SUB_RESOURCES).find(({ segment }) => segment === resource);
    if (!routed && !part) {
      const choices = [...RESOURCES, ...Object.values(SUB_RESOURCES)].flatMap(({ segment }) => segment ?? []);
      throw parameterProblem("resource", `Choices: ${choices.join(", ")}.`);
    }
    if (!routed && expression !== null)
      throw parameterProblem("query_expression", `${resource} take none: they have no lists of their own.`);
    return { name: (routed ?? part)!.name, routed };
  };

  const conditionOf = (routed: RoutedResource, expression: string) => {
    try {
      return parseExpression(store.resources, routed, expression);
    } catch (error) {
      throw parameterProblem("query_expression", (error as Error).message);
    }
  };

  const passes = (change: JsonObject, actor: Actor, filter: RecordFilter): boolean => {
    const list = listOf(filter);
    if (list && change.resource !== filter.resource) return false;
    if (!list?.routed || filter.expression === null) return true;
    const { routed } = list;
    const condition = and(
      compare(["id"], "==", change.id as Stored),
      conditionOf(routed, filter.expression),
      visible(routed, actor),
    );
    const counted = countStatement(routed, condition, plan(store.resources, routed, actor));
    return Number(statements.get(counted)?.total) > 0;
  };

  const addressOf = ({ resource, id }: JsonObject): string =>
    `${base}${ROOT}${String(resource)}/${String(id)}/`;

  const eventOf = (change: JsonObject): RecordEvent => {
    const { resource, id, of, op, version, at, user, batch } = change;
    const record = of === null ? change : (of as JsonObject);
    return {
      seq: Number(change.cursor),
      event: NAMES[String(op)],
      at: String(at),
      // Addresses are of records: what belongs to one is found below it.
      data: { resource, id, of, address: addressOf(record), version, user, batch },
    };
  };

  return {
    last: () => history.last(),
    check(filter) {
      const list = listOf(filter);
      if (list?.routed && filter.expression !== null) conditionOf(list.routed, filter.expression);
    },
    since(cursor, actor, filter, limit) {
      return statements.reading(() => {
        const feed = history.since(cursor, actor, listOf(filter)?.name, limit);
        const changes = feed.results as JsonObject[];
        return {
          events: changes.filter((change) => passes(change, actor, filter)).map(eventOf),
          cursor: feed.cursor,
        };
      });
    },
    matches(seq, actor, filter) {
      return statements.reading(() => {
        const change = history.change(seq, actor);
        return change !== undefined && passes(change, actor, filter);
      });
    },
  };
}
