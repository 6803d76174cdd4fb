import { expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import type { HomologAtMatch } from "../../src/scoring/index.ts";
import { MatchPanel } from "../../src/web/score/match-panel.tsx";
import { listMatches, type NumberedMatch, type Result } from "../../src/web/score/result.ts";
import { SAMPLE } from "../scoring/sample-prediction.ts";

const RESULT = { ...SAMPLE.prediction, identifier: "", protein: SAMPLE.protein } as Result;
const MATCHES = listMatches(RESULT);

const homologs = (states: HomologAtMatch["state"][]): HomologAtMatch[] =>
  states.map((state, homolog) => ({ homolog, state, residues: "", retention: null }));

/** The text of the panel, without help. */
function renderPanel(match: Partial<NumberedMatch>): string {
  const panel = (
    <MatchPanel
      result={RESULT}
      match={{ ...MATCHES[0], ...match }}
      onPrevious={undefined}
      onNext={undefined}
    />
  );
  return renderToString(panel)
    .replace(/<details.*?<\/details>/g, "")
    .replace(/<[^>]+>/g, " ")
    .replaceAll("&nbsp;", " ")
    .replace(/\s+/g, " ");
}

test.each<[string, Partial<NumberedMatch>, shown: string[]]>([
  [
    "is conserved like its surroundings",
    {
      overallVerdict: "likely functional",
      overallPValue: 0.02,
      conservationLevel: "conserved like its surroundings",
      score: 1,
      expected: 0.93,
      pValue: 0.31,
      pValueIs: "estimate",
      homologs: 23,
      kept: 23,
      atHomologs: homologs(Array.from({ length: 23 }, () => "conserved")),
    },
    [
      "Likely functional P 0.02 1 in 50 random matches scores as high.",
      "In place in 23 of 23 homologs CS 1.00",
      "Conserved like its surroundings (expected CS 0.93, P 0.31). 31 in 100 random matches are kept this well.",
    ],
  ],
  [
    "some homologs have nearby or do not reach",
    { homologs: 3, kept: 1, nearby: 1, atHomologs: homologs(["conserved", "shifted", "gap", "missing"]) },
    [
      "In place in 1 of 3 homologs",
      "More than its surroundings explain (expected CS 0.11, P ≤ 0.005). At most 1 in 200 random matches is kept this well.",
      "1 more has it nearby, within ten residues. 1 other homolog does not reach this site.",
    ],
  ],
  [
    "has two homologs",
    {
      conservationLevel: "insufficient data",
      score: null,
      pValue: null,
      homologs: 2,
      kept: 1,
      warnings: ["Few homologs: mostly context."],
    },
    [
      "Likely functional P 0.012",
      "In place in 1 of 2 homologs Conservation cannot be judged.",
      "Few homologs: mostly context.",
      "Sum: score z 1.83",
    ],
  ],
  [
    "no homolog reaches",
    MATCHES[1],
    ["Possible P 0.1", "No homolog reaches this site Conservation cannot be judged."],
  ],
  ["is not scored", MATCHES[2], ["Not scored", "the match is longer than 400 residues."]],
])("the panel of a match that %s shows both verdicts", (_, match, shown) => {
  const text = renderPanel(match);
  for (const words of shown) expect(text).toContain(words);
  expect(text).not.toMatch(/not conserved|undefined|null|NaN/i);
});

test("the panel says how many orthologs and paralogs keep a match", () => {
  const orthologs = { homologs: 12, kept: 11, nearby: 1, score: 0.97 };
  const paralogs = { homologs: 1, kept: 0, nearby: 0, score: 0 };
  expect(renderPanel({ orthologs, paralogs })).toContain(
    "In orthologs 11 of 12 in place, 1 nearby, CS 0.97; in paralogs 0 of 1 in place, CS 0.00.",
  );
});

test("the panel of a match without a score shows neither evidence nor conservation", () => {
  expect(renderPanel(MATCHES[2])).not.toMatch(/Evidence|In place in|No homolog/);
});

test.each([
  [null, "/proteome?pattern=P..P"],
  ["LIG_SH3_1", "/proteome?class=LIG_SH3_1"],
])("leads from the motif %p to a search of a proteome", (name, address) => {
  const pattern = { ...MATCHES[0].pattern, name, expression: "P..P" };
  const panel = (
    <MatchPanel
      result={RESULT}
      match={{ ...MATCHES[0], pattern }}
      onPrevious={undefined}
      onNext={undefined}
    />
  );
  expect(renderToString(panel)).toContain(`href="${address}"`);
});
