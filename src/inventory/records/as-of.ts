import { type Actor, visible } from "../model/access.ts";
import type { Condition } from "../model/condition.ts";
import { and } from "../model/condition.ts";
import type { Field } from "../model/field.ts";
import type { Sql } from "../model/operator.ts";
import { plan } from "../model/plan.ts";
import { columnOf, isGuarded, type Resource, type Resources } from "../model/resource.ts";
import { compile, rows } from "../model/sql.ts";
import { storedFields } from "../model/stored-record.ts";
import { openRecordReader, type RecordReader } from "./record-reader.ts";
import type { Statements } from "./statements.ts";

/** What of the present has a say in how the past is read. */
export interface Present {
  actor: Actor;
  rights: RecordReader["rights"];
  /** What must hold today of the records of one resource, such as that the caller may change them. */
  today?: { resource: Resource; condition: Condition };
}

/** What was, and what its readers need besides. */
export interface Past {
  reader: RecordReader;
  /** Statements that begin with SELECT see the tables as they were, those of the parts of records among them. */
  statements: Statements;
  /** What was is shown as far as may be viewed today: whoever asks it is asked for by no further right. */
  everyone: Actor;
  /** The declarations that the statements are made by. */
  resources: Resources;
  /** Row of the last batch that it knows of; 0 before the first. */
  batch: number;
}

/**
 * Records as they were after the batch with this row number, as far as the caller may view them today. The tables are
 * shadowed by expressions of the same names that take every record from the last change up to then; so whatever can be
 * asked of the present, filters, spans, orderings, counts, can be asked of the past by the same statements.
 */
export function pastAsOf(
  statements: Statements,
  declared: Resources,
  parts: readonly Resource[],
  batch: number,
  { actor, rights, today }: Present,
): Past {
  const resources = new Map([...declared].map(([name, resource]) => [name, unindexed(resource)]));
  const past = shadows(declared, parts, actor, today);
  const before = (sql: Sql): Sql => {
    const [, plan, select] = /^(EXPLAIN QUERY PLAN )?(SELECT[^]*)$/.exec(sql.text) ?? [];
    // Only tables that the statement may read: SQLite prepares all that it is given, needed or not.
    const words = new Set(select?.match(/\w+/g));
    const used = past.filter(({ table }) => words.has(table));
    if (used.length === 0) return sql;
    return {
      text: `${plan ?? ""}WITH ${used.map(({ text }) => text).join(", ")} ${select}`,
      args: [batch, ...used.flatMap(({ args }) => args), ...sql.args],
    };
  };
  const view = {
    all: (sql: Sql) => statements.all(before(sql)),
    get: (sql: Sql) => statements.get(before(sql)),
    numbers: (sql: Sql, expected: number) => statements.numbers(before(sql), expected),
    reading: <T>(work: () => T) => statements.reading(work),
    foreignVersion: () => statements.foreignVersion(),
  } as unknown as Statements;
  const reading = openRecordReader(view, resources, (resource, _, rids) =>
    rights(declared.get(resource.name)!, actor, rids),
  );
  // The shadows hold only what the caller may view today; who owned a record then is of no account.
  const everyone: Actor = { ...actor, superuser: true };
  const own = (resource: Resource): Resource => resources.get(resource.name) ?? resource;
  const asEveryone: RecordReader = {
    list: (resource, listing) => reading.list(own(resource), listing, everyone),
    find: (resource, id, life) => reading.find(own(resource), id, life, everyone),
    records: (resource, look, _, rids, around) =>
      reading.records(own(resource), look, everyone, rids, around),
    texts: (resource, look, _, rids, around) => reading.texts(own(resource), look, everyone, rids, around),
    rights: (resource, _, rids) => rights(resource, actor, rids),
    forget: () => reading.forget(),
  };
  return { reader: asEveryone, statements: view, everyone, resources, batch };
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

/** What shadows one table, for a WITH clause whose argument ?1 is the row number of the batch. */
interface Shadow extends Sql {
  table: string;
}

function shadows(
  resources: Resources,
  kept: readonly Resource[],
  actor: Actor,
  today: Present["today"],
): Shadow[] {
  const byTable = new Map<string, Resource[]>();
  for (const resource of resources.values()) {
    if (!isGuarded(resource) || !("version" in resource.fields)) continue;
    byTable.set(resource.table, [...(byTable.get(resource.table) ?? []), resource]);
  }
  const found = [...byTable].map(([table, sharing]): Shadow => {
    const args: Sql["args"] = [];
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
    const text = `${table} (${names.join(", ")}) AS NOT MATERIALIZED (${selects.join(" UNION ALL ")})`;
    return { table, text, args };
  });
  // Parts are reached through their records alone, so that they need no right of their own.
  for (const part of kept) {
    const values = [...valuesOf(part)].filter(([column]) => column !== "rid");
    const names = ["rid", ...values.map(([column]) => column)];
    const selected = ["t.rid", ...values.map(([, value]) => value)].join(", ");
    const text =
      `${part.table} (${names.join(", ")}) AS NOT MATERIALIZED (SELECT ${selected} FROM main.${part.table} AS t` +
      ` JOIN main.record_change AS c ON c.seq = (SELECT seq FROM main.record_change WHERE object_kind = '${part.name}'` +
      " AND object_rid = t.rid AND batch <= ?1 ORDER BY batch DESC, seq DESC LIMIT 1))";
    found.push({ table: part.table, text, args: [] });
  }
  return found;
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
