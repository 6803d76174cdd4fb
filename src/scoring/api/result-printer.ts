import { encodePrediction } from "../contract/encode.ts";
import { escapeAttribute, XML_DECLARATION } from "../contract/xml-text.ts";
import { PREDICTION_NAMESPACE } from "../contract/namespaces.ts";
import { GFF3_HEADER, printFeatures } from "./result-gff3.ts";
import { HEADER_ROW, printRows } from "./result-rows.ts";
import type { Scored } from "../batch/score.ts";

/** A form for predictions that come one after the other: what stands before the first, for each, and after the last. */
export interface ResultPrinter {
  head: string;
  print(scored: Scored): string;
  tail: string;
  /** A line between them that is no prediction; `json` is one line. */
  remark(json: string): string;
}

const commentLine = (json: string): string => `#labd-shard ${json}\n`;

const report = ({ accession, prediction }: Scored) => ({ identifier: accession, prediction });

/** What `labd score` prints. */
export const PRINTERS = {
  tsv: { head: HEADER_ROW, print: (scored) => printRows(report(scored)), tail: "", remark: commentLine },
  // One object a line, since a list would have to be read to its end before its first item.
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
  // A document has one root, so that several predictions need one around them; each is as the schema says.
  xml: {
    head: `${XML_DECLARATION}\n<ConScorePredictions xmlns="${escapeAttribute(PREDICTION_NAMESPACE)}">\n`,
    print: (scored) => `${encodePrediction(report(scored))}\n`,
    tail: "</ConScorePredictions>\n",
    // Two hyphens would end the comment.
    remark: (json) => `<!--labd-shard ${json.replaceAll("-", "\\u002d")}-->\n`,
  },
} as const satisfies Record<string, ResultPrinter>;

export type PrinterName = keyof typeof PRINTERS;
