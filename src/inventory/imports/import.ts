import { ElnImporter } from "./eln-import.ts";
import { type ElnMapping, mapArchive } from "./eln-mapping.ts";
import type { ElnArchive } from "./eln-reader.ts";
import { ChangeList, PackedTable } from "./import-changes.ts";
import type { Table } from "./import-file.ts";
import {
  type CellError,
  type Column,
  headerUnit,
  PATH,
  readColumns,
  REASON,
  unknownColumns,
} from "./import-mapping.ts";
import type { ImportOptions, ImportReport, Match, PreviewedRow } from "./import-report.ts";
import { matchedFields, RowImporter } from "./import-row.ts";
import { RowSlots } from "./row-slots.ts";
import type { ImportTarget } from "./named-values.ts";
import { isAmount, Survey } from "./read-cells.ts";
import { describeRemembered, recallMapping } from "./remembered-mapping.ts";
import type { Actor } from "../model/access.ts";
import { withAnnotations } from "../model/annotation-type.ts";
import { invalidField } from "../model/parse-body.ts";
import type { Resource } from "../model/resource.ts";
import type { RecordWriter } from "../records/record-writer.ts";
import type { Store } from "../records/store.ts";
import { offeredPosition } from "../resources/position.ts";
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
 * Writes the rows of a file as records in one transaction and batch: all of them or none; with `partial`, all that have
 * no errors. Every row is tried, so that the report lists all errors. A dry run does the same and rolls back.
 */
export function runImport(
  store: Store,
  resource: Resource,
  table: Table,
  given: ImportOptions,
  { actor, watcher }: { actor: Actor; watcher?: ImportWatcher },
): Imported {
  const { archive } = table;
  const named = withAnnotations(store.resources, resource, actor);
  const { remembered, options } = recallMapping(store, resource, actor, table, given);
  const mapped = archive && mapArchive(store.resources, named, archive, options.mapping);
  const mapping = mapped?.mapping ?? options.mapping;
  const { columns, errors } = readColumns(store.resources, named, table.headers, mapping);
  if (!options.partial)
    errors.push(...unknownColumns(named, columns), ...missingMatch(named, options.matching, columns));
  const decided = decideRows(table, columns, options.rows);
  const survey = surveyCells(archive ? null : decided, named);
  const reading = { dates: options.dates ?? survey.order, unit: options.unit ?? survey.unit };
  const report: ImportReport = {
    dry_run: options.dryRun,
    rows: table.count,
    ...NOTHING_WRITTEN,
    waiting: 0,
    skipped: [...options.rows.values()].filter(({ skip }) => skip).length,
    columns: mapped ? mapped.shown(columns) : columns,
    ...(remembered ? { remembered: describeRemembered(remembered, columns) } : {}),
    ...(table.sheet === undefined ? {} : { sheet: table.sheet, sheets: [...table.sheets!] }),
    dates: { order: reading.dates, example: survey.example },
    unit: survey.lacksUnit ? reading.unit : null,
    match: options.matching,
    existing: {},
    changes: [],
    preview: [],
    errors: errors.slice(0, MAX_ERRORS),
    more_errors: errors.length > MAX_ERRORS,
    archive: archive ? emptyReport(archive) : null,
    batch: null,
  };
  // With unknown columns the rows would be misread.
  if (errors.length > 0) return { report, table: [] };
  const target = { store, resource: named, options, actor, reading };
  return new ImportRun(target, decided, { report, mapped, watcher }).run();
}

const NOTHING_WRITTEN = { created: 0, updated: 0, unchanged: 0, locations_made: 0, units_made: 0 };

/** The columns and rows of a file after the decisions of people. */
interface DecidedTable extends Table {
  columns: readonly Column[];
}

