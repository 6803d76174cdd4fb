import { expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import { explainMatch, helpOf } from "../../src/web/score/explain-match.ts";
import { histogramText, makeBars, RandomMatchesChart } from "../../src/web/score/random-matches.tsx";
import { listMatches, type NumberedMatch, type Result } from "../../src/web/score/result.ts";
import { SAMPLE } from "../scoring/sample-prediction.ts";

const [MATCH] = listMatches({ ...SAMPLE.prediction, identifier: "" } as Result);
const contributions = { conservation: 1.5, order: -0.8, chainOrder: -0.05, burial: 0, terminusProximity: 0, abundance: -0.3 }; // prettier-ignore
const NONE = { verdict: "no evidence", overallPValue: 0.31, z: 0.35, contributions } as const;

test.each<[string, Partial<NumberedMatch>, string[]]>([
  ["is likely functional", {}, []],
  [
    "is conserved without evidence",
    NONE,
    [
      "Conserved (P of conservation ≤\u00A00.005), but no evidence: other evidence counts against it (disorder of the match −0.80, number of matches −0.30), so that 31\u00A0% of random matches reach its z of 0.35.",
    ],
  ],
  ["is not conserved", { ...NONE, conservationLevel: "not conserved" }, []],
  [
    "has a z above 0 and no P",
    {
      ...NONE,
      conservationLevel: "not conserved",
      overallPValue: 0.5,
      overallPValueIs: "at least",
      homologs: 24,
      pattern: { ...MATCH.pattern, randomMatches: { shares: [0.5, 0.1], z: [0.84, 2] } },
    },
    [
      "z is above 0, the mean of all random matches, but half of those with which this match is compared (in proteins with as many homologs and as much order) reach 0.84, and 0.35 is less.",
    ],
  ],
  [
    "paralogs lost",
    {
      score: 0.27,
      homologs: 39,
      kept: 5,
      orthologs: { homologs: 2, kept: 2, nearby: 0, score: 1 },
      paralogs: { homologs: 37, kept: 3, nearby: 0, score: 0.2314 },
    },
    [
      "Few homologs keep it (CS\u00A00.27) because paralogs fill the list: it is in place in 2 of 2 orthologs (CS\u00A01.00), but only in 3 of 37 paralogs (CS\u00A00.23).",
    ],
  ],
])("explains a match that %s", (_, more, expected) => {
  expect(explainMatch({ ...MATCH, ...more })).toEqual(expected);
});

const RANDOM = { shares: [0.5, 0.25, 0.05], z: [0, 1, 3] };

test.each([0.5, 4, -3])("the bars of the histogram hold all random matches and z %p", (z) => {
  const bars = makeBars(RANDOM, z);
  expect(bars.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 6);
  expect(bars[0].from).toBeLessThan(z);
  expect(bars.at(-1)!.to).toBeGreaterThan(z);
  // Of those that are known, each share is above its z.
  const above = bars.filter(({ from }) => from >= 1).reduce((sum, { share }) => sum + share, 0);
  expect(Math.abs(above - 0.25)).toBeLessThan(0.1);
});

test("the histogram says in words what it shows", () => {
  const text = histogramText(RANDOM, -0.5);
  expect(text).toBe(
    "Random matches with which this match is compared: half of them reach z 0.00, 5 % reach 3.00. This match has z −0.50.",
  );
  const html = renderToString(<RandomMatchesChart of={RANDOM} z={-0.5} />);
  expect(html).toContain(`aria-label="${text}"`);
  expect(html).toContain("The lower 50\u00A0% (pale) are extrapolated.");
});

test("explains a known phosphosite and its absence in other words", () => {
  expect(helpOf("phosphosite", 0.5)).toContain("this one is a known phosphosite");
  expect(helpOf("phosphosite", -0.2)).toContain("this one is not");
  expect(helpOf("order", -0.2)).toBe(helpOf("order", 0.2));
});
