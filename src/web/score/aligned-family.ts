import { type AlignedRow, type Insertions, findInsertions, readRow } from "./aligned-rows.ts";
import { layout, type Layout, parseNewick } from "./newick.ts";
import type { Result } from "./result.ts";

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
  const rows = [alignment.query, ...alignment.rows].map(readRow);
  return {
    query: alignment.query,
    rows,
    homologs: rows.slice(1),
    weights: homologs.map(({ weight }) => weight),
    conservation: alignment.conservation,
    insertions: findInsertions(rows),
    tree: layoutTree(tree, homologs.length),
  };
}

/** The tree; without one, the query and its homologs in order. */
function layoutTree(tree: string, homologs: number): Layout {
  try {
    const drawn = layout(parseNewick(tree.replace(/;\s*$/, "")));
    if (drawn.leaves.length === homologs + 1) return drawn;
  } catch {
    // The rows are shown without a tree.
  }
  const leaves = Array.from({ length: homologs + 1 }, (_, index) => ({ index, name: "", depth: 0 }));
  return { leaves, branches: [], forks: [], depth: 0 };
}
