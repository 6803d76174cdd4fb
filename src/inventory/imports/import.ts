import { ElnImporter } from "./eln-import.ts";
import { mapArchive } from "./eln-mapping.ts";
import type { ElnArchive } from "./eln-reader.ts";
import { ChangeList } from "./import-changes.ts";
import type { Table } from "./import-file.ts";
import { type CellError, type Column, PATH, readColumns } from "./import-mapping.ts";
import type { ImportOptions, ImportReport, Match } from "./import-report.ts";
import { matchedFields, RowImporter } from "./import-row.ts";
import type { Actor } from "../model/access.ts";
import { withAnnotations } from "../model/annotation-type.ts";
import { invalidField } from "../model/parse-body.ts";
import type { Resource } from "../model/resource.ts";
import type { Store } from "../records/store.ts";
import { Problem } from "../../problem.ts";

/** Follows an import while it is written. */
export interface ImportWatcher {
  /** Called before each row and each file; an error rolls everything back. */
  check(): void;
  /** Called before each row. */
  onRow(report: ImportReport, rows: number): void;
  /** Called once all rows are written, in the same transaction. */
  onWritten(report: ImportReport): void;
}

/** The report, and all changes of existing records as CSV in pieces compressed with zstd, if they were asked for. */
export interface Imported {
  report: ImportReport;
  table: Uint8Array[];
}

const MAX_ERRORS = 1000;

const UNCONFIRMED_MESSAGE =
  "This row would show an existing record to more people. Change it by PATCH or on its page, where that is confirmed.";

/** Thrown to roll the transaction back. */
const ROLLBACK = new Error("rollback");

/**
 * Writes the rows of a file as records in one transaction and batch: all of them or none. Every row is tried, so that
 * the report lists all errors. A dry run does the same and rolls back.
 */
export function runImport(
  store: Store,
  resource: Resource,
  table: Table,
  options: ImportOptions,
  { actor, watcher }: { actor: Actor; watcher?: ImportWatcher },
): Imported {
  const { archive, contents } = table;
  const check = (): void => watcher?.check();
  const named = withAnnotations(store.resources, resource, actor);
  const mapped = archive && mapArchive(store.resources, named, archive, options.mapping);
  const mapping = mapped?.mapping ?? options.mapping;
  const { columns, errors } = readColumns(store.resources, named, table.headers, mapping);
  errors.push(...missingMatch(named, options.matching, columns));
  const changes = new ChangeList(options.listsChanges);
  const report: ImportReport = {
    dry_run: options.dryRun,
    rows: table.count,
    created: 0,
    updated: 0,
    unchanged: 0,
    locations_made: 0,
    units_made: 0,
    columns: mapped ? mapped.shown(columns) : columns,
    match: options.matching,
    existing: {},
    changes: changes.shown,
    errors: errors.slice(0, MAX_ERRORS),
    more_errors: errors.length > MAX_ERRORS,
    archive: archive ? emptyReport(archive) : null,
    batch: null,
  };
  // With unknown columns the rows would be misread.
  if (errors.length > 0) return { report, table: [] };
  try {
    store.write(
      (writer, exposed) => {
        const target = { store, resource: named, options, actor, writer, changes };
        const importer = mapped
          ? new ElnImporter(target, columns, { ...mapped, contents: contents! }, report, check)
          : new RowImporter(target, columns);
        if (options.dryRun) report.existing = importer.countExisting(table);
        let done = 0;
        const write = (): void => {
          for (const row of table.rows()) {
            check();
            watcher?.onRow(report, done++);
            try {
              const before = exposed.length;
              report[importer.write(row)]++;
              if (exposed.length > before) throw invalidField("non_field_errors", UNCONFIRMED_MESSAGE);
            } catch (error) {
              addErrors(report, row.number, error);
            }
          }
          report.locations_made = importer.paths.created;
          report.units_made = importer.units.created;
          if (options.dryRun || report.errors.length > 0) throw ROLLBACK;
        };
        // Rows may exchange the positions of records.
        writer.rearrange(importer.moved(table), write);
        report.batch = store.openBatch;
        watcher?.onWritten(report);
      },
      { kind: "import", skipsEvents: true },
    );
  } catch (thrown) {
    if (thrown !== ROLLBACK) throw thrown;
  }
  changes.end();
  return { report, table: changes.table };
}

const emptyReport = ({ publisher, list, leftOut }: ElnArchive): ImportReport["archive"] => ({
  source: publisher,
  list: list ?? null,
  files: 0,
  notes: 0,
  records: [],
  left_out: leftOut.slice(0, MAX_ERRORS).map((message) => ({ row: null, column: null, message })),
});

/** The error of a file without the columns by which rows find records. */
function missingMatch(resource: Resource, matching: Match, columns: readonly Column[]): CellError[] {
  const found = new Set(columns.map(({ field }) => field));
  const missing = matchedFields(resource, matching).filter((name) => !found.has(name));
  if (missing.length === 0 || found.has("id") || found.has(PATH)) return [];
  const message = `The file has no column ${missing.join(" and no column ")}, by which rows would find records.`;
  return [{ row: 1, column: null, message }];
}

/** Not the fault of a row. */
const FATAL_CODES: ReadonlySet<string> = new Set(["internal", "import_cancelled"]);

/** Adds the errors of a row to the report. @throws anything that is not the fault of the row */
function addErrors(report: ImportReport, row: number, error: unknown): void {
  if (!(error instanceof Problem) || FATAL_CODES.has(error.code)) throw error;
  const named: [string | null, string][] = error.fields
    ? Object.entries(error.fields).map(([name, [text]]) => [name, String(text)])
    : [[null, error.message]];
  for (const [name, message] of named) {
    if (report.errors.length >= MAX_ERRORS) {
      report.more_errors = true;
      return;
    }
    const column = report.columns.find(({ field }) => field === name && name !== null)?.header ?? null;
    const prefix = column === null && name !== null && name !== "non_field_errors" ? `${name}: ` : "";
    report.errors.push({ row, column, message: prefix + message });
  }
}
