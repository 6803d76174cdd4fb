import { describe, expect, test } from "bun:test";
import { encode, STANDARD } from "../../src/motif/alphabet.ts";
import { findMatches } from "../../src/motif/automaton-matches.ts";
import { MAX_NESTING, MAX_PATTERN_NODES } from "../../src/motif/options.ts";
import type { Node } from "../../src/motif/pattern-tree.ts";
import { type Dialect, parsePattern, PatternError } from "../../src/motif/pattern.ts";
import { random } from "../fixtures/random-protein.ts";
import { cpuTime } from "./cpu-time.ts";

function catchError(expression: string, dialect: Dialect = "plain"): PatternError | null {
  try {
    parsePattern(expression, dialect);
    return null;
  } catch (error) {
    if (error instanceof PatternError) return error;
    throw error;
  }
}

/** Compact notation of the tree. */
function outline(node: Node): string {
  switch (node.kind) {
    case "set":
      return node.written;
    case "start":
    case "end":
      return node.kind;
    case "lookaround":
      return `look${node.lookbehind ? "-behind" : ""}${node.negative ? "-not" : ""}(${outline(node.child)})`;
    case "group":
      return `<${outline(node.child)}>`;
    case "sequence":
      return node.items.map(outline).join(" ");
    case "choice":
      return `either(${node.items.map(outline).join(" or ")})`;
    case "repeat":
      return `${node.min}-${node.max}${node.lazy ? "?" : ""}(${outline(node.child)})`;
  }
}

test.each([
  ["A", "A"],
  [" A\t[ C\nD ] ", "A [CD]"],
  ["[^P].", "[^P] ."],
  ["[S]", "S"],
  ["[SST]", "[ST]"],
  ["A{2}", "2-2(A)"],
  ["A{2,}", "2-Infinity(A)"],
  ["A{,3}", "0-3(A)"],
  ["A {1 , 2} ?", "1-2?(A)"],
  ["A*C+?D?", "0-Infinity(A) 1-Infinity?(C) 0-1(D)"],
  ["^A$", "start A end"],
  ["(.RK)|(RR[^KR])", "either(<. R K> or <R R [^KR]>)"],
  ["([DEST]|^).", "<either([DEST] or start)> ."],
  ["", ""],
  ["()", "<>"],
  ["A|", "either(A or )"],
  // Python's normalizations.
  ["S|T", "[ST]"],
  ["(S|[TY]|S)P", "<[STY]> P"],
  ["AC|AD", "A [CD]"],
  ["^AC|^AD|^A", "start A either(C or D or )"],
  ["A|[^P]", "either(A or [^P])"],
  ["(A)|(C)", "either(<A> or <C>)"],
  ["A*C|A*D", "either(0-Infinity(A) C or 0-Infinity(A) D)"],
  // Nested open repeats are one.
  ["((A*)*)+", "0-Infinity(A)"],
  ["(A+)+", "1-Infinity(A)"],
  ["(A*?)*", "0-Infinity(<0-Infinity?(A)>)"],
])("%p parses as %p", (expression, tree) => {
  expect(outline(parsePattern(expression).root)).toBe(tree);
});

test.each([
  ["A(?=C)(?!D)(?<=E)(?<!F)", "A look(C) look-not(D) look-behind(E) look-behind-not(F)"],
  ["(?:AC)D", "A C D"],
  ["(?:A|C)|D", "[ACD]"],
  ["(?:AC){2}", "2-2(<A C>)"],
  ["(? = A)", "look(A)"],
])("with the extension %p parses as %p", (expression, tree) => {
  expect(outline(parsePattern(expression, "elm").root)).toBe(tree);
});

