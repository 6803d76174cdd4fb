import type { PhosphoResidue } from "./knowledge.ts";
import type { Node } from "./pattern-tree.ts";
import type { Pattern } from "./pattern.ts";

/**
 * The first residue that a pattern encloses in a group of its own, `(T)` or `([ST])`: ELM marks residues to be modified.
 * Null without one outside of alternatives and repeats.
 */
export function markedResidue({ root }: Pattern): PhosphoResidue | null {
  const items = root.kind === "sequence" ? root.items : [root];
  const index = items.findIndex((item) => readMarked(item) !== null);
  if (index < 0) return null;
  const before = totalLength(items.slice(0, index));
  const after = totalLength(items.slice(index + 1));
  const fromEnd = after === null ? null : -1 - after;
  return { letters: readMarked(items[index])!, at: before === null ? fromEnd : before + 1 };
}

/** Letters of a group of one residue. */
function readMarked(node: Node): string | null {
  if (node.kind !== "group" || node.child.kind !== "set" || node.child.form !== "listed") return null;
  return node.child.written.replace(/[[\]]/g, "");
}

/** Residues that nodes in a row match; null if their number varies. */
function totalLength(nodes: readonly Node[]): number | null {
  return nodes.reduce<number | null>((sum, node) => {
    const length = fixedLength(node);
    return sum === null || length === null ? null : sum + length;
  }, 0);
}

function fixedLength(node: Node): number | null {
  switch (node.kind) {
    case "set":
      return 1;
    case "start":
    case "end":
    case "lookaround":
      return 0;
    case "group":
      return fixedLength(node.child);
    case "sequence":
      return totalLength(node.items);
    case "choice": {
      const lengths = new Set(node.items.map(fixedLength));
      return lengths.size === 1 ? [...lengths][0] : null;
    }
    case "repeat": {
      const length = fixedLength(node.child);
      return length === null || node.min !== node.max ? null : node.min * length;
    }
  }
}
