import { WEIGHT_FLOOR } from "./options.ts";
import type { Tree } from "./tree.ts";

/**
 * Leaf weights by the tree rooted at leaf 0, the query: each branch length is shared equally by the leaves
 * below it, and a leaf's weight is the sum of its shares (Thompson, Higgins & Gibson, CABIOS 1994, 10:19), so
 * near-identical sequences share one weight. The query has weight 0. With fewer than three leaves each
 * homolog has weight 1.
 */
export function treeWeights(tree: Tree): Float64Array {
  const { leaves, parent, length } = tree;
  const weights = new Float64Array(leaves);
  if (leaves < 3) {
    weights.fill(1, 1);
    return weights;
  }
  const nodes = parent.length;
  const below = new Int32Array(nodes).fill(1, 0, leaves);
  for (let node = 0; node < nodes - 1; node++) below[parent[node]] += below[node];
  const shares = new Float64Array(nodes).fill(-1);
  // On the path from the query to the root a branch has all other leaves beyond it, elsewhere those
  // below it.
  shares[0] = 0;
  for (let node = 0; parent[node] >= 0; node = parent[node]) {
    shares[parent[node]] = shares[node] + length[node] / (leaves - below[node]);
  }
  for (let node = nodes - 1; node >= 0; node--) {
    if (shares[node] < 0) shares[node] = shares[parent[node]] + length[node] / below[node];
  }
  for (let leaf = 1; leaf < leaves; leaf++) weights[leaf] = shares[leaf] + WEIGHT_FLOOR;
  return weights;
}
