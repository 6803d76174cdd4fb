/**
 * An unrooted tree with `leaves` leaves, numbered first, in the order of the distances. Every node has a
 * lower number than its parent; the last is an arbitrary root.
 */
export interface Tree {
  leaves: number;
  /** −1 for the root. */
  parent: Int32Array;
  /** Branch length to the parent in substitutions per site, at least 0. */
  length: Float64Array;
}

/** Relative difference of two criteria below which a pair ties, so that rounding does not decide. */
const TIE = 1e-12;

/** Joins after which the running row sums are recomputed, before rounding errors could reach TIE. */
const SUM_REFRESH_INTERVAL = 16;

/**
 * Neighbour joining (Saitou & Nei, Mol. Biol. Evol. 1987, 4:406) with the criterion of Studier & Keppler,
 * ibid. 1988, 5:729. Negative branches become 0. Among tied pairs the lowest-numbered is joined.
 *
 * @param matrix symmetric, size × size.
 */
export function neighbourJoining(matrix: Float64Array, size: number): Tree {
  const nodes = size < 2 ? size : size === 2 ? 3 : 2 * size - 2;
  const tree: Tree = {
    leaves: size,
    parent: new Int32Array(nodes).fill(-1),
    length: new Float64Array(nodes),
  };
  if (size < 2) return tree;
  if (size === 2) {
    attach(tree, 0, 2, matrix[1] / 2);
    attach(tree, 1, 2, matrix[1] / 2);
    return tree;
  }
  // Live rows are in slots 0..live−1; `ids` has the node of each slot. A join frees one slot, filled
  // from the end.
  const d = matrix.slice();
  const ids = Int32Array.from({ length: size }, (_, i) => i);
  const sums = new Float64Array(size);
  const slack = TIE * size * d.reduce((most, distance) => Math.max(most, distance), 0);
  const joining = { d, size, sums, ids, slack };
  let inner = size;
  for (let live = size; live > 3; live--) {
    if ((size - live) % SUM_REFRESH_INTERVAL === 0) sumRows(d, size, live, sums);
    const [i, j] = closestPair(joining, live);
    const between = d[i * size + j];
    const toI = 0.5 * between + (sums[i] - sums[j]) / (2 * (live - 2));
    attach(tree, ids[i], inner, toI);
    attach(tree, ids[j], inner, between - toI);
    let sum = 0;
    for (let k = 0; k < live; k++) {
      if (k === i || k === j) continue;
      const [fromI, fromJ] = [d[i * size + k], d[j * size + k]];
      const joined = Math.max(0, 0.5 * (fromI + fromJ - between));
      d[i * size + k] = d[k * size + i] = joined;
      sums[k] += joined - fromI - fromJ;
      sum += joined;
    }
    ids[i] = inner++;
    sums[i] = sum;
    moveSlot(d, size, live - 1, j);
    ids[j] = ids[live - 1];
    sums[j] = sums[live - 1];
  }
  const [a, b, c] = [d[1], d[2], d[size + 2]];
  attach(tree, ids[0], inner, (a + b - c) / 2);
  attach(tree, ids[1], inner, (a + c - b) / 2);
  attach(tree, ids[2], inner, (b + c - a) / 2);
  return tree;
}

function attach(tree: Tree, node: number, parent: number, length: number): void {
  tree.parent[node] = parent;
  tree.length[node] = Math.max(0, length);
}

function sumRows(d: Float64Array, stride: number, live: number, sums: Float64Array): void {
  for (let i = 0; i < live; i++) {
    const row = i * stride;
    let even = 0;
    let odd = 0;
    let j = 0;
    for (; j + 1 < live; j += 2) {
      even += d[row + j];
      odd += d[row + j + 1];
    }
    sums[i] = even + odd + (j < live ? d[row + j] : 0);
  }
}

interface Joining {
  /** Distances, `size` × `size` slots. */
  d: Float64Array;
  size: number;
  sums: Float64Array;
  /** Node in each slot. */
  ids: Int32Array;
  /** Criteria closer than this are tied. */
  slack: number;
}

/** Slots of the pair to join, the lower-numbered node first. */
function closestPair({ d, size, sums, ids, slack }: Joining, live: number): [number, number] {
  const factor = live - 2;
  let best = Infinity;
  let bestI = 0;
  let bestJ = 1;
  for (let i = 0; i < live; i++) {
    const row = i * size;
    const sum = sums[i];
    // Excludes most pairs with one comparison.
    let limit = best + 2 * slack + sum;
    for (let j = i + 1; j < live; j++) {
      if (factor * d[row + j] - sums[j] > limit) continue;
      const criterion = factor * d[row + j] - sum - sums[j];
      if (criterion > best + slack) continue;
      if (criterion >= best - slack && !precedes(ids, i, j, bestI, bestJ)) continue;
      best = criterion;
      limit = best + 2 * slack + sum;
      bestI = i;
      bestJ = j;
    }
  }
  return ids[bestI] < ids[bestJ] ? [bestI, bestJ] : [bestJ, bestI];
}

/**
 * True if the pair of nodes in slots (i, j) precedes that in (k, l): by the lower number, then the higher.
 */
function precedes(ids: Int32Array, i: number, j: number, k: number, l: number): boolean {
  const low = Math.min(ids[i], ids[j]) - Math.min(ids[k], ids[l]);
  return low < 0 || (low === 0 && Math.max(ids[i], ids[j]) < Math.max(ids[k], ids[l]));
}

function moveSlot(d: Float64Array, stride: number, from: number, to: number): void {
  if (from === to) return;
  for (let k = 0; k < from; k++) d[to * stride + k] = d[k * stride + to] = d[from * stride + k];
  d[to * stride + to] = 0;
}

/**
 * Newick text with branch lengths to six decimals. Names with characters other than letters, digits and
 * `.-|/+` are quoted. Empty for an empty tree.
 */
export function newick(tree: Tree, names: readonly string[]): string {
  const nodes = tree.parent.length;
  if (nodes === 0) return "";
  const children: number[][] = Array.from({ length: nodes }, () => []);
  for (let node = 0; node < nodes - 1; node++) children[tree.parent[node]].push(node);
  const text: string[] = [];
  for (let node = 0; node < nodes; node++) {
    const label =
      node < tree.leaves ? newickName(names[node]) : `(${children[node].map((c) => text[c]).join(",")})`;
    for (const child of children[node]) text[child] = "";
    text[node] = node === nodes - 1 ? `${label};` : `${label}:${Number(tree.length[node].toFixed(6))}`;
  }
  return text[nodes - 1];
}

/** A name in Newick text, quoted where necessary. */
export function newickName(name: string): string {
  return /^[A-Za-z0-9.|/+-]+$/.test(name) ? name : `'${name.replaceAll("'", "''")}'`;
}
