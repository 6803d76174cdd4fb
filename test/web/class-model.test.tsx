import { expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import { describeModel, type ClassModel, ModelFacts } from "../../src/web/score/class-model.tsx";

const MODEL: ClassModel = {
  motifClass: "LIG_X",
  expression: "KEN",
  hash: "0123456789abcdef",
  method: "labd-4",
  corpus: "",
  instances: 12,
  families: 9,
  randomMatches: 500,
  windows: ["WAAAAAKENAAAAAY", "WCCCCCKENCCCCC-", "WDDDDDKENDDDDD-", "WEEEEEKENEEEEE-", "WFFFFFKENFFFFF-"],
  weights: { conservation: 1.02, order: 0.4, abundance: 1.5 },
  gain: { without: 0.7912, with: 0.8449, low: -0.0101, high: 0.0934 },
};

test("a class model says what it was learned from, what it gains, and which evidence counts more or less", () => {
  expect(describeModel(MODEL)).toBe(
    "Learned from 12 known instances. Among random matches, those of protein families that were held out rank better: AUC 0.84 instead of 0.79 (gain -0.01 to 0.09).",
  );
  const text = renderToString(<ModelFacts model={MODEL} />);
  expect(text).toContain("In this class more weight has number of matches (× 1.50).");
  expect(text).toContain("Less weight has disorder of the match (× 0.40).");
  expect(text).toContain("500 random matches");
});

test("its logo has the conserved residues, and marks the motif between the flanks", () => {
  const text = renderToString(<ModelFacts model={MODEL} />);
  const letters = [...text.matchAll(/class="logo[^>]*>(\w)</g)].map((match) => match[1]);
  expect(letters).toEqual(expect.arrayContaining(["W", "K", "E", "N"]));
  expect(text).toMatch(/<line x1="84" x2="126"/);
});
