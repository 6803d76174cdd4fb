import { listLeaves, type Node } from "../../motif/rooted-tree.ts";
import { layout, type Layout } from "./tree-layout.ts";

/** Rows of a folded tree, unless people open more. */
const MOST_ROWS = 14;

/** A tree of which some clades are one row each. */
export interface FoldedTree {
  /** The node of each row, from top to bottom. */
  rows: Node[];
  /** Lines; all rows end at the same depth. */
  drawing: Layout;
  /** The nodes of the drawing and those of the tree that they show. */
  shown: ReadonlyMap<Node, Node>;
}

/**
 * Folds a tree: clades whose leaves differ are unfolded while there is room, of those that differ most the largest first.
 *
 * @param difference how much the leaves of a clade differ; 0 if one row says all.
 * @param opened clades that people have unfolded, whatever the room.
 */
export function foldTree(
  root: Node,
  difference: (node: Node) => number,
  opened: ReadonlySet<Node>,
  most = MOST_ROWS,
): FoldedTree {
  const unfolded = new Set<Node>();
  let rows = [root];
  const room = (): number => most + unfolded.intersection(opened).size;
  for (;;) {
    const inner = rows.filter(({ children }) => children.length > 0);
    const next =
      inner.find((node) => opened.has(node)) ??
      (rows.length < room() ? pickNext(inner, difference) : undefined);
    if (!next) return draw(root, unfolded);
    unfolded.add(next);
    rows = rows.flatMap((node) => (node === next ? node.children : [node]));
  }
}

const pickNext = (nodes: readonly Node[], difference: (node: Node) => number): Node | undefined =>
  nodes
    .map((node) => ({ node, difference: difference(node), size: listLeaves(node).length }))
    .filter((one) => one.difference > 0)
    .toSorted((a, b) => b.difference - a.difference || b.size - a.size)[0]?.node;

function draw(root: Node, unfolded: ReadonlySet<Node>): FoldedTree {
  const shown = new Map<Node, Node>();
  /** A node of the drawing; it is as high as the longest way to its rows. */
  const copy = (node: Node): { node: Node; height: number } => {
    const below = unfolded.has(node) ? node.children.map(copy) : [];
    const height = below.length === 0 ? 0 : 1 + Math.max(...below.map(({ height }) => height));
    for (const child of below) child.node.length = height - child.height;
    const drawn: Node = {
      leaf: below.length === 0 ? Math.min(...listLeaves(node)) : -1,
      length: 0,
      children: below.map((child) => child.node),
    };
    shown.set(drawn, node);
    return { node: drawn, height };
  };
  const drawing = layout(copy(root).node);
  const byLeaf = new Map([...shown].map(([drawn, node]) => [drawn.leaf, node]));
  return { rows: drawing.leaves.map(({ index }) => byLeaf.get(index)!), drawing, shown };
}
