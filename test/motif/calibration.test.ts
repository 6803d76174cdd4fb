import { expect, test } from "bun:test";
import {
  calibrationOf,
  type Draw,
  drawMatches,
  drawnProteins,
  LEAST_DRAWS,
  quantilesOf,
  shuffledExpression,
} from "../../src/motif/calibration.ts";
import { decode } from "../../src/motif/alphabet.ts";
import { openCorpus, packCorpus } from "../../src/motif/corpus.ts";
import { parsePattern, predict } from "../../src/motif/index.ts";
import { describeCalibration, NULL_BINS, pValueInContext } from "../../src/motif/null-context.ts";
import { LEVELS } from "../../src/motif/null-distribution.ts";
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
    () => new Bun.CryptoHasher("sha256"),
  ),
);
const patterns = ["[ST]P", "[KR].[DE]", "[FILMV]..[AG]", "W", "CCCCC", "L.{2,3}L"].map((one) =>
  parsePattern(one),
);

test("matches are drawn in proteins with homologs, one of each pattern; alone or with others, they are the same", () => {
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

test("a bin has a row where enough was drawn, and P is the part above", () => {
  const draws = Array.from({ length: LEAST_DRAWS }, (_, i): Draw => {
    const persistence = { continuous: i / LEAST_DRAWS, discontinuous: -i };
    return { bin: 4, persistence };
  });
  const own = calibrationOf(3, [draws.slice(0, 100), [], [...draws.slice(100), { ...draws[0], bin: 0 }]]);
  expect(own).toMatchObject({ seed: 3, proteins: 2, looked: 3, matches: LEAST_DRAWS + 1 });
  const rows = own.rows.continuous.map((row) => row?.matches ?? 0);
  expect(rows).toEqual(Array.from({ length: NULL_BINS }, (_, bin) => (bin === 4 ? LEAST_DRAWS : 0)));
  expect(pValueInContext("continuous", 10, 0.15, 0.95, own)!.p).toBeCloseTo(0.05, 2);
  expect(pValueInContext("continuous", 10, 0.15, 0.5, own)!.p).toBeCloseTo(0.5, 2);
  // In a bin that was not filled the built-in null serves.
  expect(pValueInContext("continuous", 3, 0, 0.7, own)).toEqual(pValueInContext("continuous", 3, 0, 0.7));
  expect(describeCalibration(own, "continuous")).toBe(
    "P values rest on the corpus's own null of 476 random matches in 2 proteins in 1 of its 9 bins, in the others on the built-in one.",
  );
});

test("quantiles rise even where many values are equal", () => {
  const quantiles = quantilesOf([...Array(50).fill(0.25), ...Array(50).fill(0.25), 1]);
  for (let i = 1; i < LEVELS.length; i++) expect(quantiles[i]).toBeGreaterThan(quantiles[i - 1]);
});

test("a corpus with a null of its own gives its P values and says so; labd-1 keeps its own", () => {
  const row = { matches: 500, persistence: LEVELS.map((_, i) => i / 1000 - 50) };
  const rows = Array.from({ length: NULL_BINS }, () => row);
  const calibration = {
    seed: 1,
    proteins: 40,
    looked: 50,
    matches: 4500,
    rows: { continuous: rows, discontinuous: rows },
  };
  const query = decode(residuesOf(corpus, 0));
  const request = { query, patterns: [{ expression: "[ST]", name: null }], model: "continuous" } as const;
  const plain = predict(request, corpus);
  const own = predict(request, Object.assign({ ...corpus }, { calibration }));
  expect(plain.warnings).toEqual([]);
  expect(own.warnings).toEqual([
    "P values rest on the corpus's own null of 4500 random matches in 40 proteins.",
  ]);
  expect(own.patterns[0].matches.map(({ pValue, z }) => [pValue, z])).toEqual(
    plain.patterns[0].matches.map(({ z }) => [0.005, z]),
  );
});

test("shuffled patterns have the same positions in another order, where these can change places", () => {
  expect(shuffledExpression("R..L.{3,4}[DEN]", 1)).not.toBe("R..L.{3,4}[DEN]");
  const sorted = (text: string): string[] => text.match(/\[[^\]]*\]|.\{3,4\}|./g)!.toSorted();
  expect(sorted(shuffledExpression("R..L.{3,4}[DEN]", 2)!)).toEqual(sorted("R..L.{3,4}[DEN]"));
  expect(shuffledExpression("P(S|T)?[^P]([DE]{2}|K.)", 5)!.length).toBe("P(S|T)?[^P]([DE]{2}|K.)".length);
  for (const fixed of ["[HK]DEL$", "^M.K", "(?=P)S.", "A|CD", "W"])
    expect(shuffledExpression(fixed, 1)).toBeNull();
});
