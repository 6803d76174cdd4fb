import { LIKELY_P, POSSIBLE_P } from "./options.ts";
import type { MatchScore } from "./prediction.ts";

/** Numbers by which matches are ordered; results of earlier versions lack them. */
export type Scored = Partial<Pick<MatchScore, "overallPValue" | "overallPValueIs" | "z">>;

/** Place of the verdict by all evidence: 0 for likely functional, 1 for possible, 2 for no evidence. */
export const verdictLevel = (p: number): 0 | 1 | 2 => (p <= LIKELY_P ? 0 : p <= POSSIBLE_P ? 1 : 2);

/** Matches by z, the highest first; those without z last. */
export const compareZ = (a: Scored, b: Scored): number => (b.z ?? -Infinity) - (a.z ?? -Infinity) || 0;

const levelOf = ({ overallPValue: p }: Scored): number => (p == null ? 3 : verdictLevel(p));

/**
 * Matches by the verdict of all evidence, the best first, then by z. The P value of a match depends on the anchors of its
 * pattern and on its protein, so that a higher z can have a worse verdict.
 */
export const compareEvidence = (a: Scored, b: Scored): number => levelOf(a) - levelOf(b) || compareZ(a, b);
