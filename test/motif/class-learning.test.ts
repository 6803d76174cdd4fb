import { describe, expect, test } from "bun:test";
import { encode } from "../../src/motif/alphabet.ts";
import { findMatches, findPathNodes, lookaroundTable } from "../../src/motif/automaton-matches.ts";
import { listColumns } from "../../src/motif/class-examples.ts";
import {
  type ClassExample,
  joinFamilies,
  learnClass,
  MIN_INSTANCES,
  NULL_SHARES,
} from "../../src/motif/class-learning.ts";
import {
  alignWindow,
  applyClassModel,
  areHomologous,
  type ClassModel,
  FLANK,
  type LearnedModel,
} from "../../src/motif/class-model.ts";
import { predictFromAlignment } from "../../src/motif/predict.ts";
import { parsePattern } from "../../src/motif/pattern.ts";
import { TERMS } from "../../src/motif/prediction.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";

const WIDTH = 2 * FLANK + 4;

/** Instances with z higher by 1, and one of few residues at four places in a share of them; random matches have neither. */
function makeExamples(planted: number, seed: number, known = 24, others = 400): ClassExample[] {
  const next = random(seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return Array.from({ length: known + others }, (_, i) => {
    const isTrue = i < known;
    const window = randomProtein(next, WIDTH);
    if (isTrue)
      for (const at of [0, 3, WIDTH - 4, WIDTH - 1]) if (next() < planted) window[at] = 8 + (at % 2);
    const contributions = Object.fromEntries(
      TERMS.map((term) => [term, normal() / Math.sqrt(TERMS.length) + (isTrue ? 1 / TERMS.length : 0)]),
    ) as ClassExample["contributions"]["continuous"];
    return {
      isTrue,
      family: `family ${i % (isTrue ? 12 : others)} ${isTrue}`,
      window,
      contributions: { continuous: contributions, discontinuous: contributions },
      thresholds: { continuous: [0.84, 1.64], discontinuous: [0.84, 1.64] },
    };
  });
}

const columns = [1, 2, 3, 4];
const learned = (examples: ClassExample[]): LearnedModel => {
  const model = learnClass(examples, columns);
  if ("reason" in model) throw new Error(model.reason);
  return model;
};
const named = (model: LearnedModel): ClassModel => ({
  ...model,
  motifClass: "LIG_X",
  expression: "KP.D",
  method: "labd-4",
  corpus: "",
  hash: "h",
});
const zBy = (model: LearnedModel, { contributions, window }: ClassExample): number =>
  TERMS.reduce((sum, term) => sum + contributions.discontinuous[term], 0) +
  applyClassModel(named(model), contributions.discontinuous, window, "discontinuous");

describe("a class", () => {
  test("with a planted profile is learned", () => {
    const { gain, instances, families, randomMatches } = learned(makeExamples(0.8, 1));
    expect(gain.with - gain.without).toBeGreaterThan(0.05);
    expect(gain.low).toBeGreaterThan(0);
    expect([instances, families, randomMatches]).toEqual([24, 12, 400]);
  });

  test("without one is mostly rejected", () => {
    const results = [1, 2, 3, 4, 5, 6].map((seed) => learnClass(makeExamples(0, seed), columns));
    const rejected = results.filter((one) => "reason" in one);
    expect(rejected.length).toBeGreaterThanOrEqual(4);
    for (const { gain } of rejected) expect(gain!.with).toBeLessThanOrEqual(gain!.without);
  });

  test("with few instances, families or random matches is not learned", () => {
    const reason = (examples: ClassExample[]) =>
      (learnClass(examples, columns) as { reason?: string }).reason;
    expect(reason(makeExamples(0.8, 1, MIN_INSTANCES - 1))).toContain("instances");
    expect(reason(makeExamples(0.8, 1, 24, 40))).toContain("random matches");
    const one = makeExamples(0.8, 1).map((example) => Object.assign(example, { family: "one" }));
    expect(reason(one)).toContain("families");
  });

  test("ranks new instances better, and 5 % of new random matches have P of at most .05", () => {
    const model = learned(makeExamples(0.8, 1));
    const fresh = makeExamples(0.8, 2, 200, 2000);
    const reach = (isTrue: boolean): number => {
      const some = fresh.filter((one) => one.isTrue === isTrue);
      return some.filter((one) => zBy(model, one) >= one.thresholds.discontinuous[1]).length / some.length;
    };
    expect(NULL_SHARES[1]).toBe(0.05);
    expect(reach(false)).toBeGreaterThan(0.025);
    expect(reach(false)).toBeLessThan(0.085);
    expect(reach(true)).toBeGreaterThan(0.5);
  });
});

test("an instance is judged by the others, not by itself or its homologs", () => {
  const model = learned(makeExamples(0.8, 1));
  const [own] = makeExamples(0.8, 1);
  const others = model.windows.filter((_, i) => i > 0);
  expect(areHomologous(own.window, encode(others[0]))).toBe(false);
  expect(zBy(model, own)).toBe(zBy({ ...model, windows: others }, own));
  // A window that is like no instance counts all of them.
  const foreign = { ...own, window: encode("W".repeat(WIDTH)) };
  expect(zBy(model, foreign)).not.toBe(zBy({ ...model, windows: others }, foreign));
});

test("patterns of variable length are aligned by their path, with both flanks at the ends of the match", () => {
  const { automaton } = parsePattern("KR.{0,2}ST");
  const list = listColumns(automaton);
  const window = (text: string): string => {
    const residues = encode(text);
    const table = lookaroundTable(automaton, residues);
    const [match] = findMatches(automaton, residues, table);
    const codes = alignWindow(list, residues, match, findPathNodes(automaton, residues, match, table)!);
    return [...codes].map((code) => "ACDEFGHIKLMNPQRSTVWY"[code] ?? "-").join("");
  };
  const short = window("AAAAAAKRSTCCCCCC");
  expect(short).toHaveLength(2 * FLANK + 6);
  expect(short.replaceAll("-", "")).toBe("AAAAAAKRSTCCCCCC");
  const long = window("AAAAAAKRGGSTCCCCCC");
  expect(long.replaceAll("-", "")).toBe("AAAAAAKRGGSTCCCCCC");
  for (const [at, residue] of [...short].entries()) if (residue !== "-") expect(long[at]).toBe(residue);
  expect(window("KRST").startsWith("------")).toBe(true);
});

test("families share homologs, or have homologous windows", () => {
  const next = random(3);
  const windows = Array.from({ length: 4 }, () => randomProtein(next, WIDTH));
  const names = [["1", "9"], ["2", "9"], ["3"], ["4"]];
  const families = joinFamilies([
    ...windows.map((window, i) => ({ window, names: names[i] })),
    { window: windows[3], names: ["5"] },
  ]);
  expect(families[0]).toBe(families[1]);
  expect(families[3]).toBe(families[4]);
  expect(new Set(families).size).toBe(3);
});

describe("a prediction", () => {
  const rows = [
    { name: "query", letters: "MSTAAAKPGDAAASTLLEKRWQ" },
    { name: "one", letters: "MSTAAAKPGDAGASTLLEKRWQ" },
    { name: "two", letters: "MATAAAKPGDAASSTLIEKKWQ" },
    { name: "three", letters: "MSTAAAKPGEAAASTLLEKRYQ" },
  ];
  const request = { rows, patterns: [{ expression: "KP.D", name: null }], model: "discontinuous" as const };
  const { automaton } = parsePattern("KP.D");
  const model = named({ ...learned(makeExamples(0.8, 1)), columns: listColumns(automaton) });
  const without = predictFromAlignment(request).patterns[0];
  const [withModel] = predictFromAlignment({ ...request, knowledge: { classModels: { 0: model } } }).patterns;

  test("has one contribution more with a class model, and names it", () => {
    const [match] = withModel.matches;
    const { classModel, ...terms } = match.contributions!;
    expect(terms).toEqual(without.matches[0].contributions!);
    expect(classModel).toBeNumber();
    expect(match.z! - without.matches[0].z!).toBeCloseTo(classModel!, 5);
    expect(withModel.classModel).toEqual({ hash: "h", instances: 24, gain: model.gain });
  });

  test("is the same as ever without one", () => {
    expect(predictFromAlignment({ ...request, knowledge: {} }).patterns[0]).toEqual(without);
    expect(predictFromAlignment({ ...request, knowledge: { classModels: {} } }).patterns[0]).toEqual(without);
    expect(without).not.toHaveProperty("classModel");
  });
});
