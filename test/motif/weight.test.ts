import { expect, test } from "bun:test";
import { neighbourJoining } from "../../src/motif/tree.ts";
import { treeWeights } from "../../src/motif/weight.ts";
import { random } from "../fixtures/random-protein.ts";
import { pathLengths, randomTree } from "./random-tree.ts";

test("weights sum to the length of the tree; the query has no weight", () => {
  const next = random(41);
  for (let leaves = 3; leaves < 50; leaves += 3) {
    const tree = randomTree(next, leaves);
    const weights = treeWeights(tree);
    const length = tree.length.reduce((sum, branch) => sum + branch, 0);
    expect(weights[0]).toBe(0);
    expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(length, 3);
  }
});

test("weights do not depend on the root", () => {
  const next = random(42);
  const tree = randomTree(next, 20);
  const weights = treeWeights(tree);
  // Leaves beyond each branch as seen from leaf 0.
  const below = Array.from(tree.parent, (_, node): number[] => (node < 20 ? [node] : []));
  tree.parent.forEach((up, node) => up >= 0 && below[up].push(...below[node]));
  const expected = new Float64Array(20);
  tree.parent.forEach((up, node) => {
    if (up < 0) return;
    const inside = new Set(below[node]);
    const beyond = Array.from({ length: 20 }, (_, i) => i).filter((i) => inside.has(i) !== inside.has(0));
    for (const leaf of beyond) expected[leaf] += tree.length[node] / beyond.length;
  });
  weights.forEach((weight, leaf) => expect(weight).toBeCloseTo(expected[leaf], 5));
});

test("equal sequences share one weight", () => {
  // All at distance 2, but 2 and 3 are equal: three branches of length 1, the query's shared by all.
  const weights = treeWeights(
    neighbourJoining(Float64Array.of(0, 2, 2, 2, 2, 0, 2, 2, 2, 2, 0, 0, 2, 2, 0, 0), 4),
  );
  expect(weights[1]).toBeCloseTo(1 / 3 + 1, 5);
  expect(weights[2]).toBeCloseTo(1 / 3 + 1 / 2, 5);
  expect(weights[3]).toBe(weights[2]);
});

test("homologs have weight 1 without a tree", () => {
  expect([...treeWeights(neighbourJoining(Float64Array.of(0, 0.3, 0.3, 0), 2))]).toEqual([0, 1]);
  expect([...treeWeights(neighbourJoining(new Float64Array(1), 1))]).toEqual([0]);
});

test("sequences at distance 0 have a positive weight", () => {
  const weights = treeWeights(neighbourJoining(new Float64Array(25), 5));
  expect([...weights.subarray(1)].every((weight) => weight > 0)).toBe(true);
  expect(pathLengths(neighbourJoining(new Float64Array(25), 5)).every((d) => d === 0)).toBe(true);
});
