import { expect, test } from "bun:test";
import { join } from "node:path";
import { LIKELY_P, POSSIBLE_P } from "../../src/motif/options.ts";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { EXAMPLES } from "../../src/web/score/examples.ts";
import { makeCalls } from "../../src/web/score/downloads.tsx";
import { inOrder } from "../../src/web/score/order.ts";
import { areaPath, findRegions, chooseTicks } from "../../src/web/score/track-geometry.ts";
import { parseNewick } from "../../src/motif/rooted-tree.ts";
import { layout } from "../../src/web/score/tree-layout.ts";
import { rarityText } from "../../src/web/score/motif-chooser.tsx";

import { looksLikeNucleotides, readProtein } from "../../src/web/score/protein-input.ts";
import type { MatchVerdict } from "../../src/scoring/table/verdict.ts";
import {
  answer,
  best,
  countMissing,
  listMatches,
  type NumberedMatch,
  oddsText,
  overallP,
  formatPValue,
  type PValue,
  rank,
  REACHED_SHARES,
  type Result,
  roundedParts,
} from "../../src/web/score/result.ts";
import { readTextFile } from "../../src/web/text-file.ts";
import { SAMPLE } from "../scoring/sample-prediction.ts";

test.each<[string, object]>([
  ["  \n", { kind: "empty" }],
  ["P04637", { kind: "proteins", entries: [{ name: "P04637", sequence: null, line: 1 }] }],
  [
    "sp|P04637|P53_HUMAN",
    { kind: "proteins", entries: [{ name: "sp|P04637|P53_HUMAN", sequence: null, line: 1 }] },
  ],
  [
    "P04637\nQ9XYZ1, A0A024",
    {
      kind: "proteins",
      entries: [
        { name: "P04637", sequence: null, line: 1 },
        { name: "Q9XYZ1", sequence: null, line: 2 },
        { name: "A0A024", sequence: null, line: 2 },
      ],
    },
  ],
  // Lists with one protein on each line.
  [
    "KRAS\r\n# a remark\n\nTP53\nEGFR",
    {
      kind: "proteins",
      entries: [
        { name: "KRAS", sequence: null, line: 1 },
        { name: "TP53", sequence: null, line: 4 },
        { name: "EGFR", sequence: null, line: 5 },
      ],
    },
  ],
  [
    "KRAS\nEGFR\nINS",
    {
      kind: "proteins",
      entries: [expect.anything(), expect.anything(), { name: "INS", sequence: null, line: 3 }],
    },
  ],
  [
    "MKTAYIAKQR\nQISFVKSHFS\nRQ",
    { kind: "proteins", entries: [{ name: "", sequence: "MKTAYIAKQRQISFVKSHFSRQ" }] },
  ],
  [
    "hello world, this is protein 123",
    { kind: "wrong", message: expect.stringMatching(/^character 12: “,” is not an amino-acid letter/) },
  ],
  [
    "P04637 MEEP",
    {
      kind: "wrong",
      message:
        "character 1: “P04637” is an accession, but the rest is not. Enter either accessions or sequences.",
    },
  ],
  ["mktayi\nAKQR*", { kind: "proteins", entries: [{ name: "", sequence: "MKTAYIAKQR" }] }],
  // As GenBank prints sequences.
  ["  1 mktayiakqr\n 61 qisfvk", { kind: "proteins", entries: [{ name: "", sequence: "MKTAYIAKQRQISFVK" }] }],
  [
    ">sp|P04637|P53_HUMAN Cellular tumor antigen\r\nMEEP\r\nQSD\r\n>other one\nMKT",
    {
      kind: "proteins",
      entries: [
        { name: "P04637", sequence: "MEEPQSD" },
        { name: "other", sequence: "MKT" },
      ],
    },
  ],
  [">\nMKT", { kind: "proteins", entries: [{ name: "sequence 1", sequence: "MKT" }] }],
  [
    "MKT-AYI",
    {
      kind: "wrong",
      message:
        "character 4: “-” is not an amino-acid letter. Expected a protein sequence in one-letter codes.",
    },
  ],
  [
    ">a\nMKT\n>b\nMK9T",
    {
      kind: "wrong",
      message: expect.stringMatching(/^line 4, character 3: b: the digit 9 stands within letters/),
    },
  ],
  [
    ">a\n>b\nMK",
    { kind: "wrong", message: "line 1, character 1: a: there is no sequence below the header." },
  ],
])("parses the input %p", (text, understood) => {
  expect(readProtein(text)).toEqual(understood as ReturnType<typeof readProtein>);
});

test("reads a text file in every encoding that editors save", async () => {
  const text = ">Ångström\nMKT\n";
  const utf16 = Buffer.from(`\ufeff${text}`, "utf16le");
  const forms: (string | Uint8Array<ArrayBuffer>)[] = [
    text,
    `\ufeff${text}`,
    Uint8Array.from(utf16),
    Uint8Array.from(utf16.swap16()),
    Bun.gzipSync(Buffer.from(text)),
  ];
  for (const form of forms) expect(await readTextFile(new File([form], "a.fasta"))).toBe(text);
});

