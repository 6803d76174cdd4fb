import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BACKGROUND, decode, STANDARD } from "../../src/motif/alphabet.ts";
import { findMatches, findMatchPath } from "../../src/motif/automaton-matches.ts";
import type { Family } from "../../src/motif/divergence.ts";
import { average } from "../../src/motif/disorder/disorder.ts";
import {
  computeContributions,
  type Evidence,
  computeEvidence,
  type Terms,
  zScore,
} from "../../src/motif/evidence.ts";
import type { Statistic } from "../../src/motif/null-model.ts";
import { computePValue, conservationFeatures, zFeatures } from "../../src/motif/p-value.ts";
import { divergenceOf } from "../../src/motif/pattern-scores.ts";
import { parsePattern } from "../../src/motif/pattern.ts";
import { type ScoringModel, SCORING_MODELS, TERMS } from "../../src/motif/prediction.ts";
import { openMotif } from "../../src/motif/retention.ts";
import { lossRateLikelihood } from "../../src/motif/tree-likelihood.ts";
import { TERM_SHAPES } from "../../src/motif/term-shapes.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";
import { familyFrom, familyOfLetters, goldenAlignments, goldenScores } from "./golden.ts";

const GOLDEN = join(import.meta.dir, "../golden/motif/scores-4.tsv");

const families = new Map([...goldenAlignments()].map(([name, rows]) => [name, familyFrom(rows)]));

function evidence(
  family: Family,
  expression: string,
  start: number,
  end: number,
  model: ScoringModel,
): Evidence {
  const { automaton } = parsePattern(expression);
  const path = findMatchPath(automaton, family.query, { start, end }, [])!;
  const matches = findMatches(automaton, family.query, []).length;
  return computeEvidence(openMotif(automaton, model), family, { start, end }, path, matches);
}

const scored = goldenScores().flatMap((golden) =>
  SCORING_MODELS.map((model) => {
    const family = families.get(golden.acc)!;
    const [start, end] = [Number(golden.start) - 1, Number(golden.end)];
    return { golden, model, family, start, end, ours: evidence(family, golden.regex, start, end, model) };
  }),
);

test("golden values are unchanged", () => {
  const lines = scored.map(({ golden, model, family, ours }) => {
    const surroundings = {
      homologs: family.homologs.length,
      chainOrder: average(family.prediction.order),
      anchors: { start: golden.regex.startsWith("^"), end: golden.regex.endsWith("$") },
    };
    const p = (name: Statistic, value: number, features: number[]): number =>
      computePValue(name, value, model, features).p;
    const { terms, z } = ours;
    const isJudged = terms !== null && ours.homologs > 0;
    const divergence = isJudged && divergenceOf(ours, surroundings.anchors);
    const pValues = [
      divergence ? p("conservation", terms!.conservation, conservationFeatures(divergence)) : undefined,
      z === null ? undefined : p("z", z, zFeatures(surroundings)),
    ];
    const cells = [ours.score, ours.expected, ours.z, ...pValues].map((x) => x?.toFixed(6) ?? "");
    return [golden.acc, golden.regex, golden.start, golden.end, model, ours.homologs, ...cells].join("\t");
  });
  const head = "acc\tregex\tstart\tend\tmodel\thomologs\tcs\texpected\tz\tp\toverall_p";
  if (process.env.GOLDEN === "write") writeFileSync(GOLDEN, `${[head, ...lines].join("\n")}\n`);
  const kept = readFileSync(GOLDEN, "utf8").trimEnd().split("\n");
  expect(lines.length).toBe(970);
  expect(kept.slice(1).length).toBe(970);
  for (const [i, line] of lines.entries()) {
    const [ours, theirs] = [line.split("\t"), kept[i + 1].split("\t")];
    expect(ours.slice(0, 6)).toEqual(theirs.slice(0, 6));
    for (let cell = 6; cell < 11; cell++) {
      expect(ours[cell] === "").toBe(theirs[cell] === "");
      expect(Math.abs(Number(ours[cell]) - Number(theirs[cell]))).toBeLessThanOrEqual(2e-6);
    }
  }
});

