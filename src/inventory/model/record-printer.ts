import type { Actor } from "./access.ts";
import { valueField } from "./annotation-type.ts";
import {
  type AnnotationType,
  columnName,
  fieldAt,
  listPath,
  type ReadContext,
  type Resource,
  type Resources,
  shownFields,
  findTarget,
  findUniquePath,
} from "./resource.ts";
import { type Field, isObject, type Json, choosePrinter, type RenderContext } from "./field.ts";
import { isProperty, type Representation, type Shape } from "./listing.ts";
import type { Row, Sql } from "./operator.ts";
import { plan } from "./plan.ts";
import type { Plan } from "./sql.ts";
import { namedRecords, printFor } from "./stored-record.ts";

type Values = Record<string, unknown>;
type Printer = (row: Values, context: RenderContext, reader: ReadContext) => Json;

/** Reads and prints the records of a page: made once for a representation, used for every record. */
export interface RecordPrinter {
  /** Names of the values of a record, in order. */
  names: readonly string[];
  /** Reads rows by a JSON list of row numbers (first argument), in the order of the list. */
  statement: Sql;
  /** True if the output contains the caller's permissions on the record. */
  needsRights: boolean;
  /** True if the representation shows values of other records, which depend on the caller's rights. */
  personal: boolean;
  /** Values that are unique paths, with the resource and the column with the row number. */
  paths: ReadonlyMap<string, { of: Resource; column: string }>;
  print(row: Values, context: RenderContext, reader: ReadContext): Record<string, Json>;
}

/** Columns and printers of the values of a representation. */
export function recordPrinter(
  resources: Resources,
  resource: Resource,
  {
    shape,
    fields = shownFields(resource),
    annotations,
  }: Pick<Representation, "shape" | "fields" | "annotations">,
  actor: Actor,
): RecordPrinter {
  const columns = new Columns(resources, resource, plan(resources, resource, actor));
  const printers = fields.map((name): Printer => {
    const type = annotations?.get(name);
    if (type) return columns.annotation(type, name, shape);
    const path = name.split("__");
    const placed = findUniquePath(resources, resource, path);
    if (placed) return columns.uniquePath(path, name, placed, shape);
    if (path.length > 1) return columns.span(path, name);
    const field = resource.fields[name];
    for (const from of field.from ?? []) columns.add(from);
    if (field.select !== undefined) columns.selected.set(name, field.select);
    const stored =
      field.kind === "computed"
        ? field.compute!
        : columns.value(name, field, shape === "nested" || (field.nested === true && shape !== "plain"));
    const value: Printer = field.dependsOnCaller
      ? (row, context, reader) => printFor(reader, resource, name, stored(row, context, reader))
      : stored;
    if (isProperty(field, shape))
      return (...given) => ({ name, value: value(...given), category: "property" });
    return field.wrapped && shape !== "plain" ? wrapped(value) : value;
  });
  const selected = [...columns.selected].map(([name, expression]) => `, ${expression} AS "${name}"`);
  const joins = columns.spans.joins();
  const ownField = (name: string): Field | undefined =>
    Object.hasOwn(resource.fields, name) ? resource.fields[name] : undefined;
  return {
    names: fields,
    statement: {
      text:
        `SELECT t.rid AS "rid"${selected.join("")} FROM json_each(?) AS page` +
        ` CROSS JOIN ${resource.table} AS t ON t.rid = page.value${joins.text} ORDER BY page.key`,
      args: joins.args,
    },
    needsRights: fields.some((name) => ownField(name)?.needsRights),
    paths: columns.paths,
    personal:
      joins.text !== "" ||
      columns.paths.size > 0 ||
      (annotations !== undefined && annotations.size > 0) ||
      fields.some((name) => ownField(name)?.dependsOnCaller),
    print(row, context, reader) {
      const record: Record<string, Json> = {};
      for (let i = 0; i < fields.length; i++) record[fields[i]] = printers[i](row, context, reader);
      return record;
    },
  };
}

/** Name of the column with the annotations of a record. */
const ANNOTATION_VALUES = "annotation_values";

const parsed = new WeakMap<Values, [number, Json][]>();

/** The pairs of type and value, parsed once for each row. */
function storedAnnotations(row: Values): [number, Json][] {
  let pairs = parsed.get(row);
  if (!pairs) parsed.set(row, (pairs = JSON.parse(String(row[ANNOTATION_VALUES])) as [number, Json][]));
  return pairs;
}

/** Values in a cell: alone as text, several as a JSON list of texts. */
function plainAnnotation(items: readonly Json[], multiple: boolean): Json {
  const texts = items.map(plainItem);
  if (texts.length > 1 || (multiple && String(texts[0] ?? "").startsWith("["))) return texts;
  return texts[0] ?? null;
}

/** `5 milligram`, or the name of the record that a value refers to, if the caller may view it. */
export function plainItem(item: Json): Json {
  if (!isObject(item)) return item;
  const keys = Object.keys(item).join();
  if (keys === "value,unit") return `${String(item.value)} ${String(plainItem(item.unit))}`;
  return keys === "id,name" ? (item.name ?? item.id) : item;
}

const wrapped =
  (print: Printer): Printer =>
  (...given) => {
    const value = print(...given);
    return value === null ? null : { value };
  };

/** The columns that the printers of one representation read. */
class Columns {
  /** SQL expressions by the name of their column in the row. */
  readonly selected = new Map<string, string>();
  readonly paths = new Map<string, { of: Resource; column: string }>();
  readonly #annotationTypes = new Set<number>();
  readonly #printed = new Map<string, Json>();

