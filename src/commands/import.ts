import type { ImportReport } from "../inventory/index.ts";
import { type Code, Problem } from "../problem.ts";
import type { Call, Command } from "./command.ts";
import { namedBytes } from "./named-file.ts";
import { progressLine } from "./progress.ts";
import { textTable } from "./text-table.ts";
import {
  type InventoryClient,
  resourceSegment,
  SERVICE_SETTINGS,
  USER_FLAG,
  withInventory,
} from "./with-inventory.ts";
import { pluralize } from "../platform/words.ts";

/** Exit codes: wrong cells (EX_DATAERR of sysexits.h), and Ctrl-C as in shells. */
const DATA_ERROR = 65;
const INTERRUPTED_CODE = 130;
const BAR = 30;

export const importFile: Command = {
  name: "import",
  summary:
    "Add and update records from a CSV or XLSX file, or an archive (.eln): all rows or, with --partial, the valid ones.",
  operands: "FILE",
  flags: {
    "--resource LIST": "The list, such as locations or stocks/consumables.",
    ...USER_FLAG,
    "--dry-run": "Report the changes without writing them.",
    "--match none|name|barcode":
      "Match rows without an id to existing records by this value. none, the default, adds a record per row.",
    "--partial": "Import the rows without errors, and leave the others.",
    "--waiting": "Print the rows with errors and the reasons as CSV, and write nothing.",
    "--dates day|month":
      "What comes first in dates such as 3/9/2026; by default as most dates of the file tell.",
    "--unit UNIT": "Unit of amounts without one, such as µL; by default that of most amounts.",
    "--sheet NAME": "Sheet of a workbook; by default the first one with several columns.",
    "--changes": "Print all changes of existing records as CSV, and write nothing.",
    "--mapping JSON":
      'Fields of columns with other names: {"Header": "field", "Other": null}. In archives also "notes" and "new".',
    "--json": "Print the report as JSON.",
  },
  settings: SERVICE_SETTINGS,
  example:
    "labd import boxes.xlsx --resource locations --user kim --dry-run\nlabd import boxes.xlsx --resource locations --user kim",
  async run(call) {
    const resource = call.value("--resource");
    if (resource === undefined) throw new Problem("usage", "Name the list: --resource LIST.");
    const segment = resourceSegment(resource);
    const format = call.has("--changes") ? "csv" : call.has("--waiting") ? "waiting-csv" : undefined;
    const parameters = new URLSearchParams(
      format === undefined
        ? { progress: "1", dry_run: call.has("--dry-run") ? "1" : "0" }
        : { format, dry_run: "1" },
    );
    if (call.has("--partial") || call.has("--waiting")) parameters.set("partial", "1");
    for (const name of ["match", "mapping", "dates", "unit", "sheet"])
      if (call.has(`--${name}`)) parameters.set(name, call.value(`--${name}`)!);
    const body = await namedBytes(call.operands[0]);
    try {
      return await withInventory(call, async (client) => {
        const sent = await client.send(`${segment}/import/?${parameters}`, { method: "POST", body });
        if (format !== undefined) {
          await call.print(await sent.text());
          return 0;
        }
        const report = await followImport(call, client, sent);
        await (call.has("--json") ? call.printJson(report) : call.print(summary(report)));
        return report.errors.length > 0 ? DATA_ERROR : 0;
      });
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "import_cancelled") throw error;
      call.warn(`${error.message} Nothing was written.`);
      return INTERRUPTED_CODE;
    }
  },
};

interface ProgressEvent {
  phase?: string;
  rows: number;
  checked?: number;
  report?: ImportReport;
  error?: { code: Code; message: string };
}

/** Shows the progress of an import until its report; Ctrl-C cancels the import. @throws Problem */
async function followImport(
  call: Call,
  { send }: InventoryClient,
  response: Response,
): Promise<ImportReport> {
  const id = response.headers.get("location")?.split("/").at(-2);
  const cancel = (): void => void send(`imports/${id}/`, { method: "DELETE" }).catch(() => {});
  process.once("SIGINT", cancel);
  const progress = progressLine(call.streams.stderr);
  let rest = "";
  try {
    for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const { phase, rows, checked = 0, report, error } = JSON.parse(line) as ProgressEvent;
        if (error) throw new Problem(error.code, error.message);
        if (report) return report;
        progress.show(phase === "writing" ? bar(checked, rows) : `${phase}: ${rows} rows`);
      }
    }
  } finally {
    progress.clear();
    process.off("SIGINT", cancel);
  }
  throw new Problem("busy", "The server stopped before the import ended. Nothing was written.");
}