describe("rejects invalid patterns with a position", () => {
  test.each([
    ["((", 1, "Unclosed"],
    ["A(C", 1, "Unclosed"],
    ["A)", 1, "Unmatched )"],
    ["[", 0, "Unclosed"],
    ["A[CD", 1, "Unclosed"],
    ["[]", 0, "Empty set"],
    ["[^]A", 0, "Empty set"],
    ["[A-D]", 2, "without separators"],
    ["[S|T]", 2, "without separators"],
    ["[^^]", 2, "without separators"],
    ["A]", 1, "Unmatched ]"],
    ["A}", 1, "Unmatched }"],
    ["A{5,2}", 1, "smaller"],
    ["*A", 0, "Nothing to repeat"],
    ["{2}", 0, "Nothing to repeat"],
    ["(+)", 1, "Nothing to repeat"],
    ["A|?", 2, "Nothing to repeat"],
    ["^*", 1, "Nothing to repeat"],
    ["A**", 2, "cannot follow a repeat"],
    ["A{2}{3}", 4, "cannot follow a repeat"],
    ["A++", 2, "cannot follow a repeat"],
    ["A{", 2, "Expected a number"],
    ["A{}", 2, "Expected a number"],
    ["A{,}", 1, "needs a number"],
    ["A{2", 3, "Expected }"],
    ["A{2.}", 3, "Expected }"],
    ["A{2,3,4}", 5, "Expected }"],
    ["A{99999999999999}", 2, "at most"],
    ["A{1,10001}", 4, "at most"],
    ["x", 0, "upper-case"],
    ["A3", 1, ".{3}"],
    ["A(3)", 2, ".{3}"],
    ["A,C", 1, "Commas"],
    ["AXA", 1, "not one of the twenty"],
    ["A\u00a0C", 1, "not allowed"],
    ["A\\d", 1, "not allowed"],
    ["  A  (?=C)", 6, "not supported here"],
    ["A\n\n(", 3, "Unclosed"],
  ])("rejects %p at %d: %s", (expression, position, text) => {
    const error = catchError(expression);
    expect([error?.position, error?.message]).toEqual([position, expect.stringContaining(text)]);
  });

  test.each([
    ["(?P<n>A)", 2, "one of"],
    ["(?", 2, "one of"],
    ["(?<A)", 3, "one of"],
    ["(?=A", 0, "Unclosed"],
    ["(?i)A", 2, "one of"],
  ])("with the extension %p at %d: %s", (expression, position, text) => {
    const error = catchError(expression, "elm");
    expect([error?.position, error?.message]).toEqual([position, expect.stringContaining(text)]);
  });
});

describe("rejects oversized patterns within milliseconds", () => {
  test.each([
    ["200,000 alternatives", Array.from({ length: 200_000 }, () => "AC").join("|"), MAX_PATTERN_NODES],
    ["200,000 empty alternatives", "|".repeat(200_000), MAX_PATTERN_NODES],
    ["50,000 nested groups", `${"(".repeat(50_000)}A${")".repeat(50_000)}`, MAX_NESTING],
    ["a megabyte of residues", "A".repeat(1_000_000), MAX_PATTERN_NODES],
    ["repeats of repeats", "((A{100}){100}){100}", 2],
    ["repeats of nothing", "((){9999}){9999}", 1],
    ["repeats of what may be nothing", "((A?|C?){99}){999}", 1],
    ["many loops that may be empty", `${"(".repeat(40)}A*|C${")*".repeat(40)}`, 0],
  ])("%s", (_, expression, atLeast) => {
    expect(cpuTime(() => catchError(expression))).toBeLessThan(250);
    const error = catchError(expression);
    expect(error?.position).toBeGreaterThanOrEqual(atLeast);
    expect(error?.message).toMatch(/too large|too deeply/);
    expect(error!.message.length).toBeLessThan(200);
  });

  test("accepts and matches patterns below the limit", () => {
    const { automaton } = parsePattern(".{0,1000}.{0,1000}.{0,1000}.{0,1000}");
    const residues = encode("A".repeat(2000));
    expect(cpuTime(() => findMatches(automaton, residues, []))).toBeLessThan(1000);
    expect(findMatches(automaton, residues, [])[0]).toEqual({ start: 0, end: 2000 });
    expect(catchError(`${"(".repeat(MAX_NESTING)}A${")".repeat(MAX_NESTING)}`)).toBeNull();
    expect(catchError("A".repeat(MAX_PATTERN_NODES - 1))).toBeNull();
  });
});

test("every string is a valid pattern or causes a PatternError with a valid position", () => {
  const next = random(11);
  const characters = `${STANDARD.slice(0, 4)}0123,.^$*+?|[]{}()(){}[]=!<: x\u00e9`;
  let accepted = 0;
  for (let i = 0; i < 20_000; i++) {
    const length = 1 + Math.floor(next() * 12);
    const expression = Array.from({ length }, () => characters[Math.floor(next() * characters.length)]).join(
      "",
    );
    const dialect = next() < 0.5 ? "plain" : "elm";
    const error = catchError(expression, dialect);
    if (error === null) accepted++;
    else {
      expect(error.position).toBeGreaterThanOrEqual(0);
      expect(error.position).toBeLessThanOrEqual(expression.length);
      expect(error.message).toMatch(/[.:]/);
    }
  }
  expect(accepted).toBeGreaterThan(500);
});
