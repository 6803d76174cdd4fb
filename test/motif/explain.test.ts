import { expect, test } from "bun:test";
import { explain, listPositions } from "../../src/motif/explain.ts";
import { parsePattern } from "../../src/motif/pattern.ts";

test.each([
  ["[RK].L.{0,1}[FYLIVMP]", "R or K, any residue, L, then 0 or 1 of any residue, then one of F Y L I V M P"],
  ["...([ST])P.", "3 of any residue, then S or T, P, any residue"],
  [
    "F[^P]{3}W[^P]{2,3}[VIL]",
    "F, then 3 of any residue but P, W, then 2 or 3 of any residue but P, then one of V I L",
  ],
  ["^M{0,1}[FYLIW]", "the protein's start, then 0 or 1 of M, then one of F Y L I W"],
  ["K.{2,}$", "K, then 2 or more of any residue, then the protein's end"],
  ["A((.E)|($))", "A, then (either (any residue, E) or the protein's end)"],
  ["(RS){2,4}?", "2 to 4 times (R, S), as few as possible"],
  ["", "nothing"],
  ["A|()", "either A or nothing"],
])("%p", (expression, words) => {
  expect(explain(parsePattern(expression))).toBe(words);
});

test("explains lookarounds", () => {
  expect(explain(parsePattern("(?<!P)S(?=P)", "elm"))).toBe("not preceded by P, S, then followed by P");
});

test("truncates a long explanation", () => {
  const words = explain(parsePattern("AC".repeat(4000)));
  expect(words.length).toBeLessThan(2100);
  expect(words).toEndWith("…");
});

test.each([
  ["F...W..[ILV]", ["F", ".", ".", ".", "W", ".", ".", "[ILV]"]],
  ["^M[^P]{2,3}(K)?R+$", ["M", "[^P]{2,3}", "K{0,1}", "R{1,}"]],
  ["K{2}(?:[ST])P", ["K{2}", "[ST]", "P"]],
  ["(KR|RK).", null],
  ["(KR){2}", null],
  ["(K{2}){3}", null],
])("the positions of %s", (expression, positions) => {
  expect(listPositions(parsePattern(expression, "elm"))).toEqual(positions);
});
