import { expect, test } from "bun:test";
import type { StructureModel } from "../../src/scoring/index.ts";
import { colourIn, MATCH_COLOUR, OTHER_COLOUR, SCALES } from "../../src/web/score/structure-viewer.ts";
import { describeMatch, describeModel } from "../../src/web/score/structure-words.ts";
import { linePath, findRegions } from "../../src/web/score/track-geometry.ts";

/** Residues 3 to 6 of eight, with a mutation. */
const MODEL: StructureModel = {
  name: "AF-X-F1-model_v4.cif",
  source: "folder",
  format: "mmcif",
  isPrediction: true,
  chain: "A",
  chains: ["A", "B"],
  identity: 0.75,
  residues: [null, null, "27", "27A", "28", "29", null, null],
  pLddt: [null, null, 90, 80, 40, 30, null, null],
  mismatches: ["R4H"],
  missing: [
    { start: 1, end: 2 },
    { start: 7, end: 7 },
  ],
};

test("describes a model, its mismatches and missing residues", () => {
  expect(describeModel(MODEL).join(" ")).toBe(
    "Predicted structure: its B factors are pLDDT, which have a track at the top of the page. Chain A of 2 chains has 4 of 8 residues, 75\u00A0% identical. Residues that differ: R4H. Without coordinates: 1–2, 7.",
  );
  const experiment = {
    ...MODEL,
    isPrediction: false,
    pLddt: null,
    chain: "",
    chains: [""],
    mismatches: [],
    missing: [],
  };
  expect(describeModel(experiment).join(" ")).toBe(
    "Experimental structure: its B factors are not pLDDT. The chain has 4 of 8 residues, 75\u00A0% identical. No residue differs. No residue is missing.",
  );
});

test("a protein with a mutation is not described as identical", () => {
  expect(describeModel({ ...MODEL, identity: 0.9997 })[1]).toContain("99.9\u00A0% identical");
  expect(describeModel({ ...MODEL, identity: 1 })[1]).toContain("100\u00A0% identical");
});

test("describes the place of a match in the model, and the confidence of its structure", () => {
  expect(describeMatch(MODEL, { start: 3, end: 4 })).toBe(
    "The match 3–4: all its residues are in the model, with the numbers 27 to 27A. Its mean pLDDT is 85: the backbone is likely right.",
  );
  expect(describeMatch(MODEL, { start: 5, end: 8 })).toBe(
    "The match 5–8: 2 of its 4 residues are in the model, with the numbers 28 to 29. Its mean pLDDT is 35: the region is probably disordered.",
  );
  expect(describeMatch(MODEL, { start: 7, end: 8 })).toBe("The match 7–8 is not in the model.");
  expect(describeMatch({ ...MODEL, pLddt: null }, { start: 3, end: 3 })).not.toContain("pLDDT");
});

test("colours residues in steps, with separate colours for the match and for residues without data", () => {
  expect([95, 90, 70, 0].map((value) => colourIn("confidence", value))).toEqual(
    [0, 0, 1, 3].map((step) => SCALES.confidence[step].colour),
  );
  expect([null, undefined].map((value) => colourIn("conservation", value))).toEqual([
    OTHER_COLOUR,
    OTHER_COLOUR,
  ]);
  const colours = [...SCALES.conservation, ...SCALES.confidence].map(({ colour }) => colour);
  expect(colours).not.toContain(MATCH_COLOUR);
});

test("draws tracks of values with gaps", () => {
  const plot = { span: { from: 1, to: 5 }, left: 0, width: 50, scale: 10, y: 0 };
  const path = linePath([0.5, null, 0.8, 0.9, null], plot, (value) => value);
  expect(path.match(/M/g)?.length).toBe(2);
  expect(findRegions([0.8, null, 0.9, 0.1, 0.8], 0.7, plot.span)).toBe("1, 3, 5");
});
