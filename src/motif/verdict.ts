import type { PValue } from "./null-distribution.ts";
import { CONSERVED_P, WEAKLY_CONSERVED_P } from "./options.ts";
import type { Verdict } from "./prediction.ts";

/** The P value in words; without one the data are insufficient, whatever the reason. */
export function verdictOf(pValue: PValue | null): Verdict {
  if (pValue === null) return "insufficient data";
  if (pValue.p <= CONSERVED_P) return "conserved";
  return pValue.p <= WEAKLY_CONSERVED_P ? "weakly conserved" : "not conserved";
}
