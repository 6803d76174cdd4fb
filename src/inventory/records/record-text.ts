import { foldedText } from "../model/operator.ts";
import { columnName, type Resource } from "../model/resource.ts";
import type { StoredRecord } from "../model/stored-record.ts";
import { textTable } from "../model/text-index.ts";
import type { RecordWrite } from "./batch-audit.ts";
import type { Statements } from "./statements.ts";

/** The texts themselves are in the records. They are folded, and once more without accents if they have some. */
const OPTIONS = "text, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'";
/** Rows from which on their trigrams are written as large segments. */
const MANY_ROWS = 1000;
/** Pending trigrams, in bytes, that are then written as one segment; 1 MB otherwise. */
const SEGMENT = 33_554_432;
/** Row numbers that the values of an annotation may have. */
const VALUES = 1024;

/** A table whose texts are indexed. */
interface Source {
  table: string;
  /** The text of a row as SQL. */
  text: string;
  /** Names of the fields that the text of a record depends on. */
  fields: readonly string[];
  /** True if its rows belong to other records, and are purged with them. */
  isPart: boolean;
  /** Row numbers of the texts of a record. */
  listRows: (rid: number, record: Readonly<StoredRecord>) => number[];
}

/** Row numbers whose texts are to be indexed. */
interface Written {
  created: Set<number>;
  /** Row numbers that may be in the index already. */
  changed: Set<number>;
}

/**
 * Keeps the text index in step with the records: at the end of a batch and in its transaction, the searchable fields of
 * the written records are indexed, those of one table with one statement.
 */
export class RecordText {
  /** Texts by the name of the resource whose writes change them. */
  readonly #sources = new Map<string, Source>();
  readonly #written = new Map<Source, Written>();

  constructor(
    private readonly statements: Statements,
    resources: Iterable<Resource>,
    annotationValue: Resource,
  ) {
    for (const resource of resources) {
      const isAnnotation = resource.name === "annotation";
      const source = findSource(resource, isAnnotation ? annotationValue : resource);
      if (source && isAnnotation) Object.assign(source, ANNOTATION);
      if (source) this.#sources.set(resource.name, source);
    }
  }

  /** Remembers which texts a write changes. Before a purge it is called while the sub-resources still exist. */
  note({ resource, rid, op, before, after }: RecordWrite): void {
    if (op === "purge") this.#noteParts(resource.name, rid);
    const source = this.#sources.get(resource.name);
    if (!source || (before && after && source.fields.every((name) => before[name] === after[name]))) return;
    const { created, changed } = this.#writtenIn(source);
    for (const row of before ? source.listRows(rid, before) : []) changed.add(row);
    for (const row of after ? source.listRows(rid, after) : []) (before ? changed : created).add(row);
  }

  /** Indexes the texts of the noted records. */
  flush(): void {
    for (const [source, { created, changed }] of this.#written)
      this.#withSegments(source, created.size + changed.size, () => {
        if (changed.size > 0)
          this.statements.run({
            text: `DELETE FROM ${textTable(source.table)} WHERE rowid IN (SELECT value FROM json_each(?))`,
            args: [JSON.stringify([...changed])],
          });
        this.#add(source, "rid IN (SELECT value FROM json_each(?))", [
          JSON.stringify([...created, ...changed]),
        ]);
      });
    this.forget();
  }

  /** Forgets the noted records after a commit or rollback. */
  forget(): void {
    this.#written.clear();
  }

  /**
   * Rebuilds the index of tables whose declared searchable fields are not those of the index, as in the first start
   * after an upgrade; in one transaction, so that a killed start changes nothing.
   */
  update(): void {
    const declared = new Map([...this.#sources.values()].map((source) => [source.table, source]));
    const found = this.statements.all({ text: "SELECT source, texts FROM record_text_source", args: [] });
    const indexed = new Map(found.map(({ source, texts }) => [String(source), texts]));
    const tables = new Set([...indexed.keys(), ...declared.keys()]);
    const changed = [...tables].filter((table) => indexed.get(table) !== declared.get(table)?.text);
    if (changed.length === 0) return;
    this.statements.writing(() => {
      for (const table of changed) this.#indexAnew(table, declared.get(table));
    });
  }

  #indexAnew(table: string, source: Source | undefined): void {
    const run = (text: string, ...args: string[]): unknown => this.statements.run({ text, args });
    run(`DROP TABLE IF EXISTS ${textTable(table)}`);
    run("DELETE FROM record_text_source WHERE source = ?", table);
    if (!source) return;
    run(`CREATE VIRTUAL TABLE ${textTable(table)} USING fts5 (${OPTIONS})`);
    run("INSERT INTO record_text_source (source, texts) VALUES (?, ?)", table, source.text);
    this.#withSegments(source, MANY_ROWS, () => this.#add(source, "true", []));
  }

  #add({ table, text }: Source, where: string, args: string[]): void {
    this.statements.run({
      text:
        `INSERT INTO ${textTable(table)} (rowid, text) SELECT rid, ${text} FROM ${table}` +
        ` WHERE ${where} ORDER BY rid`,
      args,
    });
  }

  #writtenIn(source: Source): Written {
    let written = this.#written.get(source);
    if (!written) this.#written.set(source, (written = { created: new Set(), changed: new Set() }));
    return written;
  }

  #noteParts(kind: string, rid: number): void {
    for (const source of this.#sources.values()) {
      if (!source.isPart) continue;
      const text = `SELECT rid FROM ${source.table} WHERE object_kind = ? AND object_rid = ?`;
      for (const part of this.statements.all({ text, args: [kind, rid] }))
        this.#writtenIn(source).changed.add(Number(part.rid));
    }
  }

  /** By default, FTS5 merges small segments with large ones again and again, which takes five times as long. */
  #withSegments({ table }: Source, rows: number, write: () => void): void {
    if (rows < MANY_ROWS) return write();
    const index = textTable(table);
    const set = (option: string, value: number): void =>
      void this.statements.run({
        text: `INSERT INTO ${index} (${index}, rank) VALUES (?, ?)`,
        args: [option, value],
      });
    set("automerge", 0);
    set("hashsize", SEGMENT);
    write();
    // The defaults of FTS5.
    set("automerge", 4);
    set("hashsize", 1_048_576);
  }
}

/** @param indexed the resource whose table has the texts; undefined is returned if none of its fields is searchable */
function findSource({ fields }: Resource, indexed: Resource): Source | undefined {
  const names = Object.keys(indexed.fields).filter((name) => indexed.fields[name].searchable);
  if (names.length === 0) return undefined;
  const texts = names.flatMap((name) => {
    const column = columnName(indexed, name);
    const isPlain = `length(${column}) = octet_length(${column})`;
    return [
      indexed.fields[name].folded ?? foldedText(column),
      `iif(${isPlain}, NULL, nullif(unaccent(${column}), fold(${column})))`,
    ];
  });
  return {
    table: indexed.table,
    text: `concat_ws(char(10), ${[...new Set(texts)].join(", ")})`,
    fields: names,
    isPart: "object_rid" in fields,
    listRows: (rid) => [rid],
  };
}

/** Triggers keep the values of annotations, which have row numbers of their own. */
const ANNOTATION: Pick<Source, "fields" | "listRows"> = {
  fields: ["value", "deleted", "annotation_type"],
  listRows(rid, { value }) {
    const parsed = JSON.parse(String(value)) as unknown;
    const count = Array.isArray(parsed) ? Math.min(parsed.length, VALUES) : 1;
    return Array.from({ length: count }, (_, i) => rid * VALUES + i);
  },
};
