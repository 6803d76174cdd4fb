import type { Scored } from "../batch/score.ts";
import { withKnownVerdicts } from "../features/known-verdicts.ts";
import { encodePrediction } from "../prediction/encode-prediction.ts";
import { MATCH_TABLES } from "../table/match-tables.ts";
import type { Provenance } from "../table/provenance.ts";
import type { TablePart } from "../table/rows.ts";
import { TABLE_FORMATS, type TableFormat, type TableFormatName } from "../table/table-formats.ts";
import { DOCUMENT_SERIES, type DocumentSeries } from "./document-formats.ts";
import type { TableView } from "../table/view.ts";
import { resultPart } from "./scan.ts";

/** A format for a series of predictions, as text to which results are added. */
export interface SeriesPrinter extends DocumentSeries {
  print: (scored: Scored) => string;
}

const makeReport = ({ accession, protein, provenance, prediction, notes }: Scored) => ({
  identifier: accession,
  protein,
  provenance,
  prediction,
  ...(notes && { notes }),
});

/** A result of `labd score` as a part of a table. */
export const scoredPart = (scored: Scored, view?: TableView): TablePart =>
  resultPart(makeReport(scored), view);

const DOCUMENTS: Record<keyof typeof DOCUMENT_SERIES, (scored: Scored) => string> = {
  json: (scored) => `${JSON.stringify({ ...scored, prediction: withKnownVerdicts(makeReport(scored)) })}\n`,
  xml: (scored) => {
    const report = makeReport(scored);
    return `${encodePrediction({ ...report, prediction: withKnownVerdicts(report) })}\n`;
  },
};

const TABLES: Readonly<Record<string, TableFormat>> = TABLE_FORMATS;

/** The formats of `labd score`. */
export const SCORE_FORMATS = [
  ...Object.keys(TABLES),
  ...Object.keys(DOCUMENTS),
] as readonly ScoreFormatName[];
export type ScoreFormatName = TableFormatName | keyof typeof DOCUMENTS;

/** Text formats, in which shards are written. */
export const SERIES_FORMATS = SCORE_FORMATS.filter(
  (name) => !(name in TABLES && "isWorkbook" in TABLES[name]),
);

/**
 * The printer of a format that is text. Documents have the provenance of each result, tables that of all.
 * @param view of tables. @throws Error for a workbook
 */
export function seriesPrinter(
  name: ScoreFormatName,
  view?: TableView,
  provenance?: Provenance,
): SeriesPrinter {
  if (name === "json" || name === "xml") return { ...DOCUMENT_SERIES[name], print: DOCUMENTS[name] };
  const format: TableFormat = TABLE_FORMATS[name];
  if ("isWorkbook" in format) throw new Error(`${name} is not a text.`);
  return {
    head: format.head(MATCH_TABLES.result, provenance),
    print: (scored) => format.print(MATCH_TABLES.result, scoredPart(scored, view)),
    tail: "",
    remark: (json) => `#labd-shard ${json}\n`,
  };
}
