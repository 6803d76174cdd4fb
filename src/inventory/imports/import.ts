import { fieldProblem } from "../model/parse-body.ts";
import { type Cell, type Table } from "./import-file.ts";
import { cellValue, type Column, PATH, readColumns, saysTheSame, type Verdict } from "./import-mapping.ts";
import { LocationPaths, partsOf } from "../records/location-path.ts";
import { type Actor, visible } from "../model/access.ts";
import { and, compare } from "../model/condition.ts";
import type { Json } from "../model/field.ts";
import type { Sql } from "../model/operator.ts";
import { plan } from "../model/plan.ts";
import { type Resource, targetOf } from "../model/resource.ts";
import { compile, rows } from "../model/sql.ts";
import { Problem } from "../../problem.ts";
import type { Store } from "../records/store.ts";
import { type RecordWriter } from "../records/record-writer.ts";

/** How rows find their records where they name no id: by name, or never, so that each makes a new one. */
export type Matching = "name" | "none";

export interface ImportOptions {
  dryRun: boolean;
  matching: Matching;
  /** Other names for headers; null leaves a column out. */
  mapping: ReadonlyMap<string, string | null>;
}

/** Who looks on while an import is written. */
export interface Watch {
  /** After each row; what it throws takes everything back. */
  row(report: ImportReport, rows: number): void;
  /** Once all is written, in the same transaction. */
  written(report: ImportReport): void;
}

const UNWATCHED: Watch = { row: () => {}, written: () => {} };

/** What an import did, or would do. */
export interface ImportReport {
  dry_run: boolean;
  rows: number;
  created: number;
  updated: number;
  unchanged: number;
  /** Locations made because a path went through them. */
  locations_made: number;
  columns: Column[];
  errors: Verdict[];
  /** Whether there are more errors than are listed. */
  more_errors: boolean;
  /** Id of the batch in the history, by which the whole import can be undone; null where nothing was written. */
  batch: string | null;
}

/** Verdicts that are listed. */
const VERDICT_LIMIT = 1000;
const AROUND = { base: "", format: undefined };

/** Thrown within the transaction, so that nothing of it stays. */
class TakenBack {
  constructor(readonly report: ImportReport) {}
}

/**
 * Writes the rows of a file as records, all of them or none, in one transaction and one batch of the history. Every
 * row is tried, so that the report has all that is wrong. A dry run does the same and takes it back.
 */
export function runImport(
  store: Store,
  resource: Resource,
  table: Table,
  options: ImportOptions,
  actor: Actor,
  watch: Watch = UNWATCHED,
): ImportReport {
  const { columns, verdicts } = readColumns(store.resources, resource, table.headers, options.mapping);
  const report: ImportReport = {
    dry_run: options.dryRun,
    rows: table.count,
    created: 0,
    updated: 0,
    unchanged: 0,
    locations_made: 0,
    columns,
    errors: verdicts.slice(0, VERDICT_LIMIT),
    more_errors: verdicts.length > VERDICT_LIMIT,
    batch: null,
  };
  // Without all columns understood, every row would be judged wrongly.
  if (report.errors.length > 0) return report;
  try {
    return store.write(
      (writing) => {
        writeRows(store, resource, table, options, actor, writing, report, watch);
        if (options.dryRun || report.errors.length > 0) throw new TakenBack(report);
        if (report.created + report.updated + report.locations_made > 0) {
          const batch = store.statements.get({
            text: "SELECT id FROM record_batch ORDER BY rid DESC LIMIT 1",
            args: [],
          });
          report.batch = String(batch?.id);
        }
        watch.written(report);
        return report;
      },
      { kind: "import", unwatched: true },
    );
  } catch (thrown) {
    if (thrown instanceof TakenBack) return thrown.report;
    throw thrown;
  }
}

