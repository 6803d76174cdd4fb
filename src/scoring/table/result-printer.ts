import { encodePrediction } from "../prediction/encode-prediction.ts";
import { escapeAttribute, XML_DECLARATION } from "../prediction/xml-text.ts";
import { PREDICTION_NAMESPACE } from "../prediction/con-score-prediction.ts";
import { GFF3_HEADER, printFeatures } from "./result-gff3.ts";
import { HEADER_ROW, printRows } from "./result-rows.ts";
import type { Scored } from "../batch/score.ts";

/** A format for a series of predictions. */
interface ResultPrinter {
  head: string;
  print(scored: Scored): string;
  tail: string;
  /** A remark between them; `json` is one line. */
  remark(json: string): string;
}

const commentLine = (json: string): string => `#labd-shard ${json}\n`;

const report = ({ accession, protein, prediction, notes }: Scored) => ({
  identifier: accession,
  protein,
  prediction,
  ...(notes && { notes }),
});

/** The formats of `labd score`. */
export const PRINTERS = {
  tsv: { head: HEADER_ROW, print: (scored) => printRows(report(scored)), tail: "", remark: commentLine },
  // One object per line, so that readers need not wait for the end of a list.
  json: {
    head: "",
    print: (scored) => `${JSON.stringify(scored)}\n`,
    tail: "",
    remark: (json) => `{"labd-shard":${json}}\n`,
  },
  gff3: {
    head: GFF3_HEADER,
    print: (scored) => printFeatures(report(scored)),
    tail: "",
    remark: commentLine,
  },
  // Predictions of the schema in a root element.
  xml: {
    head: `${XML_DECLARATION}\n<ConScorePredictions xmlns="${escapeAttribute(PREDICTION_NAMESPACE)}">\n`,
    print: (scored) => `${encodePrediction(report(scored))}\n`,
    tail: "</ConScorePredictions>\n",
    // Two hyphens would end the comment.
    remark: (json) => `<!--labd-shard ${json.replaceAll("-", "\\u002d")}-->\n`,
  },
} as const satisfies Record<string, ResultPrinter>;

export type PrinterName = keyof typeof PRINTERS;
