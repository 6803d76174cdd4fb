import type { Actor } from "./access.ts";
import { type Field, type Json, KINDS, printInstant, type RenderContext } from "./field.ts";
import type { Representation } from "./listing.ts";
import type { Sql } from "./operator.ts";
import { plan } from "./plan.ts";
import { columnOf, fieldAt, type Resource, type Resources, shownFields, targetOf } from "./resource.ts";

/** How the records of a page are read and shown: made once for a look, used for every record. */
export interface RecordPrinter {
  /** Names of the values of a record, in order. */
  names: readonly string[];
  /** Reads rows by a JSON list of row numbers (first argument), in the order of the list. */
  statement: Sql;
  /** Whether what the caller may do with a record is part of it. */
  needsRights: boolean;
  /** Whether it shows what is behind references, which depends on what the caller may view. */
  personal: boolean;
  print(row: Record<string, unknown>, surroundings: RenderContext): Record<string, Json>;
}

type Printer = (row: Record<string, unknown>, surroundings: RenderContext) => Json;

/** Columns and printers of the values that the look asks for. */
export function recordPrinter(
  resources: Resources,
  resource: Resource,
  look: Pick<Representation, "shape" | "fields">,
  actor: Actor,
): RecordPrinter {
  const names = look.fields ?? shownFields(resource);
  const columns = new Map<string, string>();
  const spans = plan(resources, resource, actor);
  const printers = names.map((name): Printer => {
    const path = name.split("__");
    if (path.length > 1) return spanPrinter(path, name);
    const field = resource.fields[name];
    for (const from of field.from ?? []) column(from);
    if (field.select !== undefined) columns.set(name, field.select);
    const value = field.kind === "computed" ? computedPrinter(field) : valuePrinter(name, field);
    if (look.shape === "nested") return (row, around) => property(name, value(row, around));
    // The specification shows points in time, and nothing else, as objects.
    if (look.shape === "spec" && field.kind === "instant")
      return (row, around) => property(name, value(row, around));
    return value;
  });
  const selected = [...columns].map(([name, expression]) => `${expression} AS "${name}"`);
  const joins = spans.joins();
  return {
    names,
    statement: {
      text:
        `SELECT t.rid AS "rid"${selected.map((column) => `, ${column}`).join("")} FROM json_each(?) AS page` +
        ` CROSS JOIN ${resource.table} AS t ON t.rid = page.value${joins.text} ORDER BY page.key`,
      args: joins.args,
    },
    needsRights: names.some(
      (name) =>
        name === "permissions" || (Object.hasOwn(resource.fields, name) && resource.fields[name].needsRights),
    ),
    personal: joins.text !== "",
    print: (row, surroundings) =>
      Object.fromEntries(names.map((name, i) => [name, printers[i](row, surroundings)])),
  };

  /** Selects a field under its own name: a reference as what stands for the referenced record. */
  function column(name: string): void {
    const field = resource.fields[name];
    const own = `t.${columnOf(resource, name)}`;
    columns.set(name, field.kind === "reference" ? shownReference(field, own) : own);
  }

  /**
   * An id is shown whoever asks, for it tells nothing; users and groups by name. It is that of the table itself, which
   * as-of.ts may have shadowed by what the caller may view of the past.
   */
  function shownReference(field: Field, own: string): string {
    const far = targetOf(resources, field);
    const shown = columnOf(far, far.shownAs === "key" ? far.key : "id");
    return shown === "rid" ? own : `(SELECT ${shown} FROM main.${far.table} WHERE rid = ${own})`;
  }

  function valuePrinter(name: string, field: Field): Printer {
    column(name);
    if (field.kind === "reference" && look.shape === "nested") return nestedReference(name, field);
    if (field.kind === "instant")
      return (row) => (row[name] === null ? null : printInstant(Number(row[name])));
    if (
      field.kind === "text" ||
      field.kind === "integer" ||
      field.kind === "number" ||
      field.kind === "reference"
    )
      return (row) => row[name] as Json;
    const { print } = KINDS[field.kind as "flag"];
    return (row) => print(row[name] as string | number | null);
  }

  /** A referenced record as a small object. Its name stays hidden where the caller may not view it. */
  function nestedReference(name: string, field: Field): Printer {
    const far = targetOf(resources, field);
    const [app, model] = far.model.split(".");
    const own = `t.${columnOf(resource, name)}`;
    const inner = (of: string) => {
      columns.set(`${name}__${of}`, spans.operand([name, of]).plain);
      return (row: Record<string, unknown>) => (row[`${name}__${of}`] ?? null) as Json;
    };
    columns.set(`${name}__id`, `(SELECT ${columnOf(far, "id")} FROM main.${far.table} WHERE rid = ${own})`);
    const id = (row: Record<string, unknown>) => row[`${name}__id`] as Json;
    const key = inner(far.key);
    if (far.name === "user") {
      const full = inner("full_name");
      return (row) => (row[name] === null ? null : { id: id(row), username: key(row), full_name: full(row) });
    }
    const deleted = "deleted" in far.fields ? inner("deleted") : undefined;
    const type = "model_type" in far.fields ? inner("model_type") : undefined;
    return (row) =>
      row[name] === null
        ? null
        : {
            id: id(row),
            name: key(row),
            deleted: deleted?.(row) === 1,
            model_name: model,
            app_name: app,
            model_type: type?.(row) ?? null,
          };
  }

  /** A value behind references: null where the caller may not view what it belongs to. */
  function spanPrinter(path: readonly string[], name: string): Printer {
    const field = fieldAt(resources, resource, path)!;
    const far = field.kind === "reference" ? targetOf(resources, field) : undefined;
    const end = far ? [...path, far.shownAs === "key" ? far.key : "id"] : path;
    const kind = fieldAt(resources, resource, end)!.kind as "text";
    columns.set(name, spans.operand(end).plain);
    return (row) => KINDS[kind].print((row[name] ?? null) as string | number | null);
  }
}

/** A property as the system of the specification shows it. */
const property = (name: string, value: Json): Json => ({ name, value, category: "property" });

function computedPrinter(field: Field): Printer {
  const compute = field.compute!;
  return (row, surroundings) => compute(row, surroundings);
}
