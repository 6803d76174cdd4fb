import { ALWAYS, and, compare, type Condition, or } from "../model/condition.ts";
import type { Sql } from "../model/operator.ts";
import { selectVisible } from "../model/plan.ts";
import type { Viewer } from "../model/resource.ts";
import type { RowSet } from "../model/row-set.ts";
import { type FoundBy, searchedNames } from "../model/search-query.ts";
import type { ReadStatements } from "./statements.ts";

/** Parts of records that contain one word are counted up to here. */
const MOST_PARTS = 2000;
/** Terms with one word in their names whose annotations are looked for. */
const MOST_TERMS = 20;
const FIRST_CHUNK = 1000;
const LARGEST_CHUNK = 50_000;

/** An annotation, a note or a file in which a word was found. */
export interface FoundPart {
  by: FoundBy;
  rid: number;
  /** The name of the term that is its value. */
  term?: string;
}

/** Records by kind, each with the newest part that contains the word. */
export interface PartsFound {
  records: Map<string, Map<number, FoundPart>>;
  /** Whether some were not looked at. */
  more: boolean;
}

interface Source {
  by: FoundBy;
  table: string;
  text: string;
  /** Further conditions on the part `p`. */
  where: Sql;
}

const ALIVE: Sql = { text: "p.deleted = 0", args: [] };

/** What belongs to records and is searched for whole and partial words. */
export class SearchedParts {
  readonly #sources: readonly Source[];
  readonly #found = new Map<string, PartsFound>();

  /** @param viewable the rows by kind of record that the caller may view */
  constructor(
    private readonly statements: ReadStatements,
    private readonly viewer: Viewer,
    private readonly viewable: ReadonlyMap<string, RowSet>,
  ) {
    this.#sources = [
      { by: "annotation", table: "annotation_value", text: "text", where: searchable(viewer) },
      { by: "note", table: "note", text: "content", where: ALIVE },
      { by: "attachment", table: "attachment", text: "name", where: ALIVE },
    ];
  }

  /** Records that the caller may view and that have a part with the word, newest parts first. */
  find(word: string): PartsFound {
    let found = this.#found.get(word);
    if (!found) {
      this.#found.set(word, (found = { records: new Map(), more: false }));
      for (const source of this.#sources) if (this.#findIn(source, word, found)) found.more = true;
      if (this.#findTerms(word, found)) found.more = true;
    }
    return found;
  }

  /** A part of the record that has one of the words. */
  partOf(words: readonly string[], kind: string, rid: number): FoundPart | undefined {
    const found = words.map((word) => this.#found.get(word)?.records.get(kind)?.get(rid));
    return found.find((part) => part !== undefined);
  }

  /** The text of a part. */
  textOf({ by, rid, term }: FoundPart): string {
    if (term !== undefined) return term;
    const { table, text } = this.#sources.find((source) => source.by === by)!;
    const row = this.statements.get({
      text: `SELECT ${text} AS text FROM ${table} WHERE rid = ?`,
      args: [rid],
    });
    return String(row?.text ?? "");
  }

  /**
   * Adds records whose annotations have a term as value of which the caller may view the name.
   * @returns whether there are more
   */
  #findTerms(word: string, found: PartsFound): boolean {
    const term = this.viewer.resources.get("term")!;
    const named = or(...searchedNames(term).map((name) => compare([name], "icontains", word)));
    const tail = ` LIMIT ${MOST_TERMS + 1}`;
    const terms = this.statements.all(
      selectVisible(this.viewer, term, "t.id AS id, t.name AS name", named, tail),
    );
    if (terms.length === 0) return false;
    const ofTerms = searchableTypes(this.viewer, compare(["type"], "==", "VOCABULARYTERM"));
    let more = terms.length > MOST_TERMS;
    for (const type of this.statements.numbers(ofTerms))
      for (const kind of this.viewable.keys())
        for (const { id, name } of terms)
          if (this.#findTerm([kind, type, String(id)], String(name), found)) more = true;
    return more;
  }

  /** Whether there are more records with the term as value of the type than were added. */
  #findTerm(of: [kind: string, type: number, id: string], term: string, found: PartsFound): boolean {
    const text =
      "SELECT rid AS part, object_kind AS kind, object_rid AS rid, object_rid AS at FROM annotation_value" +
      " WHERE object_kind = ? AND annotation_type = ? AND reference = ? AND object_rid < ?" +
      " ORDER BY object_rid DESC LIMIT ?";
    return this.#addNewest({ by: "annotation", term }, found, (before, size) => ({
      text,
      args: [...of, before, size],
    }));
  }

  /** Whether there are more parts with the word than were added. */
  #findIn({ by, table, where }: Source, word: string, found: PartsFound): boolean {
    const index = `${table}_fts`;
    const text =
      `SELECT p.rid AS part, p.object_kind AS kind, p.object_rid AS rid, p.rid AS at FROM ${index}` +
      ` CROSS JOIN ${table} AS p ON p.rid = ${index}.rowid WHERE ${index} MATCH ? AND ${index}.rowid < ?` +
      ` AND ${where.text} ORDER BY ${index}.rowid DESC LIMIT ?`;
    return this.#addNewest({ by }, found, (before, size) => ({
      text,
      args: [matchAll([word]), before, ...where.args, size],
    }));
  }

  /**
   * Adds parts chunk by chunk. Only those that the caller may view count for the limit, so that it reveals nothing of
   * others.
   * @param chunkOf selects parts before a row number, the last first
   * @returns whether there are more
   */
  #addNewest(
    as: Omit<FoundPart, "rid">,
    { records }: PartsFound,
    chunkOf: (before: number, size: number) => Sql,
  ): boolean {
    let [before, size, viewed] = [Number.MAX_SAFE_INTEGER, FIRST_CHUNK, 0];
    for (;;) {
      const rows = this.statements.all(chunkOf(before, size));
      for (const { part, kind, rid } of rows) {
        if (!this.viewable.get(String(kind))?.has(Number(rid))) continue;
        if (++viewed > MOST_PARTS) return true;
        add(records, String(kind), Number(rid), { ...as, rid: Number(part) });
      }
      if (rows.length < size) return false;
      before = Number(rows[rows.length - 1].at);
      size = Math.min(size * 4, LARGEST_CHUNK);
    }
  }
}

function add(records: PartsFound["records"], kind: string, rid: number, part: FoundPart): void {
  let ofKind = records.get(kind);
  if (!ofKind) records.set(kind, (ofKind = new Map()));
  if (!ofKind.has(rid)) ofKind.set(rid, part);
}

/** Values of types that the caller may view and whose values can be searched. */
function searchable(viewer: Viewer): Sql {
  const { text, args } = searchableTypes(viewer, ALWAYS);
  return { text: `p.annotation_type IN (${text})`, args };
}

function searchableTypes(viewer: Viewer, condition: Condition): Sql {
  const types = ["annotation_type", "custom_property_type"].map((name) =>
    selectVisible(
      viewer,
      viewer.resources.get(name)!,
      "t.rid AS rid",
      and(compare(["searchable"], "==", 1), condition),
    ),
  );
  return { text: types.map(({ text }) => text).join(" UNION ALL "), args: types.flatMap(({ args }) => args) };
}

/** Rows with all of the words, in the language of FTS5. */
export const matchAll = (words: readonly string[]): string =>
  words.map((word) => `"${word.replaceAll('"', '""')}"`).join(" AND ");
