import { Kernel } from "../kernel/kernel.ts";
import type { Scoring } from "../kernel/scalar.ts";
import { BLOSUM62 } from "./matrix.ts";
import { GAP_FIRST, GAP_NEXT } from "./statistics.ts";

/** Matrix and gap costs of search and alignment. */
export const SCORING: Scoring = { matrix: BLOSUM62, gapFirst: GAP_FIRST, gapNext: GAP_NEXT };

let kernel: Kernel | undefined;

/** This thread's kernel, created on first use. */
export function blosumKernel(): Kernel {
  return (kernel ??= new Kernel(SCORING));
}