/** Replaces corrected cells, leaves rows out, and gives rows the ids of the records that they change. */
function decideRows(table: Table, columns: readonly Column[], rows: ImportOptions["rows"]): DecidedTable {
  if (rows.size === 0) return { ...table, columns };
  const own = columns.findIndex(({ field }) => field === "id");
  const at = own < 0 ? columns.length : own;
  return {
    ...table,
    columns: own < 0 ? [...columns, { header: "", field: "id", source: "chosen" }] : columns,
    *rows() {
      for (const row of table.rows()) {
        const decision = rows.get(row.number);
        if (decision?.skip) continue;
        for (const [header, text] of Object.entries(decision?.cells ?? {})) {
          const i = table.headers.indexOf(header);
          if (i >= 0) row.cells[i] = text;
        }
        if (decision?.change) row.cells[at] = decision.change;
        yield row;
      }
    },
  };
}

/** What the cells of dates and amounts say about the others. */
function surveyCells(table: DecidedTable | null, { fields }: Resource): Survey {
  const survey = new Survey();
  const columns = table?.columns ?? [];
  const indexOf = (name: string | undefined): number => columns.findIndex(({ field }) => field === name);
  const surveyed = columns.flatMap(({ field: name, header }, i) => {
    const field = fields[name ?? ""];
    if (!field?.day && (!field || !isAmount(field) || headerUnit(header))) return [];
    return [{ i, field, suffix: indexOf(field.form?.suffix) }];
  });
  if (table && surveyed.length > 0)
    for (const { cells } of table.rows())
      for (const { i, field, suffix } of surveyed) survey.add(field, cells[i] ?? null, cells[suffix] ?? null);
  return survey;
}

interface RunContext {
  report: ImportReport;
  mapped: ElnMapping | undefined;
  watcher: ImportWatcher | undefined;
}

/** One import: as many transactions as it takes until no row that is written has an error. */
class ImportRun {
  /** Numbers of rows with errors. */
  readonly #waiting = new Set<number>();
  readonly #preview = new Preview();
  readonly #left = new PackedTable();
  readonly #slots = new RowSlots();
  #changes = new ChangeList(false);

  constructor(
    private readonly target: Omit<ImportTarget, "writer" | "changes">,
    private readonly table: DecidedTable,
    private readonly context: RunContext,
  ) {}

  run(): Imported {
    const { report } = this.context;
    const { dryRun, partial, listsChanges, listsWaiting } = this.target.options;
    if (listsWaiting) this.#left.add([...this.table.headers, REASON]);
    for (let known = -1; this.#waiting.size > known;) {
      known = this.#waiting.size;
      this.#changes = new ChangeList(listsChanges);
      Object.assign(report, NOTHING_WRITTEN);
      this.#preview.restart();
      this.#write();
      if (!partial || dryRun) break;
    }
    if (partial) report.waiting = this.#waiting.size;
    report.changes = this.#changes.shown;
    report.preview = this.#preview.rows;
    if (dryRun) report.boxes = this.#slots.describe(this.target.store, this.target.actor);
    const listed = listsWaiting ? this.#left : this.#changes.table;
    listed.end();
    return { report, table: listed.pieces };
  }

  /** Writes all rows that are not known to have errors; rolls back if one has. */
  #write(): void {
    const { report, watcher } = this.context;
    const { store, options } = this.target;
    const known = this.#waiting.size;
    try {
      store.write(
        (writer, exposed) => {
          const importer = this.#importer(writer);
          if (options.dryRun) report.existing = importer.countExisting(this.table);
          const write = (): void => {
            this.#writeRows(importer, exposed);
            report.locations_made = importer.named.paths.created;
            report.units_made = importer.named.units.created;
            if (options.dryRun || this.#waiting.size > known) throw ROLLBACK;
          };
          // Rows may exchange the positions of records.
          writer.codes.reserving(importer.codes(this.table), () =>
            writer.rearrange(importer.moved(this.table), write),
          );
          report.batch = store.openBatch;
          if (options.partial) report.waiting = this.#waiting.size;
          report.preview = this.#preview.rows;
          watcher?.onWritten(report);
        },
        { kind: "import", skipsEvents: true },
      );
    } catch (thrown) {
      if (thrown !== ROLLBACK) throw thrown;
    }
  }

