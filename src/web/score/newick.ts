/** Trees in Newick notation, and their layout. */

interface Node {
  /** Name of the leaf; empty for inner nodes. */
  name: string;
  length: number;
  children: Node[];
}

/** @throws Error if the text is not a tree */
export function parseNewick(text: string): Node {
  let at = 0;
  const label = (): string => {
    if (text[at] === "'") {
      let name = "";
      for (at++; at < text.length; at++) {
        if (text[at] !== "'") name += text[at];
        else if (text[at + 1] === "'") name += text[++at];
        else break;
      }
      at++;
      return name;
    }
    const start = at;
    while (at < text.length && !"(),:;".includes(text[at])) at++;
    return text.slice(start, at).trim();
  };
  const node = (): Node => {
    const children: Node[] = [];
    if (text[at] === "(") {
      do {
        at++;
        children.push(node());
      } while (text[at] === ",");
      if (text[at] !== ")") throw new Error(`Not a tree at character ${at + 1}.`);
      at++;
    }
    const name = label();
    let length = 0;
    if (text[at] === ":") {
      at++;
      length = Number(label());
    }
    return { name, length: Number.isFinite(length) ? Math.max(0, length) : 0, children };
  };
  return node();
}

export interface Layout {
  /** Leaves from top to bottom, with their number in the notation. */
  leaves: { index: number; name: string; depth: number }[];
  /** Horizontal lines from parent to node, and vertical lines across the children of a node. Rows count from 0. */
  branches: { row: number; from: number; to: number }[];
  forks: { depth: number; top: number; bottom: number }[];
  /** The largest distance from the root. */
  depth: number;
}

/** Leaves in rows; the first leaf of the notation, the query, is at the top. */
export function layout(root: Node): Layout {
  const numbers = new Map<Node, number>();
  const number = (node: Node): void => {
    if (node.children.length === 0) numbers.set(node, numbers.size);
    else node.children.forEach(number);
  };
  number(root);
  const first = (node: Node): number => numbers.get(node) ?? Math.min(...node.children.map(first));
  const made: Layout = { leaves: [], branches: [], forks: [], depth: 0 };
  const place = (node: Node, from: number): number => {
    const to = from + node.length;
    made.depth = Math.max(made.depth, to);
    let row: number;
    if (node.children.length === 0) {
      row = made.leaves.length;
      made.leaves.push({ index: numbers.get(node)!, name: node.name, depth: to });
    } else {
      const rows = node.children.toSorted((a, b) => first(a) - first(b)).map((child) => place(child, to));
      const [top, bottom] = [rows[0], rows.at(-1)!];
      made.forks.push({ depth: to, top, bottom });
      row = (top + bottom) / 2;
    }
    made.branches.push({ row, from, to });
    return row;
  };
  place(root, 0);
  return made;
}
