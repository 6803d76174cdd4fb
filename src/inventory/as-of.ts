import { type Actor, visible } from "./model/access.ts";
import type { Condition } from "./model/condition.ts";
import { and } from "./model/condition.ts";
import type { Field } from "./model/field.ts";
import type { Sql } from "./model/operator.ts";
import { plan } from "./model/plan.ts";
import { columnOf, isGuarded, type Resource, type Resources } from "./model/resource.ts";
import { compile, rows } from "./model/sql.ts";
import { storedFields } from "./model/stored.ts";
import { openReading, type Reading } from "./reading.ts";
import type { Statements } from "./statements.ts";

/** What of the present has a say in how the past is read. */
export interface Present {
  actor: Actor;
  rights: Reading["rights"];
  /** What must hold today of the records of one resource, such as that the caller may change them. */
  today?: { resource: Resource; condition: Condition };
}

/**
 * Records as they were after the batch with this row number, as far as the caller may view them today. The tables are
 * shadowed by expressions of the same names that take every record from the last change up to then; so whatever can be
 * asked of the present, filters, spans, orderings, counts, can be asked of the past by the same statements.
 */
export function readingAsOf(
  statements: Statements,
  declared: Resources,
  batch: number,
  { actor, rights, today }: Present,
): Reading {
  const resources = new Map([...declared].map(([name, resource]) => [name, unindexed(resource)]));
  const past = shadows(declared, actor, today);
  const before = (sql: Sql): Sql =>
    sql.text.startsWith("SELECT")
      ? { text: `${past.text} ${sql.text}`, args: [batch, ...past.args, ...sql.args] }
      : sql;
  const view = {
    all: (sql: Sql) => statements.all(before(sql)),
    get: (sql: Sql) => statements.get(before(sql)),
    numbers: (sql: Sql, expected: number) => statements.numbers(before(sql), expected),
    reading: <T>(work: () => T) => statements.reading(work),
    foreignVersion: () => statements.foreignVersion(),
  } as unknown as Statements;
  const reading = openReading(view, resources, (resource, _, rids) =>
    rights(declared.get(resource.name)!, actor, rids),
  );
  // The shadows hold only what the caller may view today; who owned a record then is of no account.
  const everyone: Actor = { ...actor, superuser: true };
  const own = (resource: Resource): Resource => resources.get(resource.name)!;
  return {
    list: (resource, listing) => reading.list(own(resource), listing, everyone),
    find: (resource, id, life) => reading.find(own(resource), id, life, everyone),
    records: (resource, look, _, rids, around) =>
      reading.records(own(resource), look, everyone, rids, around),
    texts: (resource, look, _, rids, around) => reading.texts(own(resource), look, everyone, rids, around),
    rights: (resource, _, rids) => rights(resource, actor, rids),
    forget: () => reading.forget(),
  };
}

/** Indexes on texts know the present only. */
function unindexed(resource: Resource): Resource {
  const plain = (field: Field): Field => {
    const { trigrams: _, ...rest } = field as Field & { trigrams?: string };
    return rest;
  };
  const fields = Object.fromEntries(
    Object.entries(resource.fields).map(([name, field]) => [name, plain(field)]),
  );
  return { ...resource, fields };
}

/** The WITH clause; its argument ?1 is the row number of the batch. */
function shadows(resources: Resources, actor: Actor, today: Present["today"]): Sql {
  const byTable = new Map<string, Resource[]>();
  for (const resource of resources.values()) {
    if (!isGuarded(resource) || !("version" in resource.fields)) continue;
    byTable.set(resource.table, [...(byTable.get(resource.table) ?? []), resource]);
  }
  const args: Sql["args"] = [];
  const parts = [...byTable].map(([table, sharing]) => {
    const columns = new Set<string>(["rid"]);
    for (const resource of sharing) {
      for (const [name, column] of storedFields(resource)) {
        columns.add(column);
        const { folded } = resource.fields[name];
        if (folded !== undefined) columns.add(folded);
      }
      for (const column of Object.keys(resource.where ?? {})) columns.add(column);
    }
    const names = [...columns];
    const selects = sharing.map((resource) => {
      const values = valuesOf(resource);
      const condition = and(
        visible(resource, actor),
        ...(today?.resource.name === resource.name ? [today.condition] : []),
      );
      const joined = plan(resources, resource, actor);
      const where = compile(condition, joined);
      if (joined.joins().text !== "") throw new Error(`rights on ${resource.name} span references`);
      args.push(...where.args);
      const selected = names.map((name) => `${values.get(name) ?? "NULL"} AS ${name}`).join(", ");
      return (
        `SELECT ${selected} FROM main.${table} AS t JOIN main.record_change AS c ON c.seq =` +
        ` (SELECT seq FROM main.record_change WHERE object_kind = '${resource.name}' AND object_rid = t.rid AND batch <= ?1` +
        ` ORDER BY batch DESC, seq DESC LIMIT 1) WHERE ${rows(resource)}(${where.text})`
      );
    });
    return `${table} (${names.join(", ")}) AS NOT MATERIALIZED (${selects.join(" UNION ALL ")})`;
  });
  return { text: `WITH ${parts.join(", ")}`, args };
}

/** Expressions for the columns of a table from the record in a change. */
function valuesOf(resource: Resource): Map<string, string> {
  const values = new Map<string, string>([["rid", "t.rid"]]);
  for (const column of Object.keys(resource.where ?? {})) values.set(column, `t.${column}`);
  for (const [name] of storedFields(resource)) {
    const column = columnOf(resource, name);
    if (column === "rid") continue;
    const value = `json_extract(c.after, '$.${name}')`;
    values.set(column, value);
    const { folded } = resource.fields[name];
    if (folded !== undefined) values.set(folded, `fold(${value})`);
  }
  return values;
}
