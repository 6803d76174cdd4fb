import { type Actor, changeable, deletable, hasStock, usable } from "../model/access.ts";
import { and, compare, type Condition } from "../model/condition.ts";
import { type Json, KINDS, type RenderContext } from "../model/field.ts";
import { invalidPage, type Listing, type Representation } from "../model/listing.ts";
import type { Sql } from "../model/operator.ts";
import { pageCount } from "../model/page.ts";
import { cacheCounter } from "../../platform/cache-counter.ts";
import { plan, selectVisible, visibleOnly } from "../model/plan.ts";
import { recordPrinter, type RecordPrinter } from "../model/record-printer.ts";
import type { ReadContext, Resource, Resources } from "../model/resource.ts";
import type { RowSet } from "../model/row-set.ts";
import { clause, compile, countStatement, orderedStatement, paginate } from "../model/sql.ts";
import { type LoadRows, RowIndex, type RowsRequest } from "./row-index.ts";
import type { ReadStatements } from "./statements.ts";
import type { TrigramStatistics } from "./trigram-statistics.ts";
import { UniquePaths } from "./unique-path.ts";

export type Rights = RenderContext["rights"];

/** The target of links in records. */
export type LinkOptions = Pick<RenderContext, "base" | "format">;

export interface ListPage {
  total: number;
  /** The page, from 1. */
  current: number;
  rids: number[];
}

/** UTF-16 units of cached record texts. */
const MAX_TEXT_SIZE = 6_000_000;

const NO_RIGHTS: Rights = { change: false, delete: false };
const LEVELS = [false, true];
/** One object for equal rights, by which texts are cached: to change, to delete, and to use, null except for stock. */
const RIGHTS = new Map<string, Rights>(
  LEVELS.flatMap((change) =>
    LEVELS.flatMap((remove) =>
      [null, ...LEVELS].map((use): [string, Rights] => [
        `${Number(change)} ${Number(remove)} ${use === null ? null : Number(use)}`,
        { change, delete: remove, ...(use === null ? {} : { use }) },
      ]),
    ),
  ),
);

/** Reads records as far as an actor may view them. Caches follow the writes that `note` receives. */
export class RecordReader {
  readonly #counters = { counts: cacheCounter("counts"), records: cacheCounter("records") };
  readonly #index: RowIndex | undefined;
  readonly #paths: UniquePaths;
  readonly #texts = new Map<string, Map<number, string>>();
  #textSize = 0;
  #version = -1;

  constructor(
    private readonly statements: ReadStatements,
    private readonly resources: Resources,
    { indexed = true }: { indexed?: boolean } = {},
  ) {
    this.#paths = new UniquePaths(statements, resources);
    if (indexed) this.#index = new RowIndex(statements, resources);
  }

  /** Row numbers of one page of the records that the actor may view. @throws Problem not_found past the last page */
  list(resource: Resource, listing: Listing, actor: Actor): ListPage {
    return this.statements.reading(() => {
      this.#refresh();
      const condition = visibleOnly(resource, actor, listing.condition);
      const index = this.#index;
      const newPlan = () => plan(this.resources, resource, actor, index?.trigrams.choose);
      // Throws if they are too many for one statement, also where none is needed.
      const all = orderedStatement(resource, condition, listing.order, newPlan());
      const rows = index?.matching({ resource, actor }, condition);
      this.#counters.counts[rows ? "hits" : "misses"]++;
      const total =
        rows?.count() ?? Number(this.statements.get(countStatement(resource, condition, newPlan()))?.total);
      const pages = pageCount(total, listing.size);
      const current = listing.page === "last" ? pages : listing.page;
      if (current > pages) throw invalidPage();
      const [limit, offset] = listing.size === "max" ? [-1, 0] : [listing.size, (current - 1) * listing.size];
      const read = (): number[] => Array.from(this.statements.numbers(paginate(all, { limit, offset })));
      const rids =
        (rows && index?.page({ resource, actor }, rows, listing.order, { limit, offset })) ?? read();
      return { total, current, rids };
    });
  }

  /** The row number of a record that the actor may view; undefined also for a malformed id. */
  find(resource: Resource, id: string, condition: Condition, actor: Actor): number | undefined {
    const value = KINDS[resource.fields.id.kind as "uuid"].parse(id);
    if (value === undefined) return undefined;
    const viewer = { resources: this.resources, actor };
    const byId = and(compare(["id"], "==", value), condition);
    const row = this.statements.get(selectVisible(viewer, resource, "t.rid AS rid", byId));
    return row === null ? undefined : Number(row.rid);
  }