/** Identity of a homolog to the query, in all and around a match, by their definitions. */
function identities(query: string, row: string, start: number, end: number) {
  const isSame = (p: number): boolean => row[p] === query[p] && STANDARD.includes(row[p]);
  const share = (positions: number[]): number => positions.filter(isSame).length / positions.length;
  const positions = Array.from(query, (_, p) => p);
  const pairs = positions.filter((p) => STANDARD.includes(row[p]) && STANDARD.includes(query[p]));
  const first = row.search(/[^-]/);
  const last = row.search(/-*$/) - 1;
  const covered = positions.filter((p) => p >= first && p <= last);
  const flank = covered.filter((p) => (p >= start - 30 && p < start) || (p >= end && p < end + 30));
  const local = (flank.filter(isSame).length + 5 * share(covered)) / (flank.length + 5);
  return { identity: share(pairs), local };
}

/** Expected retention by chance, given the local identity, and the local rate of loss relative to divergence. */
function chanceRetention(query: string, start: number, frequencies: readonly number[]) {
  const defined = frequencies.map((f, p) => ({ f, p })).filter(({ f }) => -Math.log2(f) > 0.3);
  const replaceable = defined.map(({ f, p }) => {
    const same = BACKGROUND[STANDARD.indexOf(query[start + p])] ?? 0.05;
    return Math.min(1, Math.max(0, (f - same) / (1 - same)));
  });
  const exact = defined.reduce((product, { f }) => product * f, 1);
  const near = 1 - Math.exp(-20 * exact);
  const expected = (local: number): number => {
    const kept = replaceable.reduce((product, share) => product * (local + (1 - local) * share), 1);
    const bounded = Math.min(0.99, Math.max(0.001, kept));
    return bounded + (1 - bounded) * 0.75 * near;
  };
  return { expected, rate: replaceable.reduce((sum, share) => sum + 1 - share, 0), chance: { exact, near } };
}

const signedLog = (x: number): number => Math.sign(x) * Math.log(1 + Math.abs(x));

const OBSERVED = {
  conserved: "retained",
  shifted: "shifted",
  substituted: "lost",
  gap: "lost",
  missing: "unknown",
} as const;

test("conservation equals a residue-by-residue computation", () => {
  let compared = 0;
  for (const { model, family, start, end, ours, golden } of scored) {
    if (model === "continuous" || ours.terms === null || /[\^$]/.test(golden.regex)) continue;
    const query = decode(family.query);
    const { automaton } = parsePattern(golden.regex);
    const path = findMatchPath(automaton, family.query, { start, end }, [])!;
    const frequencies = Array.from(path, (mask) =>
      [...STANDARD].reduce((sum, _, code) => sum + ((mask >> code) & 1 ? BACKGROUND[code] : 0), 0),
    );
    const { expected: expectedAt, rate, chance } = chanceRetention(query, start, frequencies);
    const sums = { score: 0, expected: 0, variance: 0, weights: 0, local: 0.05, overall: 0.05, loss: 0 };
    for (const [i, homolog] of family.homologs.entries()) {
      const { retention } = ours.atHomologs[i];
      if (retention === null) continue;
      const { identity, local } = identities(query, decode(homolog.row.anchored), start, end);
      const expected = expectedAt(local);
      const weight = homolog.weight * Math.exp(-(1 - identity) / 0.3);
      sums.score += weight * retention;
      sums.expected += weight * expected;
      sums.variance += weight * weight * expected * (1 - expected);
      sums.weights += weight;
      sums.loss = Math.max(sums.loss, local * (1 - retention));
      sums.local -= homolog.weight * Math.log(Math.max(0.05, local));
      sums.overall -= homolog.weight * Math.log(Math.max(0.05, identity));
    }
    const excess = (sums.score - sums.expected) / Math.sqrt(sums.variance);
    const observations = ours.atHomologs.map(({ state }) => OBSERVED[state]);
    const localRate = (rate * sums.local) / sums.overall;
    const ratio = lossRateLikelihood(family.tree, ["retained", ...observations], localRate, chance);
    const isKept = sums.weights > 0;
    if (isKept) {
      expect(ours.score!).toBeCloseTo(sums.score / sums.weights, 9);
      expect(ours.expected!).toBeCloseTo(sums.expected / sums.weights, 9);
    }
    const conservation = isKept ? 0.36 * signedLog(excess) + 0.51 * signedLog(ratio) - 0.6 * sums.loss : 0;
    expect(ours.terms.conservation).toBeCloseTo(conservation, 9);
    compared++;
  }
  expect(compared).toBeGreaterThan(350);
});

