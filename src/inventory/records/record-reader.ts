import { type Actor, changeable, deletable, visible } from "../model/access.ts";
import { and, compare, type Condition } from "../model/condition.ts";
import { type Json, KINDS, type RenderContext } from "../model/field.ts";
import { invalidPage, type Listing, type Representation } from "../model/listing.ts";
import { pageCount } from "../model/page.ts";
import type { Sql } from "../model/operator.ts";
import { tallyOf } from "../../platform/cache-counter.ts";
import { plan } from "../model/plan.ts";
import { recordPrinter, type RecordPrinter } from "../model/record-printer.ts";
import type { Resource, Resources } from "../model/resource.ts";
import { compile, countStatement, pageStatement, rows } from "../model/sql.ts";
import type { Statements } from "./statements.ts";

export type Rights = RenderContext["rights"];

/** Where links in records lead. */
export type LinkOptions = Pick<RenderContext, "base" | "format">;

export interface ListPage {
  total: number;
  /** The page, from 1. */
  current: number;
  rids: number[];
}

export interface RecordReader {
  /** Row numbers of one page of what the actor may view. @throws Problem not_found past the last page */
  list(resource: Resource, listing: Listing, actor: Actor): ListPage;
  /** The row number of a record that the actor may view; undefined also where `id` is none. */
  find(resource: Resource, id: string, life: Condition, actor: Actor): number | undefined;
  /** Names of the values and the records as values, in the order of the row numbers. */
  records(
    resource: Resource,
    look: Representation,
    actor: Actor,
    rids: readonly number[],
    around: LinkOptions,
  ): { names: readonly string[]; values: Record<string, Json>[] };
  /** The same records as JSON texts; kept between calls where they are the same for every caller. */
  texts(
    resource: Resource,
    look: Representation,
    actor: Actor,
    rids: readonly number[],
    around: LinkOptions,
  ): string[];
  /** What the actor may do with each of the records besides viewing. */
  rights(resource: Resource, actor: Actor, rids: readonly number[]): Map<number, Rights>;
  /** After a write: what was kept may no longer be true. */
  forget(): void;
}

/** UTF-16 units of record texts kept. */
const TEXTS_KEPT = 6_000_000;
const COUNTS_KEPT = 2000;
const PAGES_KEPT = 2000;
const LONGEST_PAGE = 500;
const RIGHTS_KEPT = 100_000;
/** Records before a page that count as deep. */
const DEEP = 1000;
const ORDERS_KEPT = 16;
const LONGEST_ORDER = 2_000_000;
const PRINTINGS_KEPT = 200;

const NOTHING: Rights = { change: false, delete: false };
const EVERYTHING: Rights = { change: true, delete: true };