  constructor(
    private readonly resources: Resources,
    private readonly resource: Resource,
    readonly spans: Plan,
  ) {}

  /** Selects a field under its name; for a reference, the shown field of the referenced record. */
  add(name: string): void {
    const field = this.resource.fields[name];
    const own = `t.${columnName(this.resource, name)}`;
    const far = field.kind === "reference" ? findTarget(this.resources, field) : undefined;
    this.selected.set(name, far ? this.#reference(far, own, far.shownAs === "key" ? far.key : "id") : own);
  }

  value(name: string, field: Field, nested: boolean): Printer {
    this.add(name);
    if (field.kind === "reference" && nested) return this.#nestedReference(name, field);
    const print = choosePrinter(field);
    return (row) => print(row[name] as Row[string]);
  }

  /** The values of an annotation type: one, or a list if the type has several. */
  annotation(of: AnnotationType, name: string, shape: Shape): Printer {
    const { rid, multiple } = of;
    this.#annotationTypes.add(rid);
    this.selected.set(ANNOTATION_VALUES, this.#annotationValues());
    const isJson = valueField(this.resources, of) === "json";
    const print = (item: Json, reader: ReadContext): Json =>
      isJson || !isObject(item) ? item : this.#printOnce(item, reader);
    return (row, _context, reader) => {
      const stored = storedAnnotations(row).flatMap(([type, value]) => (type === rid ? [value] : []));
      const items = (multiple ? stored.flat(1) : stored).map((item) => print(item, reader));
      if (shape === "plain") return plainAnnotation(items, multiple);
      const value = multiple ? items : (items[0] ?? null);
      return shape === "nested" ? { name, value, category: "annotation" } : value;
    };
  }

  /** All annotations of the shown types, as a list of pairs of type and value. */
  #annotationValues(): string {
    const types = [...this.#annotationTypes].join(", ");
    const own = `a.object_kind = '${this.resource.name}' AND a.object_rid = t.rid AND a.deleted = 0`;
    const pairs = "json_group_array(json_array(a.annotation_type, json(a.value)) ORDER BY a.rid)";
    return `(SELECT ${pairs} FROM annotation AS a WHERE ${own} AND a.annotation_type IN (${types}))`;
  }

  /** A reference or an amount, printed once: records of a list refer to the same ones. */
  #printOnce(item: Json, reader: ReadContext): Json {
    const key = JSON.stringify(item);
    let printed = this.#printed.get(key);
    if (printed === undefined) {
      printed = this.resources.annotationValue!.printValue!("value", item, reader);
      this.#printed.set(key, printed);
    }
    return printed;
  }

  /** The unique name of a place. */
  uniquePath(path: readonly string[], name: string, of: Resource, shape: Shape): Printer {
    const column = `${name}__rid`;
    this.selected.set(
      column,
      path.length === 1 ? "t.rid" : this.spans.operand([...path.slice(0, -1), "rid"]).plain,
    );
    this.paths.set(name, { of, column });
    const print: Printer = (row, { paths }) => paths?.get(name)?.get(Number(row[column])) ?? null;
    if (shape !== "nested" || path.length > 1) return print;
    return (...given) => ({ name, value: print(...given), category: "property" });
  }

  /** A value behind references: null if the caller may not view its record. */
  span(path: readonly string[], name: string): Printer {
    const listed = listPath(this.resources, this.resource, path);
    if (listed) {
      this.selected.set(name, this.spans.operand(path).plain);
      return (row, _context, reader) =>
        namedRecords(listed.field, JSON.parse(String(row[name] ?? "[]")) as Json, reader);
    }
    const field = fieldAt(this.resources, this.resource, path)!;
    const far = field.kind === "reference" ? findTarget(this.resources, field) : undefined;
    const end = far ? [...path, far.shownAs === "key" ? far.key : "id"] : path;
    const print = choosePrinter(fieldAt(this.resources, this.resource, end)!);
    this.selected.set(name, this.spans.operand(end).plain);
    return (row) => print((row[name] ?? null) as Row[string]);
  }

  /**
   * Ids, usernames and names of groups are shown to everyone. They are read from the table itself, which as-of.ts may
   * have shadowed by what the caller may view of the past.
   */
  #reference(far: Resource, own: string, name: string): string {
    const column = columnName(far, name);
    return column === "rid" ? own : `(SELECT ${column} FROM main.${far.table} WHERE rid = ${own})`;
  }

  /** A referenced record as a small object. Its name is hidden if the caller may not view it. */
  #nestedReference(name: string, field: Field): Printer {
    const far = findTarget(this.resources, field);
    const [app_name, model_name] = far.model.split(".");
    const inner = (of: string) => {
      this.selected.set(`${name}__${of}`, this.spans.operand([name, of]).plain);
      return (row: Values) => (row[`${name}__${of}`] ?? null) as Json;
    };
    const key = inner(far.key);
    const full = far.name === "user" ? inner("full_name") : undefined;
    const deleted = !full && "deleted" in far.fields ? inner("deleted") : undefined;
    const type = !full && "model_type" in far.fields ? inner("model_type") : undefined;
    this.selected.set(`${name}__id`, this.#reference(far, `t.${columnName(this.resource, name)}`, "id"));
    return (row) => {
      if (row[name] === null) return null;
      const id = row[`${name}__id`] as Json;
      if (full) return { id, username: key(row), full_name: full(row) };
      const model_type = type?.(row) ?? null;
      return { id, name: key(row), deleted: deleted?.(row) === 1, model_name, app_name, model_type };
    };
  }
}
