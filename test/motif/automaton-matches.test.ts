import { expect, test } from "bun:test";
import { encode } from "../../src/motif/alphabet.ts";
import {
  findMatches,
  matchesExactly,
  matchesWithin,
  openSimulation,
  findMatchPath,
  lookaroundTable,
} from "../../src/motif/automaton-matches.ts";
import { type Dialect, parsePattern } from "../../src/motif/pattern.ts";
import { random } from "../fixtures/random-protein.ts";
import { cpuTime } from "./cpu-time.ts";
import { allEnds, firstEnd, type Form, randomForm, write } from "./pattern-cases.ts";

function listMatches(expression: string, text: string, dialect: Dialect = "plain"): [number, number][] {
  const { automaton } = parsePattern(expression, dialect);
  const residues = encode(text);
  return findMatches(automaton, residues, lookaroundTable(automaton, residues)).map(({ start, end }) => [
    start,
    end,
  ]);
}

function randomText(next: () => number, length: number): string {
  return Array.from({ length }, () => (next() < 0.05 ? "X" : "ACD"[Math.floor(next() * 3)])).join("");
}

interface Case {
  expression: string;
  text: string;
  dialect: Dialect;
  form: Form;
}

function randomCases(seed: number, count: number, lookarounds: boolean): Case[] {
  const next = random(seed);
  return Array.from({ length: count }, () => {
    const form = randomForm(next, 4, lookarounds);
    return {
      form,
      expression: write(form),
      text: randomText(next, Math.floor(next() * 9)),
      dialect: lookarounds ? "elm" : "plain",
    };
  });
}

test.each([
  ["patterns of the service", 1, 6000, false],
  ["patterns with lookarounds", 2, 3000, true],
] as const)("finds all matches of a backtracking matcher: %s", (_, seed, count, lookarounds) => {
  let found = 0;
  let compared = 0;
  for (const { form, expression, text, dialect } of randomCases(seed, count, lookarounds)) {
    const ends = Array.from({ length: text.length }, (_, start) => firstEnd(form, text, start));
    if (ends.includes(null)) continue;
    const expected = ends.flatMap((end, start) => (end! > start ? [[start, end!]] : []));
    expect({ expression, text, matches: listMatches(expression, text, dialect) }).toEqual({
      expression,
      text,
      matches: expected as [number, number][],
    });
    compared++;
    found += expected.length;
  }
  expect(compared).toBeGreaterThan(count * 0.95);
  expect(found).toBeGreaterThan(count / 2);
});

test("exact and windowed matches equal the matches of a backtracking matcher", () => {
  let yes = 0;
  let no = 0;
  for (const { form, expression, text } of randomCases(3, 1500, false)) {
    // matchesExactly treats non-standard letters as unknown; use standard ones only.
    const known = text.replaceAll("X", "D");
    const residues = encode(known);
    const simulation = openSimulation(parsePattern(expression).automaton);
    const ends = Array.from({ length: known.length + 1 }, (_, from) => allEnds(form, known, from));
    if (ends.includes(null)) continue;
    for (let from = 0; from < known.length; from++) {
      for (let to = from + 1; to <= known.length; to++) {
        const isMatch = matchesExactly(simulation, residues, from, to, []);
        expect([expression, known, from, to, isMatch]).toEqual([
          expression,
          known,
          from,
          to,
          ends[from]!.has(to),
        ]);
        if (isMatch) yes++;
        else no++;
      }
      const isWithin = ends.slice(from).some((each) => each!.size > 0);
      expect(matchesWithin(simulation, residues, from, known.length, [])).toBe(isWithin);
    }
  }
  expect(yes).toBeGreaterThan(1000);
  expect(no).toBeGreaterThan(1000);
});

test("the path of every match accepts its residues", () => {
  let paths = 0;
  for (const { expression, text } of randomCases(4, 1500, false)) {
    const { automaton } = parsePattern(expression);
    const residues = encode(text);
    for (const match of findMatches(automaton, residues, [])) {
      const path = findMatchPath(automaton, residues, match, [])!;
      expect(path.length).toBe(match.end - match.start);
      path.forEach((mask, i) => expect((mask >>> residues[match.start + i]) & 1).toBe(1));
      // Other residues admitted by the path match as well.
      const other = residues.slice();
      path.forEach((mask, i) => {
        other[match.start + i] = Math.clz32(1) - Math.clz32(mask & -mask);
      });
      const isStandard = other.every((code) => code < 20);
      if (isStandard && !automaton.anchored) {
        expect(matchesExactly(openSimulation(automaton), other, match.start, match.end, [])).toBe(true);
      }
      paths++;
    }
  }
  expect(paths).toBeGreaterThan(1000);
});

