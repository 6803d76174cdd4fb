import { type Actor, changeable, deletable, visible } from "../model/access.ts";
import { ALWAYS, and, type Condition } from "../model/condition.ts";
import { type Json, printInstant } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import { LIST_PARAMETERS, type Listing } from "../model/listing.ts";
import type { Query, Sql } from "../model/operator.ts";
import { plan } from "../model/plan.ts";
import { recordPrinter } from "../model/record-printer.ts";
import { columnOf, type Resource, type Resources } from "../model/resource.ts";
import { compile, countStatement, pageStatement } from "../model/sql.ts";
import { type NameOf, wording } from "../model/wording.ts";
import type { Past } from "../records/as-of.ts";
import type { Store } from "../records/store.ts";
import { Problem } from "../../problem.ts";

/**
 * What a list made of its address: the use of every parameter, the condition in the form of the advanced filter, what
 * the caller may view, and the statements with SQLite's plans. Nothing in it depends on a record that the caller may
 * not view: of statements it holds the text and the plan, of results only the caller's own count. `past`: what `as_of`
 * asks for. Its statements stand behind definitions of the tables as they were, which let through what the caller may
 * view today; these are left out of the texts and are part of the plans.
 */
export function explainListing(
  store: Store,
  resource: Resource,
  listing: Listing,
  parameters: URLSearchParams,
  actor: Actor,
  past?: ReturnType<Store["past"]>,
): Json {
  const { resources, statements, reader } = past ?? store;
  const who = past?.everyone ?? actor;
  const declared = resources.get(resource.name)!;
  const words = (condition: Condition): Json => wording(resources, resource, condition, namesIn(store));
  const rights = past ? and(visible(resource, actor), past.today) : visible(resource, actor);
  const condition = past ? listing.condition : and(listing.condition, rights);
  const from = () => plan(resources, declared, who);
  const size = listing.size === "max" ? -1 : listing.size;
  const page = listing.page === "last" ? 1 : listing.page;
  const ignored = new Set(listing.ignored);
  const look = recordPrinter(resources, declared, listing, who).statement;
  return {
    ...asOf(store, past),
    parameters: [...new Set(parameters.keys())].map((name) => ({
      name,
      values: parameters.getAll(name),
      use: ignored.has(name) ? "ignored" : Object.hasOwn(LIST_PARAMETERS, name) ? name : "filter",
    })),
    ignored: listing.ignored,
    filter: words(listing.condition),
    visible: words(rights),
    ordering: [
      ...listing.order.map((term): Json =>
        "path" in term
          ? `${term.descending ? "-" : ""}${term.path.join("__")}`
          : { first: words(term.first) },
      ),
      "id",
    ],
    total: reader.list(declared, { ...listing, page: 1, size: 1 }, actor).total,
    statements: [
      explainStatement(statements, "count", countStatement(declared, condition, from())),
      explainStatement(
        statements,
        "row numbers of the page",
        pageStatement(declared, condition, listing.order, from(), {
          limit: size,
          offset: size < 0 ? 0 : (page - 1) * size,
        }),
      ),
      explainStatement(statements, "records of these row numbers", { ...look, args: ["[]", ...look.args] }),
    ],
  };
}

/** SQLite's plan of one statement, its steps indented by two blanks for each level; the statement is not run. */
function explainStatement(statements: Query, purpose: string, sql: Sql): Json {
  const steps = statements.all({ text: `EXPLAIN QUERY PLAN ${sql.text}`, args: sql.args });
  const depth = new Map<number, number>();
  return {
    purpose,
    sql: sql.text,
    arguments: sql.args,
    plan: steps.map(({ id, parent, detail }) => {
      const level = parent === 0 ? 0 : (depth.get(Number(parent)) ?? 0) + 1;
      depth.set(Number(id), level);
      return `${"  ".repeat(level)}${detail}`;
    }),
  };
}

/**
 * Why a record may be viewed, changed and deleted, or not, rule by rule. `wanted`: a true flag for the caller, or the
 * username of another account, which only administrators may ask about. `past`: of the record as it was; the rights are
 * those of today, for they decide about the past too.
 * @throws Problem not_found where the caller may not view the record, forbidden, invalid_request for an unknown name
 */