test.each<[string | Uint8Array<ArrayBuffer>, string]>([
  ["PK\x03\x04word", "q is a ZIP archive or an Office document."],
  ["%PDF-1.7", "q is a PDF document."],
  [Bun.gzipSync(Buffer.from(">a\nMKT\n".repeat(99))).slice(0, 30), "q is truncated or damaged"],
])("names the type of a file that is not text (%#)", async (content, words) => {
  const refused = await readTextFile(new File([content], "q")).catch((error: Error) => error.message);
  expect(refused).toStartWith(words);
});

test.each([
  [["ACGT".repeat(8)], true],
  [["ACGT".repeat(7)], false],
  [["ACGT".repeat(8), "MKLV"], false],
  [[null], false],
])("%p looks like nucleotides: %p", (sequences, looks) => {
  expect(looksLikeNucleotides(sequences.map((sequence) => ({ name: "", sequence })))).toBe(looks);
});

test("the page has examples from the sample proteins", () => {
  const flat = proteins.replace(/\n(?!>)/g, " ");
  for (const { name, sequence } of EXAMPLES) {
    const entry = flat.split("\n").find((line) => line.startsWith(`>${name}`))!;
    expect(entry.replaceAll(" ", "")).toEndWith(sequence);
  }
});

test("parses a tree with quoted names and draws it with the query at the top", () => {
  const names = ["query", "c", "b's one", "a"];
  const root = parseNewick("((a:1,'b''s one':2):0.5,(query:0.25,c:-1):0.25)", names);
  const { leaves, forks, depth, branches } = layout(root);
  // The notation has another order than the rows.
  expect(leaves.map(({ index }) => index)).toEqual([0, 1, 3, 2]);
  // The longest path is 3 long, from b's one to the query.
  expect(depth).toBe(1.5);
  expect(forks).toContainEqual({ depth: 1.25, top: 0, bottom: 1 });
  expect(branches.length).toBe(7);
});

test("numbers matches across all patterns and ranks them by z", () => {
  const matches = listMatches({ ...SAMPLE.prediction, identifier: "" } as Result);
  expect(matches.map(({ number }) => number)).toEqual([1, 2, 3]);
  expect(best(matches)?.number).toBe(1);
  const ranked = [{ z: null }, { z: 0 }, { z: 1 }, { z: 2 }];
  expect(ranked.toSorted((x, y) => rank(x) - rank(y))).toEqual(ranked.toReversed());
  expect(formatPValue(overallP(matches[0]))).toBe("0.012");
  expect(countMissing(matches[0])).toBe(1);
});

test.each<[PValue, text: string, odds: string]>([
  [{ p: null, is: null }, "–", ""],
  [{ p: 0.02, is: "estimate" }, "0.02", "1 in 50 random matches scores as high."],
  [{ p: 0.0312, is: "estimate" }, "0.031", "1 in 32 random matches scores as high."],
  [{ p: 0.005, is: "at most" }, "≤\u00A00.005", "At most 1 in 200 random matches scores as high."],
  [{ p: 0.384, is: "estimate" }, "0.38", "38 in 100 random matches score as high."],
  [{ p: 0.5, is: "at least" }, "≥\u00A00.5", "At least 50\u00A0% of random matches score as high."],
])("prints %j as %p and %p", (p, text, odds) => {
  expect(formatPValue(p)).toBe(text);
  expect(oddsText(p, ["scores as high", "score as high"])).toBe(odds);
});

test.each<{ values: number[]; parts: number[] }>([
  { values: [0.334, 0.334, 0.334], parts: [0.34, 0.33, 0.33] },
  { values: [0.007, 0.006, 0.009, -0.022], parts: [0.01, 0, 0.01, -0.02] },
  { values: [-0.004, -0.004], parts: [-0.01, 0] },
  { values: [1.25, -0.5], parts: [1.25, -0.5] },
])("rounds $values to $parts, which add up to their rounded sum", ({ values, parts }) => {
  const sum = values.reduce((total, value) => total + value, 0);
  expect(roundedParts(values, sum)).toEqual(parts);
});

