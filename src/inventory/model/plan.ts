import { Problem } from "../../problem.ts";
import { type Actor, GRANTS, usable, visible } from "./access.ts";
import { ALWAYS, and, compare, type Condition } from "./condition.ts";
import type { Field } from "./field.ts";
import { type ChooseTrigrams, foldedText, type Sql } from "./operator.ts";
import {
  ANNOTATIONS,
  columnName,
  isGuarded,
  MEMBERS,
  NOTES,
  type ReadContext,
  RELATED_TEXT,
  type Resource,
  type Resources,
  referenceKey,
  findTarget,
  type Viewer,
} from "./resource.ts";
import { type Clause, clause, compile, join, type Plan, selecting } from "./sql.ts";

/** References that one statement may follow; SQLite joins at most 64 tables. */
const JOIN_LIMIT = 40;

/** Columns of grants that conditions may use. */
const GRANT_COLUMNS = new Set(["user_rid", "group_rid", "can_view", "can_change", "can_delete"]);

/**
 * A plan for statements that begin at `resource`, under the alias `t`.
 *
 * A join reaches only records that the actor may view: what is behind a reference to any other is null, so that no
 * filter, ordering or span reveals anything about a record that the actor may not view.
 */
export function plan(
  resources: Resources,
  resource: Resource,
  actor: Actor,
  choose?: ChooseTrigrams,
  annotations: Planning["annotations"] = "first value",
): Plan {
  return planAt({ resources, actor, joins: new Map(), choose, annotations }, resource, "t");
}

/** True for statements about few rows, which look up each row instead of reading indexes. */
export const EACH_ROW: ChooseTrigrams = () => undefined;

/** State that all parts of a plan share. */
interface Planning extends Viewer {
  joins: Map<string, Sql>;
  choose: ChooseTrigrams | undefined;
  /** The values of an annotation type to which paths lead: the first value of each record, or one row per value. */
  annotations: "first value" | "every value";
}

function planAt(shared: Planning, resource: Resource, alias: string): Plan {
  const { resources, actor, joins, choose } = shared;
  /** The alias and the resource at the end of a path of references. */
  const reach = (references: readonly string[]): { at: string; of: Resource } => {
    let [at, of, rest] = [alias, resource, references];
    if (references[0] === ANNOTATIONS) {
      at = joinValues(shared, resource, alias, references[1]);
      of = resources.annotationValue!;
      rest = references.slice(2);
    }
    for (const name of rest) {
      const far = findTarget(resources, requireField(of, name));
      const next = `${at}_${name}`;
      if (!joins.has(next)) {
        if (joins.size === JOIN_LIMIT)
          throw new Problem(
            "invalid_request",
            `The filters, fields and ordering span more than ${JOIN_LIMIT} references.`,
          );
        const seen = visible(far, actor);
        const same = clause(`${next}.${referenceKey(resources, of)} = ${at}.${columnName(of, name)}`);
        const inner = planAt(shared, far, next);
        const on = seen === ALWAYS ? same : join("and", [same, compile(seen, inner)]);
        joins.set(next, { text: `LEFT JOIN ${far.table} AS ${next} ON ${on.text}`, args: on.args });
      }
      at = next;
      of = far;
    }
    return { at, of };
  };
  return {
    operand(path) {
      const last = path[path.length - 1];
      // The row number of a referenced record is in the row that refers to it.
      const hops = last === "rid" && path.length > 1 ? path.slice(0, -2) : path.slice(0, -1);
      const { at, of } = reach(hops);
      const name = path[hops.length];
      const field = requireField(of, name);
      if (field.kind === "computed") throw new Error(`${of.name}.${name} has no column`);
      if (of.access?.isHidden?.(name, actor)) return { plain: "NULL", folded: "NULL", field };
      const plain = `${at}.${field.column ?? name}`;
      const folded = field.folded ? `${at}.${field.folded}` : foldedText(plain);
      if (!field.searchable) return { plain, folded, field };
      return {
        plain,
        folded,
        field,
        index: { table: of.table, row: `${at}.rid`, ...(choose && { choose }) },
      };
    },
    referenceTo(path) {
      if (path.length < 2) return undefined;
      const [name, last] = path.slice(-2);
      const { at, of } = reach(path.slice(0, -2));
      const field = requireField(of, name);
      const far = findTarget(resources, field);
      // An id is shown by the referring record itself; any other value only where the record behind it may be seen.
      const open = last === "id" || (last === far.key && !isGuarded(far));
      if (!open) return undefined;
      return {
        column: `${at}.${columnName(of, name)}`,
        rows: `SELECT ${referenceKey(resources, of)} FROM main.${far.table} WHERE ${columnName(far, last)} = ?`,
      };
    },
    exists(references, relation, part) {
      const { at, of } = reach(references);
      if (relation === ANNOTATIONS) return annotated(shared, of, at, part);
      const target = findListed(resources, of, relation);
      return target
        ? existsListed(shared, target, `${at}.${columnName(of, relation)}`, `${at}_${relation}`, part)
        : relation === MEMBERS && actor.user === null
          ? // Anonymous callers do not see groups.
            { text: "FALSE", args: [] }
          : related(of, at, relation, part);
    },
    joins: () => ({
      text: [...joins.values()].map(({ text }) => ` ${text}`).join(""),
      args: [...joins.values()].flatMap(({ args }) => args),
    }),
  };
}