function sets(expression: string, text: string): string[] {
  const { automaton } = parsePattern(expression);
  const path = findMatchPath(automaton, encode(text), { start: 0, end: text.length }, []);
  return path === null ? [] : Array.from(path, (mask) => (mask === 1 ? "A" : mask === 3 ? "[AC]" : "."));
}

test("paths follow the preferred alternative, greedy or lazy", () => {
  expect(sets("A*[AC]*", "AAA")).toEqual(["A", "A", "A"]);
  expect(sets("A*?[AC]*", "AAA")).toEqual(["[AC]", "[AC]", "[AC]"]);
  expect(sets("(.A)|([AC]A)", "AA")).toEqual([".", "A"]);
  expect(sets("([AC]A)|(.A)", "AA")).toEqual(["[AC]", "A"]);
  expect(sets("A{0,1}[AC]A{0,1}", "AA")).toEqual(["A", "[AC]"]);
  expect(sets("A", "AA")).toEqual([]);
});

function exactly(expression: string): boolean {
  return matchesExactly(openSimulation(parsePattern(expression).automaton), encode("AXA"), 0, 3, []);
}

test("non-standard letters match . and [^…] in the query but do not count as retained in a homolog", () => {
  expect(listMatches("A.A", "AXA")).toEqual([[0, 3]]);
  expect(listMatches("A[^P]A", "AUA")).toEqual([[0, 3]]);
  expect(listMatches("A[CD]A", "AXA")).toEqual([]);
  expect(exactly("A.A")).toBe(true);
  expect(exactly("A[^P]A")).toBe(false);
});

test("lookarounds see the whole sequence; ^ and $ match only its ends", () => {
  expect(listMatches("A(?=C)", "ACAD", "elm")).toEqual([[0, 1]]);
  expect(listMatches("A(?!C)", "ACAD", "elm")).toEqual([[2, 3]]);
  expect(listMatches("(?<=D.*)A", "ADCA", "elm")).toEqual([[3, 4]]);
  expect(listMatches("(?<!^|D)A", "AADA", "elm")).toEqual([[1, 2]]);
  expect(listMatches("(?=(?!AC)A)..", "ACAD", "elm")).toEqual([[2, 4]]);
  expect(listMatches("A(?:CD|C)D", "ACDD", "elm")).toEqual([[0, 4]]);
  expect(listMatches("^A", "AAA")).toEqual([[0, 1]]);
  expect(listMatches("A$", "AAA")).toEqual([[2, 3]]);
});

test("matching stays linear where backtracking is exponential", () => {
  const many = "A".repeat(3000);
  const titin = "ACDEFGHIKLMNPQRSTVWYSTPPRKNEDGAV".repeat(1100);
  const cases: [string, string, number][] = [
    ["A+W", many, 0],
    ["(A+)+W", many, 0],
    ["(A*)*(A*)*(A|A)*W", many, 0],
    ["((A|AA)+)+$", many, 3000],
    [".*", titin, titin.length],
    [".*.*.*W", titin, titin.lastIndexOf("W") + 1],
  ];
  for (const [expression, text, count] of cases) {
    let matches: [number, number][] = [];
    expect(cpuTime(() => (matches = listMatches(expression, text)))).toBeLessThan(1000);
    expect([expression, matches.length]).toEqual([expression, count]);
  }
  expect(listMatches(".*", titin)[0]).toEqual([0, titin.length]);
});

const python = Bun.which("python3");
test.skipIf(python === null)("finds all matches of Python's re (skipped without python3)", () => {
  const cases = [...randomCases(5, 6000, false), ...randomCases(6, 3000, true)].map(
    ({ expression, text, dialect }) => ({
      expression,
      text,
      matches: listMatches(expression, text, dialect),
    }),
  );
  const script = `
import json, re, sys, warnings
warnings.simplefilter("ignore")
differ = []
found = 0
for case in json.load(sys.stdin):
    pattern = re.compile("(?=(%s))" % case["expression"])
    matches = [[m.start(1), m.end(1)] for m in pattern.finditer(case["text"]) if m.end(1) > m.start(1)]
    found += len(matches)
    if matches != case["matches"]:
        differ.append([case, matches])
print(json.dumps({"found": found, "differ": differ[:5]}))
`;
  const result = Bun.spawnSync([python!, "-c", script], { stdin: Buffer.from(JSON.stringify(cases)) });
  expect(result.stderr.toString()).toBe("");
  const { found, differ } = JSON.parse(result.stdout.toString());
  expect(differ).toEqual([]);
  expect(found).toBeGreaterThan(9000);
});
