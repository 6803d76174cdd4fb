import { ALWAYS, and, compare, type Condition, or } from "../model/condition.ts";
import { foldedText, type Row, type Sql } from "../model/operator.ts";
import { selectVisible } from "../model/plan.ts";
import type { Viewer } from "../model/resource.ts";
import type { RowSet } from "../model/row-set.ts";
import { type FoundBy, searchedNames } from "../model/search-query.ts";
import { lookUpTexts, matchAll, textTable } from "../model/text-index.ts";
import { readNewest } from "./read-newest.ts";
import type { ReadStatements } from "./statements.ts";

/** Maximum number of parts that are found by one word, or by all words of a search together. */
const MOST_PARTS = 1000;
/** Terms with one word in their names whose annotations are looked for. */
const MOST_TERMS = 20;
/** Parts that are read from an index in the time that reading the parts of one record takes. */
const READ_PER_RECORD = 4;

/** An annotation, a note or a file in which a word was found. */
export interface FoundPart {
  by: FoundBy;
  rid: number;
}

/** Records of which a part contains the word, by kind. */
export interface PartsFound {
  records: Map<string, Set<number>>;
  /** Maximum number of parts. */
  maximum: number;
  /** True if some records were not examined. */
  more: boolean;
}

/** Parts of one table: annotations, notes or files. */
interface Source {
  by: FoundBy;
  table: string;
  /** The text that results show. */
  text: string;
  /** The folded text of the part `p` without accents, for comparisons. */
  folded: string;
  /** The parts `p` of the records `r` of a kind (argument). */
  recordCondition: string;
  /** Further conditions on the part `p`. */
  where: Sql;
}

const ALIVE: Sql = { text: "p.deleted = 0", args: [] };
const belongs = (alias: string): string => `${alias}.object_kind = ? AND ${alias}.object_rid = r.value`;

const ANNOTATION_TEXTS: Omit<Source, "where"> = {
  by: "annotation",
  table: "annotation_value",
  text: "coalesce(text, (SELECT name FROM vocabulary_term WHERE id = reference))",
  folded: foldedText("p.fold", "unaccent"),
  recordCondition:
    `annotation AS a ON ${belongs("a")} CROSS JOIN annotation_value AS p` +
    " ON p.rid BETWEEN 1024 * a.rid AND 1024 * a.rid + 1023",
};

const makeSource = (by: FoundBy, table: string, text: string): Source => ({
  by,
  table,
  text,
  folded: foldedText(`p.${text}`, "unaccent"),
  recordCondition: `${table} AS p ON ${belongs("p")}`,
  where: ALIVE,
});

/** Sub-resources whose texts are searched for whole and partial words. */
export class SearchedParts {
  readonly #annotations: Source;
  readonly #sources: readonly Source[];
  readonly #found = new Map<string, PartsFound>();
  readonly #patience: number;

