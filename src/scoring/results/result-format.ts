import type { Prediction } from "../../motif/index.ts";
import type { NamedQuery } from "../prediction/prediction.ts";
import { tableProvenance } from "../prediction/provenance.ts";
import { annotate, type AnnotatedReport, type FeatureSource, withNotes } from "../features/annotation.ts";
import { withKnownVerdicts } from "../features/known-verdicts.ts";
import type { StoredJob } from "../jobs/handlers.ts";
import { unpackText } from "../jobs/packed-prediction.ts";
import { MATCH_TABLES } from "../table/match-tables.ts";
import { currentPrediction } from "../table/earlier-match.ts";
import { bestRows } from "../table/rows.ts";
import { TABLE_FORMATS, type TableFormatName } from "../table/table-formats.ts";
import type { TableView } from "../table/view.ts";
import { compare } from "./comparison.ts";
import { DOCUMENT_FORMATS, type DocumentFormat, type DocumentFormatName } from "./document-formats.ts";
import { isTableFormat, RESULT_FORMATS, type ScanFormatName } from "./file-formats.ts";
import { JointScan } from "./joint-scan.ts";
import { printTable } from "./print-table.ts";
import { type ArchivedJob, resultArchive } from "./result-archive.ts";
import { resultPart, makeScan, scanPart } from "./scan.ts";

/** Formats of the result in an archive, all of them text. */
const ARCHIVED_FORMATS = ["json", "tsv", "gff3", "stockholm", "a3m", "newick"] as const;

/** The formats of results that are made from the prediction alone. */
export type PrintedFormatName = TableFormatName | DocumentFormatName;

interface PrintOptions {
  /** Number of the alignment to print, from 1; for alignments. */
  match?: number | undefined;
  /** Rows to print, and their order; for tables. */
  view?: TableView;
}

/** A stored result to print. */
export interface PrintTask extends NamedQuery {
  /** The stored prediction as JSON. */
  parts: Uint8Array<ArrayBuffer>[];
  as:
    | ({ result: PrintedFormatName } & PrintOptions)
    | { scan: ScanFormatName; view: TableView }
    /** The rows of the result, or the best of each motif, as JSON. */
    | { rows: "all" | "best" }
    /** Features of the query and its matches, as JSON. */
    | { features: true }
    /** The result in an archive. */
    | { archive: ArchivedJob };
  /** The folder with features of proteins. */
  source: FeatureSource;
}

/** Two stored results to compare. */
export interface ComparisonTask {
  compared: readonly [StoredJob, StoredJob];
  source: FeatureSource;
}

/** Stored scans to print as one. */
export interface JointTask {
  joint: readonly StoredJob[];
  format: ScanFormatName;
  view: TableView;
  source: FeatureSource;
}

type Printed = string | Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>;

/** One prediction at a time is in memory. */
function printJointScan({ joint, format, view, source }: JointTask): Printed {
  const scans = new JointScan();
  for (const { job, parts, identifier, protein, provenance } of joint)
    scans.add(
      job,
      withNotes({ identifier, protein, provenance, prediction: predictionIn(parts, protein) }, source),
    );
  if (format === "json") return `${JSON.stringify(scans.object(view))}\n`;
  return printTable(TABLE_FORMATS[format], MATCH_TABLES.scan, [scans.part(view)], scans.provenance(view));
}

export type AnyTask = PrintTask | ComparisonTask | JointTask;

/** A stored result, a comparison of two, or several scans; archives and workbooks as bytes. */
export function printResult(task: AnyTask): Printed {
  if ("joint" in task) return printJointScan(task);
  if ("compared" in task) {
    const [a, b] = task.compared.map(({ parts, job, ...of }) =>
      Object.assign({ job }, withNotes({ prediction: predictionIn(parts, of.protein), ...of }, task.source)),
    );
    return JSON.stringify(compare(a, b));
  }
  const { parts, identifier, protein, provenance, as, source } = task;
  const plain = { identifier, protein, provenance, prediction: predictionIn(parts, protein) };
  if ("features" in as) return JSON.stringify(annotate(plain, source));
  const report = withNotes(plain, source);
  if ("archive" in as) {
    const judged = { ...report, prediction: withKnownVerdicts(report) };
    return resultArchive(judged, as.archive, archivedForms(report));
  }
  if ("rows" in as) {
    const { rows } = resultPart(report);
    return JSON.stringify(as.rows === "best" ? bestRows(rows) : rows);
  }
  if ("result" in as) return printReport(report, as.result, as);
  if (as.scan === "json") return `${JSON.stringify(makeScan(report, as.view))}\n`;
  const part = scanPart(report, as.view);
  return printTable(TABLE_FORMATS[as.scan], MATCH_TABLES.scan, [part], tableProvenance(report, as.view));
}

/** A prediction in a format. */
export function printReport(
  report: AnnotatedReport,
  name: PrintedFormatName,
  { match, view }: PrintOptions = {},
): Printed {
  if (isTableFormat(name))
    return printTable(
      TABLE_FORMATS[name],
      MATCH_TABLES.result,
      [resultPart(report, view)],
      tableProvenance(report, view),
    );
  const format: DocumentFormat = DOCUMENT_FORMATS[name];
  return format.print({ ...report, prediction: withKnownVerdicts(report) }, match);
}

/** The result in the formats of an archive; empty ones are left out. */
function archivedForms(report: AnnotatedReport) {
  const forms = ARCHIVED_FORMATS.map((name) => {
    const { contentType, extension, sentence } = RESULT_FORMATS[name];
    return { name: `result.${extension}`, contentType, sentence, text: printReport(report, name) as string };
  });
  return forms.filter(({ text }) => text !== "");
}

const predictionIn = (parts: PrintTask["parts"], protein: NamedQuery["protein"] | undefined): Prediction =>
  currentPrediction(JSON.parse(unpackText(parts)) as Prediction, protein?.organism);