export function explainRecord(
  store: Store,
  resource: Resource,
  id: string,
  wanted: string,
  actor: Actor,
  past?: ReturnType<Store["past"]>,
): Json {
  const rid = (past?.reader ?? store.reader).find(resource, id, ALWAYS, actor);
  if (rid === undefined) throw new Problem("not_found", "Not found.");
  const whom = /^(true|t|yes|y|on|1)$/i.test(wanted) ? actor : accountOf(store, wanted, actor);
  const deleted =
    "deleted" in resource.fields && tells(past ?? store, resource, rid, past?.everyone ?? actor, DELETED);
  return {
    ...asOf(store, past),
    id: id.toLowerCase(),
    resource: resource.name,
    caller: whom.username,
    administrator: whom.superuser,
    deleted,
    ...(deleted ? { note: "It is in lists and at its address with deleted=true." } : {}),
    view: verdict(store, resource, rid, whom, visible(resource, whom)),
    change: verdict(store, resource, rid, whom, changeable(resource, whom)),
    delete: verdict(store, resource, rid, whom, deletable(resource, whom)),
  };
}

const DELETED: Condition = { kind: "compare", path: ["deleted"], operator: "==", value: 1 };

/** Each alternative of a rule by itself, with whether it holds of the record. */
function verdict(store: Store, resource: Resource, rid: number, actor: Actor, rule: Condition): Json {
  const alternatives = rule.kind === "or" ? rule.parts : [rule];
  const rules = alternatives.map((part) => ({
    rule:
      part.kind === "constant"
        ? part.value
          ? "everything, for this caller"
          : "nothing, for this caller"
        : wording(store.resources, resource, part, namesIn(store)),
    holds: tells(store, resource, rid, actor, part),
  }));
  return { may: rules.some(({ holds }) => holds), because: rules };
}

/** The batch after which it was so; null before the first. */
function asOf(store: Store, past: Past | undefined): { as_of?: Json } {
  if (!past) return {};
  const row = store.statements.get({
    text: "SELECT id, at FROM record_batch WHERE rid = ?",
    args: [past.batch],
  });
  return { as_of: row && { batch: row.id, at: printInstant(Number(row.at)) } };
}

function tells(
  store: { resources: Resources; statements: Query },
  resource: Resource,
  rid: number,
  actor: Actor,
  part: Condition,
): boolean {
  const from = plan(store.resources, resource, actor);
  const { text, args } = compile(part, from);
  const joins = from.joins();
  const row = store.statements.get({
    text: `SELECT (${text}) IS TRUE AS holds FROM ${resource.table} AS t${joins.text} WHERE t.rid = ?`,
    args: [...args, ...joins.args, rid],
  });
  return row?.holds === 1;
}

const namesIn =
  (store: Store): NameOf =>
  (resource, rid) => {
    const row = store.statements.get({
      text: `SELECT ${columnOf(resource, resource.key)} AS name FROM ${resource.table} WHERE rid = ?`,
      args: [rid],
    });
    return row === null ? undefined : String(row.name);
  };

/** Another account as it would ask. */
function accountOf(store: Store, username: string, actor: Actor): Actor {
  if (username === actor.username) return actor;
  if (!actor.superuser)
    throw new Problem("forbidden", "Only administrators may ask what others may do. Send explain=1.");
  const row = store.statements.get({
    text: "SELECT rid, username, is_superuser, primary_group FROM user_account WHERE username = ?",
    args: [username],
  });
  if (!row) throw parameterProblem("explain", "Expected 1, or the username of an account.");
  const groups = store.statements.all({
    text: "SELECT group_rid FROM membership WHERE user_rid = ? ORDER BY group_rid",
    args: [row.rid],
  });
  return {
    ...actor,
    user: Number(row.rid),
    username: String(row.username),
    superuser: row.is_superuser === 1,
    groups: groups.map(({ group_rid }) => Number(group_rid)),
    primaryGroup: Number(row.primary_group),
  };
}
