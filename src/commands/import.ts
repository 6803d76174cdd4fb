import type { Command } from "./command-line.ts";
import type { ImportReport } from "../inventory/index.ts";
import { type Code, Problem } from "../problem.ts";
import { accountTable } from "./account-table.ts";
import {
  type OpenInventory,
  openInventory,
  segmentOf,
  SERVICE_SETTINGS,
  USER_FLAG,
} from "./open-inventory.ts";
import { namedBytes } from "./named-file.ts";
import { progressLine } from "./progress.ts";

/** Exit code where cells are wrong (EX_DATAERR of sysexits.h); after Ctrl-C, as shells have it. */
const WRONG = 65;
const INTERRUPTED = 130;
const BAR = 30;
const NEEDS_RESOURCE = "Name the list: --resource LIST.";

export const importFile: Command = {
  name: "import",
  summary: "Make and change records from a CSV or XLSX file: all of its rows or none.",
  operands: "FILE",
  flags: [
    { name: "--resource", value: "LIST", sentence: "The list, such as locations or stocks/consumables." },
    USER_FLAG,
    { name: "--dry-run", sentence: "Write nothing; tell what would happen." },
    {
      name: "--match",
      value: "HOW",
      sentence:
        "name (the default): a row without id changes the record of its name; none: it makes a new one.",
    },
    {
      name: "--mapping",
      value: "JSON",
      sentence: 'Columns by other names: {"Header": "field", "Other": null}.',
    },
    { name: "--json", sentence: "Print the report as JSON." },
  ],
  settings: SERVICE_SETTINGS,
  example:
    "labd import boxes.xlsx --resource locations --user kim --dry-run\nlabd import boxes.xlsx --resource locations --user kim",
  async run(call) {
    if (call.operands.length !== 1)
      throw new Problem(
        "usage",
        "labd import takes one FILE, or - for standard input. See labd import --help.",
      );
    const [file] = call.operands;
    const segment = segmentOf(call.value("--resource"), NEEDS_RESOURCE);
    const parameters = new URLSearchParams({ progress: "1", dry_run: call.has("--dry-run") ? "1" : "0" });
    for (const name of ["match", "mapping"]) {
      const value = call.value(`--${name}`);
      if (value !== undefined) parameters.set(name, value);
    }
    const bytes = await namedBytes(file);
    const service = await openInventory(call);
    try {
      const sent = await service.send(`${segment}/import/?${parameters}`, { method: "POST", body: bytes });
      const report = await followed(service, sent);
      process.stdout.write(call.has("--json") ? `${JSON.stringify(report, null, 2)}\n` : told(report));
      return report.errors.length > 0 ? WRONG : 0;
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "import_cancelled") throw error;
      process.stderr.write(`labd: ${error.message} Nothing was written.\n`);
      return INTERRUPTED;
    } finally {
      await service.close();
    }
  },
};

/** Reads lines until the report, and shows how far it is; Ctrl-C calls the import off. @throws Problem */
async function followed(service: OpenInventory, response: Response): Promise<ImportReport> {
  const id = response.headers.get("location")?.split("/").at(-2);
  const interrupted = (): void => void service.send(`imports/${id}/`, { method: "DELETE" }).catch(() => {});
  process.once("SIGINT", interrupted);
  const progress = progressLine();
  let rest = "";
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body ?? []) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const { phase, rows, checked, report, error } = JSON.parse(line) as Line;
        if (error) throw new Problem(error.code, error.message);
        if (report) return report;
        progress.show(phase === "writing" ? bar(checked ?? 0, rows) : `${phase}: ${rows} rows`);
      }
    }
  } finally {
    progress.clear();
    process.off("SIGINT", interrupted);
  }
  throw new Problem(
    "busy",
    "The service ended before the import did. What it has accepted it has not written.",
  );
}

interface Line {
  phase?: string;
  rows: number;
  checked?: number;
  report?: ImportReport;
  error?: { code: Code; message: string };
}

function bar(done: number, all: number): string {
  const filled = all === 0 ? 0 : Math.round((done / all) * BAR);
  return `${"█".repeat(filled)}${"░".repeat(BAR - filled)} ${done} of ${all} rows`;
}

function told(report: ImportReport): string {
  const { dry_run: dry, rows, created, updated, unchanged, locations_made: made, errors, batch } = report;
  if (errors.length > 0) {
    const table = accountTable(
      ["row", "column", "what is wrong"],
      errors.map(({ row, column, message }) => [String(row), column ?? "-", message]),
    );
    const more = report.more_errors ? "There are more. " : "";
    return `${table}\n${more}Nothing ${dry ? "would be" : "was"} written of ${rows} rows.\n`;
  }
  const would = dry ? "Would have " : "";
  const paths = made > 0 ? `, and ${made} locations on the way` : "";
  const undo = batch === null ? "" : `Batch ${batch}: undoing it takes the import back.\n`;
  return `${would}${dry ? "made" : "Made"} ${created}, changed ${updated}, left ${unchanged} of ${rows} rows as they are${paths}.\n${undo}`;
}
