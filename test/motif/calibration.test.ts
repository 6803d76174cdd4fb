import { expect, test } from "bun:test";
import {
  computeCalibration,
  type Draw,
  drawMatches,
  drawnProteins,
  computeQuantiles,
} from "../../src/motif/calibration.ts";
import { decode } from "../../src/motif/alphabet.ts";
import { packCorpus } from "../../src/motif/corpus-builder.ts";
import { openCorpus } from "../../src/motif/corpus.ts";
import { parsePattern, predict } from "../../src/motif/index.ts";
import {
  findBin,
  describeCalibration,
  LEVELS,
  MIN_P,
  NULL_BINS,
  computePValue,
  type Statistics,
} from "../../src/motif/p-value.ts";
import { NULL_DEPTHS, NULL_ORDER, NULL_QUANTILES } from "../../src/motif/null-quantiles.ts";
import type { ScoringModel } from "../../src/motif/prediction.ts";
import { readResidues } from "../../src/motif/search.ts";
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
    // One protein has no homologs.
    const depths = together[k].map(({ bin }) => Math.floor(bin / (NULL_ORDER.length + 1)));
    expect(depths.length).toBeGreaterThan(0);
    expect(depths.every((depth) => depth > 0)).toBe(protein < 15);
    for (const { bin, statistics } of together[k]) {
      expect(statistics.continuous.conservation === null).toBe(isFew(bin));
      expect(statistics.continuous.z).toEqual(expect.any(Number));
    }
    expect(together[k].length).toBeLessThan(patterns.length);
  }
  expect(drawMatches(corpus, [all[5], all[6]], patterns, 7)).toEqual([together[5], together[6]]);
  expect(drawMatches(corpus, [all[5]], patterns, 7, () => true)).toEqual([[]]);
});

/** Draws of 60 proteins in all bins: as many reach P as reach P · `factor` in the built-in null. */
function drawnBy(factor: number, perProtein = 72): Draw[][] {
  const next = random(5);
  const tails = LEVELS.map((level) => -Math.log(1 - level));
  const at = (row: readonly number[], tail: number): number => {
    const k = Math.min(
      Math.max(
        tails.findLastIndex((one) => tail >= one),
        0,
      ),
      tails.length - 2,
    );
    return row[k] + ((tail - tails[k]) / (tails[k + 1] - tails[k])) * (row[k + 1] - row[k]);
  };
  const draw = (): number => -Math.log(factor * (1 - next()));
  return Array.from({ length: 60 }, () =>
    Array.from({ length: perProtein }, (_, i): Draw => {
      const bin = i % NULL_BINS;
      const [tail, zTail] = [draw(), draw()];
      const statisticsBy = (model: ScoringModel): Statistics => {
        const { conservation, z } = NULL_QUANTILES[model][bin];
        return { conservation: conservation && at(conservation, tail), z: at(z, zTail) };
      };
      return {
        bin,
        statistics: {
          continuous: statisticsBy("continuous"),
          discontinuous: statisticsBy("discontinuous"),
        },
      };
    }),
  );
}

/** Index of P = 0.05 among the levels. */
const AT_05 = LEVELS.indexOf(0.95);
const STATISTICS = ["conservation", "z"] as const;
const isFew = (bin: number): boolean => NULL_QUANTILES.continuous[bin].conservation === null;

test("draws from the built-in null distribution hardly change it", () => {
  const own = computeCalibration(3, [...drawnBy(1), []]);
  expect(own).toMatchObject({ seed: 3, proteins: 60, examined: 61, matches: 4320 });
  for (const [bin, row] of own.rows.continuous.entries()) {
    expect(row.matches).toBe(360);
    for (const name of STATISTICS) {
      const [before, after] = [NULL_QUANTILES.continuous[bin][name], row[name]];
      expect(after === null).toBe(before === null);
      // Moved by less than half the way to the next quantile.
      if (before && after) {
        const step = before[AT_05 + 1] - before[AT_05 - 1];
        expect(Math.abs(after[AT_05] - before[AT_05])).toBeLessThan(step / 4);
      }
    }
  }
  expect(describeCalibration(own)).toBe(
    "P values are calibrated on 4320 random matches in 60 proteins of this corpus.",
  );
});