test("z is the sum of a quadratic spline of each term, constant beyond the training data", () => {
  const next = random(53);
  for (let round = 0; round < 200; round++) {
    const terms = Object.fromEntries(TERMS.map((name) => [name, 6 * next() - 3])) as unknown as Terms;
    const contributions = computeContributions(terms);
    for (const name of TERMS) {
      const { low, high, knots, coefficients } = TERM_SHAPES[name];
      const x = terms[name] < low ? low : terms[name] > high ? high : terms[name];
      let value = coefficients[0] + coefficients[1] * x + coefficients[2] * x ** 2;
      for (const [k, knot] of knots.entries()) if (x > knot) value += coefficients[3 + k] * (x - knot) ** 2;
      expect(contributions[name]).toBeCloseTo(value, 9);
    }
    expect(zScore(terms)).toBeCloseTo(
      TERMS.reduce((sum, name) => sum + contributions[name], 0),
      9,
    );
  }
});

test("values stay within bounds; retention in the continuous model is never lower", () => {
  for (const { model, family, ours, start, end, golden } of scored.slice(0, 400)) {
    expect(ours.homologs).toBe(ours.atHomologs.filter(({ state }) => state !== "missing").length);
    expect(ours.conservation.length).toBe(end - start);
    expect(ours.atHomologs.length).toBe(family.homologs.length);
    if (ours.terms === null) continue;
    expect(ours.score ?? 0).toBeWithin(0, 1 + 1e-9);
    expect(ours.expected ?? 0).toBeWithin(0, 1);
    if (ours.homologs > 0) expect(ours.effectiveHomologs).toBeWithin(1 - 1e-9, ours.homologs + 1e-9);
    expect(ours.terms.terminusProximity).toBeWithin(0, 1 + 1e-9);
    if (model === "continuous") continue;
    const graded = evidence(family, golden.regex, start, end, "continuous");
    ours.atHomologs.forEach(({ retention }, i) => {
      expect(graded.atHomologs[i].retention ?? 0).toBeGreaterThanOrEqual(retention ?? 0);
    });
  }
});

const FLANK = decode(randomProtein(random(51), 60));
test("z increases with the number of homologs that keep a motif", () => {
  const next = random(52);
  const drifted = (): string =>
    [...FLANK].map((a) => (next() < 0.5 ? decode(randomProtein(next, 1)) : a)).join("");
  const rows = Array.from({ length: 8 }, () => [drifted(), drifted()]);
  const z = [0, 2, 4, 6, 8].map((kept) => {
    const homologs = rows.map(([left, right], i) => `${left}${i < kept ? "RKLDPW" : "GAGSTA"}${right}`);
    return evidence(familyOfLetters(`${FLANK}RKLDPW${FLANK}`, ...homologs), "RKLDPW", 60, 66, "discontinuous")
      .z!;
  });
  expect(z).toEqual(z.toSorted((a, b) => a - b));
  expect(z[4] - z[0]).toBeGreaterThan(1);
});

test("includes a motif in an unaligned end", () => {
  const query = `${FLANK}${FLANK}GGSSGGSSGGKDEL--------`;
  const homolog = `${FLANK}${FLANK}--------------TAEEKDEL`;
  const family = familyOfLetters(query, homolog, homolog, homolog);
  const { atHomologs, score, homologs } = evidence(family, "KDEL$", 130, 134, "discontinuous");
  expect([score, homologs]).toEqual([1, 3]);
  expect(atHomologs.map(({ state }) => state)).toEqual(["conserved", "conserved", "conserved"]);
});
