import { type Node, readTree } from "../../motif/rooted-tree.ts";
import { type AlignedRow, type Insertions, findInsertions, readRow } from "./aligned-rows.ts";
import type { Result } from "./result.ts";
import { layout, type Layout } from "./tree-layout.ts";

/** The alignment behind the scores, as parsed once. */
export interface AlignedFamily {
  query: string;
  /** The query, then the homologs. */
  rows: readonly AlignedRow[];
  homologs: readonly AlignedRow[];
  weights: readonly number[];
  conservation: readonly (number | null)[];
  insertions: ReadonlyMap<number, Insertions>;
  tree: Layout;
}

export function alignFamily({ alignment, homologs, tree }: Result): AlignedFamily {
  const root = readTree(tree, homologs);
  const rows = [alignment.query, ...alignment.rows].map(readRow);
  return {
    query: alignment.query,
    rows,
    homologs: rows.slice(1),
    weights: homologs.map(({ weight }) => weight),
    conservation: alignment.conservation,
    insertions: findInsertions(rows),
    tree: layoutTree(root, homologs.length),
  };
}

/** The tree; without one, the query and its homologs in order. */
function layoutTree(root: Node | null, homologs: number): Layout {
  if (root) return layout(root);
  const leaves = Array.from({ length: homologs + 1 }, (_, index) => ({ index, depth: 0 }));
  return { leaves, branches: [], forks: [], depth: 0 };
}