function writeRows(
  store: Store,
  resource: Resource,
  table: Table,
  options: ImportOptions,
  actor: Actor,
  writing: RecordWriter,
  report: ImportReport,
  watch: Watch,
): void {
  const { columns } = report;
  const { statements, reader, resources } = store;
  const paths = new LocationPaths(statements, resources, writing, actor);
  const headerOf = new Map(columns.map(({ header, field }) => [field, header]));
  const names = columns.flatMap(({ field }) =>
    field !== null && field !== "id" && field !== PATH ? [field] : [],
  );
  /** The names of what records refer to, besides their ids: a cell may have either. */
  const spans = new Map(
    names.flatMap((name) => {
      const field = resource.fields[name];
      return field.kind === "reference" ? [[name, `${name}__${targetOf(resources, field).key}`]] : [];
    }),
  );
  const look = { format: undefined, shape: "flat", fields: [...names, ...spans.values()] } as const;
  const alive = compare(["deleted"], "==", 0);
  const location = resources.get("location")!;

  /** What names a record among its like: its key, or where that is computed, what it is made of. */
  const keys =
    resource.fields[resource.key].write === "never"
      ? resource.nameFields.filter((name) => resource.fields[name]?.write !== "never")
      : [resource.key];
  const byKeys = ((): Sql => {
    const parts = keys.map((key) => compare([key], "==", ""));
    const where = compile(and(...parts, alive, visible(resource, actor)), plan(resources, resource, actor));
    const text = `SELECT t.rid AS rid FROM ${resource.table} AS t WHERE ${rows(resource)}${where.text} LIMIT 2`;
    return { text, args: where.args };
  })();

  /** Row numbers of at most two records that have these values. */
  const having = (values: readonly string[]): number[] => {
    // The arguments of the keys come first, as their conditions do.
    const args = [...values, ...byKeys.args.slice(values.length)];
    return statements.all({ text: byKeys.text, args }).map(({ rid }) => Number(rid));
  };

  const matched = (cells: ReadonlyMap<string, Cell>): number | undefined => {
    if (options.matching === "none" || !keys.every((key) => cells.has(key))) return undefined;
    const values = keys.map((key) => String(cells.get(key) ?? "").trim());
    if (values.every((value) => value === "")) return undefined;
    const found = having(values);
    if (found.length > 1)
      throw fieldProblem(new Map([[keys[0], ["Several records have this name; give the id of one."]]]));
    return found[0];
  };

  /** The record that a row is about; undefined for a new one. */
  const recordOf = (cells: ReadonlyMap<string, Cell>): number | undefined => {
    const id = String(cells.get("id") ?? "").trim();
    if (id === "") return matched(cells);
    const rid = reader.find(resource, id, alive, actor);
    if (rid === undefined) throw fieldProblem(new Map([["id", ["There is no such record."]]]));
    return rid;
  };

  /** A location by its path, where a cell is one: a label may have a slash in it, too. */
  const placed = (text: string): Json => {
    if (!/\S\s*\/\s*\S/.test(text)) return text;
    const label = and(compare(["label"], "==", text.trim()), alive, visible(location, actor));
    const where = compile(label, plan(resources, location, actor));
    const labelled = statements.get({
      text: `SELECT 1 AS found FROM location AS t WHERE ${where.text} LIMIT 1`,
      args: where.args,
    });
    return labelled ? text : (paths.make(partsOf(text))?.id ?? text);
  };

  const writeRow = (given: Cell[]): "created" | "updated" | "unchanged" => {
    const cells = new Map<string, Cell>();
    for (const [i, { field }] of columns.entries()) if (field !== null) cells.set(field, given[i] ?? null);
    const path = partsOf(String(cells.get(PATH) ?? ""));
    const parent = path.length > 1 ? paths.make(path.slice(0, -1)) : null;
    let rid: number | undefined;
    if (path.length > 0) {
      const id = String(cells.get("id") ?? "").trim();
      rid = id === "" ? paths.find(path[path.length - 1], parent?.rid ?? null) : recordOf(cells);
    } else rid = recordOf(cells);

    const [now] = rid === undefined ? [] : reader.records(resource, look, actor, [rid], AROUND).values;
    const body: { [name: string]: Json } = {};
    const errors = new Map<string, string[]>();
    for (const name of names) {
      const cell = cells.get(name) ?? null;
      if (now && (saysTheSame(cell, now[name]) || saysTheSame(cell, now[spans.get(name) ?? name]))) continue;
      const field = resource.fields[name];
      const { value, error } = cellValue(field, cell, rid === undefined);
      if (error !== undefined) errors.set(name, [error]);
      else if (value !== undefined)
        body[name] = field.to === "location" && typeof value === "string" ? placed(value) : value;
    }
    if (path.length > 0 && rid === undefined) {
      const passed = parent ? paths.inside(parent.rid) : {};
      Object.assign(body, { ...passed, ...body, label: path[path.length - 1], parent: parent?.id ?? null });
    }
    if (errors.size > 0) throw fieldProblem(errors);
    if (rid === undefined) {
      writing.create(resource, body, actor);
      return "created";
    }
    if (Object.keys(body).length === 0) return "unchanged";
    writing.update(resource, rid, body, "merge", actor);
    return "updated";
  };

  let done = 0;
  for (const { number, cells } of table.rows()) {
    watch.row(report, done++);
    try {
      report[writeRow(cells)]++;
    } catch (error) {
      if (!(error instanceof Problem) || error.code === "internal") throw error;
      const told: [string | null, string][] = error.fields
        ? Object.entries(error.fields).map(([name, [text]]) => [name, String(text)])
        : [[null, error.message]];
      for (const [name, message] of told) {
        if (report.errors.length >= VERDICT_LIMIT) report.more_errors = true;
        else {
          const column = headerOf.get(name) ?? null;
          const text =
            column === null && name !== null && name !== "non_field_errors" ? `${name}: ${message}` : message;
          report.errors.push({ row: number, column, message: text });
        }
      }
    }
  }
  report.locations_made = paths.created;
}