/** `rightsNow`: says what the actor may do, where the statements read the past. */
export function openRecordReader(
  statements: Statements,
  resources: Resources,
  rightsNow?: RecordReader["rights"],
): RecordReader {
  const tallies = { counts: tallyOf("counts"), pages: tallyOf("pages"), records: tallyOf("records") };
  const counts = new Map<string, number>();
  const printings = new Map<string, RecordPrinter>();
  /** Row numbers of whole lists by their statement; null where a deep page was asked for once. */
  const orders = new Map<string, Uint32Array | null>();
  /** Row numbers of single pages by their statement. */
  const pages = new Map<string, number[]>();
  /** What one caller may do with records, by resource and caller. */
  const known = new Map<string, Map<number, Rights>>();
  const texts = new Map<string, Map<number, string>>();
  let textSize = 0;
  let version = -1;

  const forget = (): void => {
    counts.clear();
    orders.clear();
    pages.clear();
    known.clear();
    texts.clear();
    textSize = 0;
  };
  /** Drops what is kept where another process has written. */
  const refresh = (): void => {
    const now = statements.foreignVersion();
    if (now !== version) forget();
    version = now;
  };

  const count = (resource: Resource, condition: Condition, actor: Actor): number => {
    const sql = countStatement(resource, condition, plan(resources, resource, actor));
    const key = `${sql.text}\n${JSON.stringify(sql.args)}`;
    let total = counts.get(key);
    if (total !== undefined) tallies.counts.hits++;
    else {
      tallies.counts.misses++;
      total = Number(statements.get(sql)?.total);
      if (counts.size >= COUNTS_KEPT) counts.clear();
      counts.set(key, total);
    }
    return total;
  };

  const readRids = (sql: Sql): number[] => statements.all(sql).map(({ rid }) => Number(rid));

  /** Row numbers, kept where they are those of a page. */
  const ridsOf = (sql: Sql, limit = -1): number[] => {
    if (limit < 0 || limit > LONGEST_PAGE) return readRids(sql);
    const key = `${sql.text}\n${JSON.stringify(sql.args)}`;
    let rids = pages.get(key);
    if (rids) tallies.pages.hits++;
    else {
      tallies.pages.misses++;
      rids = readRids(sql);
      if (pages.size >= PAGES_KEPT) pages.clear();
      pages.set(key, rids);
    }
    return rids;
  };

  /** SQLite walks over all that lies before a page. When deep pages are asked for again, the whole order is kept. */
  const pageOf = (
    statement: (limit: number, offset: number) => Sql,
    size: number,
    offset: number,
    total: number,
  ): number[] => {
    const sql = statement(size, offset);
    if (offset < DEEP || total > LONGEST_ORDER) return ridsOf(sql, size);
    const key = `${sql.text}\n${JSON.stringify(sql.args.slice(0, -2))}`;
    let order = orders.get(key);
    if (order === undefined) {
      if (orders.size >= ORDERS_KEPT) orders.clear();
      orders.set(key, null);
      return readRids(sql);
    }
    if (order === null) {
      order = statements.numbers(statement(-1, 0), total);
      orders.set(key, order);
    }
    return [...order.subarray(offset, offset + size)];
  };

  const rights = (resource: Resource, actor: Actor, rids: readonly number[]): Map<number, Rights> => {
    if (rightsNow) return rightsNow(resource, actor, rids);
    if (actor.user === null) return new Map(rids.map((rid) => [rid, NOTHING]));
    if (actor.superuser) return new Map(rids.map((rid) => [rid, EVERYTHING]));
    const joined = plan(resources, resource, actor);
    const change = compile(changeable(resource, actor), joined);
    const remove = compile(deletable(resource, actor), joined);
    const found = statements.all({
      text:
        `SELECT t.rid AS rid, (${change.text}) IS TRUE AS may_change, (${remove.text}) IS TRUE AS may_delete` +
        ` FROM json_each(?) AS page CROSS JOIN ${resource.table} AS t ON t.rid = page.value`,
      args: [...change.args, ...remove.args, JSON.stringify(rids)],
    });
    return new Map(
      found.map((row) => [Number(row.rid), { change: row.may_change === 1, delete: row.may_delete === 1 }]),
    );
  };

  /** As `rights`, but kept until something is written: for what is shown, never for what is decided. */
  const rightsToShow = (resource: Resource, actor: Actor, rids: readonly number[]): Map<number, Rights> => {
    if (actor.user === null || actor.superuser || rightsNow) return rights(resource, actor, rids);
    const key = `${resource.name} ${actor.user} ${actor.groups.join(",")}`;
    let kept = known.get(key);
    if (!kept || kept.size > RIGHTS_KEPT) {
      if (known.size >= ORDERS_KEPT) known.clear();
      known.set(key, (kept = new Map()));
    }
    const missing = rids.filter((rid) => !kept.has(rid));
    if (missing.length > 0) for (const [rid, may] of rights(resource, actor, missing)) kept.set(rid, may);
    return kept;
  };

  /** A printing for everyone is kept; one with spans holds conditions on what this caller may view. */
  const printingFor = (
    resource: Resource,
    look: Representation,
    actor: Actor,
  ): { made: RecordPrinter; key: string | undefined } => {
    const key = `${resource.name} ${look.shape} ${look.fields?.join(",") ?? "all"}`;
    const kept = printings.get(key);
    if (kept) return { made: kept, key };
    const made = recordPrinter(resources, resource, look, actor);
    if (made.personal) return { made, key: undefined };
    if (printings.size >= PRINTINGS_KEPT) printings.clear();
    printings.set(key, made);
    return { made, key };
  };

  const rightsFor = (made: RecordPrinter, resource: Resource, actor: Actor, rids: readonly number[]) =>
    made.needsRights ? rightsToShow(resource, actor, rids) : undefined;

  /** Reads and prints; the arguments of joins follow the list of row numbers, which stands first in the text. */
  const print = (
    made: RecordPrinter,
    rids: readonly number[],
    around: LinkOptions,
    allowed: Map<number, Rights> | undefined,
  ): { rid: number; value: Record<string, Json> }[] =>
    statements
      .all({ text: made.statement.text, args: [JSON.stringify(rids), ...made.statement.args] })
      .map((row) => {
        const rid = Number(row.rid);
        const surroundings: RenderContext = { ...around, rights: allowed?.get(rid) ?? NOTHING };
        return { rid, value: made.print(row, surroundings) };
      });

  return {
    forget,
    rights,
    list(resource, listing, actor) {
      return statements.reading(() => {
        refresh();
        const condition = seen(resource, actor, listing.condition);
        const total = count(resource, condition, actor);
        const pages = pageCount(total, listing.size);
        const current = listing.page === "last" ? pages : listing.page;
        if (current > pages) throw invalidPage();
        const statement = (limit: number, offset: number): Sql =>
          pageStatement(resource, condition, listing.order, plan(resources, resource, actor), limit, offset);
        const rids =
          listing.size === "max"
            ? Array.from(statements.numbers(statement(-1, 0), total))
            : pageOf(statement, listing.size, (current - 1) * listing.size, total);
        return { total, current, rids };
      });
    },
    find(resource, id, life, actor) {
      const value = KINDS[resource.fields.id.kind as "uuid"].parse(id);
      if (value === undefined) return undefined;
      const condition = seen(resource, actor, and(compare(["id"], "==", value), life));
      const where = compile(condition, plan(resources, resource, actor));
      const text = `SELECT t.rid AS rid FROM ${resource.table} AS t WHERE ${rows(resource)}${where.text}`;
      const row = statements.get({ text, args: where.args });
      return row === null ? undefined : Number(row.rid);
    },
    records(resource, look, actor, rids, around) {
      const { made } = printingFor(resource, look, actor);
      const allowed = rightsFor(made, resource, actor, rids);
      return { names: made.names, values: print(made, rids, around, allowed).map(({ value }) => value) };
    },
    texts(resource, look, actor, rids, around) {
      refresh();
      const { made, key } = printingFor(resource, look, actor);
      const allowed = rightsFor(made, resource, actor, rids);
      if (key === undefined)
        return print(made, rids, around, allowed).map(({ value }) => JSON.stringify(value));
      const shelf = (rid: number): Map<number, string> => {
        const { change, delete: remove } = allowed?.get(rid) ?? NOTHING;
        const name = `${key} ${around.base} ${around.format} ${change} ${remove}`;
        let found = texts.get(name);
        if (!found) texts.set(name, (found = new Map()));
        return found;
      };
      const missing = rids.filter((rid) => !shelf(rid).has(rid));
      tallies.records.hits += rids.length - missing.length;
      tallies.records.misses += missing.length;
      const fresh = new Map<number, string>();
      for (const { rid, value } of missing.length === 0 ? [] : print(made, missing, around, allowed))
        fresh.set(rid, JSON.stringify(value));
      const answer = rids.map((rid) => fresh.get(rid) ?? shelf(rid).get(rid)!);
      for (const [rid, text] of fresh) {
        if ((textSize += text.length) > TEXTS_KEPT) {
          texts.clear();
          textSize = text.length;
        }
        shelf(rid).set(rid, text);
      }
      return answer;
    },
  };
}

const seen = (resource: Resource, actor: Actor, condition: Condition): Condition =>
  and(condition, visible(resource, actor));
