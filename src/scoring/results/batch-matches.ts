import { setImmediate as nextTurn } from "node:timers/promises";
import type { PatternRequest } from "../../motif/index.ts";
import { BodyStream } from "../../platform/body-stream.ts";
import { Problem } from "../../problem.ts";
import type { BatchItem } from "../batch/batch-items.ts";
import type { FeatureSource } from "../features/annotation.ts";
import type { Handlers } from "../jobs/handlers.ts";
import { filterRows, type FilterValues } from "../table/filters.ts";
import { type EmptyRow, patternName, type TableRow } from "../table/match-row.ts";
import { MATCH_TABLES } from "../table/match-tables.ts";
import type { Provenance } from "../table/provenance.ts";
import type { TablePart } from "../table/rows.ts";
import type { TableFormat } from "../table/table-formats.ts";
import { tableWorkbook } from "./print-table.ts";
import { print } from "./print-thread.ts";

/** The jobs of a batch, and what their rows depend on. */
export interface BatchJobs {
  items: Iterable<BatchItem>;
  groups: readonly (readonly PatternRequest[])[];
  handlers: Pick<Handlers, "getPrediction">;
  source: FeatureSource;
}

/** All matches of finished jobs, or the best of each motif with a row for each job without a result. */
export type BatchRows = "all" | "best";

/** The matches of a batch as a file that is made while it is sent. */
export async function printBatch(
  jobs: BatchJobs,
  {
    format,
    rows,
    values,
    provenance,
  }: { format: TableFormat; rows: BatchRows; values: FilterValues; provenance?: Provenance },
): Promise<ReadableStream<Uint8Array>> {
  const table = rows === "best" ? MATCH_TABLES.batch : MATCH_TABLES.result;
  const parts = readRows(jobs, rows, (all) => filterRows(all, table.filters, values));
  if ("isWorkbook" in format) return tableWorkbook(table, parts, provenance);
  const encoder = new TextEncoder();
  let head = format.head(table, provenance);
  return new BodyStream(
    {
      async pull(sink) {
        const { done, value } = await parts.next();
        if (head !== "" || !done)
          sink.enqueue(encoder.encode(head + (done ? "" : format.print(table, value))));
        head = "";
        if (done) sink.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** The rows of one job after the other; other requests are answered meanwhile. */
async function* readRows(
  { items, groups, handlers, source }: BatchJobs,
  rows: BatchRows,
  filter: (rows: readonly TableRow[]) => readonly TableRow[],
): AsyncGenerator<TablePart, void> {
  for (const item of items) {
    await nextTurn();
    const missing = (state: EmptyRow["missing"], problem?: string): TableRow[] =>
      rows === "all"
        ? []
        : groups[item.group].map((pattern): EmptyRow => {
            const motif = patternName(pattern);
            return { query: item.name, protein: null, motif, missing: state, problem };
          });
    const found =
      item.job !== null && item.state === "finished"
        ? await readJobRows(item.job, rows, { handlers, source }).catch((error: unknown) =>
            missing("failed", Problem.from(error).message),
          )
        : ["waiting", "queued", "running"].includes(item.state)
          ? missing("waiting")
          : missing("failed", item.failure ?? `The job is ${item.state}.`);
    yield { rows: filter(found), sequences: [] };
  }
}

async function readJobRows(
  job: string,
  rows: BatchRows,
  { handlers, source }: Pick<BatchJobs, "handlers" | "source">,
): Promise<TableRow[]> {
  const printed = await print({ ...(await handlers.getPrediction(job)), as: { rows }, source });
  return JSON.parse(typeof printed === "string" ? printed : new TextDecoder().decode(printed)) as TableRow[];
}
