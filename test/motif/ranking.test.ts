import { expect, test } from "bun:test";
import type { MatchScore, PatternScores, Prediction } from "../../src/motif/prediction.ts";
import { qValues, rankMatches } from "../../src/motif/ranking.ts";
import { SAMPLE } from "../scoring/sample-prediction.ts";
import { random } from "../fixtures/random-protein.ts";

const [SAMPLE_PATTERN] = SAMPLE.prediction.patterns;
const [SAMPLE_MATCH] = SAMPLE_PATTERN.matches;

/** A match at a place, with a P value and z. */
const matchAt = (
  start: number,
  end: number,
  overallPValue: number | null,
  z = 1 - (overallPValue ?? 1),
): MatchScore => ({
  ...SAMPLE_MATCH,
  start,
  end,
  overallPValue,
  z: overallPValue === null ? null : z,
});

const makePattern = (matches: MatchScore[], i: number): PatternScores => ({
  ...SAMPLE_PATTERN,
  name: `class ${i + 1}`,
  matches,
});

const makePrediction = (...patterns: MatchScore[][]): Prediction => ({
  ...SAMPLE.prediction,
  patterns: patterns.map(makePattern),
});

/**
 * The smallest level at which the procedure of Benjamini and Hochberg rejects a hypothesis, by its definition: with the
 * largest k such that the k-th P value is at most k/n times the level, the first k are rejected.
 */
function smallestLevel(values: readonly number[], value: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const isRejected = (level: number): boolean => {
    const k = sorted.findLastIndex((p, i) => p <= ((i + 1) / sorted.length) * level * (1 + 1e-12));
    return k >= 0 && value <= sorted[k];
  };
  const levels = sorted.map((p, i) => (p * sorted.length) / (i + 1)).toSorted((a, b) => a - b);
  return Math.min(1, levels.find(isRejected) ?? 1);
}

test("q-values are the smallest levels at which Benjamini and Hochberg's procedure rejects", () => {
  const next = random(7);
  for (let round = 0; round < 200; round++) {
    const count = 1 + Math.floor(next() * 30);
    // Few distinct values, so that there are ties, and bounds at both ends.
    const values = Array.from({ length: count }, () =>
      Math.min(0.5, Math.max(0.005, Math.round(next() ** 3 * 100) / 100)),
    ).sort((a, b) => a - b);
    const found = qValues(values);
    for (const [i, value] of values.entries()) expect(found[i]).toBeCloseTo(smallestLevel(values, value), 6);
  }
});

test("q-values equal p.adjust(method = 'BH') in R", () => {
  const values = [0.005, 0.009, 0.019, 0.022, 0.051, 0.101, 0.361, 0.387];
  expect(qValues(values)).toEqual([0.036, 0.036, 0.044, 0.044, 0.0816, 0.134667, 0.387, 0.387]);
  expect(qValues([])).toEqual([]);
});

test("ranks by verdict before z, so that no evidence never stands above possible", () => {
  const anchored = matchAt(31, 34, 0.2, 3);
  const ranked = rankMatches(
    makePrediction([matchAt(1, 4, 0.05, 1), matchAt(11, 14, 0.01, 2)], [anchored, matchAt(41, 44, null)]),
  );
  expect(ranked.map(({ number, rank }) => [number, rank])).toEqual([
    [2, 1],
    [1, 2],
    [3, 3],
    [4, 4],
  ]);
});

test("ranks the matches of all patterns by evidence, and those without z last; q follows P", () => {
  const ranked = rankMatches(
    makePrediction(
      [matchAt(1, 4, 0.3), matchAt(11, 14, null), matchAt(21, 24, 0.005, 2)],
      [],
      [matchAt(31, 34, 0.005, 3), matchAt(41, 44, 0.01)],
    ),
  );
  expect(ranked.map(({ number, pattern, q, qIs }) => [number, pattern.name, q, qIs])).toEqual([
    [4, "class 3", 0.01, "estimate"],
    [3, "class 1", 0.01, "estimate"],
    [5, "class 3", 0.013333, "estimate"],
    [1, "class 1", 0.3, "estimate"],
    [2, "class 1", null, null],
  ]);
});

test("q depends on the number of matches, and is a bound where it follows from one", () => {
  const bound = { overallPValueIs: "at least" } as const;
  const many = Array.from({ length: 40 }, (_, i) => ({
    ...matchAt(10 * i + 11, 10 * i + 14, 0.5),
    ...bound,
  }));
  const [alone] = rankMatches(makePrediction([matchAt(1, 4, 0.03)]));
  expect(alone).toMatchObject({ q: 0.03, qIs: "estimate" });
  const first = (others: MatchScore[]) => rankMatches(makePrediction([matchAt(1, 4, 0.03, 2)], others))[0];
  expect(first(many)).toMatchObject({ q: 0.5, qIs: "at least", match: { overallPValue: 0.03 } });
  expect(first(many.slice(0, 4))).toMatchObject({ q: 0.15, qIs: "estimate" });
  const least = { ...matchAt(1, 4, 0.0001, 5), overallPValueIs: "at most" } as const;
  expect(rankMatches(makePrediction([least], many.slice(0, 4)))[0]).toMatchObject({
    q: 0.0005,
    qIs: "at most",
  });
});

test("groups matches that share half of the shorter one with the best of the group", () => {
  const ranked = rankMatches(
    makePrediction(
      [matchAt(1, 10, 0.01), matchAt(40, 43, 0.3)],
      // Half of the shorter, less than half, and an overlap only with a member that is not the best.
      [matchAt(9, 12, 0.02), matchAt(10, 13, 0.03), matchAt(12, 13, 0.04), matchAt(41, 42, 0.2)],
    ),
  );
  expect(ranked.map(({ match, group, isBest }) => [match.start, group, isBest])).toEqual([
    [1, 1, true],
    [9, 1, false],
    [10, 2, true],
    [12, 2, false],
    [41, 3, true],
    [40, 3, false],
  ]);
});

test("states the mean disorder of a match, and no value for results without an alignment", () => {
  const prediction = makePrediction([matchAt(2, 3, 0.01)]);
  const disorder = [0, 0.5, 0.75, 1];
  const alignment = { ...SAMPLE.prediction.alignment!, disorder };
  expect(rankMatches({ ...prediction, alignment })[0].disorder).toBe(0.625);
  expect(rankMatches({ ...prediction, alignment: undefined as never })[0].disorder).toBeNull();
});
