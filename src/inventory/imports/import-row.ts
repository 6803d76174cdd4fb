import type { Cell } from "./check-cells.ts";
import type { Table, TableRow } from "./import-file.ts";
import { annotationCellValue, cellValue, type Column, isUnchanged, PATH, spelled } from "./import-mapping.ts";
import type { Effect, ImportOptions } from "./import-report.ts";
import type { Actor } from "../model/access.ts";
import { namesAnnotation } from "../model/annotation-filter.ts";
import { findAnnotation } from "../model/annotation-type.ts";
import { ALIVE, and, compare } from "../model/condition.ts";
import type { Field, Json } from "../model/field.ts";
import type { Sql } from "../model/operator.ts";
import { fieldProblem, invalidField } from "../model/parse-body.ts";
import { selectVisible } from "../model/plan.ts";
import { type AnnotationType, type Resource, targetOf } from "../model/resource.ts";
import { Units } from "./units.ts";
import { LocationPaths, partsOf } from "../records/location-path.ts";
import type { RecordWriter } from "../records/record-writer.ts";
import type { Store } from "../records/store.ts";
import { hasPosition } from "../resources/position.ts";
import { Problem } from "../../problem.ts";

/** Where rows are written, by whom, and how. */
export interface ImportTarget {
  store: Store;
  resource: Resource;
  options: ImportOptions;
  actor: Actor;
  writer: RecordWriter;
}

/** Writes rows of a file as records. */
export class RowImporter {
  readonly paths: LocationPaths;
  readonly units: Units;
  /** Imported fields, without `id` and `path`. */
  readonly #names: string[];
  /** Types of imported annotations by name. */
  readonly #annotations = new Map<string, AnnotationType>();
  /** Spans to the names of references: a cell may hold a name or an id. */
  readonly #spans: ReadonlyMap<string, string>;
  /** Fields that identify a record: its key or, if that is computed, the fields that it is computed from. */
  readonly keys: readonly string[];
  readonly #byKeys: Sql;

  constructor(
    private readonly target: ImportTarget,
    private readonly columns: readonly Column[],
  ) {
    const { store, resource, actor, writer } = target;
    const { resources, statements } = store;
    const { fields, key, nameFields } = resource;
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
    this.keys =
      fields[key].write === "never" ? nameFields.filter((name) => fields[name]?.write !== "never") : [key];
    const equal = and(...this.keys.map((name) => compare([name], "==", "")), ALIVE);
    this.#byKeys = selectVisible({ resources, actor }, resource, "t.rid AS rid", equal, " LIMIT 2");
  }

  /** The records that the file moves to other positions. */
  moved(table: Table): (readonly [Resource, number])[] {
    if (!hasPosition(this.target.resource) || !this.#names.includes("position")) return [];
    const moved: (readonly [Resource, number])[] = [];
    for (const { cells: given } of table.rows()) {
      try {
        const cells = this.#cellsOf(given);
        const rid = this.#find(cells);
        if (rid !== undefined && "position" in this.#bodyOf(cells, rid))
          moved.push([this.target.resource, rid]);
      } catch (error) {
        // `write` reports it.
        if (!(error instanceof Problem)) throw error;
      }
    }
    return moved;
  }

  #cellsOf(given: readonly Cell[]): Map<string, Cell> {
    const cells = new Map<string, Cell>();
    for (const [i, { field }] of this.columns.entries())
      if (field !== null) cells.set(field, given[i] ?? null);
    return cells;
  }

  /** @throws Problem with an entry for each invalid cell */
  write({ cells }: TableRow): Effect {
    const rid = this.find(cells);
    if (rid !== undefined) return this.change(rid, cells) ? "updated" : "unchanged";
    this.create(cells);
    return "created";
  }

  /** The record that a row updates; undefined for a new one. */
  find(given: readonly Cell[]): number | undefined {
    const cells = this.#cellsOf(given);
    const { label, parent } = this.#placeOf(cells);
    const isPlaced = label !== undefined && idOf(cells) === "";
    return isPlaced ? this.paths.find(label, parent?.rid ?? null) : this.#find(cells);
  }

  /** Returns the row number of the new record. `id` replaces a generated one. */
  create(given: readonly Cell[], id?: string): number {
    const cells = this.#cellsOf(given);
    const { label, parent } = this.#placeOf(cells);
    const inherited = parent ? this.paths.inside(parent.rid) : {};
    const placed = label === undefined ? {} : { label, parent: parent && parent.id };
    const body = { ...inherited, ...this.#bodyOf(cells, undefined), ...placed };
    return this.target.writer.create(this.target.resource, body, this.target.actor, id);
  }

  /** Whether anything was to be changed. */
  change(rid: number, given: readonly Cell[]): boolean {
    const body = this.#bodyOf(this.#cellsOf(given), rid);
    if (Object.keys(body).length === 0) return false;
    this.target.writer.update(this.target.resource, rid, body, "merge", this.target.actor);
    return true;
  }

  /** Label and enclosing location of a row with a path. */
  #placeOf(cells: ReadonlyMap<string, Cell>) {
    const path = partsOf(String(cells.get(PATH) ?? ""));
    return { label: path.at(-1), parent: path.length > 1 ? this.paths.make(path.slice(0, -1)) : null };
  }

  #find(cells: ReadonlyMap<string, Cell>): number | undefined {
    const id = idOf(cells);
    if (id === "") return this.#match(cells);
    const rid = this.target.store.reader.find(this.target.resource, id, ALIVE, this.target.actor);
    if (rid === undefined) throw invalidField("id", "There is no such record.");
    return rid;
  }

  #match(cells: ReadonlyMap<string, Cell>): number | undefined {
    if (this.target.options.matching === "none" || !this.keys.every((key) => cells.has(key)))
      return undefined;
    const values = this.keys.map((key) => String(cells.get(key) ?? "").trim());
    if (values.every((value) => value === "")) return undefined;
    // The arguments of the keys come first, like their conditions.
    const args = [...values, ...this.#byKeys.args.slice(values.length)];
    const found = this.target.store.statements.all({ text: this.#byKeys.text, args });
    if (found.length > 1)
      throw invalidField(this.keys[0], "Several records have this name; give the id of one.");
    return found.length === 0 ? undefined : Number(found[0].rid);
  }

  #bodyOf(cells: ReadonlyMap<string, Cell>, rid: number | undefined): { [name: string]: Json } {
    const { reader } = this.target.store;
    const fields = [...this.#names, ...this.#spans.values(), ...this.#annotations.keys()];
    const [now] =
      rid === undefined
        ? []
        : reader.values(this.target.resource, fields, this.target.actor, [rid], this.#annotations);
    const body: { [name: string]: Json } = {};
    const errors = new Map<string, string[]>();
    for (const name of this.#names) {
      const field = this.target.resource.fields[name];
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
    const moves = "location" in body && position !== undefined && hasPosition(this.target.resource);
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
