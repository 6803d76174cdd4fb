import { Type } from "typebox";
import { type Cell, type Table } from "./import-file.ts";
import { namesAnnotation } from "../model/annotation-filter.ts";
import { findAnnotation, withAnnotations } from "../model/annotation-type.ts";
import { type AnnotationType, type Resource, targetOf } from "../model/resource.ts";
import {
  annotationCellValue,
  CELL_ERROR,
  cellValue,
  COLUMN,
  type Column,
  isUnchanged,
  PATH,
  readColumns,
  spelled,
} from "./import-mapping.ts";
import type { Actor } from "../model/access.ts";
import { ALIVE, and, compare } from "../model/condition.ts";
import type { Field, Json } from "../model/field.ts";
import type { Sql } from "../model/operator.ts";
import { fieldProblem, invalidField } from "../model/parse-body.ts";
import { selectVisible } from "../model/plan.ts";
import { nullable } from "../../platform/schema.ts";
import { hasPosition } from "../resources/position.ts";
import { LocationPaths, partsOf } from "../records/location-path.ts";
import { Units } from "./units.ts";
import type { RecordWriter } from "../records/record-writer.ts";
import type { Store } from "../records/store.ts";
import { Problem } from "../../problem.ts";

export interface ImportOptions {
  dryRun: boolean;
  /** How rows without an id find their records; with "none" each creates a record. */
  matching: "name" | "none";
  /** Other names for headers; null ignores a column. */
  mapping: ReadonlyMap<string, string | null>;
}

/** Follows an import while it is written. */
export interface ImportWatcher {
  /** Called before each row; an error rolls everything back. */
  onRow(report: ImportReport, rows: number): void;
  /** Called once all rows are written, in the same transaction. */
  onWritten(report: ImportReport): void;
}

/** What an import did, or would do. */
export const REPORT = Type.Object({
  dry_run: Type.Boolean(),
  rows: Type.Integer(),
  created: Type.Integer(),
  updated: Type.Integer(),
  unchanged: Type.Integer(),
  locations_made: Type.Integer({ description: "Locations created for paths." }),
  units_made: Type.Integer({ description: "Units created because no term has the name." }),
  columns: Type.Array(COLUMN),
  errors: Type.Array(CELL_ERROR),
  more_errors: Type.Boolean({ description: "Whether there are more errors than are listed." }),
  batch: nullable(Type.String({ description: "Id of the batch; null if nothing was written." })),
});
export type ImportReport = Type.Static<typeof REPORT>;

const MAX_ERRORS = 1000;

const UNCONFIRMED =
  "This row would show an existing record to more people. Change it by PATCH or on its page, where that is confirmed.";

/** Thrown to roll the transaction back. */
class Rollback {
  constructor(readonly report: ImportReport) {}
}

/**
 * Writes the rows of a file as records in one transaction and batch: all of them or none. Every row is tried, so that
 * the report lists all errors. A dry run does the same and rolls back.
 */
export function runImport(
  store: Store,
  resource: Resource,
  table: Table,
  options: ImportOptions,
  { actor, watcher }: { actor: Actor; watcher?: ImportWatcher },
): ImportReport {
  const named = withAnnotations(store.resources, resource, actor);
  const { columns, errors } = readColumns(store.resources, named, table.headers, options.mapping);
  const report: ImportReport = {
    dry_run: options.dryRun,
    rows: table.count,
    created: 0,
    updated: 0,
    unchanged: 0,
    locations_made: 0,
    units_made: 0,
    columns,
    errors: errors.slice(0, MAX_ERRORS),
    more_errors: errors.length > MAX_ERRORS,
    batch: null,
  };
  // With unknown columns the rows would be misread.
  if (errors.length > 0) return report;
  try {
    return store.write(
      (writer, exposed) => {
        const importer = new RowImporter(store, named, options, actor, { writer, columns });
        let done = 0;
        // Rows may exchange the positions of records.
        writer.rearrange(importer.moved(table), () => {
          for (const { number, cells } of table.rows()) {
            watcher?.onRow(report, done++);
            try {
              const before = exposed.length;
              report[importer.write(cells)]++;
              if (exposed.length > before) throw invalidField("non_field_errors", UNCONFIRMED);
            } catch (error) {
              addErrors(report, number, error);
            }
          }
          report.locations_made = importer.paths.created;
          report.units_made = importer.units.created;
          if (options.dryRun || report.errors.length > 0) throw new Rollback(report);
        });
        if (report.created + report.updated + report.locations_made + report.units_made > 0) {
          const text = "SELECT id FROM record_batch ORDER BY rid DESC LIMIT 1";
          report.batch = String(store.statements.get({ text, args: [] })?.id);
        }
        watcher?.onWritten(report);
        return report;
      },
      { kind: "import", skipsEvents: true },
    );
  } catch (thrown) {
    if (thrown instanceof Rollback) return thrown.report;
    throw thrown;
  }
}

