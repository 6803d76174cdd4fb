import { type Actor, visible } from "../model/access.ts";
import { ALWAYS, and, type Condition } from "../model/condition.ts";
import type { Listing, Representation } from "../model/listing.ts";
import type { Sql } from "../model/operator.ts";
import { plan } from "../model/plan.ts";
import { columnName, isGuarded, type Resource, type Resources } from "../model/resource.ts";
import { compile, join, selecting } from "../model/sql.ts";
import { storedFields } from "../model/stored-record.ts";
import { type LinkOptions, RecordReader } from "./record-reader.ts";
import type { ReadStatements, Statements } from "./statements.ts";
import { couldViewThen, type PastState } from "../model/visible-then.ts";

/** Today's facts that determine how the past is read. */
export interface Present {
  declared: Resources;
  subResources: readonly Resource[];
  reader: RecordReader;
  actor: Actor;
  /** A condition on the present state of a resource's records, such as that the caller may change them. */
  today: { resource: Resource; condition: Condition };
}

export interface Past {
  reader: RecordReader;
  /** Statements that begin with SELECT see former states of the tables, including those of sub-resources. */
  statements: ReadStatements;
  /**
   * The past is limited to records that the caller may view today and could view then; no further right is required.
   */
  everyone: Actor;
  /** The declarations that the statements are made by. */
  resources: Resources;
  /** Row of the last batch that it includes; 0 before the first. */
  batch: number;
}

/**
 * Records as they were after the batch with this row number, as far as the caller may view them today. Each table is
 * shadowed by an expression of the same name that takes every record from its last change up to then. All filters,
 * spans, orderings and counts therefore work on the past with the same statements.
 */
export function openPast(statements: Statements, batch: number, present: Present): Past {
  const { declared } = present;
  const resources = Object.assign(
    new Map([...declared].map(([name, resource]) => [name, unindexed(resource)])),
    {
      annotationValue: unindexed(declared.annotationValue!),
    },
  );
  // The view, which reads the annotations of the present, as a query, which reads their shadow.
  const view = statements.get({
    text: "SELECT sql FROM sqlite_schema WHERE name = 'annotation_item'",
    args: [],
  });
  const past = shadows(present, String(view?.sql).replace(/^.*?\bAS\s/s, ""));
  const before = (sql: Sql): Sql => {
    const [, plan, select] = /^(EXPLAIN QUERY PLAN )?(SELECT[^]*)$/.exec(sql.text) ?? [];
    // Only tables that the statement may read: SQLite prepares every expression of a WITH clause.
    const words = new Set(select?.match(/\w+/g));
    if (words.has("annotation_value")) words.add("annotation");
    const used = past.filter(({ table }) => words.has(table)).map(({ make }) => make());
    if (used.length === 0) return sql;
    return {
      text: `${plan ?? ""}WITH ${used.map(({ text }) => text).join(", ")} ${select}`,
      args: [batch, ...used.flatMap(({ args }) => args), ...sql.args],
    };
  };
  const reads: ReadStatements = {
    all: (sql) => statements.all(before(sql)),
    get: (sql) => statements.get(before(sql)),
    numbers: (sql) => statements.numbers(before(sql)),
    reading: (work) => statements.reading(work),
    foreignVersion: () => statements.foreignVersion(),
  };
  const everyone: Actor = { ...present.actor, superuser: true };
  const reader = new PastReader(reads, resources, present, everyone);
  return { reader, statements: reads, everyone, resources, batch };
}

/** Reads the content of the shadows, with the rights of today. */
class PastReader extends RecordReader {
  constructor(
    view: ReadStatements,
    private readonly declared: Resources,
    private readonly present: Present,
    private readonly everyone: Actor,
  ) {
    super(view, declared, { indexed: false });
  }