  /** Names of the values and the records as values, in the order of the row numbers. */
  records(
    resource: Resource,
    representation: Representation,
    actor: Actor,
    rids: readonly number[],
    links: LinkOptions,
  ): { names: readonly string[]; values: Record<string, Json>[] } {
    const { printer } = this.#makePrinter(resource, representation, actor);
    const rights = this.#readRights(printer, resource, actor, rids);
    return {
      names: printer.names,
      values: this.#print(printer, rids, links, rights, actor).map(({ value }) => value),
    };
  }

  /** Plain values of these fields and spans, in the order of the row numbers. */
  values(
    resource: Resource,
    fields: readonly string[] | undefined,
    actor: Actor,
    rids: readonly number[],
    annotations?: Representation["annotations"],
  ): Record<string, Json>[] {
    const representation = {
      format: undefined,
      shape: "plain",
      fields,
      ...(annotations && { annotations }),
    } as const;
    return this.records(resource, representation, actor, rids, { base: "", format: undefined }).values;
  }

  /** The records as JSON texts; cached if they are equal for every caller. */
  texts(
    resource: Resource,
    representation: Representation,
    actor: Actor,
    rids: readonly number[],
    links: LinkOptions,
  ): string[] {
    this.#refresh();
    const { printer, key } = this.#makePrinter(resource, representation, actor);
    const rights = this.#readRights(printer, resource, actor, rids);
    if (key === undefined)
      return this.#print(printer, rids, links, rights, actor).map(({ value }) => JSON.stringify(value));
    const caches = new Map<Rights, Map<number, string>>();
    const findCache = (rid: number): Map<number, string> => {
      const right = rights?.get(rid) ?? NO_RIGHTS;
      let cache = caches.get(right);
      if (!cache) {
        const name = `${key} ${links.base} ${links.format} ${right.change} ${right.delete} ${right.use}`;
        caches.set(right, (cache = this.#textCache(name)));
      }
      return cache;
    };
    const missing = rids.filter((rid) => !findCache(rid).has(rid));
    this.#counters.records.hits += rids.length - missing.length;
    this.#counters.records.misses += missing.length;
    const fresh = new Map<number, string>();
    for (const { rid, value } of missing.length === 0
      ? []
      : this.#print(printer, missing, links, rights, actor))
      fresh.set(rid, JSON.stringify(value));
    const texts = rids.map((rid) => fresh.get(rid) ?? findCache(rid).get(rid)!);
    for (const [rid, text] of fresh) {
      if ((this.#textSize += text.length) > MAX_TEXT_SIZE) {
        this.#texts.clear();
        this.#textSize = text.length;
      }
      findCache(rid).set(rid, text);
    }
    return texts;
  }

  /** Actions that the actor may take on each of the records besides viewing. */
  rights(resource: Resource, actor: Actor, rids: readonly number[]): Map<number, Rights> {
    if (actor.user === null) return new Map(rids.map((rid) => [rid, NO_RIGHTS]));
    const isStock = hasStock(resource);
    if (actor.superuser) return new Map(rids.map((rid) => [rid, RIGHTS.get(`1 1 ${isStock ? 1 : null}`)!]));
    const joined = plan(this.resources, resource, actor);
    const change = compile(changeable(resource, actor), joined);
    const remove = compile(deletable(resource, actor), joined);
    const use = isStock ? compile(usable(resource, actor), joined) : clause("NULL");
    const found = this.statements.all({
      text:
        `SELECT t.rid AS rid, ${change.text} IS TRUE AS may_change, ${remove.text} IS TRUE AS may_delete,` +
        ` ${isStock ? `${use.text} IS TRUE` : "NULL"} AS may_use` +
        ` FROM json_each(?) AS page CROSS JOIN ${resource.table} AS t ON t.rid = page.value`,
      args: [...change.args, ...remove.args, ...use.args, JSON.stringify(rids)],
    });
    return new Map(
      found.map(({ rid, may_change, may_delete, may_use }) => [
        Number(rid),
        RIGHTS.get(`${may_change} ${may_delete} ${may_use}`)!,
      ]),
    );
  }

  /** The shortest paths of places of storage that no other that the actor may view has, by row number. */
  uniquePaths(resource: Resource, rids: readonly number[], actor: Actor): Map<number, string> {
    return this.#paths.of(resource, rids, actor);
  }

  /** The whole paths of places of storage, from the outermost that the actor may view, by row number. */
  wholePaths(resource: Resource, rids: readonly number[], actor: Actor): Map<number, string[]> {
    return this.#paths.whole(resource, rids, actor);
  }

  /** The context that judges values with other records in them. */
  makeContext(actor: Actor): ReadContext {
    return { query: this.statements, resources: this.resources, actor };
  }

  /**
   * Row sets that are being read before a page of the list needs no statement that visits many rows, which `isScan` tells;
   * undefined if it cannot be kept in memory.
   */
  missing(
    resource: Resource,
    listing: Listing,
    actor: Actor,
    isScan: (statement: Sql) => boolean,
  ): Promise<void>[] | undefined {
    this.#refresh();
    const condition = visibleOnly(resource, actor, listing.condition);
    return this.#index?.missing({ resource, actor }, condition, listing.order, isScan);
  }

  get trigrams(): TrigramStatistics {
    return this.#index!.trigrams;
  }

  /** All rows for which the condition holds and that the actor may view, from memory or for later use. */
  rowSet(resource: Resource, condition: Condition, actor: Actor): RowSet {
    this.#refresh();
    return this.#index!.holding({ resource, actor }, visibleOnly(resource, actor, condition));
  }

  /** Row sets that another process is reading so that `rowSet` has little to read. */
  loadingRowSet(resource: Resource, condition: Condition, actor: Actor): Promise<void>[] {
    this.#refresh();
    return this.#index!.loading({ resource, actor }, visibleOnly(resource, actor, condition));
  }

  /** Lets another process read large tables for the caches. */
  loadRowsWith(load: LoadRows): void {
    if (this.#index) this.#index.load = load;
  }

  /** Reads rows for the caches of another process. */
  readRows(request: RowsRequest): Uint32Array {
    return this.#index!.answer(request);
  }

  /** Drops cached data of a record that was written. */
  note(resource: Resource, rid: number): void {
    this.#index?.note(resource.name, rid);
    // Sub-resources show the name of a user or a group.
    if (resource.shownAs === "key" || resource.name === "membership") this.#forgetTexts();
    for (const [key, texts] of this.#texts) {
      if (!key.startsWith(`${resource.name} `)) continue;
      this.#textSize -= texts.get(rid)?.length ?? 0;
      texts.delete(rid);
    }
  }

  /** Drops all caches, after writes that were not noted or were rolled back. */
  forget(): void {
    this.#index?.forget();
    this.#forgetTexts();
  }

  #forgetTexts(): void {
    this.#texts.clear();
    this.#textSize = 0;
  }

  /** Drops the caches if another process has written. */
  #refresh(): void {
    const now = this.statements.foreignVersion();
    if (now !== this.#version) this.forget();
    this.#version = now;
  }

  #textCache(name: string): Map<number, string> {
    let found = this.#texts.get(name);
    if (!found) this.#texts.set(name, (found = new Map()));
    return found;
  }

  /** A printer, with a key if it is the same for everyone: one with spans holds conditions on what this actor may view. */
  #makePrinter(resource: Resource, representation: Representation, actor: Actor) {
    const printer = recordPrinter(this.resources, resource, representation, actor);
    const key = `${resource.name} ${representation.shape} ${representation.fields?.join(",") ?? "all"}`;
    return { printer, key: printer.personal ? undefined : key };
  }

  #readRights(printer: RecordPrinter, resource: Resource, actor: Actor, rids: readonly number[]) {
    return printer.needsRights ? this.rights(resource, actor, rids) : undefined;
  }

  /** The arguments of joins follow the list of row numbers, which comes first in the text. */
  #print(
    { statement, print, paths: placed }: RecordPrinter,
    rids: readonly number[],
    links: LinkOptions,
    rights: Map<number, Rights> | undefined,
    actor: Actor,
  ): { rid: number; value: Record<string, Json> }[] {
    const found = this.statements.all({
      text: statement.text,
      args: [JSON.stringify(rids), ...statement.args],
    });
    const reader = this.makeContext(actor);
    const paths = new Map(
      Array.from(placed, ([name, { of, column }]) => {
        const places = found.flatMap((row) => (row[column] === null ? [] : Number(row[column])));
        return [name, this.uniquePaths(of, places, actor)];
      }),
    );
    return found.map((row) => {
      const rid = Number(row.rid);
      return { rid, value: print(row, { ...links, rights: rights?.get(rid) ?? NO_RIGHTS, paths }, reader) };
    });
  }
}
