import type { Actor } from "../model/access.ts";
import { ALWAYS, and, type Condition, some } from "../model/condition.ts";
import type { Stored } from "../model/field.ts";
import { type ChooseTrigrams, compareStored, type Sql } from "../model/operator.ts";
import { annotatedRows, dependencies, EACH_ROW, plan } from "../model/plan.ts";
import { ANNOTATIONS, type Resource, type Resources } from "../model/resource.ts";
import { RowSet } from "../model/row-set.ts";
import {
  matchingStatement,
  compile,
  keyStatement,
  orderedStatement,
  type OrderTerm,
  rowsStatement,
  sortStatement,
} from "../model/sql.ts";
import type { ReadStatements } from "./statements.ts";
import { TrigramStatistics } from "./trigram-statistics.ts";

/** Largest row number of a table whose rows are kept in memory. */
const MAX_ROWS = 2_000_000;
const MAX_SET_BYTES = 16_000_000;
const MAX_ORDERS = 8;
const MAX_ASKED = 10_000;
/** Maximum characters of the name of a cached entry; a digest stands for a longer one. */
const MAX_KEY = 1000;
/** Writes of one resource that are remembered; what has not been used for so long is read again. */
const MAX_WRITES = 5000;
/** Writes after which an order is read again. */
const MAX_MOVES = 100;
/** So few rows are sorted by a statement if their order is not in memory; if a search finds them, they are not kept. */
const NARROW_ROWS = 2000;
/** So few are sorted by a statement in less time than the order takes to walk over. */
const FEW_ROWS = 100;
/** So few rows are tested one by one, in half a millisecond, instead of reading the other conditions for all rows. */
const MAX_TESTED = 500;
/** Rows of a table that is read here even if there is a `load`: some milliseconds. */
const SMALL_TABLE = 5000;

type Terms = readonly Extract<OrderTerm, { path: readonly string[] }>[];

/** A cached row set of a resource: the rows for which a condition holds, or all rows in order. */
export type Content = { holding: Condition } | { inOrder: Terms };

export interface RowsRequest {
  resource: string;
  actor: Actor;
  content: Content;
}

/** Reads row numbers elsewhere, without blocking this thread. */
export type LoadRows = (request: RowsRequest) => Promise<Uint32Array>;

/** Rows in memory, as of a position in the writes of its resource and of those that it depends on. */
interface Kept {
  value: RowSet | Order;
  position: number;
  others: string;
}

/** Row numbers of all records of a resource in one order; the array may be longer. */
interface Order {
  rids: Uint32Array;
  length: number;
}

/** Row numbers of the last writes of a resource, and how many came before. */
interface Writes {
  rids: number[];
  dropped: number;
}

/** One resource as one actor sees it. */
interface Scope {
  resource: Resource;
  actor: Actor;
}

/**
 * Sets of rows for which conditions hold, and whole orders, in memory, so that counts and pages of any combination
 * need no statement over all rows. Both are read at their second use, and follow the writes that `note` receives: only
 * the written rows are read again.
 */
export class RowIndex {
  readonly #kept = { sets: new Map<string, Kept>(), orders: new Map<string, Kept>() };
  readonly #asked = new Set<string>();
  readonly #writes = new Map<string, Writes>();
  readonly #loading = new Map<string, Promise<void>>();
  /** Increases when everything is dropped: rows requested before are dropped, too. */
  #generation = 0;
  readonly trigrams: TrigramStatistics;
  /** Reads large tables; without it, all are read here. */
  load: LoadRows | undefined;

  constructor(
    private readonly statements: ReadStatements,
    private readonly resources: Resources,
  ) {
    this.trigrams = new TrigramStatistics(statements);
  }

  /** A record was created, changed or removed. */
  note(resource: string, rid: number): void {
    const writes = this.#findWrites(resource);
    if (writes.rids.push(rid) > MAX_WRITES) writes.dropped += writes.rids.splice(0, MAX_WRITES / 2).length;
  }

  /** Drops everything, after writes that were not noted or were rolled back. */
  forget(): void {
    this.#kept.sets.clear();
    this.#kept.orders.clear();
    this.#asked.clear();
    this.#writes.clear();
    this.#loading.clear();
    this.#generation++;
    this.trigrams.forget();
  }

