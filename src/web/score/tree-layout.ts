import { listLeaves, type Node } from "../../motif/rooted-tree.ts";

export interface Layout {
  /** Leaves from top to bottom, with their number. */
  leaves: { index: number; depth: number }[];
  /** Horizontal lines from parent to node, and vertical lines across the children of a node. Rows count from 0. */
  branches: { node: Node; row: number; from: number; to: number }[];
  forks: { depth: number; top: number; bottom: number }[];
  /** The largest distance from the root. */
  depth: number;
}

/** Leaves in rows; the query is at the top, and of clades that with the best homolog is first. */
export function layout(root: Node): Layout {
  const first = (node: Node): number => Math.min(...listLeaves(node));
  const made: Layout = { leaves: [], branches: [], forks: [], depth: 0 };
  const place = (node: Node, from: number): number => {
    const to = from + node.length;
    made.depth = Math.max(made.depth, to);
    let row: number;
    if (node.children.length === 0) {
      row = made.leaves.length;
      made.leaves.push({ index: node.leaf, depth: to });
    } else {
      const rows = node.children.toSorted((a, b) => first(a) - first(b)).map((child) => place(child, to));
      const [top, bottom] = [rows[0], rows.at(-1)!];
      made.forks.push({ depth: to, top, bottom });
      row = (top + bottom) / 2;
    }
    made.branches.push({ node, row, from, to });
    return row;
  };
  place(root, 0);
  return made;
}
