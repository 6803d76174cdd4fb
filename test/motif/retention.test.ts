import { expect, test } from "bun:test";
import { decode, encode } from "../../src/motif/alphabet.ts";
import {
  findMatches,
  type Match,
  findMatchPath,
  lookaroundTable,
} from "../../src/motif/automaton-matches.ts";
import { type Family, localIdentity } from "../../src/motif/divergence.ts";
import { type Evidence, computeEvidence, expectedRetention, isMissing } from "../../src/motif/evidence.ts";
import { pathBits } from "../../src/motif/information.ts";
import { parsePattern } from "../../src/motif/pattern.ts";
import { type ScoringModel, SCORING_MODELS } from "../../src/motif/prediction.ts";
import { describeMatch, type Motif, openMotif, retention } from "../../src/motif/retention.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";
import { familyFrom, familyOfLetters, goldenAlignments, goldenScores } from "./golden.ts";

function computeScore(family: Family, expression: string, model: ScoringModel): Evidence {
  const { automaton } = parsePattern(expression, "elm");
  const lookarounds = lookaroundTable(automaton, family.query);
  const matches = findMatches(automaton, family.query, lookarounds);
  const path = findMatchPath(automaton, family.query, matches[0], lookarounds)!;
  return computeEvidence(openMotif(automaton, model), family, matches[0], path, matches.length);
}

/** The score of the reference implementation, from our retention, weights and expectation. */
function referenceScore(motif: Motif, family: Family, match: Match, path: Int32Array) {
  const described = describeMatch(motif, family.query, match, path);
  const sums = { n: 0, weight: 0, squares: 0, score: 0, expected: 0, variance: 0, identity: 0 };
  for (const homolog of family.homologs.filter((one) => !isMissing(one, match))) {
    const identity = localIdentity(homolog, match.start, match.end);
    const expectation = expectedRetention(described, identity);
    const { weight } = homolog;
    sums.n++;
    sums.weight += weight;
    sums.squares += weight ** 2;
    sums.identity += identity;
    sums.score += weight * retention(motif, described, homolog).value;
    sums.expected += weight * expectation;
    sums.variance += weight ** 2 * expectation * (1 - expectation);
  }
  return {
    n: sums.n,
    weff: sums.weight ** 2 / sums.squares,
    cs: sums.score / sums.weight,
    expected: sums.expected / sums.weight,
    z: (sums.score - sums.expected) / Math.sqrt(sums.variance),
    local_identity: sums.identity / sums.n,
    ic: pathBits(path),
  };
}

test("retention, weights and expectation equal the reference implementation", () => {
  const families = new Map([...goldenAlignments()].map(([name, rows]) => [name, familyFrom(rows)]));
  let compared = 0;
  for (const golden of goldenScores()) {
    const family = families.get(golden.acc)!;
    const { automaton } = parsePattern(golden.regex);
    const match = { start: Number(golden.start) - 1, end: Number(golden.end) };
    expect(findMatches(automaton, family.query, [])).toContainEqual(match);
    const path = findMatchPath(automaton, family.query, match, [])!;
    for (const model of SCORING_MODELS) {
      const ours = referenceScore(openMotif(automaton, model), family, match, path);
      const far = Object.entries(ours).filter(
        ([name, value]) =>
          !(Math.abs(value - Number(golden[`${name}_${model[0]}`])) <= (name === "z" ? 1e-4 : 1e-5)),
      );
      expect([golden.acc, golden.regex, golden.start, model, far]).toEqual([
        golden.acc,
        golden.regex,
        golden.start,
        model,
        [],
      ]);
      compared++;
    }
  }
  expect(compared).toBe(970);
});

const FLANK = decode(randomProtein(random(51), 40));

test("reports the state of a match in each homolog", () => {
  const family = familyOfLetters(
    `${FLANK}RKLDPW${FLANK}`,
    `${FLANK}RKLDPW${FLANK}`,
    `${FLANK}RKAAPW${FLANK}`,
    `${FLANK}------${FLANK}`,
    `${FLANK.slice(0, 36)}RKLDPWAAAA${FLANK}`,
    `${"-".repeat(46)}${FLANK}`,
  );
  const { atHomologs, homologs } = computeScore(family, "RKLDPW", "discontinuous");
  expect(atHomologs.map(({ state, residues, retention }) => [state, residues, retention])).toEqual([
    ["conserved", "RKLDPW", 1],
    ["substituted", "RKAAPW", 0],
    ["gap", "------", 0],
    ["shifted", "PWAAAA", 0.75],
  ]);
  expect(homologs).toBe(4);
});

