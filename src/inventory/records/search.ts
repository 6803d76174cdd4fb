import { similarParts } from "../../platform/folded-text.ts";
import type { Actor } from "../model/access.ts";
import { and, type Condition } from "../model/condition.ts";
import { EACH_ROW, plan, visibleOnly } from "../model/plan.ts";
import { columnName, type Resource, type Resources, type Viewer } from "../model/resource.ts";
import { RowSet } from "../model/row-set.ts";
import {
  beginsWithPhrase,
  containsSimilarWords,
  containsWord,
  excerpt,
  FOUND_BY,
  type FoundBy,
  isCode,
  isFoundIn,
  isIndexed,
  isMeant,
  parseSearch,
  placeFields,
  rankTexts,
  searchedNames,
  searchedTexts,
  type SearchQuery,
  SIMILAR,
  formatPlace,
} from "../model/search-query.ts";
import { matchingStatement, rowsStatement } from "../model/sql.ts";
import { lookUpTexts, matchAll } from "../model/text-index.ts";
import type { RecordReader } from "./record-reader.ts";
import { SearchedParts } from "./search-parts.ts";
import { readNewest } from "./read-newest.ts";
import type { ReadStatements } from "./statements.ts";
import { READ_PER_TEST, type TrigramStatistics } from "./trigram-statistics.ts";

/** Records of one list that are found and ranked; of more, the newest. */
export const MOST_FOUND = 500;
/** The newest of the rows that an index finds. */
const MANY_ROWS = 50_000;
/** Records of one list with one of the words that are so few that each is tested for the others. */
const FEW_ROWS = 100;
/** Rows that are tested in the time that choosing trigrams takes. */
const MAX_TESTED = 300;
/** Records that are so few that those with a typo are looked for, too. */
const FEW_FOUND = 5;
/** The newest records with parts of a word that are tested for a typo, in each list. */
const MAX_SIMILAR = 2000;

/** The searched records, and the searching actor. */
export interface SearchRequest {
  typed: string;
  actor: Actor;
  resources: readonly Resource[];
  /** Limits the records of a resource, such as to those that are not deleted. */
  makeCondition: (resource: Resource) => Condition;
  /** Results of each list. */
  results: number;
}

export interface SearchResult {
  id: string;
  name: string;
  by: FoundBy;
  /** True if it has the barcode or id that was typed. */
  exact: boolean;
  /** An excerpt of the description, or of the text by which the record was found. */
  text: string;
  /** Location and position, or equipment and place; empty if it is nowhere that the actor may view. */
  where: string;
}

export interface SearchGroup {
  resource: Resource;
  total: number;
  /** True if there are more than `total`. */
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

  /** Rows that another process is reading so that the search takes little time here. */
  loading({ resources, makeCondition, actor }: SearchRequest): Promise<void>[] {
    return resources.flatMap((resource) =>
      this.reader.loadingRowSet(resource, makeCondition(resource), actor),
    );
  }

