/**
 * The order in which sequences are put together: clusters by a mixture of average and least distance (UPGMA with a part of
 * single linkage, as MAFFT's guide tree: Katoh et al., Nucleic Acids Res. 2002, 30:3059). Ties by order.
 *
 * @param matrix symmetric distances, size × size, row by row; not changed.
 * @returns size − 1 joins of two clusters: sequences have the numbers below size, the k-th join makes cluster size + k.
 */
export function guideTree(matrix: Float64Array, size: number): [number, number][] {
  const d = matrix.slice();
  const numbers = Int32Array.from({ length: size }, (_, i) => i);
  const members = new Int32Array(size).fill(1);
  const live = Array.from({ length: size }, (_, i) => i);
  const joins: [number, number][] = [];
  while (live.length > 1) {
    let least = Infinity;
    let first = 0;
    let second = 1;
    for (let x = 0; x < live.length; x++) {
      const row = live[x] * size;
      for (let y = x + 1; y < live.length; y++) {
        if (d[row + live[y]] < least) {
          least = d[row + live[y]];
          first = x;
          second = y;
        }
      }
    }
    const [i, j] = [live[first], live[second]];
    joins.push([numbers[i], numbers[j]]);
    const together = members[i] + members[j];
    for (const k of live) {
      if (k === i || k === j) continue;
      const [toOne, toOther] = [d[i * size + k], d[j * size + k]];
      const average = (toOne * members[i] + toOther * members[j]) / together;
      d[i * size + k] = d[k * size + i] =
        (1 - SINGLE_LINKAGE) * average + SINGLE_LINKAGE * Math.min(toOne, toOther);
    }
    members[i] = together;
    numbers[i] = size + joins.length - 1;
    live.splice(second, 1);
  }
  return joins;
}

/** MAFFT's mixture. */
const SINGLE_LINKAGE = 0.1;
