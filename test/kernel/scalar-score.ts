import type { Scoring } from "../../src/kernel/scalar.ts";

/** Best local score of two sequences (Smith & Waterman 1981 with affine gaps after Gotoh 1982); 0 if none is positive. */
export function scorePlain(query: Uint8Array, subject: Uint8Array, scoring: Scoring): number {
  const { matrix, gapFirst, gapNext } = scoring;
  const h = new Int32Array(query.length);
  const e = new Int32Array(query.length);
  let best = 0;
  for (let j = 0; j < subject.length; j++) {
    const row = subject[j] & 31;
    let diagonal = 0;
    let f = 0;
    for (let i = 0; i < query.length; i++) {
      const score = (diagonal + matrix[((query[i] & 31) << 5) + row]) | 0;
      const cell = Math.max(score, e[i], f, 0) | 0;
      diagonal = h[i];
      h[i] = cell;
      best = Math.max(best, cell) | 0;
      const opened = (cell - gapFirst) | 0;
      e[i] = Math.max(e[i] - gapNext, opened) | 0;
      f = Math.max(f - gapNext, opened) | 0;
    }
  }
  return best;
}