test.each(STATISTICS)("higher draws shift %s in every bin so that a twentieth reaches P = 0.05", (name) => {
  const all = drawnBy(0.4);
  const own = computeCalibration(
    3,
    all.map((drawn) => drawn.filter(({ bin }) => bin !== 4)),
  );
  expect(own.rows.discontinuous[4].matches).toBe(0);
  for (let bin = 0; bin < NULL_BINS; bin++) {
    if (name === "conservation" && isFew(bin)) continue;
    const inBin = all.flat().filter((draw) => draw.bin === bin);
    const surroundings = {
      homologs: NULL_DEPTHS[Math.floor(bin / (NULL_ORDER.length + 1))],
      order: [0, ...NULL_ORDER][bin % (NULL_ORDER.length + 1)],
    };
    expect(findBin(surroundings.homologs, surroundings.order)).toBe(bin);
    const part = (null_: typeof own | null): number =>
      inBin.filter(({ statistics: { discontinuous } }) => {
        const { p } = computePValue(name, discontinuous[name]!, "discontinuous", surroundings, null_)!;
        return p <= 0.05;
      }).length / inBin.length;
    expect(part(null)).toBeGreaterThan(0.06);
    expect(part(own)).toBeGreaterThan(0.01);
    expect(part(own)).toBeLessThan(0.1);
    expect(part(own)).toBeLessThan(part(null));
    const row = own.rows.discontinuous[bin][name]!;
    for (let i = 1; i < LEVELS.length; i++) expect(row[i]).toBeGreaterThan(row[i - 1]);
  }
});

test("matches with few homologs are calibrated separately, and bins with too few draws keep the built-in values", () => {
  const few = drawnBy(0.4).map((drawn) => drawn.filter(({ bin }) => isFew(bin)));
  const shallow = computeCalibration(3, few);
  const deep = computeCalibration(
    3,
    drawnBy(0.4).map((drawn) => drawn.filter(({ bin }) => !isFew(bin))),
  );
  for (const [bin, builtIn] of NULL_QUANTILES.continuous.entries()) {
    const [changed, unchanged] = isFew(bin) ? [shallow, deep] : [deep, shallow];
    expect(unchanged.rows.continuous[bin]).toMatchObject({
      conservation: builtIn.conservation,
      z: builtIn.z,
    });
    expect(changed.rows.continuous[bin].z[AT_05]).toBeGreaterThan(builtIn.z[AT_05]);
  }
});

test("quantiles increase strictly even if values are equal", () => {
  const quantiles = computeQuantiles([...Array(50).fill(0.25), ...Array(50).fill(0.25), 1]);
  for (let i = 1; i < LEVELS.length; i++) expect(quantiles[i]).toBeGreaterThan(quantiles[i - 1]);
});

test("a calibrated corpus changes P values and adds a warning", () => {
  const low = LEVELS.map((_, i) => i / 1000 - 50);
  const row = { matches: 500, conservation: low, z: low };
  const rows = Array.from({ length: NULL_BINS }, () => row);
  const calibration = {
    seed: 1,
    proteins: 40,
    examined: 50,
    matches: 4500,
    rows: { continuous: rows, discontinuous: rows },
  };
  const query = decode(readResidues(corpus, 0));
  const request = { query, patterns: [{ expression: "[ST]", name: null }], model: "continuous" } as const;
  const plain = predict(request, corpus);
  const own = predict(request, Object.assign({ ...corpus }, { calibration }));
  expect(plain.warnings).toEqual([]);
  expect(own.warnings).toEqual([
    "P values are calibrated on 4500 random matches in 40 proteins of this corpus.",
  ]);
  expect(own.patterns[0].matches.map(({ pValue, overallPValue, z }) => [pValue, overallPValue, z])).toEqual(
    plain.patterns[0].matches.map(({ z }) => [MIN_P, MIN_P, z]),
  );
  const alone = openCorpus(packCorpus("empty", []));
  const few = predict(request, Object.assign({ ...alone }, { calibration }));
  expect(few.warnings.at(-1)).toStartWith("P values are calibrated on 4500");
  expect(few.patterns[0].matches[0].overallPValue).toBe(MIN_P);
});