  /** @param viewable the rows by kind of record that the caller may view */
  constructor(
    private readonly statements: ReadStatements,
    private readonly viewer: Viewer,
    private readonly viewable: ReadonlyMap<string, RowSet>,
  ) {
    this.#annotations = { ...ANNOTATION_TEXTS, where: searchable(viewer) };
    this.#sources = [
      this.#annotations,
      makeSource("note", "note", "content"),
      makeSource("attachment", "attachment", "name"),
    ];
    this.#patience = READ_PER_RECORD * viewable.values().reduce((sum, rows) => sum + rows.count(), 0);
  }

  /**
   * Records that the caller may view and whose newest parts contain the word.
   * @param words number of words of the search, which share the maximum number of parts
   */
  find(word: string, words = 1): PartsFound {
    const key = `${words} ${word}`;
    let found = this.#found.get(key);
    if (!found) {
      const maximum = Math.floor(MOST_PARTS / words);
      this.#found.set(key, (found = { maximum, records: new Map(), more: false }));
      for (const source of this.#sources) if (this.#findIn(source, word, found)) found.more = true;
      if (this.#findTerms(word, found)) found.more = true;
    }
    return found;
  }

  /** The words in the order of how many parts contain them. */
  rarestFirst(words: readonly string[]): readonly string[] {
    if (words.length < 2) return words;
    const counted = words.map((word) => {
      const counts = this.#sources.map(({ table }) => {
        const some = `${lookUpTexts(table)} LIMIT ${MOST_PARTS}`;
        const row = this.statements.get({
          text: `SELECT count(*) AS parts FROM (${some})`,
          args: [matchAll([word])],
        });
        return Number(row?.parts);
      });
      return { word, count: counts.reduce((a, b) => a + b) };
    });
    return counted.toSorted((a, b) => a.count - b.count).map(({ word }) => word);
  }

  /** Selects the records of a kind that have a part with the word. */
  among(kind: string, rids: readonly number[], word: string): Set<number> {
    const rows = this.#sources.flatMap((source) =>
      this.#readParts(kind, rids, source, this.#test(source, word)),
    );
    return new Set(rows.map(({ rid }) => Number(rid)));
  }

  /** The newest part of each record of a kind that has one of the words, the first word if possible. */
  findParts(kind: string, rids: readonly number[], words: readonly string[]): Map<number, FoundPart> {
    const found = new Map<number, FoundPart>();
    for (const word of words)
      for (const source of this.#sources)
        for (const { part, rid } of this.#readParts(kind, rids, source, this.#test(source, word)))
          if (!found.has(Number(rid))) found.set(Number(rid), { by: source.by, rid: Number(part) });
    return found;
  }

  /** The text of a part. */
  readText({ by, rid }: FoundPart): string {
    const { table, text } = this.#sources.find((source) => source.by === by)!;
    const row = this.statements.get({
      text: `SELECT ${text} AS text FROM ${table} WHERE rid = ?`,
      args: [rid],
    });
    return String(row?.text ?? "");
  }

  /** True if the part `p` has the word, or is a term with it in its name. */
  #test(source: Source, word: string): Sql {
    const contains: Sql = { text: `instr(${source.folded}, ?) > 0`, args: [word] };
    if (source !== this.#annotations) return contains;
    const { text, args } = this.#findTermsStatement(word, "t.id");
    return { text: `(${contains.text} OR p.reference IN (${text}))`, args: [word, ...args] };
  }

  /** The parts of records for which the test holds, newest first. */
  #readParts(kind: string, rids: readonly number[], source: Source, test: Sql): Row[] {
    if (rids.length === 0) return [];
    const { where } = source;
    return this.statements.all({
      text:
        "SELECT p.rid AS part, p.object_kind AS kind, p.object_rid AS rid FROM json_each(?) AS r" +
        ` CROSS JOIN ${source.recordCondition} WHERE ${test.text} AND ${where.text} ORDER BY p.rid DESC`,
      args: [JSON.stringify(rids), kind, ...test.args, ...where.args],
    });
  }

  /** Selects terms with the word in their names, as far as the caller may view them. */
  #findTermsStatement(word: string, columns: string, tail = ""): Sql {
    const term = this.viewer.resources.get("term")!;
    const named = or(...searchedNames(term).map((name) => compare([name], "contains word", word)));
    return selectVisible(this.viewer, term, columns, named, tail);
  }

  /**
   * Adds records whose annotations have a term as value of which the caller may view the name.
   * @returns whether there are more
   */
  #findTerms(word: string, found: PartsFound): boolean {
    const terms = this.statements.all(
      this.#findTermsStatement(word, "t.id AS id", ` LIMIT ${MOST_TERMS + 1}`),
    );
    if (terms.length === 0) return false;
    const termTypes = searchableTypes(this.viewer, compare(["type"], "==", "VOCABULARYTERM"));
    let more = terms.length > MOST_TERMS;
    for (const type of this.statements.numbers(termTypes))
      for (const kind of this.viewable.keys())
        for (const { id } of terms) if (this.#findTerm([kind, type, String(id)], found)) more = true;
    return more;
  }

  /** True if there are more records with the term as value of the type than were added. */
  #findTerm(of: [kind: string, type: number, id: string], found: PartsFound): boolean {
    const [kind, , id] = of;
    const text =
      "SELECT rid AS part, object_kind AS kind, object_rid AS rid FROM annotation_value" +
      " WHERE object_kind = ? AND annotation_type = ? AND reference = ? AND object_rid < ?" +
      " ORDER BY object_rid DESC LIMIT ?";
    const readKind = (): Row[] =>
      this.#readParts(kind, this.viewable.get(kind)!.toArray(), this.#annotations, {
        text: "p.reference = ?",
        args: [id],
      });
    return this.#addNewest(found, "rid", readKind, (before, size) => ({ text, args: [...of, before, size] }));
  }

  /** True if there are more parts with the word than were added. */
  #findIn(source: Source, word: string, found: PartsFound): boolean {
    const { table, where } = source;
    const index = textTable(table);
    const text =
      `SELECT p.rid AS part, p.object_kind AS kind, p.object_rid AS rid FROM ${index}` +
      ` CROSS JOIN ${table} AS p ON p.rid = ${index}.rowid WHERE ${index} MATCH ? AND ${index}.rowid < ?` +
      ` AND ${where.text} ORDER BY ${index}.rowid DESC LIMIT ?`;
    const test: Sql = { text: `instr(${source.folded}, ?) > 0`, args: [word] };
    const readAll = (): Row[] =>
      [...this.viewable].flatMap(([kind, rows]) => this.#readParts(kind, rows.toArray(), source, test));
    return this.#addNewest(found, "part", readAll, (before, size) => ({
      text,
      args: [matchAll([word]), before, ...where.args, size],
    }));
  }

  /**
   * @param order the column by which the newest come first
   * @param all reads the parts of all records that the caller may view
   * @param selectBefore selects parts before a row number, the last first
   * @returns whether there are more
   */
  #addNewest(
    { records, maximum }: PartsFound,
    order: "part" | "rid",
    all: () => Row[],
    selectBefore: (before: number, size: number) => Sql,
  ): boolean {
    let viewed = 0;
    const at = (row: Row): number => Number(row[order]);
    const add = (rows: ArrayLike<Row>): number => {
      for (let i = 0; i < rows.length && viewed <= maximum; i++) {
        const [kind, rid] = [String(rows[i].kind), Number(rows[i].rid)];
        if (!this.viewable.get(kind)?.has(rid) || ++viewed > maximum) continue;
        let readKind = records.get(kind);
        if (!readKind) records.set(kind, (readKind = new Set()));
        readKind.add(rid);
      }
      return viewed;
    };
    return readNewest({
      maximum,
      patience: this.#patience,
      read: (before, size) => this.statements.all(selectBefore(before, size)),
      at,
      add,
      addAll: () => {
        viewed = 0;
        return add(all().toSorted((a, b) => at(b) - at(a)));
      },
    });
  }
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