test("a homolog that ends before or in the motif is missing unless it has a substitution there; one that lost it is not", () => {
  const half = familyOfLetters(
    `${FLANK}${FLANK}RKLDPW${FLANK}`,
    `${FLANK}${FLANK}${"-".repeat(46)}`,
    `${FLANK}${FLANK}RK${"-".repeat(44)}`,
    `${FLANK}${FLANK}RKL${"-".repeat(43)}`,
    `${FLANK}${FLANK}RKG${"-".repeat(43)}`,
    `${FLANK}${FLANK}R--DPW${FLANK}`,
    `${FLANK}${FLANK}------${FLANK}`,
  );
  const { atHomologs, homologs, score } = computeScore(half, "RKLDPW", "discontinuous");
  expect(atHomologs.map(({ state, retention }) => [state, retention])).toEqual([
    ["missing", null],
    ["missing", null],
    ["missing", null],
    ["substituted", 0],
    ["substituted", 0],
    ["gap", 0],
  ]);
  expect(homologs).toBe(3);
  expect(score).toBe(0);
  const later = familyOfLetters(
    `${FLANK}RKLDPW${FLANK}${FLANK}`,
    `${"-".repeat(43)}DPW${FLANK}${FLANK}`,
    `${"-".repeat(43)}DGW${FLANK}${FLANK}`,
  );
  const states = computeScore(later, "RKLDPW", "discontinuous").atHomologs.map(({ state }) => state);
  expect(states).toEqual(["missing", "substituted"]);
});

test("writes insertions within a match in lower case", () => {
  const family = familyOfLetters(
    `${FLANK}RK--LP${FLANK}`,
    `${FLANK}RKAALP${FLANK}`,
    `${FLANK}RKA-LP${FLANK}`,
    `${FLANK}R--ALP${FLANK}`,
  );
  const residues = (expression: string): [string, string][] =>
    computeScore(family, expression, "discontinuous").atHomologs.map((at) => [at.residues, at.state]);
  expect(residues("RK.{0,1}LP")).toEqual([
    ["RKaaLP", "substituted"],
    ["RKaLP", "conserved"],
    ["R-aLP", "substituted"],
  ]);
});

test("identical homologs retain all residues, unrelated homologs retain none", () => {
  const query = `${FLANK}RKLDPW${FLANK}`;
  const kept = computeScore(familyOfLetters(query, query, query, query), "RKLDPW", "discontinuous");
  expect([kept.score, kept.homologs, kept.localIdentity]).toEqual([1, 3, 1]);
  expect(kept.effectiveHomologs).toBeCloseTo(3, 6);
  expect(kept.conservation).toEqual([1, 1, 1, 1, 1, 1]);
  const lost = `${FLANK}GGGGGG${FLANK}`;
  expect(computeScore(familyOfLetters(query, lost, lost, lost), "RKLDPW", "continuous").score).toBe(0);
});

test("returns no CS without homologs and no z without defined positions", () => {
  const query = `${FLANK}RKLDPW`;
  const alone = computeScore(familyOfLetters(query), "RKL", "continuous");
  expect([alone.homologs, alone.score, alone.expected, alone.localIdentity]).toEqual([0, null, null, null]);
  expect(alone.terms!.conservation).toBe(0);
  const wild = computeScore(familyOfLetters(query, query, query, query), "..[^P]", "continuous");
  expect([wild.homologs, wild.score, wild.z]).toEqual([3, null, null]);
  expect(wild.conservation).toEqual([null, null, null]);
});

test("only wildcards retain non-standard letters", () => {
  const query = `${FLANK}RKLDPW${FLANK}`;
  const family = familyOfLetters(query, query.replace("RKL", "RXL"), query.replace("RKL", "UKL"), query);
  const states = computeScore(family, "R.L", "discontinuous").atHomologs.map(({ state }) => state);
  expect(states).toEqual(["conserved", "substituted", "conserved"]);
  expect(encode("X")[0]).toBeGreaterThanOrEqual(20);
});
