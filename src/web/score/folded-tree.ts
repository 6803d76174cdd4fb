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
 * Folds a tree: clades are unfolded while their leaves differ and there is room, the largest first.
 *
 * @param isAlike whether the leaves of a clade are so alike that one row says all.
 * @param opened clades that people have unfolded, whatever the room.
 */
export function foldTree(
  root: Node,
  isAlike: (node: Node) => boolean,
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
      (rows.length < room() ? largest(inner.filter((node) => !isAlike(node))) : undefined);
    if (!next) return draw(root, unfolded);
    unfolded.add(next);
    rows = rows.flatMap((node) => (node === next ? node.children : [node]));
  }
}

function largest(nodes: readonly Node[]): Node | undefined {
  const sizes = nodes.map((node) => listLeaves(node).length);
  return nodes[sizes.indexOf(Math.max(...sizes))];
}

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
