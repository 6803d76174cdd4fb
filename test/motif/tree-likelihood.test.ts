import { expect, test } from "bun:test";
import { LOST_ERROR, RATE_SPREAD, SHIFTED_ERROR, LOSS_RATE_FACTORS } from "../../src/motif/options.ts";
import { type Chance, type Observation, lossRateLikelihood } from "../../src/motif/tree-likelihood.ts";
import { neighbourJoining, type Tree } from "../../src/motif/tree.ts";
import { random } from "../fixtures/random-protein.ts";

const KINDS: Observation[] = ["retained", "shifted", "lost", "unknown"];

/** Reference: sum over all assignments of states to all nodes, with the same quadrature. */
function bruteForce(tree: Tree, observations: readonly Observation[], rate: number, chance: Chance): number {
  const { exact, near } = chance;
  const share = exact + near;
  const nodes = tree.parent.length;
  const likelihood = (speed: number): number => {
    let sum = 0;
    for (let states = 0; states < 2 ** nodes; states++) {
      const on = (node: number): boolean => ((states >> node) & 1) === 1;
      let p = on(nodes - 1) ? share : 1 - share;
      for (let node = 0; node < nodes - 1; node++) {
        const stay = Math.exp(-speed * tree.length[node]);
        const fresh = on(node) ? share : 1 - share;
        p *= (1 - stay) * fresh + (on(node) === on(tree.parent[node]) ? stay : 0);
      }
      for (let leaf = 0; leaf < tree.leaves; leaf++) {
        const observation = observations[leaf];
        if (leaf === 0) p *= on(0) ? 1 : 0;
        else if (observation === "retained") p *= on(leaf) ? 1 - SHIFTED_ERROR - LOST_ERROR : exact;
        else if (observation === "shifted") p *= on(leaf) ? SHIFTED_ERROR : near;
        else if (observation === "lost") p *= on(leaf) ? LOST_ERROR : 1 - exact - near;
      }
      sum += p;
    }
    return sum;
  };
  const mean = (speed: number): number => {
    const factor = Math.exp(RATE_SPREAD * Math.sqrt(3));
    return (likelihood(speed / factor) + 4 * likelihood(speed) + likelihood(speed * factor)) / 6;
  };
  const given = LOSS_RATE_FACTORS.map((slowdown) => mean(slowdown * rate));
  return Math.log(given.reduce((a, b) => a + b, 0) / given.length / given.at(-1)!);
}

function randomTree(next: () => number, leaves: number): Tree {
  const at = Array.from({ length: leaves }, () => [next(), next(), next()]);
  const matrix = Float64Array.from({ length: leaves * leaves }, (_, k) => {
    const [a, b] = [at[Math.floor(k / leaves)], at[k % leaves]];
    return Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) + Math.abs(a[2] - b[2]);
  });
  return neighbourJoining(matrix, leaves);
}

test("pruning equals the sum over all node states", () => {
  const next = random(91);
  for (let round = 0; round < 60; round++) {
    const leaves = 2 + Math.floor(next() * 5);
    const tree = randomTree(next, leaves);
    const observations = Array.from({ length: leaves }, () => KINDS[Math.floor(next() * 4)]);
    observations[0] = "retained";
    const chance = { exact: next() * 0.1, near: next() * 0.3 };
    const rate = Math.exp(3 * next() - 1.5);
    const ours = lossRateLikelihood(tree, observations, rate, chance);
    expect(ours).toBeCloseTo(bruteForce(tree, observations, rate, chance), 9);
  }
});

test("retained motifs raise the ratio, lost ones lower it, unknown ones do not change it", () => {
  const tree = randomTree(random(92), 12);
  const chance = { exact: 1e-4, near: 2e-3 };
  const all = (kind: Observation): Observation[] => ["retained", ...Array.from({ length: 11 }, () => kind)];
  const value = (kind: Observation): number => lossRateLikelihood(tree, all(kind), 3, chance);
  expect(value("unknown")).toBeCloseTo(0, 9);
  expect(value("retained")).toBeGreaterThan(1);
  expect(value("shifted")).toBeGreaterThan(0.5);
  expect(value("lost")).toBeLessThan(0);
  expect(value("lost")).toBeGreaterThanOrEqual(-Math.log(LOSS_RATE_FACTORS.length) - 1e-9);
});

test("ten copies of one relative count little more than one", () => {
  const star = (copies: number): number => {
    const size = copies + 2;
    const matrix = Float64Array.from({ length: size * size }, (_, k) => {
      const [a, b] = [Math.floor(k / size), k % size];
      const groups = [a, b].map((i) => Math.min(i, 2));
      return groups[0] === groups[1] ? 0 : 1;
    });
    const observations: Observation[] = Array.from({ length: size }, () => "retained");
    return lossRateLikelihood(neighbourJoining(matrix, size), observations, 2, { exact: 1e-4, near: 1e-3 });
  };
  expect(Math.abs(star(10) - star(1))).toBeLessThan(0.1);
});

test("the likelihood is finite for trees of any size and rate", () => {
  const next = random(93);
  for (const leaves of [1, 2, 3, 101]) {
    const tree = randomTree(next, leaves);
    const observations = Array.from({ length: leaves }, () => KINDS[Math.floor(next() * 4)]);
    for (const rate of [0, 1e-9, 1, 1e3]) {
      for (const chance of [
        { exact: 0, near: 0 },
        { exact: 1, near: 1 },
      ]) {
        expect(lossRateLikelihood(tree, observations, rate, chance)).toBeFinite();
      }
    }
  }
});