/** Joins the values that records have of an annotation type; gives their alias. */
function joinValues(
  { joins, annotations }: Planning,
  resource: Resource,
  alias: string,
  type: string,
): string {
  const at = `${alias}_a${Number(type)}`;
  const ownCondition = (v: string) =>
    `${v}.object_kind = '${resource.name}' AND ${v}.annotation_type = ${Number(type)} AND ${v}.object_rid = ${alias}.rid`;
  const first = `${at}.rid = (SELECT min(v.rid) FROM annotation_value AS v WHERE ${ownCondition("v")})`;
  const on = annotations === "first value" ? first : ownCondition(at);
  joins.set(at, { text: `LEFT JOIN annotation_value AS ${at} ON ${on}`, args: [] });
  return at;
}

/** Records with an annotation for whose value `part` holds. They are found together, unless each row is looked up. */
function annotated(shared: Planning, resource: Resource, alias: string, part: (far: Plan) => Clause): Sql {
  const { far, text, args } = annotationValues(shared, resource, alias, part);
  return shared.choose === EACH_ROW
    ? { text: `EXISTS (SELECT 1 ${text} AND ${far}.object_rid = ${alias}.rid)`, args }
    : { text: `${alias}.rid IN (SELECT ${far}.object_rid ${text})`, args };
}

/** Row numbers of the same records, some more than once, read from their annotations alone; undefined for other conditions. */
export function annotatedRows(
  { resources, actor }: Viewer,
  resource: Resource,
  condition: Condition,
  choose: ChooseTrigrams,
): Sql | undefined {
  if (condition.kind !== "some" || condition.relation !== ANNOTATIONS) return undefined;
  const shared: Planning = { resources, actor, joins: new Map(), choose, annotations: "first value" };
  const { far, text, args } = annotationValues(shared, resource, "t", (of) => compile(condition.part, of));
  return { text: `SELECT ${far}.object_rid AS rid ${text}`, args };
}

/** The values, under the alias `far`, of annotations of a resource for which `part` holds: FROM and WHERE. */
function annotationValues(
  shared: Planning,
  resource: Resource,
  alias: string,
  part: (far: Plan) => Clause,
): Sql & { far: string } {
  const far = `${alias}_${ANNOTATIONS}`;
  const inner = planAt({ ...shared, joins: new Map() }, shared.resources.annotationValue!, far);
  const where = part(inner);
  const values = inner.joins();
  // A trigram finds fewer values than the type, which SQLite cannot know.
  const isFound = where.text.includes(" MATCH ") && !where.text.includes(" OR ");
  const table = `annotation_value AS ${far}${isFound ? " NOT INDEXED" : ""}`;
  const ownCondition = `${far}.object_kind = '${resource.name}'`;
  return {
    far,
    text: `FROM ${table}${values.text} WHERE ${ownCondition} AND ${where.text}`,
    args: [...values.args, ...where.args],
  };
}

/** Records for which `part` holds of something that the relation leads to. */
function related(resource: Resource, alias: string, relation: string, part: (far: Plan) => Clause): Sql {
  const far = `${alias}_${relation}`;
  const { text, args } = part(relationPlan(resource, relation, far));
  const ownCondition = `${far}.object_kind = '${resource.name}' AND ${far}.object_rid = ${alias}.rid AND ${far}.deleted = 0 AND`;
  const from =
    relation === GRANTS
      ? // Rights are those of today, whatever time is read.
        `main.object_permission AS ${far} WHERE ${ownCondition}`
      : relation === NOTES
        ? `note AS ${far} WHERE ${ownCondition}`
        : relation === MEMBERS
          ? `main.membership AS ${far}_m JOIN main.user_account AS ${far} ON ${far}.rid = ${far}_m.user_rid` +
            ` WHERE ${far}_m.group_rid = ${alias}.${columnName(resource, "owned_by")} AND`
          : `json_each(${alias}.${relation}) AS ${far} WHERE`;
  return { text: `EXISTS (SELECT 1 FROM ${from} ${text})`, args };
}

/** The resource whose records a field lists; undefined for the other to-many relations. */
const findListed = (resources: Resources, { fields }: Resource, relation: string): Resource | undefined =>
  Object.hasOwn(fields, relation) ? resources.get(fields[relation].listOf ?? "") : undefined;

