import { expect, test } from "bun:test";
import {
  calibrationOf,
  type Draw,
  drawMatches,
  drawnProteins,
  quantilesOf,
} from "../../src/motif/calibration.ts";
import { decode } from "../../src/motif/alphabet.ts";
import { openCorpus, packCorpus } from "../../src/motif/corpus.ts";
import { parsePattern, predict } from "../../src/motif/index.ts";
import { describeCalibration, NULL_BINS, pValueOf, LEVELS } from "../../src/motif/p-value.ts";
import { NULL_QUANTILES } from "../../src/motif/null-quantiles.ts";
import { residuesOf } from "../../src/motif/search.ts";
import { mutated, random, randomProtein } from "../fixtures/random-protein.ts";

const next = random(91);
const founders = Array.from({ length: 3 }, () => randomProtein(next, 120));
const proteins = founders.flatMap((founder) => Array.from({ length: 5 }, () => mutated(next, founder, 0.15)));
const corpus = openCorpus(
  packCorpus(
    "families",
    [...proteins, randomProtein(next, 2001), randomProtein(next, 120)].map((residues, i) => ({
      accession: `P${i}`,
      description: "",
      organism: null,
      speciesKey: null,
      residues,
    })),
  ),
);
const patterns = ["[ST]P", "[KR].[DE]", "[FILMV]..[AG]", "W", "CCCCC", "L.{2,3}L"].map((one) =>
  parsePattern(one),
);

test("random draws for a protein do not depend on other proteins", () => {
  const all = Array.from(drawnProteins(corpus, 7));
  expect(all.toSorted((a, b) => a - b)).toEqual([...Array(15).keys(), 16]);
  expect(all).not.toEqual(all.toSorted((a, b) => a - b));
  expect(Array.from(drawnProteins(corpus, 8))).not.toEqual(all);
  const together = drawMatches(corpus, all, patterns, 7);
  for (const [k, protein] of all.entries()) {
    expect(together[k].length > 0).toBe(protein < 15);
    expect(together[k].length).toBeLessThan(patterns.length);
  }
  expect(drawMatches(corpus, [all[5], all[6]], patterns, 7)).toEqual([together[5], together[6]]);
  expect(drawMatches(corpus, [all[5]], patterns, 7, () => true)).toEqual([[]]);
});

/**
 * Draws of 60 proteins in all bins, distributed like the built-in null, with persistence increased by `more`.
 */
function drawnBy(more: number, perProtein = 27): Draw[][] {
  const next = random(5);
  return Array.from({ length: 60 }, () =>
    Array.from({ length: perProtein }, (_, i): Draw => {
      const bin = i % NULL_BINS;
      const level = next();
      const at = (row: readonly number[]): number => {
        const k = LEVELS.findLastIndex((one) => level >= one);
        if (k < 0 || k === LEVELS.length - 1) return row.at(k < 0 ? 0 : k)! + Math.sign(k) + more;
        return row[k] + ((level - LEVELS[k]) / (LEVELS[k + 1] - LEVELS[k])) * (row[k + 1] - row[k]) + more;
      };
      const { continuous, discontinuous } = NULL_QUANTILES;
      return {
        bin,
        persistence: {
          continuous: at(continuous[bin]),
          discontinuous: at(discontinuous[bin]),
        },
      };
    }),
  );
}

test("draws from the built-in null distribution hardly change it", () => {
  const own = calibrationOf(3, [...drawnBy(0), []]);
  expect(own).toMatchObject({ seed: 3, proteins: 60, examined: 61, matches: 1620 });
  for (const [bin, { matches, persistence }] of own.rows.continuous.entries()) {
    expect(matches).toBe(180);
    // The level of P = 0.05.
    expect(Math.abs(persistence[6] - NULL_QUANTILES.continuous[bin][6])).toBeLessThan(0.1);
  }
  expect(describeCalibration(own)).toBe(
    "P values are calibrated on 1620 random matches in 60 proteins of this corpus.",
  );
});

test("better conserved draws shift every bin so that 5 % reach P = 0.05", () => {
  const all = drawnBy(0.5);
  const own = calibrationOf(
    3,
    all.map((drawn) => drawn.filter(({ bin }) => bin !== 2)),
  );
  expect(own.rows.discontinuous[2].matches).toBe(0);
  for (let bin = 0; bin < NULL_BINS; bin++) {
    const inBin = all.flat().filter((draw) => draw.bin === bin);
    const [depth, disorder] = [[3, 6, 16][Math.floor(bin / 3)], [0, 0.15, 0.3][bin % 3]];
    const part = (null_: typeof own | null): number =>
      inBin.filter(
        ({ persistence }) =>
          pValueOf(
            "discontinuous",
            { homologs: depth, disorder, persistence: persistence.discontinuous },
            null_,
          )!.p <= 0.05,
      ).length / inBin.length;
    expect(part(null)).toBeGreaterThan(0.1);
    expect(part(own)).toBeGreaterThan(0.01);
    expect(part(own)).toBeLessThan(0.12);
    const { persistence } = own.rows.discontinuous[bin];
    for (let i = 1; i < LEVELS.length; i++) expect(persistence[i]).toBeGreaterThan(persistence[i - 1]);
  }
});

test("quantiles increase strictly even if values are equal", () => {
  const quantiles = quantilesOf([...Array(50).fill(0.25), ...Array(50).fill(0.25), 1]);
  for (let i = 1; i < LEVELS.length; i++) expect(quantiles[i]).toBeGreaterThan(quantiles[i - 1]);
});

test("a calibrated corpus changes P values and adds a warning", () => {
  const row = { matches: 500, persistence: LEVELS.map((_, i) => i / 1000 - 50) };
  const rows = Array.from({ length: NULL_BINS }, () => row);
  const calibration = {
    seed: 1,
    proteins: 40,
    examined: 50,
    matches: 4500,
    rows: { continuous: rows, discontinuous: rows },
  };
  const query = decode(residuesOf(corpus, 0));
  const request = { query, patterns: [{ expression: "[ST]", name: null }], model: "continuous" } as const;
  const plain = predict(request, corpus);
  const own = predict(request, Object.assign({ ...corpus }, { calibration }));
  expect(plain.warnings).toEqual([]);
  expect(own.warnings).toEqual([
    "P values are calibrated on 4500 random matches in 40 proteins of this corpus.",
  ]);
  expect(own.patterns[0].matches.map(({ pValue, z }) => [pValue, z])).toEqual(
    plain.patterns[0].matches.map(({ z }) => [0.005, z]),
  );
});
