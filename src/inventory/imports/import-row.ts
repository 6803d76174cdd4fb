import type { Cell } from "./check-cells.ts";
import type { Table, TableRow } from "./import-file.ts";
import {
  annotationCellValue,
  cellValue,
  type Column,
  headerUnit,
  isUnchanged,
  NOTES,
  PATH,
  normalizeSpelling,
  writableFields,
} from "./import-mapping.ts";
import type { Effect, ImportReport, Match, PreviewedRow } from "./import-report.ts";
import { type Errors, isAmount, type Misread, readCells } from "./read-cells.ts";
import { namesAnnotation } from "../model/annotation-filter.ts";
import { findAnnotation } from "../model/annotation-type.ts";
import { normalPosition } from "../model/grid.ts";
import { ALIVE, and, compare } from "../model/condition.ts";
import type { Json } from "../model/field.ts";
import type { Sql } from "../model/operator.ts";
import { fieldProblem, invalidField } from "../model/parse-body.ts";
import { selectVisible } from "../model/plan.ts";
import { type AnnotationType, type Resource, findTarget } from "../model/resource.ts";
import { CATALOGUE, describeSimilar, type ImportTarget, NamedValues } from "./named-values.ts";
import { convertAmount, isConvertible } from "../model/unit.ts";
import { CODE } from "../records/codes.ts";
import { splitPath } from "../records/location-path.ts";
import { forbidden } from "../records/rights.ts";
import { SubResourceRecords } from "../records/sub-resources.ts";
import { SUB_RESOURCES } from "../resources/index.ts";
import { hasPosition } from "../resources/position.ts";
import { Problem } from "../../problem.ts";

const SEPARATE = "Combine the two rows, or choose to add every row as a new record.";
const CHOOSE = "To change the existing record, choose to match by name, or give its id.";

/** Rows that are compared with existing records in detail, and characters of a cell that a report shows. */
const MAX_SIMILAR = 200;
const SHOWN_TEXT = 300;

/** Writes rows of a file as records. */
export class RowImporter {
  readonly named: NamedValues;
  /** Imported fields, without `id` and `path`. */
  readonly #names: string[];
  /** Types of imported annotations by name. */
  readonly #annotations = new Map<string, AnnotationType>();
  /** Spans to the names of references: a cell may hold a name or an id. */
  readonly #spans: ReadonlyMap<string, string>;
  /** Fields that name a record: its key or, if that is computed, the fields that it is computed from. */
  readonly keys: readonly string[];
  /** Fields by which rows without an id find records; empty if they find none. */
  readonly #matched: readonly string[];
  /** Rows by the records that they wrote, and by the values by which they looked for one. */
  readonly #rows = new Map<string, number>();
  /** Units in the headers of columns. */
  readonly #headerUnits: ReadonlyMap<string, string>;
  /** The cells of the last row by field, and the errors in them. */
  #last: { given: readonly Cell[]; cells: Map<string, Cell>; misread: Errors } | undefined;
  #notes: SubResourceRecords | undefined;
  /** Errors of the cells of the last row that were misread. */
  #errors = new Map<string, string[]>();
  /** Texts that would be valid in the wrong cells of the last row. */
  readonly fixes = new Map<string, string[]>();
  /** Existing records that rows without an id are like. */
  readonly similar = new Map<number, number>();
  /** Statements that find records by the values of fields. */
  readonly #statements = new Map<string, Sql>();

