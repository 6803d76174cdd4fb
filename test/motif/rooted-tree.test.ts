import { expect, test } from "bun:test";
import { listLeaves, type Node, parseNewick, readTree, rootTree } from "../../src/motif/rooted-tree.ts";
import { newick } from "../../src/motif/tree.ts";
import { random } from "../fixtures/random-protein.ts";
import { pathLengths, randomTree } from "./random-tree.ts";

/** Distance of each leaf from the root, and between each two leaves. */
function measure(root: Node, leaves: number): { depths: number[]; between: Float64Array } {
  const depths: number[] = [];
  const between = new Float64Array(leaves * leaves);
  const visit = (node: Node, depth: number): number[] => {
    if (node.children.length === 0) depths[node.leaf] = depth;
    const sides = node.children.map((child) => visit(child, depth + child.length));
    for (const side of sides)
      for (const other of sides)
        for (const a of side === other ? [] : side)
          for (const b of other) between[a * leaves + b] = depths[a] + depths[b] - 2 * depth;
    return node.children.length === 0 ? [node.leaf] : sides.flat();
  };
  visit(root, 0);
  return { depths, between };
}

test("the root is in the middle of the longest path, and distances between leaves stay", () => {
  const next = random(5);
  for (let size = 3; size < 40; size++) {
    const tree = randomTree(next, size);
    const expected = pathLengths(tree);
    const { depths, between } = measure(rootTree(tree), size);
    for (const [i, distance] of expected.entries()) expect(between[i]).toBeCloseTo(distance, 9);
    const [first, second] = depths.toSorted((a, b) => b - a);
    expect(first).toBeCloseTo(Math.max(...expected) / 2, 9);
    expect(second).toBeCloseTo(first, 9);
  }
});

test("a tree in Newick notation has the numbers of its leaves, whatever their order and names", () => {
  const next = random(6);
  for (let size = 2; size < 20; size++) {
    const tree = size < 3 ? twoLeaves : randomTree(next, size);
    const names = Array.from({ length: size }, (_, i) => (i === 0 ? "query" : `it's (${i})`));
    const [a, b] = [parseNewick(newick(tree, names), names), rootTree(tree)].map((root) =>
      measure(root, size),
    );
    expect(a.depths.length).toBe(size);
    for (const [leaf, depth] of a.depths.entries()) expect(depth).toBeCloseTo(b.depths[leaf], 4);
  }
});

const twoLeaves = { leaves: 2, parent: Int32Array.of(2, 2, -1), length: Float64Array.of(0.1, 0.3, 0) };

test("leaves of one name take its numbers in order", () => {
  expect(listLeaves(parseNewick("(query:1,(A:1,A:1):1,B:1);", ["query", "A", "B", "A"])).toSorted()).toEqual([
    0, 1, 2, 3,
  ]);
});

test.each([
  ["(query,A", "unclosed"],
  ["(query,B);", "of other leaves"],
  ["(query,(A,A));", "with a leaf more"],
  ["query;", "with a leaf less"],
  ["", "empty"],
])("there is no tree if the text is %s: %s", (text) => {
  expect(readTree(text, [{ accession: "A" }])).toBe(null);
});

test("branches of length 0 leave the root where it is", () => {
  expect(listLeaves(parseNewick("(query:0,A:0,B:0);", ["query", "A", "B"]))).toEqual([0, 1, 2]);
});
