import type { Actor } from "../model/access.ts";
import { and, type Condition } from "../model/condition.ts";
import { EACH_ROW, plan, visibleOnly } from "../model/plan.ts";
import { columnOf, type Resource, type Resources } from "../model/resource.ts";
import { RowSet } from "../model/row-set.ts";
import {
  beginsSo,
  containsWord,
  excerpt,
  type FoundBy,
  isCode,
  isMeant,
  parseSearch,
  placeFields,
  rankOf,
  searchedNames,
  searchedTexts,
  type SearchQuery,
  whereIn,
} from "../model/search-query.ts";
import { amongStatement, rowsStatement } from "../model/sql.ts";
import type { RecordReader } from "./record-reader.ts";
import { matchAll, SearchedParts } from "./search-parts.ts";
import type { ReadStatements } from "./statements.ts";

/** Records of one list that are found and ranked; of more, the newest. */
export const MOST_FOUND = 500;
const FIRST_CHUNK = 1000;
const LARGEST_CHUNK = 50_000;
/** Rows that begin as typed, of which the newest are found. */
const MANY = 50_000;

/** Which records are searched, and for whom. */
export interface SearchRequest {
  typed: string;
  actor: Actor;
  resources: readonly Resource[];
  /** Limits the records of a resource, such as to those that are not deleted. */
  limitOf: (resource: Resource) => Condition;
  /** Results of each list. */
  results: number;
}

export interface SearchResult {
  id: string;
  name: string;
  by: FoundBy;
  /** Whether it has the barcode or id that was typed. */
  exact: boolean;
  /** Of its description, or of what it was found by. */
  text: string;
  /** Location and position, or equipment and place; empty if it is nowhere that the actor may view. */
  where: string;
}

export interface SearchGroup {
  resource: Resource;
  total: number;
  /** Whether there are more than `total`. */
  more: boolean;
  results: SearchResult[];
}

interface Ranked {
  rid: number;
  rank: number;
  by: FoundBy | undefined;
  id: string;
  modified: number;
}

interface Hits {
  rids: Set<number>;
  more: boolean;
}

/** Some rows of a list. */
interface Found {
  rids: readonly number[];
  more: boolean;
}

/** Finds records of all lists by names, codes and what belongs to them, as far as an actor may view them. */
export class Search {
  constructor(
    private readonly statements: ReadStatements,
    private readonly resources: Resources,
    private readonly reader: RecordReader,
  ) {}

  /** What another process is reading so that the search takes little time here. */
  loading({ resources, limitOf, actor }: SearchRequest): Promise<void>[] {
    return resources.flatMap((resource) => this.reader.loadingRowSet(resource, limitOf(resource), actor));
  }

  /** What is found, by list: the lists with the best results first. */
  find(request: SearchRequest): SearchGroup[] {
    return this.statements.reading(() => {
      const { actor, limitOf } = request;
      const query = parseSearch(request.typed);
      const viewable = new Map<string, RowSet>();
      for (const resource of request.resources) {
        const rows = this.reader.rowSet(resource, limitOf(resource), actor);
        if (rows.count() > 0) viewable.set(resource.name, rows);
      }
      const parts = new SearchedParts(this.statements, { resources: this.resources, actor }, viewable);
      return request.resources
        .filter(({ name }) => viewable.has(name))
        .map((resource) => {
          const one = new ListSearch(
            this.statements,
            this.resources,
            resource,
            actor,
            viewable.get(resource.name)!,
          );
          const hits = one.hits(query, parts);
          const ranked = one.ranked(hits, query, limitOf(resource));
          return { resource, hits, ranked, best: ranked[0]?.rank ?? Infinity };
        })
        .filter(({ ranked }) => ranked.length > 0)
        .toSorted((a, b) => a.best - b.best)
        .map(({ resource, hits, ranked }) => ({
          resource,
          total: Math.min(ranked.length, MOST_FOUND),
          more: hits.more || ranked.length > MOST_FOUND,
          results: this.#show(resource, ranked.slice(0, request.results), query, { actor, parts }),
        }));
    });
  }

  #show(
    resource: Resource,
    ranked: readonly Ranked[],
    { words, indexed }: SearchQuery,
    { actor, parts }: { actor: Actor; parts: SearchedParts },
  ): SearchResult[] {
    const described = searchedTexts(resource).filter((name) => !searchedNames(resource).includes(name));
    const rids = ranked.map(({ rid }) => rid);
    const places = placeFields(resource);
    const shown = this.reader.values(resource, [resource.key, ...described, ...places], actor, rids);
    return ranked.map(({ rid, rank, id, by }, i) => {
      const exact = isCode(rank);
      const name = String(shown[i][resource.key]);
      const description = described.map((field) => String(shown[i][field] ?? "")).find(Boolean) ?? "";
      const part = by === undefined ? parts.partOf(indexed, resource.name, rid) : undefined;
      const isDescribed =
        description !== "" && words.some((word) => description.toLowerCase().includes(word));
      const where = whereIn(places, shown[i]);
      const found = { id, name, exact, where };
      if (!part || isDescribed)
        return { ...found, by: by ?? "description", text: excerpt(description, words) };
      return { ...found, by: part.by, text: excerpt(parts.textOf(part), words) };
    });
  }
}

/** The search of one list for one actor. */
class ListSearch {
  constructor(
    private readonly statements: ReadStatements,
    private readonly resources: Resources,
    private readonly resource: Resource,
    private readonly actor: Actor,
    /** The rows that the actor may view. */
    private readonly viewable: RowSet,
  ) {}