  /**
   * Row sets that must be read before a page needs no statement that visits many rows, which `isScan` tells;
   * undefined if it cannot be kept in memory.
   */
  missing(
    scope: Scope,
    condition: Condition,
    order: readonly OrderTerm[],
    isScan: (statement: Sql) => boolean,
  ): Promise<void>[] | undefined {
    const { load } = this;
    if (!load || this.#maxRow(scope) > MAX_ROWS) return undefined;
    const { sets, rest } = this.#split(scope, condition);
    const known = intersect(sets);
    if (known.count <= MAX_TESTED) return [];
    const isNarrow = this.#bound(scope, and(...rest)) <= NARROW_ROWS;
    // Few rows are found by the text index even where nothing is in memory.
    const isLight =
      isNarrow ||
      (sets.length > 0 && !isScan(rowsStatement(scope.resource, and(...rest), this.#plan(scope))));
    const terms = order.filter((term) => "path" in term);
    // The rows must be known first: only their number tells if the order is needed.
    if (!isLight) return rest.map((part) => this.#load(load, scope, { holding: part }));
    const isSorted = isNarrow || known.count <= NARROW_ROWS || this.#order(scope, terms) !== undefined;
    return isSorted ? [] : [this.#load(load, scope, { inOrder: terms })];
  }

  /**
   * The rows for which the condition holds; undefined where nothing of it is in memory. Each part of a conjunction is a
   * set; the parts that are not in memory are read together.
   */
  matching(scope: Scope, condition: Condition): RowSet | undefined {
    const { sets, rest } = this.#split(scope, condition);
    const known = intersect(sets);
    if (known.rows && rest.length === 0) return known.rows;
    if (known.count <= MAX_TESTED) return new RowSet(this.#among(scope, known.rows!.toArray(), and(...rest)));
    const isLast = sets.length > 0 && rest.length === 1;
    const unread = isLast ? rest : rest.filter((part) => !this.#addAsked(scope, part, sets));
    if (sets.length === 0) return undefined;
    if (unread.length > 0) {
      const part = and(...unread);
      const rids = this.#rows(scope, part);
      const isKept = unread.length === 1 && this.#bound(scope, part) > NARROW_ROWS;
      sets.push(isKept ? this.#keepSet(scope, part, rids) : new RowSet(rids));
    }
    return RowSet.intersection(sets);
  }

  /** The rows for which the condition holds. Parts of it that are not in memory are read here, and kept. */
  holding(scope: Scope, condition: Condition): RowSet {
    const { sets, rest } = this.#split(scope, condition);
    for (const part of rest) sets.push(this.#keepSet(scope, part, this.#rows(scope, part)));
    return RowSet.intersection(sets);
  }

  /** Reads elsewhere what `holding` would have to read of a large table. */
  loading(scope: Scope, condition: Condition): Promise<void>[] {
    const { load } = this;
    if (!load || this.#maxRow(scope) <= SMALL_TABLE) return [];
    return this.#split(scope, condition).rest.map((part) => this.#load(load, scope, { holding: part }));
  }

  /** One page of the rows in order, `limit` -1 for all; undefined if a statement over all rows is needed. */
  page(
    scope: Scope,
    rows: RowSet,
    order: readonly OrderTerm[],
    { limit, offset }: { limit: number; offset: number },
  ): number[] | undefined {
    const [head, ...tail] = order;
    const first = head && "first" in head ? head.first : undefined;
    const total = rows.count();
    const sorted = total > FEW_ROWS ? this.#order(scope, (first ? tail : order) as Terms) : undefined;
    const end = limit < 0 ? undefined : offset + limit;
    if (!sorted) {
      if (total > NARROW_ROWS) return undefined;
      const list = JSON.stringify(rows.toArray());
      const sort = sortStatement(scope.resource, order, this.#plan(scope), list);
      return [...this.statements.numbers(sort).subarray(offset, end)];
    }
    const rids = sorted.rids.subarray(0, sorted.length);
    if (!first) return rows.select(rids, offset, limit);
    const exact = RowSet.intersection([rows, new RowSet(this.#rows(scope, first))]);
    if (exact.count() === 0) return rows.select(rids, offset, limit);
    const found = exact.select(rids, 0, -1);
    const page = found.slice(offset, end);
    const more = limit < 0 ? -1 : limit - page.length;
    return [...page, ...rows.without(found).select(rids, Math.max(0, offset - found.length), more)];
  }

  /** The sets of the parts of a conjunction that are in memory, and the other parts. */
  #split(scope: Scope, condition: Condition): { sets: RowSet[]; rest: Condition[] } {
    const sets: RowSet[] = [];
    const rest: Condition[] = [];
    for (const part of condition.kind === "and" ? condition.parts : [condition]) {
      const found = this.#set(scope, part);
      if (found) sets.push(found);
      else rest.push(part);
    }
    return { sets, rest };
  }

  /** Rows that the text index finds for a search, at most; infinite for other conditions. */
  #bound(scope: Scope, condition: Condition): number {
    if (condition.kind === "or" || condition.kind === "and") {
      const bounds = condition.parts.map((part) => this.#bound(scope, part));
      return condition.kind === "and" ? Math.min(...bounds) : bounds.reduce((a, b) => a + b);
    }
    let bound = Infinity;
    if (condition.kind === "some" && condition.relation === ANNOTATIONS)
      bound = this.#fewAnnotated(scope, condition);
    else if (condition.kind !== "compare") return bound;
    const observed: ChooseTrigrams = (table, text) => {
      const chosen = this.trigrams.choose(table, text);
      if (chosen) bound = this.trigrams.count(table, chosen[0]);
      return chosen;
    };
    compile(condition, this.#plan(scope, observed));
    return bound;
  }

  /** Records that an index of annotation values finds, if they are few; infinite otherwise, and for texts inside values. */
  #fewAnnotated(scope: Scope, { part }: Extract<Condition, { kind: "some" }>): number {
    const compared = part.kind === "and" ? part.parts.filter((each) => each.kind === "compare") : [];
    const isIndexed = compared.some(
      ({ path, operator }) => path[0] !== "type" && /^([=<>]=?|==|exact|iexact|i?startswith)$/.test(operator),
    );
    if (!isIndexed) return Infinity;
    const rows = this.#rowsStatement(scope, some(ANNOTATIONS, part));
    const found = this.statements.numbers({ text: `${rows.text} LIMIT ${NARROW_ROWS + 1}`, args: rows.args });
    return found.length > NARROW_ROWS ? Infinity : found.length;
  }

  /** Adds the set of one part, if it was asked for before and can be read here. */
  #addAsked(scope: Scope, part: Condition, sets: RowSet[]): boolean {
    const rids = this.#readRequested(scope, { holding: part });
    if (rids) sets.push(this.#keepSet(scope, part, rids));
    return rids !== undefined;
  }

  /** The set of one part, if it is in memory. */
  #set(scope: Scope, part: Condition): RowSet | undefined {
    const kept = this.#take("sets", scope, { holding: part });
    if (!kept) return undefined;
    const set = kept.value as RowSet;
    const written = this.#writtenSince(scope, kept);
    if (written.length === 0) return set;
    const holding = new Set(this.#among(scope, written, part));
    for (const rid of written) {
      if (holding.has(rid)) set.add(rid);
      else set.delete(rid);
    }
    return set;
  }

  /** The order, if it is in memory or was asked for before. */
  #order(scope: Scope, terms: Terms): Order | undefined {
    const content = { inOrder: terms };
    const kept = this.#take("orders", scope, content);
    if (kept) {
      const order = kept.value as Order;
      const written = this.#writtenSince(scope, kept);
      if (written.length <= MAX_MOVES) {
        this.#move(scope, terms, order, written);
        return order;
      }
      this.#kept.orders.delete(this.#key(scope, content));
    }
    const rids = this.#readRequested(scope, content);
    return rids && this.#keepOrder(scope, terms, rids);
  }

  #keepSet(scope: Scope, part: Condition, rids: Uint32Array, since?: Omit<Kept, "value">): RowSet {
    const content = { holding: part };
    const value = new RowSet(rids);
    const { sets } = this.#kept;
    sets.set(this.#key(scope, content), { value, ...(since ?? this.#now(scope, content)) });
    let bytes = 0;
    for (const kept of sets.values()) bytes += (kept.value as RowSet).bytes;
    for (const [key, kept] of sets) {
      if (bytes <= MAX_SET_BYTES) break;
      sets.delete(key);
      bytes -= (kept.value as RowSet).bytes;
    }
    return value;
  }

  #keepOrder(scope: Scope, terms: Terms, rids: Uint32Array, since?: Omit<Kept, "value">): Order {
    const content = { inOrder: terms };
    const value = { rids, length: rids.length };
    const { orders } = this.#kept;
    if (orders.size >= MAX_ORDERS) orders.delete(orders.keys().next().value!);
    orders.set(this.#key(scope, content), { value, ...(since ?? this.#now(scope, content)) });
    return value;
  }

  /** Returns the cached rows of this name, valid but for the writes since; they become the most recently used. */
  #take(kind: "sets" | "orders", scope: Scope, content: Content): Kept | undefined {
    const key = this.#key(scope, content);
    const kept = this.#kept[kind].get(key);
    if (!kept) return undefined;
    this.#kept[kind].delete(key);
    const { dropped } = this.#findWrites(scope.resource.name);
    if (kept.position < dropped || kept.others !== this.#now(scope, content).others) return undefined;
    this.#kept[kind].set(key, kept);
    return kept;
  }

  /** The rows of an earlier request; undefined the first time, and while another process reads them. */
  #readRequested(scope: Scope, content: Content): Uint32Array | undefined {
    const key = this.#key(scope, content);
    const maxRow = this.#maxRow(scope);
    if (!this.#asked.has(key)) {
      if (this.#asked.size >= MAX_ASKED) this.#asked.clear();
      this.#asked.add(key);
      return undefined;
    }
    if (maxRow > MAX_ROWS) return undefined;
    if (!this.load || maxRow <= SMALL_TABLE)
      return this.statements.numbers(this.#makeStatement(scope, content));
    // Until then, statements answer. A process that is too busy is asked again.
    this.#load(this.load, scope, content).catch(() => {});
    return undefined;
  }

  /** Loads rows that are not being loaded already. */
  #load(load: LoadRows, scope: Scope, content: Content): Promise<void> {
    const key = this.#key(scope, content);
    let loading = this.#loading.get(key);
    if (!loading) {
      loading = this.#loadNow(load, scope, content).finally(() => this.#loading.delete(key));
      this.#loading.set(key, loading);
    }
    return loading;
  }

  async #loadNow(load: LoadRows, scope: Scope, content: Content): Promise<void> {
    const generation = this.#generation;
    // Writes from here on are read again, whether or not the rows include them.
    const since = this.#now(scope, content);
    const rids = await load({ resource: scope.resource.name, actor: scope.actor, content });
    if (generation !== this.#generation) return;
    if ("holding" in content) this.#keepSet(scope, content.holding, rids, since);
    else this.#keepOrder(scope, content.inOrder, rids, since);
  }

  /** Reads the row sets that another process requested. */
  answer({ resource, actor, content }: RowsRequest): Uint32Array {
    const scope = { resource: this.resources.get(resource)!, actor };
    return this.statements.numbers(this.#makeStatement(scope, content));
  }

  #makeStatement(scope: Scope, content: Content): Sql {
    const { resource } = scope;
    return "holding" in content
      ? this.#rowsStatement(scope, content.holding)
      : orderedStatement(resource, ALWAYS, content.inOrder, this.#plan(scope));
  }

  /** Takes the written rows out of the order, and inserts those that still exist at their new places. */
  #move(scope: Scope, terms: Terms, order: Order, written: readonly number[]): void {
    for (const rid of written) {
      const at = order.rids.subarray(0, order.length).indexOf(rid);
      if (at >= 0) order.rids.copyWithin(at, at + 1, order.length--);
    }
    const readKey = (rid: number): Stored[] | undefined => {
      const eachRow = this.#plan(scope, EACH_ROW);
      const row = this.statements.get(keyStatement(scope.resource, terms, eachRow, rid));
      return row === null ? undefined : Object.values(row);
    };
    for (const rid of written) {
      const key = readKey(rid);
      if (!key) continue;
      let low = 0;
      let high = order.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (compareKeys(readKey(order.rids[middle])!, key, terms) < 0) low = middle + 1;
        else high = middle;
      }
      if (order.length === order.rids.length) {
        const grown = new Uint32Array(order.length + (order.length >>> 3) + 64);
        grown.set(order.rids);
        order.rids = grown;
      }
      order.rids.copyWithin(low + 1, low, order.length++);
      order.rids[low] = rid;
    }
  }

  /** Names a cached entry; the actor's rights matter only behind references, and some fields need an account. */
  #key(scope: Scope, content: Content): string {
    const { resource, actor } = scope;
    const viewer = this.#dependencies(scope, content).has("grant")
      ? [actor.user, actor.groups]
      : actor.user === null;
    const key = JSON.stringify([resource.name, content, viewer]);
    return key.length > MAX_KEY ? new Bun.CryptoHasher("sha256").update(key).digest("base64url") : key;
  }

  /** The position in the writes now. `others` changes with those behind references and relations. */
  #now(scope: Scope, content: Content): Omit<Kept, "value"> {
    const readPosition = (name: string): number => {
      const { rids, dropped } = this.#findWrites(name);
      return dropped + rids.length;
    };
    const others = [...this.#dependencies(scope, content)].map(readPosition).join(" ");
    return { position: readPosition(scope.resource.name), others };
  }

  #dependencies({ resource, actor }: Scope, content: Content): Set<string> {
    const viewer = { resources: this.resources, actor };
    if ("holding" in content) return dependencies(viewer, resource, content.holding);
    return new Set(content.inOrder.flatMap(({ path }) => [...dependencies(viewer, resource, path)]));
  }

  /** The rows written since then, each once; from now on they count as read. */
  #writtenSince({ resource }: Scope, kept: Kept): number[] {
    const { rids, dropped } = this.#findWrites(resource.name);
    const written = [...new Set(rids.slice(kept.position - dropped))];
    kept.position = dropped + rids.length;
    return written;
  }

  #findWrites(resource: string): Writes {
    let writes = this.#writes.get(resource);
    if (!writes) this.#writes.set(resource, (writes = { rids: [], dropped: 0 }));
    return writes;
  }

  #plan({ resource, actor }: Scope, choose = this.trigrams.choose) {
    return plan(this.resources, resource, actor, choose);
  }

  #rows(scope: Scope, condition: Condition): Uint32Array {
    return this.statements.numbers(this.#rowsStatement(scope, condition));
  }

  /** Selects the rows for which the condition holds. */
  #among(scope: Scope, rids: readonly number[], condition: Condition): Uint32Array {
    const eachRow = this.#plan(scope, EACH_ROW);
    return this.statements.numbers(
      matchingStatement(scope.resource, condition, eachRow, JSON.stringify(rids)),
    );
  }

  #rowsStatement(scope: Scope, condition: Condition): Sql {
    const { resource, actor } = scope;
    const { choose } = this.trigrams;
    return (
      annotatedRows({ resources: this.resources, actor }, resource, condition, choose) ??
      rowsStatement(resource, condition, this.#plan(scope))
    );
  }

  #maxRow({ resource }: Scope): number {
    const text = `SELECT coalesce(max(rid), 0) AS rid FROM ${resource.table}`;
    return Number(this.statements.get({ text, args: [] })?.rid);
  }
}

/** The rows in all of the sets; of none, an infinite number. */
function intersect(sets: readonly RowSet[]): { rows?: RowSet; count: number } {
  if (sets.length === 0) return { count: Infinity };
  const rows = RowSet.intersection(sets);
  return { rows, count: rows.count() };
}

/** As SQLite orders rows: null first, then by value, each term in its direction; the id comes last. */
function compareKeys(a: readonly Stored[], b: readonly Stored[], terms: Terms): number {
  for (const [i, left] of a.entries()) {
    const right = b[i];
    if (left === right) continue;
    const order = left === null ? -1 : right === null ? 1 : compareStored(left, right);
    if (order !== 0) return terms[i]?.descending ? -order : order;
  }
  return 0;
}