/** Adds the errors of a row to the report. @throws anything that is not the fault of the row */
function addErrors(report: ImportReport, row: number, error: unknown): void {
  if (!(error instanceof Problem) || error.code === "internal") throw error;
  const named: [string | null, string][] = error.fields
    ? Object.entries(error.fields).map(([name, [text]]) => [name, String(text)])
    : [[null, error.message]];
  for (const [name, message] of named) {
    if (report.errors.length >= MAX_ERRORS) {
      report.more_errors = true;
      return;
    }
    const column = report.columns.find(({ field }) => field === name && name !== null)?.header ?? null;
    const prefix = column === null && name !== null && name !== "non_field_errors" ? `${name}: ` : "";
    report.errors.push({ row, column, message: prefix + message });
  }
}

class RowImporter {
  readonly paths: LocationPaths;
  readonly units: Units;
  readonly #writer: RecordWriter;
  readonly #columns: readonly Column[];
  /** Imported fields, without `id` and `path`. */
  readonly #names: string[];
  /** Types of imported annotations by name. */
  readonly #annotations = new Map<string, AnnotationType>();
  /** Spans to the names of references: a cell may hold a name or an id. */
  readonly #spans: ReadonlyMap<string, string>;
  /** Fields that identify a record: its key or, if that is computed, the fields that it is computed from. */
  readonly #keys: readonly string[];
  readonly #byKeys: Sql;

  constructor(
    private readonly store: Store,
    private readonly resource: Resource,
    private readonly options: ImportOptions,
    private readonly actor: Actor,
    { writer, columns }: { writer: RecordWriter; columns: readonly Column[] },
  ) {
    const { resources, statements } = store;
    const { fields, key, nameFields } = resource;
    this.#writer = writer;
    this.#columns = columns;
    this.paths = new LocationPaths(statements, resources, writer, actor);
    this.units = new Units(store, writer, actor);
    const imported = columns
      .flatMap(({ field }) => field ?? [])
      .filter((name) => name !== "id" && name !== PATH);
    this.#names = imported.filter((name) => !namesAnnotation(resource, name));
    for (const name of imported.filter((name) => namesAnnotation(resource, name))) {
      const named = findAnnotation(resource, name);
      if ("type" in named) this.#annotations.set(name, named.type);
    }
    const references = this.#names.filter((name) => fields[name].kind === "reference");
    this.#spans = new Map(
      references.map((name) => [name, `${name}__${targetOf(resources, fields[name]).key}`]),
    );
    this.#keys =
      fields[key].write === "never" ? nameFields.filter((name) => fields[name]?.write !== "never") : [key];
    const equal = and(...this.#keys.map((name) => compare([name], "==", "")), ALIVE);
    this.#byKeys = selectVisible({ resources, actor }, resource, "t.rid AS rid", equal, " LIMIT 2");
  }