  /**
   * Rows that match, in any order, up to about `MOST_FOUND`: those that match better come first, so that the others are
   * only looked for while there are few.
   */
  hits(query: SearchQuery, parts: SearchedParts): Hits {
    const hits: Hits = { rids: new Set(), more: false };
    this.#add(hits, this.#newest(this.#rows(isMeant(this.resource, query))));
    this.#add(hits, this.#beginning(query));
    if (hits.more || query.indexed.length === 0) return hits;
    this.#add(hits, this.#withOwnWords(query));
    if (!hits.more) this.#add(hits, this.#withWordsOfParts(query, parts));
    return hits;
  }

  /** The rows by rank, those that were modified last first among equals. */
  ranked({ rids }: Hits, query: SearchQuery, limit: Condition): Ranked[] {
    const { resource, resources, actor } = this;
    const names = searchedNames(resource);
    const columns = [
      "t.rid AS rid",
      `t.${columnOf(resource, "id")} AS id`,
      ...names.map((name, i) => `t.${columnOf(resource, name)} AS name${i}`),
      `${"barcode" in resource.fields ? "t.barcode" : "''"} AS barcode`,
      `${"modified" in resource.fields ? "t.modified" : "0"} AS modified`,
    ];
    const condition = visibleOnly(resource, actor, limit);
    const eachRow = plan(resources, resource, actor, EACH_ROW);
    const list = JSON.stringify([...rids]);
    return this.statements
      .all(amongStatement(resource, condition, eachRow, list, columns.join(", ")))
      .map((row) => {
        const id = String(row.id);
        const texts = {
          id,
          barcode: String(row.barcode),
          names: names.map((_, i) => String(row[`name${i}`])),
        };
        const { rank, by } = rankOf(texts, query);
        return { rid: Number(row.rid), id, modified: Number(row.modified), rank, by };
      })
      .toSorted((a, b) => a.rank - b.rank || b.modified - a.modified || (a.id < b.id ? -1 : 1));
  }

  #add(hits: Hits, { rids, more }: Found): void {
    for (const rid of rids) hits.rids.add(rid);
    hits.more ||= more;
  }

  #rows(condition: Condition, limit = -1): Uint32Array {
    const { resources, resource, actor } = this;
    const { text, args } = rowsStatement(resource, condition, plan(resources, resource, actor, EACH_ROW));
    return this.statements.numbers({ text: `${text} LIMIT ?`, args: [...args, limit] });
  }

  #newest(rows: Uint32Array): Found & { read: number } {
    const seen = new RowSet(rows.filter((rid) => this.viewable.has(rid)));
    return { rids: seen.last(MOST_FOUND), more: seen.count() > MOST_FOUND, read: rows.length };
  }

  /** Rows whose name or barcode begins so: the newest, if they are not too many to read. */
  #beginning(query: SearchQuery): Found {
    const condition = beginsSo(this.resource, query);
    const some = this.#newest(this.#rows(condition, MANY));
    return some.more || some.read < MANY ? some : this.#newest(this.#rows(condition));
  }

  /** Rows whose names and descriptions have all of the words, the newest ones. */
  #withOwnWords({ words, indexed }: SearchQuery): Found {
    const { resource } = this;
    const texts = searchedTexts(resource);
    const short = and(
      ...words.filter((word) => !indexed.includes(word)).map((word) => containsWord(resource, word)),
    );
    if (!texts.every((name) => resource.fields[name].trigrams))
      return this.#newest(this.#rows(and(short, ...indexed.map((word) => containsWord(resource, word)))));
    const index = `${resource.table}_fts`;
    const text = `SELECT rowid AS rid FROM ${index} WHERE ${index} MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?`;
    const rids: number[] = [];
    let [before, size, read] = [Number.MAX_SAFE_INTEGER, FIRST_CHUNK, 0];
    for (;;) {
      const chunk = this.statements.numbers({ text, args: [matchAll(indexed), before, size] });
      rids.push(
        ...this.#among(
          [...chunk].filter((rid) => this.viewable.has(rid)),
          short,
        ),
      );
      if (rids.length > MOST_FOUND) return { rids: rids.slice(0, MOST_FOUND), more: true };
      if (chunk.length < size) return { rids, more: false };
      before = chunk[chunk.length - 1];
      // About as many as are needed, at the rate so far.
      read += chunk.length;
      const needed = Math.ceil((1.2 * read * (MOST_FOUND + 1 - rids.length)) / (rids.length + 1));
      size = Math.min(size * 4, needed, LARGEST_CHUNK);
    }
  }

  /** Rows of which each word is in a part, a name or the description, and at least one in a part. */
  #withWordsOfParts({ words, indexed }: SearchQuery, parts: SearchedParts): Found {
    const { resource } = this;
    const found = new Map(indexed.map((word) => [word, parts.find(word)]));
    const inParts = (word: string) => found.get(word)?.records.get(resource.name);
    let left = [...new Set(indexed.flatMap((word) => [...(inParts(word)?.keys() ?? [])]))];
    for (const word of words) {
      const having = inParts(word);
      const others = left.filter((rid) => !having?.has(rid));
      const own = new Set(this.#among(others, containsWord(resource, word)));
      left = left.filter((rid) => having?.has(rid) || own.has(rid));
    }
    return { rids: left, more: found.values().some(({ more }) => more) };
  }

  /** Those of the rows for which the condition holds. */
  #among(rids: readonly number[], condition: Condition): readonly number[] {
    if (rids.length === 0 || (condition.kind === "constant" && condition.value)) return rids;
    const { resources, resource, actor } = this;
    const eachRow = plan(resources, resource, actor, EACH_ROW);
    return [...this.statements.numbers(amongStatement(resource, condition, eachRow, JSON.stringify(rids)))];
  }
}
