import { expect, test } from "bun:test";
import { decode, encode } from "../../src/motif/alphabet.ts";
import { findMatches, type Match, pathOfMatch, sightOf } from "../../src/motif/automaton-matches.ts";
import { type Conservation, conservationOf } from "../../src/motif/conserve.ts";
import { type Family, familyOf, isAdmitted, measure } from "../../src/motif/divergence.ts";
import { pathBits } from "../../src/motif/information.ts";
import { DEFAULTS } from "../../src/motif/options.ts";
import { parsePattern } from "../../src/motif/pattern.ts";
import { type ScoringModel, SCORING_MODELS } from "../../src/motif/prediction.ts";
import { type AlignedText, readAlignment } from "../../src/motif/query.ts";
import { openMotif } from "../../src/motif/retention.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";
import { goldenAlignments, goldenScores } from "./golden.ts";

function familyFrom(texts: readonly AlignedText[]): Family {
  const { query, rows } = readAlignment(texts);
  const homologs = rows.map((row) => measure(query, row)).filter((homolog) => isAdmitted(homolog, DEFAULTS));
  return familyOf(query, homologs.slice(0, DEFAULTS.maxHomologs));
}

function familyOfLetters(...letters: string[]): Family {
  return familyFrom(letters.map((row, i) => ({ name: `s${i}`, letters: row })));
}

function scoreOf(family: Family, expression: string, model: ScoringModel, match?: Match): Conservation {
  const { automaton } = parsePattern(expression, "elm");
  const sight = sightOf(automaton, family.query);
  const span = match ?? findMatches(automaton, family.query, sight)[0];
  const path = pathOfMatch(automaton, family.query, span, sight)!;
  return conservationOf(openMotif(automaton, model), family, span, path);
}

test("485 matches score as the reference implementation says, in both models", () => {
  const families = new Map([...goldenAlignments()].map(([name, rows]) => [name, familyFrom(rows)]));
  let compared = 0;
  for (const golden of goldenScores()) {
    const family = families.get(golden.acc)!;
    const { automaton } = parsePattern(golden.regex);
    const match = { start: Number(golden.start) - 1, end: Number(golden.end) };
    expect(findMatches(automaton, family.query, [])).toContainEqual(match);
    const path = pathOfMatch(automaton, family.query, match, [])!;
    for (const model of SCORING_MODELS) {
      const ours = conservationOf(openMotif(automaton, model), family, match, path);
      const theirs = (name: string): number => Number(golden[`${name}_${model[0]}`]);
      const where = `${golden.acc} ${golden.regex} ${golden.start} ${model}`;
      const differences = {
        z: Math.abs(ours.z! - theirs("z")) <= 1e-4,
        cs: Math.abs(ours.score! - theirs("cs")) <= 1e-5,
        expected: Math.abs(ours.expected! - theirs("expected")) <= 1e-5,
        ic: Math.abs(pathBits(path) - theirs("ic")) <= 1e-5,
        identity: Math.abs(ours.localIdentity! - theirs("local_identity")) <= 1e-5,
        effective: Math.abs(ours.effectiveHomologs - theirs("weff")) <= 1e-5,
        homologs: ours.homologs === theirs("n"),
      };
      expect([where, differences]).toEqual([
        where,
        { z: true, cs: true, expected: true, ic: true, identity: true, effective: true, homologs: true },
      ]);
      compared++;
    }
  }
  expect(compared).toBe(970);
});

const FLANK = decode(randomProtein(random(51), 40));

test("states: what became of a match in each homolog", () => {
  const family = familyOfLetters(
    `${FLANK}RKLDPW${FLANK}`,
    `${FLANK}RKLDPW${FLANK}`,
    `${FLANK}RKAAPW${FLANK}`,
    `${FLANK}------${FLANK}`,
    `${FLANK.slice(0, 36)}RKLDPWAAAA${FLANK}`,
    `${"-".repeat(46)}${FLANK}`,
  );
  const { atHomologs, homologs } = scoreOf(family, "RKLDPW", "discontinuous");
  expect(atHomologs.map(({ state, residues, retention }) => [state, residues, retention])).toEqual([
    ["conserved", "RKLDPW", 1],
    ["substituted", "RKAAPW", 0],
    ["gap", "------", 0],
    ["shifted", "PWAAAA", 0.75],
  ]);
  expect(homologs).toBe(4);
});