test.each<[verdicts: MatchVerdict[], expected: string]>([
  [["likely functional"], "The only match is likely functional: AB at 3–4."],
  [["not scored"], "The only match could not be scored."],
  [["possible"], "The only match is possibly functional."],
  [["no evidence"], "The only match shows no evidence of function."],
  [["possible", "no evidence"], "None of 2 matches is likely functional, 1 possible."],
  [["no evidence", "likely functional"], "1 of 2 matches is likely functional: AB at 3–4."],
  [["known instance", "possible"], "1 known instance; the other match is possibly functional."],
  [
    ["known instance", "known instance", "no evidence", "likely functional"],
    "2 known instances; of the other 2 matches, 1 is likely functional: AB at 3–4.",
  ],
  [
    ["known instance", "no evidence", "possible"],
    "1 known instance; of the other 2 matches, none is likely functional, 1 possible.",
  ],
  [
    ["likely functional", "likely functional", "possible"],
    "2 of 3 matches are likely functional, 1 possible.",
  ],
])("describes the result of %p as %p", (verdicts, expected) => {
  // Conservation alone decides nothing.
  const match = { start: 3, end: 4, text: "AB", z: 1, conservationLevel: "conserved" };
  const matches = verdicts.map((verdict) => ({
    ...match,
    verdict,
  }));
  expect(answer(matches as unknown as NumberedMatch[])).toBe(expected);
  const alone = matches.map((one) => Object.assign({}, one, { homologs: 0 }));
  expect(answer(alone as unknown as NumberedMatch[])).toBe(
    `${expected} Without homologs, only disorder and position count.`,
  );
});

test.each<[order: string, expected: (number | null)[]]>([
  ["", [2, null, 10]],
  ["value", [2, 10, null]],
  ["-value", [10, 2, null]],
])("orders rows by %p", (order, expected) => {
  const rows = inOrder([2, null, 10], order, (row) => row);
  expect(rows).toEqual(expected);
  const names = inOrder(["Q5 10", "Q5 2"], "name", (row) => row);
  expect(names).toEqual(["Q5 2", "Q5 10"]);
});

test("draws areas with gaps and ticks at round positions", () => {
  const plot = { span: { from: 2, to: 4 }, left: 10, width: 40, scale: 10, y: 5 };
  expect(areaPath([0, 1, null, 0.5], plot, (value) => 20 * (1 - value), 20)).toBe(
    "M10.0 25V5.0H20.0V25ZM30.0 25V15.0H40.0V25Z",
  );
  expect(areaPath([1, 0, 1, 0], { ...plot, span: { from: 1, to: 4 }, width: 12 }, (value) => value, 1)).toBe(
    "M10.0 6V5.5H30.0V6ZM30.0 6V5.5H50.0V6Z",
  );
  expect(chooseTicks({ from: 1, to: 100 }, 10)).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
  expect(chooseTicks({ from: 3, to: 6 }, 80)).toEqual([3, 4, 5, 6]);
});

test("the documentation has the same shares of known and random matches as the pages", async () => {
  const text = await Bun.file(join(import.meta.dir, "../../docs/biologist.md")).text();
  const { likely, possible } = REACHED_SHARES;
  const share = (part: number): string => `${Math.round(100 * part)} %`;
  expect(text).toContain(
    `| Likely functional | at most .02 | about ${share(likely.known)} | ${share(likely.random)} |`,
  );
  expect(text).toContain(`| at most .1 | about ${share(possible.known)} | ${share(possible.random)} |`);
  expect(text).toContain(`the other ${share(1 - possible.known)} | ${share(1 - possible.random)} |`);
  expect([likely.p, possible.p]).toEqual([LIKELY_P, POSSIBLE_P]);
});

test("names the regions in view that reach a threshold", () => {
  const values = [0.9, 0.5, 0.4, 0.7, 0.2, 0.6, 0.6];
  expect(findRegions(values, 0.5, { from: 1, to: 7 })).toBe("1–2, 4, 6–7");
  expect(findRegions(values, 0.5, { from: 2, to: 6 })).toBe("2, 4, 6");
  expect(findRegions(values, 0.95, { from: 1, to: 7 })).toBe("nowhere");
  const alternating = Array.from({ length: 24 }, (_, i) => i % 2);
  expect(findRegions(alternating, 1, { from: 1, to: 24 })).toEndWith("18, 20 and 2 more");
});

test("states how often a pattern matches by chance", () => {
  expect(rarityText(4.3)).toBe(
    "4.3 bits: one match by chance in 20 residues; most matches are likely random.",
  );
  expect(rarityText(10)).toBe("10.0 bits: one match by chance in 1,000 residues.");
  expect(rarityText(15)).toBe("15.0 bits: one match by chance in 33,000 residues.");
  expect(rarityText(33)).toBe("33.0 bits: matches by chance are very rare.");
});

test("offers the calls that can make a request", () => {
  const namesFor = (motifs: number, more: object = {}): string[] => {
    const motifClasses = Array.from({ length: motifs }, (_, i) => `CLASS_${i}`);
    const request = {
      identifier: "p53",
      scoringModel: "continuous",
      patterns: [],
      motifClasses,
      ...more,
    } as const;
    return makeCalls(request, "urn:test").map(({ name }) => name);
  };
  expect(namesFor(5)).toEqual(["curl", "Python", "R", "SOAP"]);
  expect(namesFor(6)).toEqual(["curl", "Python", "R"]);
  expect(namesFor(1, { homologs: { maxHomologs: 5 } })).toEqual(["curl", "Python"]);
  expect(namesFor(1, { alignment: ">q\nMK\n" })).toEqual(["Python"]);
});
