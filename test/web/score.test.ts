import { expect, test } from "bun:test";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { EXAMPLES } from "../../src/web/score/examples.ts";
import { slotsOf } from "../../src/web/score/alignment.tsx";
import { inOrder } from "../../src/web/score/order.ts";
import { areaPath, ticksOf } from "../../src/web/score/track-geometry.ts";
import { layout, parseNewick } from "../../src/web/score/newick.ts";
import { rarityText } from "../../src/web/score/motif-chooser.tsx";

import { looksLikeNucleotides, readProtein } from "../../src/web/score/protein-input.ts";
import {
  answer,
  best,
  insufficientText,
  matchesOf,
  type NumberedMatch,
  oddsText,
  pText,
  type Result,
  tally,
  type Verdict,
} from "../../src/web/score/result.ts";
import { readTextFile } from "../../src/web/text-file.ts";
import { SAMPLE } from "../scoring/sample-prediction.ts";

test.each<[string, object]>([
  ["  \n", { kind: "empty" }],
  ["P04637", { kind: "proteins", entries: [{ name: "P04637", sequence: null }] }],
  ["sp|P04637|P53_HUMAN", { kind: "proteins", entries: [{ name: "sp|P04637|P53_HUMAN", sequence: null }] }],
  [
    "P04637\nQ9XYZ1, A0A024",
    { kind: "proteins", entries: ["P04637", "Q9XYZ1", "A0A024"].map((name) => ({ name, sequence: null })) },
  ],
  [
    "P04637 MEEP",
    {
      kind: "wrong",
      message: "“P04637” is an accession, but the rest is not. Enter either accessions or sequences.",
    },
  ],
  ["mkt ayi\nAKQR*", { kind: "proteins", entries: [{ name: "", sequence: "MKTAYIAKQR" }] }],
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
  ["MKT-AYI", { kind: "wrong", message: "“-” is not an amino-acid letter. Use one-letter codes." }],
  [">a\n>b\nMK", { kind: "wrong", message: "a: there is no sequence below the header." }],
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

test("has examples from the sample proteins", () => {
  const flat = proteins.replace(/\n(?!>)/g, " ");
  for (const { name, sequence } of EXAMPLES) {
    const entry = flat.split("\n").find((line) => line.startsWith(`>${name}`))!;
    expect(entry.replaceAll(" ", "")).toEndWith(sequence);
  }
});

test("parses a tree with quoted names and draws it with the query at the top", () => {
  const tree = parseNewick("((a:1,'b''s one':2):0.5,(query:0.25,c:-1):1)");
  expect(tree.children[0].children[1]).toEqual({ name: "b's one", length: 2, children: [] });
  const { leaves, forks, depth, branches } = layout(parseNewick("(q:1,((a:1,b:2):0.5,c:3):1)"));
  expect(leaves.map(({ name, index }) => [name, index])).toEqual([
    ["q", 0],
    ["a", 1],
    ["b", 2],
    ["c", 3],
  ]);
  expect(depth).toBe(4);
  expect(forks).toContainEqual({ depth: 1.5, top: 1, bottom: 2 });
  expect(branches.length).toBe(7);
  expect(() => parseNewick("(a,b")).toThrow("Not a tree");
});

test("numbers matches across all patterns and describes them in words", () => {
  const matches = matchesOf({ ...SAMPLE.prediction, identifier: "" } as Result);
  expect(matches.map(({ number }) => number)).toEqual([1, 2]);
  expect(best(matches)?.number).toBe(1);
  expect(oddsText(matches[0])).toBe("At most 5 in 1,000 random matches score this high.");
  expect(pText(matches[0])).toBe("≤ 0.005");
  expect(insufficientText(matches[1])).toBe("No homolog reaches this site.");
  expect(tally(matches[0])).toEqual({ kept: 1, shifted: 0, lost: 1, missing: 1 });
});

test.each<[verdicts: Verdict[], expected: string]>([
  [["conserved"], "The only match is likely functional: AB at 3–4."],
  [["not conserved"], "The only match is not likely functional."],
  [["weakly conserved", "not conserved"], "None of 2 matches is likely functional."],
  [["not conserved", "conserved"], "1 of 2 matches is likely functional: AB at 3–4."],
  [["conserved", "conserved", "not conserved"], "2 of 3 matches are likely functional."],
])("describes the result of %p as %p", (verdicts, expected) => {
  const match = { start: 3, end: 4, text: "AB", z: 1 };
  expect(answer(verdicts.map((verdict) => ({ ...match, verdict }) as NumberedMatch))).toBe(expected);
});

test.each<[order: string, expected: (number | null)[]]>([
  ["", [2, null, 10]],
  ["value", [null, 2, 10]],
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
  expect(ticksOf({ from: 1, to: 100 }, 10)).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
  expect(ticksOf({ from: 3, to: 6 }, 80)).toEqual([3, 4, 5, 6]);
});

test("selects the columns of a row around a match", () => {
  const row = "--MEabcF-sDW-";
  const whole = slotsOf(row, 1, 10).map(({ residue, insertion }) => residue + insertion);
  expect(whole).toEqual(["-", "-", "M", "Eabc", "F", "-s", "D", "W", "-"]);
  expect(slotsOf(row, 4, 6).map(({ residue, insertion }) => residue + insertion)).toEqual(whole.slice(3, 6));
  expect(slotsOf(row, 5, 5)).toEqual([{ residue: "F", insertion: "" }]);
});

test("states how often a pattern matches by chance", () => {
  expect(rarityText(4.3)).toBe(
    "4.3 bits: one match by chance in 20 residues; most matches are likely random.",
  );
  expect(rarityText(10)).toBe("10.0 bits: one match by chance in 1,000 residues.");
  expect(rarityText(15)).toBe("15.0 bits: one match by chance in 33,000 residues.");
  expect(rarityText(33)).toBe("33.0 bits: matches by chance are very rare.");
});