test("a homolog that ends before the motif is missing, one that lost it is not", () => {
  const half = familyOfLetters(
    `${FLANK}${FLANK}RKLDPW${FLANK}`,
    `${FLANK}${FLANK}${"-".repeat(46)}`,
    `${FLANK}${FLANK}RK${"-".repeat(44)}`,
    `${FLANK}${FLANK}RKL${"-".repeat(43)}`,
    `${FLANK}${FLANK}------${FLANK}`,
  );
  const { atHomologs, homologs, score } = scoreOf(half, "RKLDPW", "discontinuous");
  expect(atHomologs.map(({ state, retention }) => [state, retention])).toEqual([
    ["missing", null],
    ["missing", null],
    ["substituted", 0],
    ["gap", 0],
  ]);
  expect(homologs).toBe(2);
  expect(score).toBe(0);
});

test("insertions within a match show in lower case, and R may allow them", () => {
  const family = familyOfLetters(
    `${FLANK}RK--LP${FLANK}`,
    `${FLANK}RKAALP${FLANK}`,
    `${FLANK}RKA-LP${FLANK}`,
    `${FLANK}R--ALP${FLANK}`,
  );
  const residues = (expression: string): [string, string][] =>
    scoreOf(family, expression, "discontinuous").atHomologs.map((at) => [at.residues, at.state]);
  expect(residues("RK.{0,1}LP")).toEqual([
    ["RKaaLP", "substituted"],
    ["RKaLP", "conserved"],
    ["R-aLP", "substituted"],
  ]);
});

test("scores keep their bounds, and the graded model never retains less than the other", () => {
  for (const rows of [...goldenAlignments().values()].slice(0, 12)) {
    const family = familyFrom(rows);
    for (const expression of ["[ST]P", "[RK].{0,2}[RK]", "L..LL|[FYW]..[ILV]", "[DE]{2,4}.[^P]"]) {
      const { automaton } = parsePattern(expression);
      for (const match of findMatches(automaton, family.query, []).slice(0, 10)) {
        for (const model of SCORING_MODELS) {
          const { score, expected, z, conservation, homologs, effectiveHomologs, atHomologs } = scoreOf(
            family,
            expression,
            model,
            match,
          );
          expect(score).toBeWithin(0, 1 + 1e-9);
          expect(expected).toBeWithin(0.001, 0.99 + 1e-9);
          expect(Math.sign(z!)).toBe(Math.sign(score! - expected!));
          expect(effectiveHomologs).toBeWithin(1 - 1e-9, homologs + 1e-9);
          expect(conservation.length).toBe(match.end - match.start);
          for (const part of conservation) if (part !== null) expect(part).toBeWithin(0, 1 + 1e-9);
          expect(atHomologs.length).toBe(family.homologs.length);
          expect(atHomologs.filter(({ state }) => state !== "missing").length).toBe(homologs);
        }
        const graded = scoreOf(family, expression, "continuous", match).atHomologs;
        scoreOf(family, expression, "discontinuous", match).atHomologs.forEach(({ retention }, i) => {
          expect(graded[i].retention ?? 0).toBeGreaterThanOrEqual(retention ?? 0);
        });
      }
    }
  }
});

test("identical homologs keep everything; unrelated residues keep nothing", () => {
  const query = `${FLANK}RKLDPW${FLANK}`;
  const kept = scoreOf(familyOfLetters(query, query, query, query), "RKLDPW", "discontinuous");
  expect([kept.score, kept.homologs, kept.localIdentity]).toEqual([1, 3, 1]);
  expect(kept.effectiveHomologs).toBeCloseTo(3, 6);
  expect(kept.conservation).toEqual([1, 1, 1, 1, 1, 1]);
  const lost = `${FLANK}GGGGGG${FLANK}`;
  expect(scoreOf(familyOfLetters(query, lost, lost, lost), "RKLDPW", "continuous").score).toBe(0);
});

test("nothing to score: no homologs, or no position that tells residues apart", () => {
  const query = `${FLANK}RKLDPW`;
  const alone = scoreOf(familyOfLetters(query), "RKL", "continuous");
  expect([alone.homologs, alone.score, alone.z, alone.localIdentity]).toEqual([0, null, null, null]);
  const wild = scoreOf(familyOfLetters(query, query, query, query), "..[^P]", "continuous");
  expect([wild.homologs, wild.score, wild.z]).toEqual([3, null, null]);
  expect(wild.conservation).toEqual([null, null, null]);
});

test("letters beyond the twenty: kept by wildcards, lost elsewhere", () => {
  const query = `${FLANK}RKLDPW${FLANK}`;
  const family = familyOfLetters(query, query.replace("RKL", "RXL"), query.replace("RKL", "UKL"), query);
  const states = scoreOf(family, "R.L", "discontinuous").atHomologs.map(({ state }) => state);
  expect(states).toEqual(["conserved", "substituted", "conserved"]);
  expect(encode("X")[0]).toBeGreaterThanOrEqual(20);
});
