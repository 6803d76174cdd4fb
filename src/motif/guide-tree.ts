/**
 * Guide tree of progressive alignment by a mixture of average and single linkage, as in MAFFT (Katoh et al.,
 * Nucleic Acids Res. 2002, 30:3059). Ties by order.
 *
 * @param matrix symmetric distances, size × size.
 * @returns size − 1 joins of two clusters: sequences are numbered below size, the k-th join makes cluster
 * size + k.
 */
export function guideTree(matrix: Float64Array, size: number): [number, number][] {
  const d = matrix.slice();
  const numbers = Int32Array.from({ length: size }, (_, i) => i);
  const members = new Int32Array(size).fill(1);
  const live = Array.from({ length: size }, (_, i) => i);
  const joins: [number, number][] = [];
  while (live.length > 1) {
    let min = Infinity;
    let first = 0;
    let second = 1;
    for (let x = 0; x < live.length; x++) {
      const row = live[x] * size;
      for (let y = x + 1; y < live.length; y++) {
        if (d[row + live[y]] < min) {
          min = d[row + live[y]];
          first = x;
          second = y;
        }
      }
    }
    const [i, j] = [live[first], live[second]];
    joins.push([numbers[i], numbers[j]]);
    const merged = members[i] + members[j];
    for (const k of live) {
      if (k === i || k === j) continue;
      const [toI, toJ] = [d[i * size + k], d[j * size + k]];
      const average = (toI * members[i] + toJ * members[j]) / merged;
      d[i * size + k] = d[k * size + i] =
        (1 - SINGLE_LINKAGE) * average + SINGLE_LINKAGE * Math.min(toI, toJ);
    }
    members[i] = merged;
    numbers[i] = size + joins.length - 1;
    live.splice(second, 1);
  }
  return joins;
}

/** MAFFT's fraction of single linkage. */
const SINGLE_LINKAGE = 0.1;
