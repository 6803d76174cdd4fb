import { WEIGHT_FLOOR } from "./options.ts";
import type { Tree } from "./tree.ts";

/**
 * Weights of the leaves by the tree as seen from leaf 0, the query: each branch's length is shared equally by the leaves
 * beyond it, and a leaf's weight is the sum of its shares on the way from the query. They add up to the tree's length,
 * so near-identical sequences share one weight (the weighting of Thompson, Higgins & Gibson, CABIOS 1994, 10:19, rooted at the query).
 * The query itself has weight 0. With fewer than three leaves there is no tree to speak of: each homolog weighs 1.
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
  // From the query up to the root a branch has all other leaves beyond it, elsewhere those below it.
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
