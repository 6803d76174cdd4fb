import type { Provenance } from "../table/provenance.ts";
import {
  type ComplexType,
  CON_SCORE_PREDICTION,
  PREDICTION_NAMESPACE,
  PROVENANCE,
} from "./con-score-prediction.ts";
import type { PredictionReport } from "./prediction.ts";
import { escapeText, printNumber } from "../../platform/xml-text.ts";

/**
 * The element ConScorePrediction in its own namespace.
 * @throws the error of `tooLong` once more than `limit` characters have been printed
 */
export function encodePrediction(
  report: PredictionReport,
  limit = Number.POSITIVE_INFINITY,
  tooLong?: () => Error,
): string {
  let length = 0;
  const count = (characters: number): void => {
    length += characters;
    if (length > limit && tooLong) throw tooLong();
  };
  const content = printParts(CON_SCORE_PREDICTION as ComplexType<never>, report, { report, count });
  return `<p:${CON_SCORE_PREDICTION.name} xmlns:p="${PREDICTION_NAMESPACE}">${content}${CLOSING_TAG}`;
}

/** The end of a printed prediction, before which its provenance stands. */
export const CLOSING_TAG = `</p:${CON_SCORE_PREDICTION.name}>`;

/** The elements of a provenance, for a prediction that was printed without them. */
export const encodeProvenance = (provenance: Provenance): string => {
  const report = { provenance } as PredictionReport;
  return printParts({ ...CON_SCORE_PREDICTION, parts: [PROVENANCE] } as ComplexType<never>, report, {
    report,
  });
};

interface Printing {
  report: PredictionReport;
  count?: (characters: number) => void;
}

function printParts(type: ComplexType<never>, source: unknown, printing: Printing): string {
  let out = "";
  for (const { name, type: inner, read } of type.parts)
    for (const item of read(source as never, printing.report)) {
      const text = typeof inner === "string" ? printValue(item) : printParts(inner, item, printing);
      const element = `<p:${name}>${text}</p:${name}>`;
      printing.count?.(typeof inner === "string" ? element.length : element.length - text.length);
      out += element;
    }
  return out;
}

const printValue = (item: unknown): string =>
  typeof item === "number" ? printNumber(item) : escapeText(String(item));
