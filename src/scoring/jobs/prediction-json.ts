import type { Prediction } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";

/**
 * Bytes of a prediction in one form. Real motifs need some ten thousand; a pattern that matches everywhere in a long query
 * would need gigabytes.
 */
export const MAX_PREDICTION = 64 * 1024 * 1024;

export const tooLarge = (): Problem =>
  new Problem(
    "too_large",
    `The prediction would take more than ${MAX_PREDICTION / 1024 / 1024} MB, which is the limit: the patterns match nearly everywhere. Use more specific ones.`,
  );

/** A prediction as JSON. @throws Problem too_large */
export function printJson(prediction: Prediction): string {
  const json = JSON.stringify(prediction);
  if (json.length > MAX_PREDICTION) throw tooLarge();
  return json;
}
