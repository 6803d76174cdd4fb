import { fold, unaccent } from "../../src/platform/folded-text.ts";
import { columnName, type Resource } from "../../src/inventory/model/resource.ts";
import { textTable } from "../../src/inventory/model/text-index.ts";
import { DECLARED, SUB_RESOURCES } from "../../src/inventory/resources/index.ts";
import { RecordText } from "../../src/inventory/records/record-text.ts";
import { Statements } from "../../src/inventory/records/statements.ts";
import type { Database } from "../../src/platform/sqlite.ts";

/** Resources whose fields may be searchable. */
export const INDEXED = [...DECLARED.values(), DECLARED.annotationValue!, ...Object.values(SUB_RESOURCES)];

/** Rebuilds the text index after rows were written past the API. */
export function indexTexts(database: Database): void {
  database.run("DELETE FROM record_text_source");
  const resources = [...DECLARED.values(), ...Object.values(SUB_RESOURCES)];
  new RecordText(new Statements(database), resources, DECLARED.annotationValue!).update();
}

const splitTrigrams = (text: string): Set<string> => {
  const points = Array.from(text);
  return new Set(points.slice(2).map((_, i) => points.slice(i, i + 3).join("")));
};

/** Trigrams of the records of a database that the text index lacks, and trigrams in the index of no record, by row. */
export function textIndexErrors(
  database: Database,
  resources: readonly Resource[] = INDEXED,
): { table: string; row: number; missing: string[]; excess: string[] }[] {
  const searchable = new Map(
    resources.map((resource) => [resource.table, searchableColumns(resource)] as const),
  );
  return [...searchable].flatMap(([table, columns]) => {
    if (columns.length === 0) return [];
    const [indexed, stored] = [indexedTrigrams(database, table), storedTrigrams(database, table, columns)];
    return [...new Set([...indexed.keys(), ...stored.keys()])].flatMap((row) => {
      const [has, needs] = [indexed, stored].map((of) => of.get(row) ?? new Set<string>());
      const [missing, excess] = [[...needs.difference(has)], [...has.difference(needs)]];
      return missing.length + excess.length > 0 ? [{ table, row, missing, excess }] : [];
    });
  });
}

const searchableColumns = (resource: Resource): string[] => {
  const names = Object.keys(resource.fields).filter((name) => resource.fields[name].searchable);
  return [...new Set(names.map((name) => columnName(resource, name)))];
};

function indexedTrigrams(database: Database, table: string): Map<number, Set<string>> {
  database.run(`CREATE VIRTUAL TABLE temp.indexed USING fts5vocab(main, ${textTable(table)}, instance)`);
  const found = database.query("SELECT doc, term FROM indexed").values() as [number, string][];
  database.run("DROP TABLE temp.indexed");
  const byRow = Map.groupBy(found, ([row]) => row);
  return new Map(Array.from(byRow, ([row, terms]) => [row, new Set(terms.map(([, term]) => term))]));
}

function storedTrigrams(
  database: Database,
  table: string,
  columns: readonly string[],
): Map<number, Set<string>> {
  const found = database.query(`SELECT rid, ${columns.join(", ")} FROM ${table}`).values();
  return new Map(
    found.map(([rid, ...texts]) => {
      const folded = texts
        .filter((text) => text !== null)
        .flatMap((text) => Array.from(new Set([fold(String(text)), unaccent(String(text))])));
      return [Number(rid), splitTrigrams(folded.join("\n"))];
    }),
  );
}