  constructor(
    private readonly target: ImportTarget,
    private readonly columns: readonly Column[],
  ) {
    const { store, resource } = target;
    const { resources } = store;
    const { fields } = resource;
    this.named = new NamedValues(target);
    const imported = columns
      .flatMap(({ field }) => field ?? [])
      .filter((name) => !["id", PATH, NOTES].includes(name));
    const own = imported.filter((name) => !namesAnnotation(resource, name));
    const suffixes = own.flatMap((name) =>
      fields[name].kind === "number" ? (fields[name].form?.suffix ?? []) : [],
    );
    this.#names = [...new Set([...own, ...suffixes])];
    this.#headerUnits = new Map(
      columns.flatMap(({ field, header }) => {
        const unit = headerUnit(header);
        return field === null || unit === undefined ? [] : [[field, unit] as const];
      }),
    );
    for (const name of imported.filter((name) => namesAnnotation(resource, name))) {
      const named = findAnnotation(resource, name);
      if ("type" in named) this.#annotations.set(name, named.type);
    }
    const references = this.#names.filter((name) => fields[name].kind === "reference");
    this.#spans = new Map(
      references.map((name) => [name, `${name}__${findTarget(resources, fields[name]).key}`]),
    );
    this.keys = matchedFields(resource, "name");
    this.#matched = matchedFields(resource, target.options.matching);
  }

  /** Rows without an id that have the name or the barcode of an existing record; the first are in `similar`. */
  countExisting(table: Table): ImportReport["existing"] {
    const countedFields = { name: this.keys, barcode: ["barcode"] };
    const counts: ImportReport["existing"] = {};
    for (const [by, fields] of Object.entries(countedFields))
      if (fields.every((name) => this.#names.includes(name))) counts[by as keyof typeof countedFields] = 0;
    for (const { number, cells: given } of table.rows()) {
      const cells = this.#collectCells(given);
      if (readId(cells) !== "") continue;
      for (const by of Object.keys(counts) as (keyof typeof countedFields)[])
        if (this.#findRecords(countedFields[by], cells).length > 0) {
          counts[by]!++;
          if (this.similar.size < MAX_SIMILAR) this.#noteSimilar(number, countedFields[by], cells);
        }
    }
    return counts;
  }

  /** Notes the existing record that a row is like, best one with the same catalogue number, if the actor may change it. */
  #noteSimilar(number: number, fields: readonly string[], cells: ReadonlyMap<string, Cell>): void {
    const { resource, writer, actor } = this.target;
    const closer = this.#names.includes(CATALOGUE) ? this.#findRecords([...fields, CATALOGUE], cells) : [];
    const [rid] = [...closer, ...this.#findRecords(fields, cells)];
    if (!this.similar.has(number) && writer.allows(resource, rid, "change", actor))
      this.similar.set(number, rid);
  }

  /** A row for the report. */
  show({ number, cells: given }: TableRow, outcome: PreviewedRow["outcome"], width: number): PreviewedRow {
    const { cells } = this.#read(given);
    const rid = this.similar.get(number);
    return {
      row: number,
      outcome,
      cells: Array.from({ length: width }, (_, i) => String(given[i] ?? "").slice(0, SHOWN_TEXT)),
      values: Object.fromEntries(
        [...cells].map(([name, cell]) => [name, typeof cell === "string" ? cell.slice(0, SHOWN_TEXT) : cell]),
      ),
      similar: rid === undefined ? null : describeSimilar(this.target, rid, cells),
    };
  }

  /** The slot that a row names; undefined if it names none. */
  findSlot(given: readonly Cell[]): { box: string; position: string } | undefined {
    const cells = this.#collectCells(given);
    const [place, position] = [readText(cells, "location"), normalPosition(readText(cells, "position"))];
    if (!hasPosition(this.target.resource) || place === "" || position === "") return undefined;
    const located = this.named.paths.locate(place);
    return "error" in located ? undefined : { box: located.value, position };
  }

  /** The codes that rows give. */
  codes(table: Table): string[] {
    if (!this.#names.includes(CODE)) return [];
    return Array.from(table.rows(), ({ cells }) => readText(this.#collectCells(cells), CODE));
  }

  /** The records that the file moves to other positions. */
  moved(table: Table): (readonly [Resource, number])[] {
    if (!hasPosition(this.target.resource) || !this.#names.includes("position")) return [];
    const moved: (readonly [Resource, number])[] = [];
    for (const { cells: given } of table.rows()) {
      try {
        const cells = this.#collectCells(given);
        const rid = this.#find(cells);
        if (rid !== undefined && "position" in this.#makeBody(cells, rid))
          moved.push([this.target.resource, rid]);
      } catch (error) {
        // `write` reports the error.
        if (!(error instanceof Problem)) throw error;
      }
    }
    return moved;
  }

  #collectCells(given: readonly Cell[]): Map<string, Cell> {
    return this.#read(given).cells;
  }

  /** The cells of a row by field, as they are meant. */
  #read(given: readonly Cell[]) {
    if (this.#last?.given === given) return this.#last;
    const cells = new Map<string, Cell>();
    for (const [i, { field }] of this.columns.entries())
      if (field !== null) cells.set(field, given[i] ?? null);
    const { resource, reading } = this.target;
    const misread = readCells(cells, resource.fields, reading, this.#headerUnits);
    this.#last = { given, cells, misread };
    return this.#last;
  }

  /** @throws Problem with an entry for each invalid cell */
  write({ number, cells }: TableRow): Effect {
    this.fixes.clear();
    const rid = this.find(cells);
    this.claim(number, cells, rid);
    if (rid === undefined) {
      this.#addNote(this.create(number, cells), cells);
      return "created";
    }
    // This import created the location for the path of an earlier row; this row describes it.
    const isMade = this.named.paths.adopt(rid);
    if (!isMade && this.target.options.matching === "none" && isPath(this.#collectCells(cells)))
      throw invalidField(PATH, `There is already a location with this path. ${CHOOSE}`);
    const isChanged = this.change(rid, cells, isMade ? undefined : number);
    if (this.#addNote(rid, cells) && !isMade) return "updated";
    return isMade ? "created" : isChanged ? "updated" : "unchanged";
  }

  /** Adds the note of a row, unless the record has it already. */
  #addNote(rid: number, given: readonly Cell[]): boolean {
    const content = readText(this.#collectCells(given), NOTES);
    if (content === "") return false;
    const { store, resource, writer, actor } = this.target;
    const text =
      "SELECT 1 FROM note WHERE object_kind = ? AND object_rid = ? AND deleted = 0 AND content = ?";
    if (store.statements.get({ text, args: [resource.name, rid, content] })) return false;
    if (!writer.allows(resource, rid, "change", actor)) throw forbidden();
    this.#notes ??= new SubResourceRecords(store);
    this.#notes.create(writer, SUB_RESOURCES.note, { resource, rid }, { content }, { actor });
    return true;
  }

  /** The record that a row changes; undefined for a new one. */
  find(given: readonly Cell[]): number | undefined {
    const cells = this.#collectCells(given);
    if (!isPath(cells)) return this.#find(cells);
    const { label, parent } = this.#findPlace(cells);
    return this.named.paths.find(label!, parent?.rid ?? null);
  }

  /**
   * Notes that a row writes a record: two rows never write the same one.
   * @throws Problem invalid_request with the number of the earlier row
   */
  claim(number: number, given: readonly Cell[], rid: number | undefined): void {
    const cells = this.#collectCells(given);
    const field = readId(cells) !== "" ? "id" : isPath(cells) ? PATH : (this.#matched[0] ?? this.keys[0]);
    const values = this.#matched.map((name) => readText(cells, name));
    const isNamed = values.some((value) => value !== "") && field === this.#matched[0];
    const claimed = [
      ...(isNamed ? [[JSON.stringify(values), `has the same ${values.length > 1 ? "name" : field}`]] : []),
      ...(rid === undefined ? [] : [[`record ${rid}`, "is about the same record"]]),
    ];
    for (const [key, how] of claimed) {
      const other = this.#rows.get(key);
      if (other !== undefined) throw invalidField(field, `Row ${other} ${how}. ${SEPARATE}`);
    }
    for (const [key] of claimed) this.#rows.set(key, number);
  }

  /** Returns the row number of the new record. `id` replaces a generated one. */
  create(number: number, given: readonly Cell[], id?: string): number {
    const cells = this.#collectCells(given);
    const { label, parent } = this.#findPlace(cells);
    const inherited = parent ? this.named.paths.inside(parent.rid) : {};
    const placed = label === undefined ? {} : { label, parent: parent && parent.id };
    const body = { ...inherited, ...this.#makeBody(cells, undefined), ...placed };
    const { fields, key } = this.target.resource;
    if (
      this.target.options.matching === "none" &&
      fields[key].unique &&
      this.#findRecords(this.keys, cells).length > 0
    )
      throw invalidField(key, `There is already a record with this ${key}. ${CHOOSE}`);
    const { writer, resource, actor } = this.target;
    const rid = this.#send(() => writer.create(resource, body, actor, id));
    this.#rows.set(`record ${rid}`, number);
    return rid;
  }

  /** True if anything was to be changed. With the number of the row, the change is listed. */
  change(rid: number, given: readonly Cell[], number?: number): boolean {
    const { resource, writer, actor } = this.target;
    const body = this.#makeBody(this.#collectCells(given), rid);
    if (Object.keys(body).length === 0) return false;
    const write = (): void => this.#send(() => writer.update(resource, rid, body, "merge", actor));
    if (number === undefined) write();
    else this.listing(number, rid, write);
    return true;
  }

  /** Runs work that may change an existing record, and lists its changes. */
  listing<T>(row: number, rid: number, work: () => T): T {
    const { changes, resource } = this.target;
    if (!changes.isOpen) return work();
    const before = this.#shown(rid);
    const value = work();
    const { id, name } = this.target.store.reader
      .values(resource, ["id", resource.key], this.target.actor, [rid])
      .map((values) => ({ id: String(values.id), name: String(values[resource.key] ?? "") }))[0];
    changes.add({ row, id, name }, before, this.#shown(rid));
    return value;
  }

  /** Values that a file can set, with the names of records that fields refer to. */
  #shown(rid: number): Record<string, Json> {
    const { store, resource, actor } = this.target;
    const fields = writableFields(resource);
    const spans = fields.map(([name, field]): [string, string] => [
      name,
      field.kind === "reference" ? `${name}__${namePathField(findTarget(store.resources, field))}` : name,
    ]);
    const names = [...spans.map(([, span]) => span), ...this.#annotations.keys()];
    const [values] = store.reader.values(resource, names, actor, [rid], this.#annotations);
    const annotations = [...this.#annotations.keys()].map((name) => [name, name]);
    return Object.fromEntries([...spans, ...annotations].map(([name, span]) => [name, values[span] ?? null]));
  }

  /** Label and enclosing location of a row with a path. */
  #findPlace(cells: ReadonlyMap<string, Cell>) {
    const path = splitPath(String(cells.get(PATH) ?? ""));
    return { label: path.at(-1), parent: path.length > 1 ? this.named.paths.make(path.slice(0, -1)) : null };
  }

  #find(cells: ReadonlyMap<string, Cell>): number | undefined {
    const id = readId(cells);
    if (id === "") return this.#match(cells);
    const rid = this.target.store.reader.find(this.target.resource, id, ALIVE, this.target.actor);
    if (rid === undefined) throw invalidField("id", "No record has this id.");
    return rid;
  }

  #match(cells: ReadonlyMap<string, Cell>): number | undefined {
    const [first] = this.#matched;
    if (first === undefined) return undefined;
    const [found, another] = this.#findRecords(this.#matched, cells);
    const by = this.target.options.matching;
    if (another !== undefined)
      throw invalidField(first, `Several records have this ${by}; give the id of one.`);
    return found;
  }

  /** The first two records with the values of a row in these fields; none if the row has no such values. */
  #findRecords(fields: readonly string[], cells: ReadonlyMap<string, Cell>): number[] {
    const values = fields.map((name) => readText(cells, name));
    if (!fields.every((name) => cells.has(name)) || values.every((value) => value === "")) return [];
    const { store, resource, actor } = this.target;
    const key = fields.join();
    let statement = this.#statements.get(key);
    if (!statement) {
      const equal = and(...fields.map((name) => compare([name], "==", "")), ALIVE);
      const viewer = { resources: store.resources, actor };
      statement = selectVisible(viewer, resource, "t.rid AS rid", equal, " LIMIT 2");
      this.#statements.set(key, statement);
    }
    // The arguments of the fields come first, like their conditions.
    const args = [...values, ...statement.args.slice(values.length)];
    return store.statements.all({ text: statement.text, args }).map(({ rid }) => Number(rid));
  }

  #makeBody(given: ReadonlyMap<string, Cell>, rid: number | undefined): { [name: string]: Json } {
    const { reader } = this.target.store;
    const fields = [...this.#names, ...this.#spans.values(), ...this.#annotations.keys()];
    const [now] =
      rid === undefined
        ? []
        : reader.values(this.target.resource, fields, this.target.actor, [rid], this.#annotations);
    const body: { [name: string]: Json } = {};
    const errors = new Map<string, string[]>();
    this.#errors = new Map();
    const cells = now ? this.#inOwnUnit(given, now) : given;
    for (const name of this.#names) {
      const { value, error } = this.#readField(name, cells, now);
      if (error !== undefined) errors.set(name, [error]);
      else if (value !== undefined) body[name] = value;
    }
    if (this.#last?.cells === given)
      for (const [name, misread] of this.#last.misread) {
        this.#refuse(name, misread);
        // No field accepts it, and the writer finds the errors of the other cells.
        body[name] = {};
      }
    Object.assign(body, this.#readAnnotations(cells, now, errors));
    if (errors.size > 0) throw fieldProblem(errors);
    return this.#withPosition(body, cells);
  }

  /** The value of a field; undefined to leave it as it is. */
  #readField(
    name: string,
    cells: ReadonlyMap<string, Cell>,
    now: Readonly<Record<string, Json>> | undefined,
  ): ReturnType<typeof cellValue> {
    const given = cells.get(name);
    if (given === undefined) return {};
    const field = this.target.resource.fields[name];
    const cell = normalizeSpelling(given, field);
    const span = this.#spans.get(name) ?? name;
    if (now && (isUnchanged(cell, now[name]) || isUnchanged(cell, now[span]))) return {};
    const { misread, ...read } = this.named.resolve(field, cellValue(field, cell, now === undefined), cells);
    if (misread) this.#refuse(name, misread);
    return now && read.value !== null && read.value === now[name] ? {} : read;
  }

  #refuse(name: string, { message, fixes }: Misread): void {
    this.#errors.set(name, [message]);
    this.fixes.set(name, fixes);
  }

  /** Writes a row. The errors of misread cells take the place of what the writer says about them. */
  #send<T>(write: () => T): T {
    try {
      return write();
    } catch (error) {
      if (this.#errors.size === 0 || !(error instanceof Problem) || !error.fields) throw error;
      throw fieldProblem(
        new Map([...Object.entries(error.fields as Record<string, string[]>), ...this.#errors]),
      );
    }
  }

  /** Amounts in the unit that a record has, so that its minimum keeps its meaning. */
  #inOwnUnit(
    cells: ReadonlyMap<string, Cell>,
    now: Readonly<Record<string, Json>>,
  ): ReadonlyMap<string, Cell> {
    const [given, own] = [readText(cells, "unit"), String(now[this.#spans.get("unit") ?? ""] ?? "")];
    if (given === "" || own === "" || !isConvertible(given, own)) return cells;
    const converted = new Map(cells).set("unit", own);
    for (const name of this.#names) {
      const value = cells.get(name);
      if (typeof value === "number" && isAmount(this.target.resource.fields[name]))
        converted.set(name, convertAmount({ value, unit: given }, own)!);
    }
    return converted;
  }

  /** Includes an unchanged position, too: a record loses its position in a new location. */
  #withPosition(body: { [name: string]: Json }, cells: ReadonlyMap<string, Cell>) {
    const position = cells.get("position");
    const moves = "location" in body && position !== undefined && hasPosition(this.target.resource);
    return moves ? { ...body, position: String(position ?? "") } : body;
  }

  /** The changed annotations of a row. */
  #readAnnotations(
    cells: ReadonlyMap<string, Cell>,
    now: Readonly<Record<string, Json>> | undefined,
    errors: Map<string, string[]>,
  ): Record<string, Json> {
    const changed: Record<string, Json> = {};
    for (const [name, type] of this.#annotations) {
      const cell = cells.get(name) ?? null;
      if (isUnchanged(cell, now?.[name] ?? null)) continue;
      const { value, error } = annotationCellValue(
        type,
        this.named.readTyped(type, cell, this.#headerUnits.get(name) ?? ""),
      );
      if (error !== undefined) errors.set(name, [error]);
      else changed[name] = value!;
    }
    return changed;
  }
}

/** The field that identifies a record by name. */
const namePathField = ({ fields, key }: Resource): string => ("unique_path" in fields ? "unique_path" : key);

/** The fields by which rows find records. Of a name that is computed, those that it is computed from. */
export function matchedFields({ fields, key, nameFields }: Resource, matching: Match): readonly string[] {
  if (matching !== "name") return matching === "none" ? [] : [matching];
  return fields[key].write === "never" ? nameFields.filter((name) => fields[name]?.write !== "never") : [key];
}

const readText = (cells: ReadonlyMap<string, Cell>, name: string): string =>
  String(cells.get(name) ?? "").trim();
const readId = (cells: ReadonlyMap<string, Cell>): string => readText(cells, "id");
/** True if a row names its location by its path. */
const isPath = (cells: ReadonlyMap<string, Cell>): boolean =>
  readId(cells) === "" && splitPath(readText(cells, PATH)).length > 0;
