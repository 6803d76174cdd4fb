import { type TProperties, Type } from "typebox";
import { type Actor, changeable, deletable, usable, visible } from "../model/access.ts";
import { ALWAYS, and, compare, type Condition } from "../model/condition.ts";
import { type Json, printInstant } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import { LIST_PARAMETERS, type Listing } from "../model/listing.ts";
import type { Query, Sql } from "../model/operator.ts";
import { plan } from "../model/plan.ts";
import { recordPrinter } from "../model/record-printer.ts";
import { columnName, type Resource } from "../model/resource.ts";
import { compile, countStatement, pageStatement } from "../model/sql.ts";
import { type FindName, wording } from "../model/wording.ts";
import { toActor, whomToAsk } from "../records/rights.ts";
import type { Store } from "../records/store.ts";
import { type Call, notFound } from "./call.ts";
import { closed } from "./schema.ts";
import { Problem } from "../../problem.ts";
import { nullable } from "../../platform/schema.ts";

const namedClosed = <Properties extends TProperties>(
  properties: Properties,
  $id: string,
  description: string,
) => Type.Object(properties, { $id, description, additionalProperties: false });
const CONDITION = Type.Unsafe({
  $id: "ExplainedCondition",
  description: "A condition in the form of an advanced filter, a constant, or a rule in words.",
  type: ["object", "boolean", "string"],
});
const AS_OF = Type.Optional(nullable(closed({ batch: Type.String(), at: Type.String() })));

/** Answer of a list with `explain`. */
export const LIST_EXPLANATION = namedClosed(
  {
    as_of: AS_OF,
    parameters: Type.Array(
      closed({ name: Type.String(), values: Type.Array(Type.String()), use: Type.String() }),
    ),
    ignored: Type.Array(Type.String()),
    filter: CONDITION,
    visible: CONDITION,
    ordering: Type.Array(Type.Union([Type.String(), closed({ first: CONDITION })])),
    total: Type.Integer(),
    statements: Type.Array(
      closed({
        purpose: Type.String(),
        sql: Type.String(),
        arguments: Type.Array(Type.Unsafe<Json>({ type: ["string", "number", "null"] })),
        plan: Type.Array(Type.String()),
      }),
    ),
  },
  "ListExplanation",
  "How the server evaluates the list.",
);

const RIGHT = namedClosed(
  { may: Type.Boolean(), because: Type.Array(closed({ rule: CONDITION, holds: Type.Boolean() })) },
  "ExplainedRight",
  "A right of the caller, with the rules that may give it.",
);

/** Answer of a record with `explain`. */
export const RECORD_EXPLANATION = namedClosed(
  {
    as_of: AS_OF,
    id: Type.String(),
    resource: Type.String(),
    caller: nullable(Type.String()),
    administrator: Type.Boolean(),
    deleted: Type.Boolean(),
    note: Type.Optional(Type.String()),
    view: RIGHT,
    use: RIGHT,
    change: RIGHT,
    delete: RIGHT,
    ask: Type.Array(closed({ username: Type.String(), full_name: Type.String() }), {
      description: "The owner and others who may use the record.",
    }),
  },
  "RecordExplanation",
  "The rules that let the caller view, use, change and delete the record.",
);

/** The state that `as_of` names. */
type Past = ReturnType<Store["past"]>;

/**
 * Explains the evaluation of a list: the use of every parameter, the condition as an advanced filter, the rule of
 * visibility, and the statements with SQLite's query plans. It reveals nothing about records that the caller may not
 * view: of statements the text and the plan, of results the caller's own count.
 */
export function explainListing(
  { actor, store, url: { searchParams } }: Call,
  resource: Resource,
  listing: Listing,
  past?: Past,
): Json {
  const { resources, statements, reader } = past ?? store;
  const declared = resources.get(resource.name)!;
  // The past is read with all rights; it is restricted by the rights of today.
  const as = past?.everyone ?? actor;
  const words = (condition: Condition): Json =>
    wording(resources, resource, condition, makeNameFinder(store));
  const rights = past ? and(visible(resource, actor), past.today) : visible(resource, actor);
  const condition = past ? listing.condition : and(listing.condition, rights);
  const from = () => plan(resources, declared, as);
  const limit = listing.size === "max" ? -1 : listing.size;
  const page = listing.page === "last" ? 1 : listing.page;
  const offset = limit < 0 ? 0 : (page - 1) * limit;
  const ignored = new Set(listing.ignored);
  const records = recordPrinter(resources, declared, listing, as).statement;
  const classifyParameter = (name: string): string =>
    ignored.has(name) ? "ignored" : Object.hasOwn(LIST_PARAMETERS, name) ? name : "filter";
  return {
    ...describePast(store, past),
    parameters: [...new Set(searchParams.keys())].map((name) => ({
      name,
      values: searchParams.getAll(name),
      use: classifyParameter(name),
    })),
    ignored: listing.ignored,
    filter: words(listing.condition),
    visible: words(rights),
    ordering: [
      ...listing.order.map((term): Json =>
        "path" in term
          ? `${term.descending ? "-" : ""}${term.path.join("__")}${term.natural ? "__natural" : ""}`
          : { first: words(term.first) },
      ),
      "id",
    ],
    total: reader.list(declared, { ...listing, page: 1, size: 1 }, actor).total,
    statements: Object.entries({
      count: countStatement(declared, condition, from()),
      "row numbers of the page": pageStatement(declared, condition, listing.order, from(), { limit, offset }),
      "records of these row numbers": { ...records, args: ["[]", ...records.args] },
    }).map(([purpose, statement]) => explainStatement(statements, purpose, statement)),
  };
}

