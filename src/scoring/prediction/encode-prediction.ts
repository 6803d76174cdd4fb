import { type ComplexType, CON_SCORE_PREDICTION, PREDICTION_NAMESPACE } from "./con-score-prediction.ts";
import type { PredictionReport } from "./prediction.ts";
import { escapeText, printNumber } from "./xml-text.ts";

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
  const printParts = (type: ComplexType<never>, source: unknown): string => {
    let out = "";
    for (const { name, type: inner, read } of type.parts)
      for (const item of read(source as never, report)) {
        const text = typeof inner === "string" ? printValue(item) : printParts(inner, item);
        const element = `<p:${name}>${text}</p:${name}>`;
        length += typeof inner === "string" ? element.length : element.length - text.length;
        if (length > limit && tooLong) throw tooLong();
        out += element;
      }
    return out;
  };
  const name = `p:${CON_SCORE_PREDICTION.name}`;
  const content = printParts(CON_SCORE_PREDICTION as ComplexType<never>, report);
  return `<${name} xmlns:p="${PREDICTION_NAMESPACE}">${content}</${name}>`;
}

const printValue = (item: unknown): string =>
  typeof item === "number" ? printNumber(item) : escapeText(String(item));