  override list(resource: Resource, listing: Listing) {
    return super.list(this.#unindexed(resource), listing, this.everyone);
  }

  override find(resource: Resource, id: string, condition: Condition) {
    return super.find(this.#unindexed(resource), id, condition, this.everyone);
  }

  override records(
    resource: Resource,
    representation: Representation,
    _actor: Actor,
    rids: readonly number[],
    links: LinkOptions,
  ) {
    return super.records(this.#unindexed(resource), representation, this.everyone, rids, links);
  }

  override texts(
    resource: Resource,
    representation: Representation,
    _actor: Actor,
    rids: readonly number[],
    links: LinkOptions,
  ) {
    return super.texts(this.#unindexed(resource), representation, this.everyone, rids, links);
  }

  /** Paths change with time, and computing the past of all places would take long. */
  override uniquePaths(): Map<number, string> {
    return new Map();
  }

  override rights(resource: Resource, _actor: Actor, rids: readonly number[]) {
    const { declared, reader, actor } = this.present;
    return reader.rights(declared.get(resource.name) ?? resource, actor, rids);
  }

  override makeContext() {
    const { reader, actor } = this.present;
    return reader.makeContext(actor);
  }

  #unindexed(resource: Resource): Resource {
    return this.declared.get(resource.name) ?? resource;
  }
}

const unindexedResources = new WeakMap<Resource, Resource>();

/** The text index contains the present only. */
function unindexed(resource: Resource): Resource {
  let made = unindexedResources.get(resource);
  if (made) return made;
  const fields = Object.entries(resource.fields).map(([name, field]) => [
    name,
    Object.assign({}, field, { searchable: undefined }),
  ]);
  made = { ...resource, fields: Object.fromEntries(fields) as Resource["fields"] };
  unindexedResources.set(resource, made);
  return made;
}

/** Common table expression that shadows one table; its argument ?1 is the row number of the batch. Made at first use. */
interface Shadow {
  table: string;
  make(): Sql;
}

function makeShadow(table: string, compose: () => Sql): Shadow {
  let made: Sql | undefined;
  return { table, make: () => (made ??= compose()) };
}

/** The last change of the row `t` up to the batch. */
const lastChange = (resource: Resource): string =>
  `main.${resource.table} AS t JOIN main.record_change AS c ON c.seq = (SELECT seq FROM main.record_change` +
  ` WHERE object_kind = '${resource.name}' AND object_rid = t.rid AND batch <= ?1 ORDER BY batch DESC, seq DESC LIMIT 1)`;

const PAST_STATE: PastState = { rid: "t.rid", upTo: "p.batch <= ?1" };

const shadow = (table: string, names: readonly string[], select: string, args: Sql["args"]): Sql => ({
  text: `${table} (${names.join(", ")}) AS NOT MATERIALIZED (${select})`,
  args,
});

function shadows({ declared, subResources, actor, today }: Present, items: string): Shadow[] {
  const versioned = [...declared.values()].filter(
    (resource) => isGuarded(resource) && resource.fields.version,
  );
  const tables = Object.entries(Object.groupBy(versioned, ({ table }) => table));
  const shadowed = tables.map(([table, sharing = []]) =>
    makeShadow(table, () => {
      const values = sharing.map(listValues);
      const names = [...new Set(values.flatMap((columns) => [...columns.keys()]))];
      const conditions = sharing.map((resource) => {
        const todayCondition = today.resource.name === resource.name ? today.condition : ALWAYS;
        const condition = and(visible(resource, actor), todayCondition);
        const now = compile(condition, plan(declared, resource, actor));
        return selecting(resource, join("and", [now, couldViewThen(resource, actor, PAST_STATE)]));
      });
      const selects = sharing.map((resource, i) => {
        const columns = names.map((name) => `${values[i].get(name) ?? "NULL"} AS ${name}`).join(", ");
        return `SELECT ${columns} FROM ${lastChange(resource)} WHERE ${conditions[i].text}`;
      });
      const args = conditions.flatMap((condition) => condition.args);
      return shadow(table, names, selects.join(" UNION ALL "), args);
    }),
  );
  const columns = [
    "rid",
    "object_kind",
    "object_rid",
    "annotation_type",
    "text",
    "number",
    "unit",
    "reference",
  ];
  const values = `SELECT ${columns.join(", ")}, fold(text) FROM (${items})`;
  const annotationValues = makeShadow("annotation_value", () =>
    shadow("annotation_value", [...columns, "fold"], values, []),
  );
  // Sub-resources are only reached through their parents and need no condition.
  const children = subResources.map((resource) =>
    makeShadow(resource.table, () => {
      const values = listValues(resource);
      const select = `SELECT ${[...values.values()].join(", ")} FROM ${lastChange(resource)}`;
      return shadow(resource.table, [...values.keys()], select, []);
    }),
  );
  return [...shadowed, ...children, annotationValues];
}

const literal = (value: string | number): string =>
  typeof value === "number" ? String(value) : `'${value.replaceAll("'", "''")}'`;

/** Expressions for the columns of a table from the record in a change. */
function listValues(resource: Resource): Map<string, string> {
  const values = new Map<string, string>([["rid", "t.rid"]]);
  for (const column of Object.keys(resource.where ?? {})) values.set(column, `t.${column}`);
  for (const [name] of storedFields(resource)) {
    const column = columnName(resource, name);
    if (column === "rid") continue;
    const { nullable, initial = null } = resource.fields[name];
    const extracted = `json_extract(c.after, '$.${name}')`;
    // Changes that precede the addition of a field do not contain the field.
    const value = nullable || initial === null ? extracted : `coalesce(${extracted}, ${literal(initial)})`;
    values.set(column, value);
    const { folded } = resource.fields[name];
    if (folded !== undefined) values.set(folded, `fold(${value})`);
  }
  return values;
}
