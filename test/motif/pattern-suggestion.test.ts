import { expect, test } from "bun:test";
import { parsePattern } from "../../src/motif/index.ts";
import { didYouMean, suggestPatterns } from "../../src/motif/pattern-suggestion.ts";

test.each<[expression: string, ...string[]]>([
  // x of publications; X is ambiguous, because proteins can contain it.
  ["PxxP", "P..P"],
  ["pxxp", "P..P"],
  ["PXXP", "P..P"],
  ["P x x P", "P..P"],
  ["RxL.{0,1}[FYLIVMP]", "R.L.{0,1}[FYLIVMP]"],
  // PROSITE.
  ["[ST]-P", "[ST]P"],
  ["P-x-x-P", "P..P"],
  ["[RK]-x(2)-[ST]", "[RK].{2}[ST]"],
  ["N-{P}-[ST]-{P}.", "N[^P][ST][^P]"],
  ["<M-x(2,4)-K>", "^M.{2,4}K$"],
  ["P–x–x–P", "P..P"],
  // Alternatives.
  ["S/T-P", "[ST]P"],
  ["(S/T)P", "[ST]P"],
  ["[S/T]P", "[ST]P"],
  ["[S, T]P", "[ST]P"],
  ["D-x-x-B", "D..[DN]"],
  // Counts.
  ["LX2-4L", "L.{2,4}L"],
  ["Lx₂L", "L.{2}L"],
  ["P-x(2-3)-P", "P.{2,3}P"],
  // Symbols of classes, phosphorylation, wild cards of search fields, autocorrection.
  ["YxxΦ", "Y..[FILMVWY]"],
  ["yxxφ", "Y..[FILMVWY]"],
  ["[ΦP]xP", "[FILMVWYP].P"],
  ["RSxpSxP", "RS.S.P"],
  ["pYxxM", "Y..M"],
  ["P**P", "P..P"],
  ["P__P", "P..P"],
  ["P…P", "P...P"],
  // Valid, but rarely meant.
  ["P*P", "P.P", "P.*P"],
])("suggests for %p", (expression, ...expected: string[]) => {
  const suggestions = suggestPatterns(expression);
  expect(suggestions).toEqual(expected);
  for (const suggestion of suggestions) expect(parsePattern(suggestion).expression).toBe(suggestion);
});

test.each(["P..P", "[ST]*P", "PP*", "P{2}", "", "(((", "hello", "[X]P", "[A-F]P", "PxxP".repeat(100)])(
  "has no suggestion for %p",
  (expression) => expect(suggestPatterns(expression)).toEqual([]),
);

test('the question "Did you mean" lists one or several suggestions, and is empty without any', () => {
  expect(didYouMean("PxxP")).toBe(" Did you mean P..P?");
  expect(didYouMean("P*P")).toBe(" Did you mean P.P or P.*P?");
  expect(didYouMean("((")).toBe("");
});

test("suggests quickly for expressions that are hostile to regular expressions", () => {
  const started = process.cpuUsage();
  for (const part of ["(", "[", "A/", "{A", "x(", "p", " ", "-", "9", "A9-"]) {
    suggestPatterns(part.repeat(200 / part.length));
    suggestPatterns(`${part.repeat(198 / part.length)}x`);
  }
  const { user, system } = process.cpuUsage(started);
  expect((user + system) / 1000).toBeLessThan(500);
});