function bar(done: number, all: number): string {
  const filled = all === 0 ? 0 : Math.round((done / all) * BAR);
  return `${"█".repeat(filled)}${"░".repeat(BAR - filled)} ${done} of ${all} rows`;
}

function summary(report: ImportReport): string {
  const {
    dry_run: dry,
    rows,
    created,
    updated,
    unchanged,
    locations_made: locations,
    units_made: units,
    errors,
    waiting,
    batch,
  } = report;
  const wrong = listErrors(report);
  if (errors.length > 0 && waiting === 0)
    return `${wrong}None of ${pluralize(rows, "row")} ${dry ? "would be" : "was"} written.\n`;
  const counts = `${dry ? "Would add" : "Added"} ${created}, ${dry ? "change" : "changed"} ${updated} and ${dry ? "keep" : "kept"} ${unchanged} of ${pluralize(rows, "row")}`;
  const made = [
    locations > 0 && pluralize(locations, "new parent location"),
    units > 0 && pluralize(units, "new unit"),
    report.archive &&
      `${pluralize(report.archive.files, "file")} and ${pluralize(report.archive.notes, "note")}`,
  ].filter(Boolean);
  const added = made.length > 0 ? `, with ${made.join(" and ")}` : "";
  const left = waiting > 0 ? `${wrong}Left ${pluralize(waiting, "row")}: --waiting prints them.\n` : "";
  const undo = batch === null ? "" : `Batch ${batch}: undo it to revert the import.\n`;
  return `${left}${counts}${added}.\n${guesses(report)}${dry ? preview(report) : ""}${omissions(report)}${undo}`;
}

function listErrors({ errors, more_errors }: ImportReport): string {
  if (errors.length === 0) return "";
  const cells = errors.map(({ row, column, message }) => [String(row), column ?? "-", message]);
  return `${textTable(["row", "column", "error"], cells)}\n${more_errors ? "There are more errors. " : ""}`;
}

/** The sheet, the columns that were guessed, and those that are left out. */
function guesses({ columns, archive, sheet, sheets = [], remembered }: ImportReport): string {
  if (archive !== null) return "";
  const guessed = columns.filter(({ source }) => source === "guessed");
  const none = columns.filter(({ source }) => source === "none");
  const lines = [
    sheets.length > 1 && `Read sheet ${sheet} of ${sheets.join(", ")}.\n`,
    remembered?.same &&
      `Columns as remembered in ${remembered.name}; ${remembered.mine ? "--mapping '{}' guesses them" : "it is not yours: without --mapping, the import guesses them"}.\n`,
    guessed.length > 0 &&
      `Guessed: ${guessed.map(({ header, field }) => `${header} is ${field}`).join(", ")}.\n`,
    none.length > 0 && `No field for: ${none.map(({ header }) => header).join(", ")}.\n`,
  ];
  return lines.filter(Boolean).join("");
}

/** Old and new values of existing records. */
function preview({ match, existing, changes, updated }: ImportReport): string {
  const duplicates = (["name", "barcode"] as const)
    .filter((by) => match === "none" && (existing[by] ?? 0) > 0)
    .map(
      (by) =>
        `${pluralize(existing[by]!, "row")} would be added beside a record of the same ${by}: to change it, use --match ${by}.\n`,
    );
  const lines = changes.flatMap(({ row, name, changes }) =>
    changes.map(({ field, before, after }) => [String(row), name, field, shown(before), shown(after)]),
  );
  const more =
    updated > changes.length
      ? `${pluralize(updated - changes.length, "more record")} would change: --changes lists all.\n`
      : "";
  const table =
    lines.length === 0 ? "" : `${textTable(["row", "record", "field", "before", "after"], lines)}\n`;
  return duplicates.join("") + table + more;
}

const shown = (value: unknown): string =>
  value === null || value === "" ? "-" : typeof value === "string" ? value : JSON.stringify(value);

/** Properties without a field, and parts of an archive that are left out. */
function omissions({ archive, columns }: ImportReport): string {
  if (archive === null) return "";
  const kept = columns.filter(({ field }) => field === "notes").map(({ header }) => header);
  const lines = archive.left_out.map(({ row, column, message }) => [
    row === null ? "-" : String(row),
    column ?? "-",
    message,
  ]);
  const notes =
    kept.length === 0 ? "" : `Kept in notes, because no field has the name: ${kept.join(", ")}.\n`;
  return notes + (lines.length === 0 ? "" : `${textTable(["record", "property", "left out"], lines)}\n`);
}