  /** Found records, by list: the lists with the best results first. */
  find(request: SearchRequest): SearchGroup[] {
    return this.statements.reading(() => {
      const { actor, makeCondition } = request;
      const query = parseSearch(request.typed);
      const viewable = new Map<string, RowSet>();
      for (const resource of request.resources) {
        const rows = this.reader.rowSet(resource, makeCondition(resource), actor);
        if (rows.count() > 0) viewable.set(resource.name, rows);
      }
      const viewer = { resources: this.resources, actor };
      const parts = new SearchedParts(this.statements, viewer, viewable);
      // Affects how records are found, not which: the order depends on hidden records, too.
      const looked = { ...query, indexed: parts.rarestFirst(query.indexed) };
      const lists = request.resources
        .filter(({ name }) => viewable.has(name))
        .map((resource) => {
          const rows = viewable.get(resource.name)!;
          const one = new ListSearch(this.statements, this.reader.trigrams, viewer, resource, rows);
          return { resource, one, hits: one.hits(looked, parts) };
        });
      const found = lists.reduce((sum, { hits }) => sum + hits.rids.size, 0);
      const isTolerant = found < FEW_FOUND && query.tolerant.length > 0;
      return lists
        .map(({ resource, one, hits }) => {
          const ranked = one.ranked(hits, query, makeCondition(resource));
          if (isTolerant) ranked.push(...one.rankedSimilar(hits, query, makeCondition(resource)));
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
    query: SearchQuery,
    { actor, parts }: { actor: Actor; parts: SearchedParts },
  ): SearchResult[] {
    const { words, indexed } = query;
    const described = searchedTexts(resource).filter((name) => !searchedNames(resource).includes(name));
    const rids = ranked.map(({ rid }) => rid);
    const places = placeFields(resource);
    const shown = this.reader.values(resource, [resource.key, ...described, ...places], actor, rids);
    const read = (i: number, field: string): string => String(shown[i][field] ?? "");
    const describing = rids.map((_, i) => described.find((field) => isFoundIn(read(i, field), query)));
    const others = rids.filter((_, i) => ranked[i].by === undefined && describing[i] === undefined);
    const found = parts.findParts(resource.name, others, indexed);
    return ranked.map(({ rid, rank, id, by }, i) => {
      const name = String(shown[i][resource.key]);
      const about = { id, name, exact: isCode(rank), where: formatPlace(places, shown[i]) };
      const part = found.get(rid);
      if (part) return { ...about, by: part.by, text: excerpt(parts.readText(part), words) };
      const field =
        describing[i] ?? resource.descriptionFields.find((name) => read(i, name)) ?? "description";
      const isNamed = FOUND_BY.some((one) => one === field);
      return {
        ...about,
        by: by ?? (isNamed ? (field as FoundBy) : "description"),
        text: excerpt(read(i, field), words),
      };
    });
  }
}

/** The search of one list for one actor. */
class ListSearch {
  readonly #count: number;

  constructor(
    private readonly statements: ReadStatements,
    private readonly trigrams: TrigramStatistics,
    private readonly viewer: Viewer,
    private readonly resource: Resource,
    /** The rows that the actor may view. */
    private readonly viewable: RowSet,
  ) {
    this.#count = viewable.count();
  }

  /**
   * Rows that match, in any order, up to about `MOST_FOUND`: those that match better come first, so that the others are
   * only looked for while there are few.
   */
  hits(query: SearchQuery, parts: SearchedParts): Hits {
    const hits: Hits = { rids: new Set(), more: false };
    this.#add(hits, this.#indexed(isMeant(this.resource, query)));
    this.#add(hits, this.#indexed(beginsWithPhrase(this.resource, query)));
    if (hits.more || query.indexed.length === 0) return hits;
    this.#add(hits, this.#withOwnWords(query.words, MOST_FOUND));
    if (!hits.more) this.#add(hits, this.#findWithParts(query, parts));
    return hits;
  }

  /** The rows by rank, those that were modified last first among equals. */
  ranked({ rids }: Hits, query: SearchQuery, limit: Condition): Ranked[] {
    const { resource } = this;
    const { resources, actor } = this.viewer;
    const names = searchedNames(resource);
    const columns = [
      "t.rid AS rid",
      `t.${columnName(resource, "id")} AS id`,
      ...names.map((name, i) => `t.${columnName(resource, name)} AS name${i}`),
      `${"barcode" in resource.fields ? "t.barcode" : "''"} AS barcode`,
      `${"modified" in resource.fields ? "t.modified" : "0"} AS modified`,
    ];
    const condition = visibleOnly(resource, actor, limit);
    const eachRow = plan(resources, resource, actor, EACH_ROW);
    const list = JSON.stringify([...rids]);
    return this.statements
      .all(matchingStatement(resource, condition, eachRow, list, columns.join(", ")))
      .map((row) => {
        const id = String(row.id);
        const texts = {
          id,
          barcode: String(row.barcode),
          names: names.map((_, i) => String(row[`name${i}`])),
        };
        const { rank, by } = rankTexts(texts, query);
        return { rid: Number(row.rid), id, modified: Number(row.modified), rank, by };
      })
      .toSorted((a, b) => a.rank - b.rank || b.modified - a.modified || (a.id < b.id ? -1 : 1));
  }

  /** The rows that match when one typo in each longer word is tolerated, besides those that are found without. */
  rankedSimilar(exact: Hits, query: SearchQuery, limit: Condition): Ranked[] {
    const similar: Hits = { rids: new Set(), more: false };
    this.#add(similar, this.#withSimilarWords(query));
    exact.more ||= similar.more;
    const rids = similar.rids.difference(exact.rids);
    return this.ranked({ ...similar, rids }, query, limit).map((row) =>
      Object.assign(row, { rank: SIMILAR, by: undefined }),
    );
  }

  #add(hits: Hits, { rids, more }: Found): void {
    for (const rid of rids) hits.rids.add(rid);
    hits.more ||= more;
  }

  #rows(condition: Condition, limit = -1): Uint32Array {
    const { resource } = this;
    const { resources, actor } = this.viewer;
    const { text, args } = rowsStatement(resource, condition, plan(resources, resource, actor, EACH_ROW));
    return this.statements.numbers({ text: `${text} LIMIT ?`, args: [...args, limit] });
  }

  #newest(rids: readonly number[] | Uint32Array): Found {
    const seen = new RowSet(rids.filter((rid) => this.viewable.has(rid)));
    return { rids: seen.last(MOST_FOUND), more: seen.count() > MOST_FOUND };
  }

  /** Rows that an index finds: the newest, if they are not too many to read. */
  #indexed(condition: Condition): Found {
    const maximum = Math.min(MANY_ROWS, Math.max(2 * MOST_FOUND, READ_PER_TEST * this.#count));
    const rows = this.#rows(condition, maximum);
    const some = this.#newest(rows);
    if (some.more || rows.length < maximum) return some;
    return this.#newest(maximum < MANY_ROWS ? this.#selectViewable(condition) : this.#rows(condition));
  }

  /** Rows whose names and descriptions have all of the words, the newest ones. */
  #withOwnWords(words: readonly string[], maximum: number): Found {
    const { resource, viewable, statements } = this;
    const contain = and(...words.map((word) => containsWord(resource, word)));
    if (this.#count <= MAX_TESTED) return this.#newest(this.#selectViewable(contain));
    if (!hasIndex(resource)) return this.#newest(this.#rows(contain));
    const { table } = resource;
    const text = `${lookUpTexts(table)} AND rowid < ? ORDER BY rowid DESC LIMIT ?`;
    const lookupCondition = matchAll(this.trigrams.chooseForWords(table, words.filter(isIndexed)));
    let rids: number[] = [];
    const more = readNewest<number>({
      maximum,
      patience: READ_PER_TEST * this.#count,
      read: (before, size) => statements.numbers({ text, args: [lookupCondition, before, size] }),
      at: (rid) => rid,
      add: (rows) => {
        const seen = Array.from(rows).filter((rid) => viewable.has(rid));
        return rids.push(...this.#among(seen, contain));
      },
      addAll: () => (rids = [...this.#selectViewable(contain)].reverse()).length,
    });
    return { rids: rids.slice(0, maximum), more };
  }

  /** Of many rows that may match, the newest are tested. */
  #withSimilarWords(query: SearchQuery): Found {
    const { resource, viewable, statements } = this;
    const condition = containsSimilarWords(resource, query);
    const { table } = resource;
    if (this.#count <= MAX_SIMILAR || !hasIndex(resource)) {
      const rids = this.#among(viewable.last(MAX_SIMILAR), condition);
      return { rids, more: this.#count > MAX_SIMILAR };
    }
    const text = `${lookUpTexts(table)} AND rowid < ? ORDER BY rowid DESC LIMIT ?`;
    const lookupCondition = matchAll(
      query.indexed.map((word) => (query.tolerant.includes(word) ? similarParts(word) : word)),
    );
    const rids: number[] = [];
    const more = readNewest<number>({
      maximum: MAX_SIMILAR,
      patience: Infinity,
      read: (before, size) => statements.numbers({ text, args: [lookupCondition, before, size] }),
      at: (rid) => rid,
      add: (rows) => rids.push(...Array.from(rows).filter((rid) => viewable.has(rid))),
      addAll: () => rids.length,
    });
    return { rids: this.#among(rids.slice(0, MAX_SIMILAR), condition), more };
  }

  /** Rows that contain each word in a part, a name or the description, and at least one word in a part. */
  #findWithParts({ words, indexed }: SearchQuery, parts: SearchedParts): Found {
    const { name } = this.resource;
    const few = this.#withRareWord(indexed, parts);
    const found = few ? [] : indexed.map((word) => parts.find(word, indexed.length));
    const of = new Map(found.map(({ records }, i) => [indexed[i], records.get(name)]));
    let left = few ?? [...new Set(of.values().flatMap((rids) => rids ?? []))];
    for (const word of words) {
      const having = of.get(word);
      const others = left.filter((rid) => !having?.has(rid));
      const own = new Set(this.#among(others, containsWord(this.resource, word)));
      const foreign = others.filter((rid) => !own.has(rid));
      const tested = few && indexed.includes(word) ? parts.among(name, foreign, word) : undefined;
      left = left.filter((rid) => having?.has(rid) || own.has(rid) || tested?.has(rid));
    }
    return { rids: left, more: found.some(({ more }) => more) };
  }

  /** All rows with one of several words, in parts or by themselves; undefined if many have each of them. */
  #withRareWord(indexed: readonly string[], parts: SearchedParts): number[] | undefined {
    if (indexed.length < 2 || (this.#count > MAX_TESTED && !hasIndex(this.resource))) return undefined;
    if (this.#count <= FEW_ROWS) return this.viewable.toArray();
    for (const word of indexed) {
      const own = this.#withOwnWords([word], FEW_ROWS);
      if (own.more) continue;
      const { records, more } = parts.find(word);
      if (!more) return [...new Set([...own.rids, ...(records.get(this.resource.name) ?? [])])];
    }
    return undefined;
  }

  #selectViewable(condition: Condition): readonly number[] {
    return this.#among(this.viewable.toArray(), condition);
  }

  /** Selects the rows for which the condition holds. */
  #among(rids: readonly number[], condition: Condition): readonly number[] {
    if (rids.length === 0 || (condition.kind === "constant" && condition.value)) return rids;
    const { resource } = this;
    const { resources, actor } = this.viewer;
    const eachRow = plan(resources, resource, actor, EACH_ROW);
    return [
      ...this.statements.numbers(matchingStatement(resource, condition, eachRow, JSON.stringify(rids))),
    ];
  }
}

const hasIndex = (resource: Resource): boolean =>
  searchedTexts(resource).every((name) => resource.fields[name].searchable);
