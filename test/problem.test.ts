import { expect, test } from "bun:test";
import { nearest, type Path, Problem, ProblemList, PROBLEMS } from "../src/problem.ts";

test("an unknown error hides its message and keeps its cause", () => {
  const cause = new Error("password=hunter2");
  const problem = Problem.from(cause);
  expect(problem.code).toBe("internal");
  expect(problem.message).not.toContain("hunter2");
  expect(problem.cause).toBe(cause);
  expect(Problem.from(problem)).toBe(problem);
});

test("every problem is complete and has values in range", () => {
  for (const [code, row] of Object.entries(PROBLEMS)) {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(row.status).toBeWithin(400, 600);
    // 64 to 78 are the codes of sysexits.h.
    expect(row.exitCode).toBeWithin(64, 79);
    expect(row.meaning).toEndWith(".");
  }
});

test("nearest finds typing errors and transpositions, and returns nothing for distant words", () => {
  const verbs = ["serve", "score", "corpus", "check"];
  expect(nearest("sevre", verbs)).toEqual(["serve"]);
  expect(nearest("scor", verbs)).toEqual(["score"]);
  expect(nearest("CHECK", verbs)).toEqual(["check"]);
  expect(nearest("xyzzyq", verbs)).toEqual([]);
  expect(nearest("x".repeat(1_000_000), verbs)).toEqual([]);
});

test.each<[Path, number | undefined, string, Record<string, string[]>, string]>([
  [["sequence"], undefined, "sequence: wrong.", { sequence: ["wrong."] }, "<sequence>: wrong."],
  [
    ["sequence"],
    7,
    "sequence: character 7: wrong.",
    { sequence: ["character 7: wrong."] },
    "<sequence>, character 7: wrong.",
  ],
  [
    ["patterns", 1],
    3,
    "patterns[1]: character 3: wrong.",
    { patterns: ["patterns[1]: character 3: wrong."] },
    "<patterns 1>, character 3: wrong.",
  ],
  [
    ["homologs", "organisms", 0],
    undefined,
    "homologs.organisms[0]: wrong.",
    { homologs: ["homologs.organisms[0]: wrong."] },
    "<homologs organisms 0>: wrong.",
  ],
])(
  "an error at %j, character %p, names its place in the terms of each interface",
  (path, character, message, fields, inTerms) => {
    const problem = new Problem("invalid_pattern", "wrong.", { path, character });
    expect([problem.message, problem.fields]).toEqual([message, fields]);
    const translated = problem.translatePaths((path) => `<${path.join(" ")}>`);
    expect([translated.message, translated.code]).toEqual([inTerms, "invalid_pattern"]);
  },
);

test("problems of one request are collected, and interfaces for one problem report the first", () => {
  const problems = new ProblemList();
  expect(problems.collect(() => 1)).toBe(1);
  problems.add(["a"], "one.", "invalid_pattern");
  const other = new Problem("unknown_motif_class", "two.", { path: ["b", 0] });
  expect(
    problems.collect(() => {
      throw other;
    }),
  ).toBeNull();
  expect(() =>
    problems.collect(() => {
      throw new Problem("busy", "later.");
    }),
  ).toThrow("later.");
  let thrown: unknown;
  try {
    problems.throwIfAny({ more: 1 });
  } catch (error) {
    thrown = error;
  }
  const fields = { a: ["one."], b: ["b[0]: two."] };
  expect(thrown).toMatchObject({ code: "invalid_request", message: "a: one.", fields, more: { more: 1 } });
  expect((thrown as Problem).translatePaths(([name]) => `--${name}`)).toMatchObject({
    code: "invalid_pattern",
    message: "--a: one.",
  });
});
