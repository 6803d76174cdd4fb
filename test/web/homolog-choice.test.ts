import { expect, test } from "bun:test";
import { alignmentText } from "../../src/web/score/alignment-field.tsx";
import { parseChoice, DEFAULT_CHOICE, toDraft, otherErrors } from "../../src/web/score/homolog-choice.tsx";
import type { ApiError } from "../../src/web/request.ts";
import type { Result } from "../../src/web/score/result.ts";
import { readAlignmentText } from "../../src/scoring/batch/alignment-text.ts";

const CHOICE = {
  organisms: ["Homo sapiens", "10090"],
  leaveOut: ["P12345", "Q1"],
  minIdentity: 0.35,
  maxIdentity: 0.955,
  maxHomologs: 20,
};

test("a form shows the choice of a job and sends it unchanged", () => {
  expect(toDraft(CHOICE)).toEqual({
    organisms: "Homo sapiens, 10090",
    leaveOut: "P12345, Q1",
    minIdentity: "35",
    maxIdentity: "95.5",
    maxHomologs: "20",
  });
  expect(parseChoice(toDraft(CHOICE))).toEqual(CHOICE);
  expect(toDraft(null)).toEqual(DEFAULT_CHOICE);
  expect(parseChoice(DEFAULT_CHOICE)).toBeUndefined();
});

test("lists may be separated in several ways and repeat themselves", () => {
  const draft = { ...DEFAULT_CHOICE, organisms: "Mus musculus; 9606,", leaveOut: "P1\nP2 P1" };
  expect(parseChoice(draft)).toEqual({ organisms: ["Mus musculus", "9606"], leaveOut: ["P1", "P2"] });
});

test("a number outside its range is refused with its field", () => {
  const draft = { ...DEFAULT_CHOICE, minIdentity: "10", maxIdentity: "x", maxHomologs: "0" };
  let error: ApiError | undefined;
  try {
    parseChoice(draft);
  } catch (thrown) {
    error = thrown as ApiError;
  }
  expect(error?.fields).toEqual({
    "homologs.minIdentity": ["Enter a number from 25 to 100."],
    "homologs.maxIdentity": ["Enter a number from 25 to 100."],
    "homologs.maxHomologs": ["Enter a number from 1 to 100."],
  });
  const errors = { "homologs.organisms.1": ["x"], homologs: ["the homologs are rows"], patterns: ["y"] };
  expect(otherErrors(errors)).toEqual(["The homologs are rows"]);
});

test("an alignment keeps the homologs that stay", () => {
  const homologs = ["h1", "h 2", "h3"].map((accession) => ({ accession, description: "a\nb" }));
  const alignment = { query: "MKLV", rows: ["MKaLV", "M-LV", "MKLI"] };
  const result = { identifier: "my protein", homologs, alignment } as unknown as Result;
  const text = alignmentText(result, (index) => index !== 2);
  expect(text).toBe(">my_protein\nMKLV\n>h1 a b\nMKaLV\n>h_2 a b\nM-LV\n");
  expect(readAlignmentText(text).map(({ letters }) => letters)).toEqual(["MK-LV", "MKALV", "M--LV"]);
  expect(alignmentText({ ...result, identifier: "" })).toStartWith(">query\n");
});
