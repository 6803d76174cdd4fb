import { expect, test } from "bun:test";
import { nearest, Problem, PROBLEMS } from "../src/problem.ts";

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
