import type { Tree } from "../../src/motif/tree.ts";

/** Distance matrix of the leaves along the branches. */
export function pathLengths({ leaves, parent, length }: Tree): Float64Array {
  const matrix = new Float64Array(leaves * leaves);
  for (let i = 0; i < leaves; i++) {
    const up = new Map<number, number>();
    for (let node = i, sum = 0; node >= 0; sum += length[node], node = parent[node]) up.set(node, sum);
    for (let j = 0; j < leaves; j++) {
      let node = j;
      let sum = 0;
      for (; !up.has(node); node = parent[node]) sum += length[node];
      matrix[i * leaves + j] = sum + up.get(node)!;
    }
  }
  return matrix;
}

/** Random tree with positive branches: leaves joined at random, the last three at the root. */
export function randomTree(next: () => number, leaves: number): Tree {
  const nodes = 2 * leaves - 2;
  const parent = new Int32Array(nodes).fill(-1);
  const length = Float64Array.from({ length: nodes }, (_, i) => (i === nodes - 1 ? 0 : 0.01 + next()));
  const free = Array.from({ length: leaves }, (_, i) => i);
  for (let inner = leaves; inner < nodes; inner++) {
    for (let k = inner === nodes - 1 ? 3 : 2; k > 0; k--) {
      parent[free.splice(Math.floor(next() * free.length), 1)[0]] = inner;
    }
    free.push(inner);
  }
  return { leaves, parent, length };
}
