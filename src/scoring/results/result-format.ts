import type { Prediction } from "../../motif/index.ts";
import { encodePrediction } from "../prediction/encode-prediction.ts";
import { XML_DECLARATION } from "../prediction/xml-text.ts";
import type { NamedQuery } from "../prediction/prediction.ts";
import { annotate, type AnnotatedReport, type FeatureSource, withNotes } from "../features/annotation.ts";
import { ELN_MEDIA_TYPE } from "../../platform/ro-crate.ts";
import { Problem } from "../../problem.ts";
import type { StoredJob } from "../jobs/handlers.ts";
import { unpackText } from "../jobs/packed-prediction.ts";
import { compare } from "./comparison.ts";
import { printA3m, printAlignedFasta, printStockholm } from "./result-alignment.ts";
import { printGff3 } from "../table/result-gff3.ts";
import { type ArchivedJob, resultArchive } from "./result-archive.ts";
import { printTable } from "../table/result-rows.ts";
import { JointScan } from "../table/joint-scan.ts";
import { SCAN_FORMS, type ScanFilter, type ScanFormName } from "../table/scan.ts";

/** A format of predictions, for the JSON service, its documentation and the command line. */
interface ResultForm {
  contentType: string;
  /** Other media types that an Accept header may use for it. */
  aliases: readonly string[];
  /** Extension of its files. */
  extension: string;
  sentence: string;
  /** @param match number of the alignment to print, from 1; only for alignments */
  print(report: AnnotatedReport, match?: number): string;
}

/** Text before and after the stored bytes of the forms in which predictions are stored. */
export const STORED_FORMS = {
  json: ["", ""],
  xml: [`${XML_DECLARATION}\n`, "\n"],
} as const;

export const RESULT_FORMS = {
  json: {
    contentType: "application/json",
    aliases: [],
    extension: "json",
    sentence: "The whole prediction, and the names of the query.",
    print: ({ identifier, protein, prediction }) =>
      JSON.stringify({ identifier, protein: protein ?? null, ...prediction }),
  },
  tsv: {
    contentType: "text/tab-separated-values; charset=utf-8",
    aliases: [],
    extension: "tsv",
    sentence: "One row per match, or one for a pattern without a match.",
    print: (report) => printTable(report),
  },
  gff3: {
    contentType: "text/x-gff3; charset=utf-8",
    aliases: ["text/gff3", "application/gff3"],
    extension: "gff3",
    sentence: "The matches as features of the query.",
    print: (report) => printGff3(report),
  },
  stockholm: {
    contentType: "text/x-stockholm; charset=utf-8",
    aliases: ["text/stockholm"],
    extension: "sto",
    sentence: "One alignment per match: the query and its homologs.",
    print: printStockholm,
  },
  fasta: {
    contentType: "text/x-fasta; charset=utf-8",
    aliases: ["text/fasta"],
    extension: "fasta",
    sentence: "The same alignments as aligned FASTA, one after the other; `match` selects one.",
    print: printAlignedFasta,
  },
  a3m: {
    contentType: "text/x-a3m; charset=utf-8",
    aliases: ["text/a3m"],
    extension: "a3m",
    sentence:
      "The whole alignment from which the scores were computed: query first, insertions in lower case.",
    print: printA3m,
  },
  newick: {
    contentType: "text/x-nh; charset=utf-8",
    aliases: ["text/newick", "text/x-newick"],
    extension: "nwk",
    sentence: "The tree of the homologs and the query, which is named `query`.",
    // Without homologs a tree of one leaf: the notation has no empty tree.
    print: ({ prediction }) => `${prediction.tree === "" ? "query;" : prediction.tree}\n`,
  },
  xml: {
    contentType: "application/xml; charset=utf-8",
    aliases: ["text/xml"],
    extension: "xml",
    sentence: "ConScorePrediction, as GetResult of the SOAP service returns it.",
    print: (report) => STORED_FORMS.xml.join(encodePrediction(report)),
  },
} as const satisfies Record<string, ResultForm>;

export type ResultFormName = keyof typeof RESULT_FORMS;
export const RESULT_FORM_NAMES = Object.keys(RESULT_FORMS) as ResultFormName[];

/** The forms of the JSON service: an archive has several of those above. */
export const OFFERED_FORMS = {
  ...RESULT_FORMS,
  eln: {
    contentType: ELN_MEDIA_TYPE,
    aliases: [],
    extension: "eln",
    sentence:
      "An archive for laboratory notebooks, with the query, the result in several forms, and checksums.",
  },
} as const satisfies Record<string, Omit<ResultForm, "print">>;

export type OfferedFormName = keyof typeof OFFERED_FORMS;
export const OFFERED_FORM_NAMES = Object.keys(OFFERED_FORMS) as OfferedFormName[];