/** `EXISTS (…)` over the records of a list that the actor may view, with joins of its own. */
function existsListed(
  shared: Planning,
  target: Resource,
  column: string,
  far: string,
  part: Parameters<Plan["exists"]>[2],
): Sql {
  const inner = planAt({ ...shared, joins: new Map() }, target, far);
  const where = join("and", [compile(visible(target, shared.actor), inner), part(inner)]);
  const joined = inner.joins();
  const from = `json_each(${column}) AS ${far}_each JOIN ${target.table} AS ${far} ON ${far}.id = ${far}_each.value`;
  return {
    text: `EXISTS (SELECT 1 FROM ${from}${joined.text} WHERE ${where.text})`,
    args: [...joined.args, ...where.args],
  };
}

const RELATED_COLUMNS: Readonly<Record<string, string>> = { [NOTES]: "content", [MEMBERS]: "username" };
const RELATED_RESOURCES: Readonly<Record<string, string>> = { [GRANTS]: "grant", [MEMBERS]: "membership" };

/** The columns of a to-many relation, which lead nowhere else. */
const relationPlan = (resource: Resource, relation: string, far: string): Plan => ({
  operand([name]) {
    const column = RELATED_COLUMNS[relation] ?? (relation === GRANTS ? name : "value");
    if (relation === GRANTS ? !GRANT_COLUMNS.has(name) : !RELATED_TEXT[relation])
      throw new Error(`${resource.name} has no relation ${relation} with ${name}`);
    const plain = `${far}.${column}`;
    const field = RELATED_TEXT[relation] ?? resource.fields.rid;
    return { plain, folded: relation === GRANTS ? plain : foldedText(plain), field };
  },
  referenceTo: () => undefined,
  exists() {
    throw new Error(`${relation} has no relations`);
  },
  joins: () => ({ text: "", args: [] }),
});

/**
 * Names of the other resources whose records decide whether the condition holds of a record, or what its paths show:
 * those behind references, and those of to-many relations.
 */
export function dependencies(
  { resources, actor }: Viewer,
  resource: Resource,
  of: Condition | readonly string[],
): Set<string> {
  const found = new Set<string>();
  const addPath = (from: Resource, path: readonly string[]): void => {
    let here = from;
    // A row number is in the row that refers to it.
    for (const name of path[path.length - 1] === "rid" ? path.slice(0, -2) : path.slice(0, -1)) {
      here = findTarget(resources, requireField(here, name));
      found.add(here.name);
      if (visible(here, actor) !== ALWAYS) found.add("grant");
    }
  };
  const addRelation = (
    from: Resource,
    { at, relation, part }: Extract<Condition, { kind: "some" }>,
  ): void => {
    addPath(from, [...at, relation]);
    const of = at.reduce((here, name) => findTarget(resources, requireField(here, name)), from);
    const target = findListed(resources, of, relation);
    // Writes of annotations count as writes of their records.
    if (relation === ANNOTATIONS) add(resources.annotationValue!, part);
    else if (target) {
      found.add(target.name).add("grant");
      add(target, part);
    } else found.add(RELATED_RESOURCES[relation] ?? "note");
  };
  const add = (from: Resource, condition: Condition): void => {
    if (condition.kind === "compare") addPath(from, condition.path);
    else if (condition.kind === "some") addRelation(from, condition);
    else if (condition.kind === "not") add(from, condition.part);
    else if (condition.kind !== "constant") for (const part of condition.parts) add(from, part);
  };
  if ("kind" in of) add(resource, of);
  else if (of[0] === ANNOTATIONS) addPath(resources.annotationValue!, of.slice(2));
  else addPath(resource, of);
  return found;
}

/** The records for which the condition holds and that the actor may view. */
export const visibleOnly = (resource: Resource, actor: Actor, condition: Condition): Condition =>
  and(condition, visible(resource, actor));

/** Selects expressions over the rows `t` of a resource that the actor may view and for which the condition holds. */
export function selectVisible(
  { resources, actor }: Viewer,
  resource: Resource,
  columns: string,
  condition: Condition,
  tail = "",
): Sql {
  const joined = plan(resources, resource, actor);
  const where = selecting(resource, compile(visibleOnly(resource, actor, condition), joined));
  const joins = joined.joins();
  return {
    text: `SELECT ${columns} FROM ${resource.table} AS t${joins.text} WHERE ${where.text}${tail}`,
    args: [...joins.args, ...where.args],
  };
}

/** True if the actor may put other records into this one. */
export const mayUse = (reader: ReadContext, resource: Resource, rid: number): boolean => {
  const condition = and(compare(["rid"], "==", rid), usable(resource, reader.actor));
  return reader.query.get(selectVisible(reader, resource, "1", condition)) !== null;
};

const requireField = (of: Resource, name: string): Field => {
  if (!Object.hasOwn(of.fields, name)) throw new Error(`${of.name} has no field ${name}`);
  return of.fields[name];
};
