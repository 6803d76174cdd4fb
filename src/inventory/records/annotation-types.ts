import type { Actor } from "../model/access.ts";
import {
  type AnnotationType,
  type AnnotationTypes,
  type Resource,
  type Resources,
} from "../model/resource.ts";
import { ALIVE, ALWAYS, and, compare, type Condition, or } from "../model/condition.ts";
import { parseUuid, type Stored } from "../model/field.ts";
import type { Query, Row } from "../model/operator.ts";
import { compile, selecting } from "../model/sql.ts";
import { plan, selectVisible, visibleOnly } from "../model/plan.ts";
/** Types besides those in use that a list offers. */
const MAX_UNUSED = 200;

const COLUMNS =
  "t.*, (SELECT id FROM main.cv_category WHERE rid = t.cv_category) AS cv_id," +
  " (SELECT id FROM main.cv_category WHERE rid = t.unit_category) AS unit_id";

/** The annotation types and custom property types of the database, as far as a caller may view them. */
export class AnnotationTypeCatalogue implements AnnotationTypes {
  constructor(
    private readonly query: Query,
    private readonly resources: Resources,
  ) {}

  find(resource: Resource, actor: Actor, word: string): AnnotationType[] {
    const id = parseUuid(word);
    const named = id === undefined ? compare(["name"], "==", word.trim()) : compare(["id"], "==", id);
    const rows = this.#select(actor, and(named, this.#applies(resource)), " LIMIT 10");
    return rows.map((row) => toType(row, { used: true, unique: id === undefined && rows.length === 1 }));
  }

  used(resource: Resource, actor: Actor): AnnotationType[] {
    return this.#list(resource, actor, this.#listUsedTypes(resource, actor), []);
  }

  offered(resource: Resource, actor: Actor): AnnotationType[] {
    const others = this.#select(actor, this.#applies(resource), ` ORDER BY t.name LIMIT ${MAX_UNUSED}`);
    return this.#list(resource, actor, this.#listUsedTypes(resource, actor), others);
  }

  /** Types in use, then others, each once and by name. */
  #list(resource: Resource, actor: Actor, used: readonly Row[], others: readonly Row[]): AnnotationType[] {
    const known = new Set(used.map(({ rid }) => rid));
    const unused = others.filter(({ rid }) => !known.has(rid));
    const names = this.#countNames(resource, actor, [...used, ...unused]);
    const toTypes = (rows: readonly Row[], isUsed: boolean) =>
      rows
        .map((row) => toType(row, { used: isUsed, unique: names.get(row.name) === 1 }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return [...toTypes(used, true), ...toTypes(unused, false)];
  }

  /** The number of types of each name that apply. */
  #countNames(resource: Resource, actor: Actor, rows: readonly Row[]): Map<Stored, number> {
    if (rows.length === 0) return new Map();
    const tail = " AND t.name IN (SELECT value FROM json_each(?))";
    const names = JSON.stringify(rows.map(({ name }) => name));
    const found = this.#select(actor, this.#applies(resource), tail, [names]);
    const counts = new Map<Stored, number>();
    for (const { name } of found) counts.set(name, (counts.get(name) ?? 0) + 1);
    return counts;
  }

  /** Types that do not apply to all records apply to those of one model. */
  #applies = ({ model }: Resource): Condition =>
    or(compare(["model_name"], "==", ""), compare(["model_name"], "==", model));

  /** Types of which records of the list have values; each is found by one lookup. */
  #listUsedTypes(resource: Resource, actor: Actor): Row[] {
    const { name } = resource;
    const next = "SELECT min(annotation_type) FROM annotation_value WHERE object_kind = ?1";
    const text =
      `WITH RECURSIVE used (type) AS (${next} UNION ALL SELECT (${next} AND annotation_type > used.type)` +
      " FROM used WHERE used.type IS NOT NULL) SELECT type FROM used WHERE type IS NOT NULL";
    const rids = this.query.all({ text, args: [name] }).map(({ type }) => Number(type));
    const seen = rids.filter((rid) => this.#isSeen(resource, rid, actor));
    const tail = " AND t.rid IN (SELECT value FROM json_each(?))";
    return seen.length === 0 ? [] : this.#select(actor, ALWAYS, tail, [JSON.stringify(seen)]);
  }

  /** True if a record that the actor may view has a value of the type: others must not show in what a list offers. */
  #isSeen(resource: Resource, type: number, actor: Actor): boolean {
    const joined = plan(this.resources, resource, actor);
    const where = selecting(resource, compile(visibleOnly(resource, actor, ALIVE), joined));
    const joins = joined.joins();
    const text =
      `SELECT 1 FROM annotation_value AS v CROSS JOIN ${resource.table} AS t ON t.rid = v.object_rid${joins.text}` +
      ` WHERE v.object_kind = '${resource.name}' AND v.annotation_type = ${type} AND ${where.text} LIMIT 1`;
    return this.query.get({ text, args: [...joins.args, ...where.args] }) !== null;
  }

  #select(actor: Actor, condition: Condition, tail: string, args: readonly Stored[] = []): Row[] {
    return ["annotation_type", "custom_property_type"].flatMap((name) => {
      const viewer = { resources: this.resources, actor };
      const sql = selectVisible(viewer, this.resources.get(name)!, COLUMNS, and(condition, ALIVE), tail);
      return this.query.all({ text: sql.text, args: [...sql.args, ...args] });
    });
  }
}

const toType = (row: Row, found: Pick<AnnotationType, "used" | "unique">): AnnotationType => ({
  ...found,
  rid: Number(row.rid),
  id: String(row.id),
  name: String(row.name),
  label: String(row.label),
  help_text: String(row.help_text),
  type: String(row.type),
  multiple: row.multiple === 1,
  readonly: row.readonly === 1,
  searchable: row.searchable === 1,
  sortable: row.sortable === 1,
  list_visibility: String(row.list_visibility),
  value_choices: row.value_choices as string | null,
  choices_target: String(row.choices_target),
  cv_category: row.cv_id as string | null,
  unit_category: row.unit_id as string | null,
  kind: String(row.kind),
  model_name: String(row.model_name),
  model_type: String(row.model_type),
});
