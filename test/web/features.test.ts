import { expect, test } from "bun:test";
import {
  type Feature,
  featuresAt,
  featureText,
  flaggedTexts,
  groupText,
  inLanes,
  shortName,
} from "../../src/web/score/features.ts";

const feature = (start: number, end: number, more: Partial<Feature> = {}): Feature => ({
  group: "domain",
  type: "Domain",
  start,
  end,
  name: "SH3",
  id: "",
  source: "UniProt",
  ...more,
});

test("overlapping features get separate lanes, at most three", () => {
  const lanes = inLanes([feature(5, 9), feature(1, 40), feature(6, 7), feature(10, 12), feature(6, 6)]);
  expect(lanes.map(({ start, end, lane }) => [start, end, lane])).toEqual([
    [1, 40, 0],
    [5, 9, 1],
    [6, 7, 2],
    [6, 6, 2],
    [10, 12, 1],
  ]);
});

test("features at a match overlap it, modifications may be five residues away", () => {
  const at = (...features: Feature[]) =>
    featuresAt(features, { from: 19, to: 26 }).map(({ start, group }) => `${group} ${start}`);
  const ptm = (start: number) => feature(start, start, { group: "ptm" });
  expect(at(ptm(13), ptm(14), ptm(31), ptm(32))).toEqual(["ptm 14", "ptm 31"]);
  expect(at(feature(1, 18), feature(27, 30))).toEqual([]);
  expect(at(feature(26, 30, { group: "variant" }), feature(1, 19))).toEqual(["domain 1", "variant 26"]);
});

test("features have short names and descriptions", () => {
  const ptm = feature(15, 15, { group: "ptm", name: "Phosphoserine; by ATM", id: "x" });
  expect(shortName(ptm)).toBe("Phosphoserine");
  expect(featureText(ptm)).toBe("Phosphoserine; by ATM 15 (x, UniProt)");
  const motif = feature(2, 5, { name: "LIG_X", id: "ELMI1", logic: "false positive", source: "ELM" });
  expect(featureText(motif)).toBe("LIG_X 2–5 (ELMI1, false positive, ELM)");
  expect(groupText("ptm", Array<Feature>(14).fill(ptm))).toEndWith(", Phosphoserine 15 and 2 more");
  expect(
    flaggedTexts({ protein: "P1", features: [], notes: [], flagged: { length: 1, isoform: 3 } }),
  ).toEqual([
    "1 feature not shown: end after the last residue.",
    "3 features not shown: belong to an isoform.",
  ]);
});