/** SQLite's query plan, indented by two blanks for each level. The statement is not run. */
function explainStatement(query: Query, purpose: string, { text, args }: Sql): Json {
  const depth = new Map<number, number>();
  const steps = query.all({ text: `EXPLAIN QUERY PLAN ${text}`, args }).map(({ id, parent, detail }) => {
    const level = parent === 0 ? 0 : (depth.get(Number(parent)) ?? 0) + 1;
    depth.set(Number(id), level);
    return `${"  ".repeat(level)}${detail}`;
  });
  return { purpose, sql: text, arguments: args, plan: steps };
}

/**
 * Why a record may or may not be viewed, used, changed and deleted, rule by rule. `requested`: a true flag for the caller, or the
 * username of another account, for administrators only. With `past` the record is that of then, the rights are today's.
 * @throws Problem not_found, forbidden, invalid_request
 */
export function explainRecord(
  call: Call,
  resource: Resource,
  id: string,
  requested: string,
  past?: Past,
): Json {
  const { actor, store } = call;
  const rid = (past?.reader ?? store.reader).find(resource, id, ALWAYS, actor);
  if (rid === undefined) throw notFound();
  const subject = /^(true|t|yes|y|on|1)$/i.test(requested) ? actor : findAccount(call, requested);
  const holds = (condition: Condition, as: Actor, source: Source = store): boolean =>
    isSatisfied(source, resource, rid, as, condition);
  const isDeleted =
    "deleted" in resource.fields && holds(compare(["deleted"], "==", 1), past?.everyone ?? actor, past);
  const verdict = (rule: Condition): Json => {
    const alternatives = rule.kind === "or" ? rule.parts : [rule];
    const because = alternatives.map((part) => ({ rule: words(part), holds: holds(part, subject) }));
    return { may: because.some((alternative) => alternative.holds), because };
  };
  const words = (part: Condition): Json =>
    part.kind === "constant"
      ? `${part.value ? "everything" : "nothing"}, for this caller`
      : wording(store.resources, resource, part, makeNameFinder(store));
  return {
    ...describePast(store, past),
    id: id.toLowerCase(),
    resource: resource.name,
    caller: subject.username,
    administrator: subject.superuser,
    deleted: isDeleted,
    ...(isDeleted ? { note: "Lists and the URL of the record show it with deleted=true." } : {}),
    view: verdict(visible(resource, subject)),
    use: verdict(usable(resource, subject)),
    change: verdict(changeable(resource, subject)),
    delete: verdict(deletable(resource, subject)),
    ask: whomToAsk(store.reader.makeContext(actor), resource, rid, "use") as unknown as Json,
  };
}

/** The batch that `as_of` names or precedes; null before the first batch. */
function describePast({ statements }: Store, past: Past | undefined): { as_of?: Json } {
  if (!past) return {};
  const row = statements.get({ text: "SELECT id, at FROM record_batch WHERE rid = ?", args: [past.batch] });
  return { as_of: row && { batch: row.id, at: printInstant(Number(row.at)) } };
}

type Source = Pick<Past, "resources" | "statements">;

function isSatisfied(
  source: Source,
  resource: Resource,
  rid: number,
  actor: Actor,
  part: Condition,
): boolean {
  const from = plan(source.resources, resource, actor);
  const { text, args } = compile(part, from);
  const joins = from.joins();
  const row = source.statements.get({
    text: `SELECT ${text} IS TRUE AS holds FROM ${resource.table} AS t${joins.text} WHERE t.rid = ?`,
    args: [...args, ...joins.args, rid],
  });
  return row?.holds === 1;
}

const makeNameFinder =
  ({ statements }: Store): FindName =>
  (resource, rid) => {
    const text = `SELECT ${columnName(resource, resource.key)} AS name FROM ${resource.table} WHERE rid = ?`;
    const row = statements.get({ text, args: [rid] });
    return row === null ? undefined : String(row.name);
  };

function findAccount({ actor, store: { statements } }: Call, username: string): Actor {
  if (username === actor.username) return actor;
  if (!actor.superuser)
    throw new Problem(
      "forbidden",
      "Only administrators may explain the permissions of others. Send explain=1.",
    );
  const row = statements.get({
    text: "SELECT rid, username, is_superuser, primary_group FROM user_account WHERE username = ?",
    args: [username],
  });
  if (!row) throw parameterProblem("explain", "Expected 1, or the username of an account.");
  return { ...actor, ...toActor(statements, row) };
}