  /** The records that the file moves to other positions. */
  moved(table: Table): (readonly [Resource, number])[] {
    if (!hasPosition(this.resource) || !this.#names.includes("position")) return [];
    const moved: (readonly [Resource, number])[] = [];
    for (const { cells: given } of table.rows()) {
      try {
        const cells = this.#cellsOf(given);
        const rid = this.#find(cells);
        if (rid !== undefined && "position" in this.#bodyOf(cells, rid)) moved.push([this.resource, rid]);
      } catch (error) {
        // `write` reports it.
        if (!(error instanceof Problem)) throw error;
      }
    }
    return moved;
  }

  #cellsOf(given: readonly Cell[]): Map<string, Cell> {
    const cells = new Map<string, Cell>();
    for (const [i, { field }] of this.#columns.entries())
      if (field !== null) cells.set(field, given[i] ?? null);
    return cells;
  }

  /** @throws Problem with an entry for each invalid cell */
  write(given: readonly Cell[]): "created" | "updated" | "unchanged" {
    const cells = this.#cellsOf(given);
    const path = partsOf(String(cells.get(PATH) ?? ""));
    const label = path.at(-1);
    const parent = path.length > 1 ? this.paths.make(path.slice(0, -1)) : null;
    const rid =
      label !== undefined && idOf(cells) === ""
        ? this.paths.find(label, parent?.rid ?? null)
        : this.#find(cells);
    const body = this.#bodyOf(cells, rid);
    if (rid === undefined) {
      const inherited = parent ? this.paths.inside(parent.rid) : {};
      const placed = label === undefined ? {} : { label, parent: parent && parent.id };
      this.#writer.create(this.resource, { ...inherited, ...body, ...placed }, this.actor);
      return "created";
    }
    if (Object.keys(body).length === 0) return "unchanged";
    this.#writer.update(this.resource, rid, body, "merge", this.actor);
    return "updated";
  }

  /** The record that a row updates; undefined for a new one. */
  #find(cells: ReadonlyMap<string, Cell>): number | undefined {
    const id = idOf(cells);
    if (id === "") return this.#match(cells);
    const rid = this.store.reader.find(this.resource, id, ALIVE, this.actor);
    if (rid === undefined) throw invalidField("id", "There is no such record.");
    return rid;
  }

  #match(cells: ReadonlyMap<string, Cell>): number | undefined {
    if (this.options.matching === "none" || !this.#keys.every((key) => cells.has(key))) return undefined;
    const values = this.#keys.map((key) => String(cells.get(key) ?? "").trim());
    if (values.every((value) => value === "")) return undefined;
    // The arguments of the keys come first, like their conditions.
    const args = [...values, ...this.#byKeys.args.slice(values.length)];
    const found = this.store.statements.all({ text: this.#byKeys.text, args });
    if (found.length > 1)
      throw invalidField(this.#keys[0], "Several records have this name; give the id of one.");
    return found.length === 0 ? undefined : Number(found[0].rid);
  }

  #bodyOf(cells: ReadonlyMap<string, Cell>, rid: number | undefined): { [name: string]: Json } {
    const { reader } = this.store;
    const fields = [...this.#names, ...this.#spans.values(), ...this.#annotations.keys()];
    const [now] =
      rid === undefined ? [] : reader.values(this.resource, fields, this.actor, [rid], this.#annotations);
    const body: { [name: string]: Json } = {};
    const errors = new Map<string, string[]>();
    for (const name of this.#names) {
      const field = this.resource.fields[name];
      const cell = spelled(cells.get(name) ?? null, field);
      const span = this.#spans.get(name) ?? name;
      if (now && (isUnchanged(cell, now[name]) || isUnchanged(cell, now[span]))) continue;
      const { value, error } = this.#resolve(field, cellValue(field, cell, rid === undefined));
      if (error !== undefined) errors.set(name, [error]);
      else if (value !== undefined) body[name] = value;
    }
    Object.assign(body, this.#annotationsOf(cells, now, errors));
    if (errors.size > 0) throw fieldProblem(errors);
    return this.#withPosition(body, cells);
  }

  /** With the position, also if it stays the same: a record loses it in a new location. */
  #withPosition(body: { [name: string]: Json }, cells: ReadonlyMap<string, Cell>) {
    const position = cells.get("position");
    const moves = "location" in body && position !== undefined && hasPosition(this.resource);
    return moves ? { ...body, position: String(position ?? "") } : body;
  }

  /** The changed annotations of a row. */
  #annotationsOf(
    cells: ReadonlyMap<string, Cell>,
    now: Readonly<Record<string, Json>> | undefined,
    errors: Map<string, string[]>,
  ): Record<string, Json> {
    const changed: Record<string, Json> = {};
    for (const [name, type] of this.#annotations) {
      const cell = cells.get(name) ?? null;
      if (isUnchanged(cell, now?.[name] ?? null)) continue;
      const { value, error } = annotationCellValue(type, cell);
      if (error !== undefined) errors.set(name, [error]);
      else changed[name] = value!;
    }
    return changed;
  }

  /** The value with the location or unit that a text in its place means. */
  #resolve(field: Field, read: ReturnType<typeof cellValue>): ReturnType<typeof cellValue> {
    if (typeof read.value !== "string") return read;
    if (field.to === "location") return this.paths.locate(read.value);
    return field.imports === "unit" ? { value: this.units.find(read.value) } : read;
  }
}

const idOf = (cells: ReadonlyMap<string, Cell>): string => String(cells.get("id") ?? "").trim();