  #importer(writer: RecordWriter): RowImporter | ElnImporter {
    const { mapped, report, watcher } = this.context;
    const target = { ...this.target, writer, changes: this.#changes };
    if (!mapped) return new RowImporter(target, this.table.columns);
    const contents = this.table.contents!;
    return new ElnImporter(target, this.table.columns, { ...mapped, contents }, report, () =>
      watcher?.check(),
    );
  }

  #writeRows(importer: RowImporter | ElnImporter, exposed: readonly unknown[]): void {
    const { report, watcher } = this.context;
    let done = 0;
    for (const row of this.table.rows()) {
      watcher?.check();
      watcher?.onRow(report, done++);
      if (this.#waiting.has(row.number)) continue;
      let outcome: PreviewedRow["outcome"] = "waiting";
      try {
        const before = exposed.length;
        outcome = importer.write(row);
        report[outcome]++;
        if (exposed.length > before) throw invalidField("non_field_errors", UNCONFIRMED_MESSAGE);
      } catch (error) {
        outcome = "waiting";
        this.#waiting.add(row.number);
        const messages = addErrors(report, row.number, error, importer.fixes);
        if (this.target.options.listsWaiting)
          this.#left.add([...this.table.headers.map((_, i) => row.cells[i] ?? ""), messages.join(" ")]);
      }
      const slot = importer instanceof RowImporter && importer.findSlot(row.cells);
      if (slot) this.#slots.add(slot, outcome);
      if (importer instanceof RowImporter && this.#preview.takes(outcome, row.number, importer.similar))
        this.#preview.add(importer.show(row, outcome, this.table.headers.length));
    }
  }
}

/** Rows of one outcome that a report shows. */
const SHOWN_ROWS = { waiting: 200, updated: 100, created: 100, unchanged: 20, skipped: 20 } as const;

/** The first rows of each outcome. */
class Preview {
  #shown: PreviewedRow[] = [];

  /** True if a row is shown: there is room, or it is like an existing record. */
  takes(outcome: PreviewedRow["outcome"], row: number, similar: ReadonlyMap<number, number>): boolean {
    const count = this.#shown.filter((shown) => shown.outcome === outcome).length;
    return count < SHOWN_ROWS[outcome] || (similar.has(row) && count < 2 * SHOWN_ROWS[outcome]);
  }

  add(row: PreviewedRow): void {
    this.#shown.push(row);
  }

  /** Forgets all rows but those that wait. */
  restart(): void {
    this.#shown = this.#shown.filter(({ outcome }) => outcome === "waiting");
  }

  /** Those to look at first. */
  get rows(): PreviewedRow[] {
    const urgency = ({ outcome, similar }: PreviewedRow): number =>
      outcome === "waiting" ? 0 : outcome === "updated" ? 1 : similar ? 2 : 3;
    return this.#shown.toSorted((a, b) => urgency(a) - urgency(b) || a.row - b.row);
  }
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

/** Adds the errors of a row to the report. @returns their messages @throws anything that is not the fault of the row */
function addErrors(
  report: ImportReport,
  row: number,
  error: unknown,
  fixes: ReadonlyMap<string, string[]>,
): string[] {
  if (!(error instanceof Problem) || FATAL_CODES.has(error.code)) throw error;
  const named: [string | null, string][] = error.fields
    ? Object.entries(error.fields).map(([name, [text]]) => [name, String(text)])
    : [[null, error.message]];
  const texts = named.map(([name, message]) => {
    const column = report.columns.find(({ field }) => field === name && name !== null)?.header ?? null;
    const prefix = column === null && name !== null && name !== "non_field_errors" ? `${name}: ` : "";
    const offered = fixes.get(name ?? "") ?? offeredPosition(message);
    if (report.errors.length >= MAX_ERRORS) report.more_errors = true;
    else
      report.errors.push({
        row,
        column,
        message: prefix + message,
        ...(offered.length > 0 ? { fixes: offered } : {}),
      });
    return prefix + message;
  });
  return texts;
}
