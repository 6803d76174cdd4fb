import { encodePrediction } from "../contract/encode.ts";
import { XML_DECLARATION } from "../contract/xml-text.ts";
import type { PredictionReport } from "../contract/prediction.ts";
import { Problem } from "../../problem.ts";
import { printA3m, printAlignedFasta, printStockholm } from "./result-alignment.ts";
import { printGff3 } from "./result-gff3.ts";
import { printTable } from "./result-rows.ts";

/** The forms in which a prediction can be had: one row per form, for the addresses, their documentation and the shell. */
export interface ResultForm {
  /** Content-Type of the answer. */
  contentType: string;
  /** What an Accept header may say for it, besides. */
  aliases: readonly string[];
  /** Of a file that holds it. */
  extension: string;
  sentence: string;
  /** `match` counts from 1 and picks one alignment; other forms do not look at it. */
  print(report: PredictionReport, match?: number): string;
}

export const RESULT_FORMS = {
  json: {
    contentType: "application/json",
    aliases: [],
    extension: "json",
    sentence: "Everything that is known: the prediction, and `identifier`, the client's name for the query.",
    print: ({ identifier, prediction }) => JSON.stringify({ identifier, ...prediction }),
  },
  tsv: {
    contentType: "text/tab-separated-values; charset=utf-8",
    aliases: [],
    extension: "tsv",
    sentence: "One row per match, one row for a pattern that matches nowhere.",
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
    sentence: "One alignment per match: the query, and its homologs there.",
    print: printStockholm,
  },
  fasta: {
    contentType: "text/x-fasta; charset=utf-8",
    aliases: ["text/fasta"],
    extension: "fasta",
    sentence: "The same alignments as aligned FASTA, one after the other; `match` picks one.",
    print: printAlignedFasta,
  },
  a3m: {
    contentType: "text/x-a3m; charset=utf-8",
    aliases: ["text/a3m"],
    extension: "a3m",
    sentence: "The whole alignment that the scores were read from: query first, insertions in lower case.",
    print: printA3m,
  },
  newick: {
    contentType: "text/x-nh; charset=utf-8",
    aliases: ["text/newick", "text/x-newick"],
    extension: "nwk",
    sentence: "The tree of the query, which is named `query`, and its homologs.",
    // A tree of one leaf, where there is no homolog: the notation has no empty tree.
    print: ({ prediction }) => `${prediction.tree === "" ? "query;" : prediction.tree}\n`,
  },
  xml: {
    contentType: "application/xml; charset=utf-8",
    aliases: ["text/xml"],
    extension: "xml",
    sentence: "ConScorePrediction, as GetResult of the SOAP service answers it.",
    print: (report) => `${XML_DECLARATION}\n${encodePrediction(report)}\n`,
  },
} as const satisfies Record<string, ResultForm>;

export type ResultFormName = keyof typeof RESULT_FORMS;
export const RESULT_FORM_NAMES = Object.keys(RESULT_FORMS) as ResultFormName[];

/**
 * The form for a request: that of the parameter `format`, else the best by the Accept header (RFC 9110, section
 * 12.5.1), of equals the first. JSON where nothing is said, and for browsers, whose `application/xml` is not meant.
 * @throws Problem invalid_request for an unknown format, not_acceptable
 */
export function chooseForm(format: string | null, accept: string | null): ResultFormName {
  if (format !== null) {
    const named = RESULT_FORM_NAMES.find((name) => name === format);
    if (named) return named;
    const text = `format: expected one of ${RESULT_FORM_NAMES.join(", ")}.`;
    throw new Problem("invalid_request", text, { fields: { format: [text] } });
  }
  const ranges = qualities(accept ?? "");
  if (ranges.size === 0 || (ranges.get("text/html") ?? 0) > 0) return "json";
  let best: ResultFormName | undefined;
  let most = 0;
  for (const name of RESULT_FORM_NAMES) {
    const { contentType, aliases } = RESULT_FORMS[name];
    const types = [contentType.split(";")[0], ...aliases];
    const quality = Math.max(...types.map((type) => qualityOf(type, ranges)));
    if (quality > most) [best, most] = [name, quality];
  }
  if (best) return best;
  const offered = RESULT_FORM_NAMES.map((name) => RESULT_FORMS[name].contentType.split(";")[0]);
  throw new Problem("not_acceptable", `Accept: the result can be had as ${offered.join(", ")}.`);
}

/** The most specific range that holds the type decides. */
function qualityOf(type: string, ranges: Map<string, number>): number {
  const range = [type, `${type.split("/")[0]}/*`, "*/*"].find((candidate) => ranges.has(candidate));
  return range === undefined ? 0 : ranges.get(range)!;
}

/** Media ranges that a header may name; more are not looked at. */
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
