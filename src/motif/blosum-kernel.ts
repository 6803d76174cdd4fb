import { Kernel } from "../kernel/kernel.ts";
import type { Scoring } from "../kernel/scalar.ts";
import { BLOSUM62 } from "./matrix.ts";
import { GAP_FIRST, GAP_NEXT } from "./statistics.ts";

/** BLOSUM62 and the gap costs of search and alignment. */
export const SCORING: Scoring = { matrix: BLOSUM62, gapFirst: GAP_FIRST, gapNext: GAP_NEXT };

let kernel: Kernel | undefined;

/** This thread's kernel with that scoring: made at the first call, since its memory is worth keeping. */
export function blosumKernel(): Kernel {
  return (kernel ??= new Kernel(SCORING));
}