/** Forms of the result in an archive. */
const ARCHIVED = ["json", "tsv", "gff3", "stockholm", "a3m", "newick"] as const;

/** A stored result to print. */
export interface PrintTask extends NamedQuery {
  /** The prediction as JSON, as it is stored. */
  parts: Uint8Array<ArrayBuffer>[];
  /** A form of the result, or of its matches in the order of a scan. */
  as:
    | {
        form: ResultFormName;
        /** Number of the alignment to print, from 1. */
        match: number | undefined;
      }
    | { scan: ScanFormName; filter: ScanFilter }
    /** What is known of the query and its matches, as JSON. */
    | { features: true }
    /** The result in an archive. */
    | { archive: ArchivedJob };
  /** Where features of proteins are. */
  source: FeatureSource;
}

/** Two stored results to compare. */
export interface ComparisonTask {
  compared: readonly [StoredJob, StoredJob];
}

/** Stored scans to print as one. */
export interface JointTask {
  joint: readonly StoredJob[];
  form: ScanFormName;
  filter: ScanFilter;
  source: FeatureSource;
}

/** One prediction at a time is in memory. */
function printJointScan({ joint, form, filter, source }: JointTask): string {
  const scans = new JointScan();
  for (const { job, parts, identifier, protein } of joint)
    scans.add(job, withNotes({ identifier, protein, prediction: predictionIn(parts) }, source));
  return scans.print(form, filter);
}

export type AnyTask = PrintTask | ComparisonTask | JointTask;

/** A stored result, a comparison of two, or several scans; an archive as bytes. */
export function printResult(task: AnyTask): string | Uint8Array<ArrayBuffer> {
  if ("joint" in task) return printJointScan(task);
  if ("compared" in task) {
    const [a, b] = task.compared.map(({ parts, ...of }) =>
      Object.assign({ prediction: predictionIn(parts) }, of),
    );
    return JSON.stringify(compare(a, b));
  }
  const { parts, identifier, protein, as, source } = task;
  const plain = { identifier, protein, prediction: predictionIn(parts) };
  if ("features" in as) return JSON.stringify(annotate(plain, source));
  const report = withNotes(plain, source);
  if ("archive" in as) {
    const forms = ARCHIVED.map((name) => {
      const { contentType, extension, sentence, print }: ResultForm = RESULT_FORMS[name];
      return { name: `result.${extension}`, contentType, sentence, text: print(report) };
    });
    const filled = forms.filter(({ text }) => text !== "");
    return resultArchive(report, as.archive, filled);
  }
  if ("form" in as) {
    const form: ResultForm = RESULT_FORMS[as.form];
    return form.print(report, as.match);
  }
  const { head, print } = SCAN_FORMS[as.scan];
  return head + print(report, as.filter);
}

const predictionIn = (parts: PrintTask["parts"]): Prediction => JSON.parse(unpackText(parts)) as Prediction;

/**
 * The form that the Accept header prefers (RFC 9110, section 12.5.1), of equals the first. JSON without a preference, and
 * for browsers, which do not mean their `application/xml`.
 * @throws Problem not_acceptable
 */
export function chooseForm(accept: string | null): OfferedFormName {
  const ranges = qualities(accept ?? "");
  if (ranges.size === 0 || (ranges.get("text/html") ?? 0) > 0) return "json";
  let best: OfferedFormName | undefined;
  let most = 0;
  for (const name of OFFERED_FORM_NAMES) {
    const { contentType, aliases } = OFFERED_FORMS[name];
    const types = [contentType.split(";")[0], ...aliases];
    const quality = Math.max(...types.map((type) => qualityOf(type, ranges)));
    if (quality > most) [best, most] = [name, quality];
  }
  if (best) return best;
  const offered = OFFERED_FORM_NAMES.map((name) => OFFERED_FORMS[name].contentType.split(";")[0]);
  throw new Problem("not_acceptable", `Accept: the result is available as ${offered.join(", ")}.`);
}

/** Quality of the most specific range that contains the type. */
function qualityOf(type: string, ranges: Map<string, number>): number {
  const range = [type, `${type.split("/")[0]}/*`, "*/*"].find((candidate) => ranges.has(candidate));
  return range === undefined ? 0 : ranges.get(range)!;
}

/** Media ranges that are read from a header. */
const MAX_RANGES = 50;

function qualities(accept: string): Map<string, number> {
  const ranges = new Map<string, number>();
  for (const part of accept.split(",", MAX_RANGES)) {
    const [type, ...parameters] = part.split(";").map((word) => word.trim().toLowerCase());
    if (type === "") continue;
    const written = parameters.find((parameter) => parameter.startsWith("q="));
    const quality = written === undefined ? 1 : Number(written.slice(2));
    ranges.set(type, quality >= 0 && quality <= 1 ? quality : 0);
  }
  return ranges;
}
