import type { Actor } from "../model/access.ts";
import { changeable, deletable, orderable, usable } from "../model/access.ts";
import { and, compare, type Condition } from "../model/condition.ts";
import { invalidField } from "../model/parse-body.ts";
import { plan } from "../model/plan.ts";
import { isGuarded, type ReadContext, type Resource } from "../model/resource.ts";
import { compile, selecting } from "../model/sql.ts";
import { GROUPS_OF_ACCOUNT, toGroups } from "../../accounts/group-rights.ts";
import type { Row } from "../model/operator.ts";
import { Problem } from "../../problem.ts";

/** Rights of accounts on single records besides viewing them. */

export type Right = "use" | "change" | "delete" | "order";

const CONDITIONS: Record<Right, (resource: Resource, actor: Actor) => Condition> = {
  use: usable,
  change: changeable,
  delete: deletable,
  order: orderable,
};

/** True if the actor has a right on a record that it may view. */
export function hasRight(reader: ReadContext, resource: Resource, rid: number, right: Right): boolean {
  const { query, resources, actor } = reader;
  const condition = and(compare(["rid"], "==", rid), CONDITIONS[right](resource, actor));
  const { text, args } = selecting(resource, compile(condition, plan(resources, resource, actor)));
  return query.get({ text: `SELECT 1 FROM ${resource.table} AS t WHERE ${text}`, args }) !== null;
}

/** An account as an actor. Row: rid, username, is_superuser and primary_group. */
export const toActor = (query: ReadContext["query"], row: Row): Actor => ({
  user: Number(row.rid),
  username: String(row.username),
  superuser: row.is_superuser === 1,
  ...toGroups(query.all({ text: GROUPS_OF_ACCOUNT, args: [row.rid] })),
  primaryGroup: Number(row.primary_group),
});

/** An active account that has a right on a record. @throws Problem invalid_request for others */
export function findHolder(
  { query, resources }: Pick<ReadContext, "query" | "resources">,
  { resource, rid }: { resource: Resource; rid: number },
  right: Right,
  { field, username }: { field: string; username: string },
): number {
  const text =
    "SELECT rid, username, full_name, is_superuser, primary_group FROM user_account WHERE username = ? AND is_active";
  const row = query.get({ text, args: [username] });
  if (!row) throw invalidField(field, `There is no active account ${username}.`);
  if (hasRight({ query, resources, actor: toActor(query, row) }, resource, rid, right))
    return Number(row.rid);
  const name = String(row.full_name || row.username);
  throw invalidField(field, `${name} may not ${right} this record. Share it with them first.`);
}

/** A person who has a right that another lacks. */
export interface PersonToAsk {
  username: string;
  full_name: string;
}

/** Accounts that are examined, and people who are named. */
const [MOST_EXAMINED, MOST_NAMED] = [50, 3];

/** Owner, people with permissions, and members of groups that have some or own the record; the owner first. */
const CANDIDATES = (table: string) =>
  `SELECT u.rid, u.username, u.full_name, u.is_superuser, u.primary_group FROM ${table} AS t JOIN user_account AS u` +
  " ON u.is_active AND (u.rid = t.owner OR u.rid IN (SELECT user_rid FROM membership WHERE group_rid = t.owned_by" +
  " UNION SELECT coalesce(g.user_rid, m.user_rid) FROM object_permission AS g LEFT JOIN membership AS m" +
  " ON m.group_rid = g.group_rid WHERE g.object_kind = ?1 AND g.object_rid = t.rid AND g.deleted = 0))" +
  ` WHERE t.rid = ?2 ORDER BY u.rid <> t.owner, u.full_name, u.username LIMIT ${MOST_EXAMINED}`;

/** People who have a right on a record; nobody for callers without an account, who may not view accounts. */
export function whomToAsk(
  { query, resources, actor }: ReadContext,
  resource: Resource,
  rid: number,
  right: Right,
): PersonToAsk[] {
  if (actor.user === null || !isGuarded(resource)) return [];
  return query
    .all({ text: CANDIDATES(resource.table), args: [resource.name, rid] })
    .filter((row) => hasRight({ query, resources, actor: toActor(query, row) }, resource, rid, right))
    .slice(0, MOST_NAMED)
    .map(({ username, full_name }) => ({ username: String(username), full_name: String(full_name) }));
}

export const forbidden = (): Problem =>
  new Problem("forbidden", "You do not have permission to perform this action.");

/** @throws Problem forbidden, which names whom to ask */
export function requireRight(reader: ReadContext, resource: Resource, rid: number, right: Right): void {
  if (hasRight(reader, resource, rid, right)) return;
  const people = whomToAsk(reader, resource, rid, right).map((person) => person.full_name || person.username);
  if (people.length === 0) throw forbidden();
  const names = new Intl.ListFormat("en", { type: "disjunction" }).format(people);
  throw new Problem("forbidden", `${forbidden().message} Ask ${names}.`);
}
