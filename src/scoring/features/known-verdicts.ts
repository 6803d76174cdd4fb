import type { MatchScore, Prediction } from "../../motif/index.ts";
import { findVerdict } from "../table/verdict.ts";
import { type AnnotatedReport, featureFilesIn, type FeatureSource, findQueryFeatures } from "./annotation.ts";
import { isInstance } from "./feature.ts";

/** A prediction as documents print it: with the verdict of tables on each match, and that of its score beside it. */
export function withKnownVerdicts({ prediction, notes = [] }: AnnotatedReport): Prediction {
  let number = 0;
  const judge = (match: MatchScore): MatchScore => {
    const verdict = findVerdict({ verdict: match.verdict, notes: notes[number++] });
    if (verdict !== "known instance") return match;
    const { verdict: scoreVerdict } = match;
    return Object.assign({}, match, { verdict, overallVerdict: verdict, scoreVerdict });
  };
  if (notes.length === 0) return prediction;
  const patterns = prediction.patterns.map((pattern) =>
    Object.assign({}, pattern, { matches: pattern.matches.map(judge) }),
  );
  return { ...prediction, patterns };
}

/** True if an instance is known in a query, so that its stored result lacks a verdict. */
export function hasKnownInstance(
  { identifier, query }: { identifier: string; query: string },
  { dataDirectory }: Pick<FeatureSource, "dataDirectory">,
): boolean {
  const files = featureFilesIn(dataDirectory);
  if (files.isEmpty || query === "") return false;
  const { features } = findQueryFeatures(files, query.toUpperCase(), identifier);
  return features.some((feature) => isInstance(feature) && feature.logic === "true positive");
}
