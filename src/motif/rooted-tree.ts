import type { Tree } from "./tree.ts";

/** A node of a rooted tree. */
export interface Node {
  /** Number of the leaf: 0 is the query, i is homolog i − 1; −1 for inner nodes. */
  leaf: number;
  /** Length of the branch to the parent in substitutions per site, at least 0. */
  length: number;
  /** Empty for leaves. */
  children: readonly Node[];
}

/** The tree of a family, rooted at its midpoint. */
export function rootTree({ leaves, parent, length }: Tree): Node {
  const children = Array.from(parent, (): Node[] => []);
  const nodes = children.map((own, i): Node => ({
    leaf: i < leaves ? i : -1,
    length: length[i],
    children: own,
  }));
  for (let node = 0; node < nodes.length - 1; node++) children[parent[node]].push(nodes[node]);
  return rootAtMidpoint(nodes.at(-1)!);
}

/**
 * Parses the tree of a prediction in Newick notation, and roots it at its midpoint.
 *
 * @param names names of the leaves by number; of equal names, the first in the notation is the first here.
 * @throws Error if the text is not a tree of these leaves
 */
export function parseNewick(text: string, names: readonly string[]): Node {
  const numbers = Map.groupBy(names.keys(), (number) => names[number]);
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
    const leaf = children.length > 0 ? -1 : numbers.get(name)?.shift();
    if (leaf === undefined) throw new Error(`Not a tree of these proteins: ${name}.`);
    let length = 0;
    if (text[at] === ":") {
      at++;
      length = Number(label());
    }
    return { leaf, length: Number.isFinite(length) ? Math.max(0, length) : 0, children };
  };
  return rootAtMidpoint(node());
}

/** The tree of a stored prediction; null if it has none of its homologs. */
export function readTree(text: string, homologs: readonly { accession: string }[]): Node | null {
  try {
    const root = parseNewick(text, ["query", ...homologs.map(({ accession }) => accession)]);
    return listLeaves(root).length === homologs.length + 1 ? root : null;
  } catch {
    return null;
  }
}

/** Numbers of the leaves of a clade. */
export const listLeaves = (node: Node): number[] =>
  node.children.length === 0 ? [node.leaf] : node.children.flatMap(listLeaves);

/**
 * The tree with its root in the middle of the longest path between two leaves (Farris, Am. Nat. 1972, 106:645), where the
 * common ancestor is if the branches evolved at one rate.
 */
function rootAtMidpoint(root: Node): Node {
  const { down, path, longest } = findLongestPath(root);
  // The path goes from the root to the deeper end of the longest path.
  let above = down - longest / 2;
  let end = 1;
  for (; end < path.length - 1 && above > path[end].length; end++) above -= path[end].length;
  if (end >= path.length || longest === 0) return root;
  const below = path[end];
  const cut = Math.min(above, below.length);
  /** The part of the tree that hangs from a node of the path once its child on the path is cut off. */
  const hang = (i: number, length: number): Node => {
    const others = path[i].children.filter((child) => child !== path[i + 1]);
    const children = i > 0 ? [...others, hang(i - 1, path[i].length)] : others;
    const [only] = children;
    return children.length === 1 ? { ...only, length: only.length + length } : { leaf: -1, length, children };
  };
  return { leaf: -1, length: 0, children: [{ ...below, length: below.length - cut }, hang(end - 1, cut)] };
}

/**
 * The longest path between two leaves: its length, the nodes from the root to its end that is deeper, and the depth of that
 * end.
 */
function findLongestPath(root: Node): { longest: number; path: Node[]; down: number } {
  let best = { longest: 0, path: [root], down: 0 };
  /** The deepest leaf below a node: the path to it, and its distance. */
  const descend = (
    node: Node,
    trail: readonly Node[],
    depth: number,
  ): { path: readonly Node[]; down: number } => {
    const own = [...trail, node];
    const ends = node.children
      .map((child) => descend(child, own, depth + child.length))
      .sort((a, b) => b.down - a.down);
    if (ends.length === 0) return { path: own, down: depth };
    const longest = ends.length > 1 ? ends[0].down + ends[1].down - 2 * depth : 0;
    if (longest > best.longest) best = { longest, path: [...ends[0].path], down: ends[0].down };
    return ends[0];
  };
  descend(root, [], 0);
  return best;
}
