import { expect, test } from "bun:test";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { EXAMPLES } from "../../src/web/score/examples.ts";
import { slotsOf } from "../../src/web/score/family.tsx";
import { layout, parseNewick } from "../../src/web/score/newick.ts";
import { rarity } from "../../src/web/score/pattern-list.tsx";

import { looksLikeNucleotides, readProtein } from "../../src/web/score/protein-input.ts";
import { best, matchesOf, type Result, sentence } from "../../src/web/score/result.ts";
import { readTextFile } from "../../src/web/text-file.ts";
import { SAMPLE } from "../scoring/sample-prediction.ts";

/** What the scoring pages make of what is typed, and of results. */

test.each<[string, object]>([
  ["  \n", { kind: "empty" }],
  ["P04637", { kind: "proteins", entries: [{ name: "P04637", sequence: null }] }],
  ["sp|P04637|P53_HUMAN", { kind: "proteins", entries: [{ name: "sp|P04637|P53_HUMAN", sequence: null }] }],
  [
    "P04637\nQ9XYZ1, A0A024",
    { kind: "proteins", entries: ["P04637", "Q9XYZ1", "A0A024"].map((name) => ({ name, sequence: null })) },
  ],
  ["P04637 MEEP", { kind: "wrong", message: "“P04637” is no sequence, and the rest are no accessions." }],
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
  ["MKT-AYI", { kind: "wrong", message: "“-” is no residue." }],
  [">a\n>b\nMK", { kind: "wrong", message: "a: there are no residues below the heading." }],
])("%p is understood", (text, understood) => {
  expect(readProtein(text)).toEqual(understood as ReturnType<typeof readProtein>);
});

test("a chosen file is read as text, in every form that editors save", async () => {
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
  ["PK\x03\x04word", "q is a ZIP archive, or a document of Word or Excel."],
  ["%PDF-1.7", "q is a PDF document."],
  [Bun.gzipSync(Buffer.from(">a\nMKT\n".repeat(99))).slice(0, 30), "q is cut short or damaged"],
])("a chosen file that is no text is told in words (%#)", async (content, words) => {
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

test("the examples are the sample's proteins", () => {
  const flat = proteins.replace(/\n(?!>)/g, " ");
  for (const { name, sequence } of EXAMPLES) {
    const entry = flat.split("\n").find((line) => line.startsWith(`>${name}`))!;
    expect(entry.replaceAll(" ", "")).toEndWith(sequence);
  }
});

test("a tree is read with quoted names and laid out with the query at the top", () => {
  const tree = parseNewick("((a:1,'b''s one':2):0.5,(query:0.25,c:-1):1)");
  expect(tree.children[0].children[1]).toEqual({ name: "b's one", length: 2, children: [] });
  // The query is the first leaf of the notation in results; here it is the third.
  const { leaves, joints, depth, branches } = layout(parseNewick("(q:1,((a:1,b:2):0.5,c:3):1)"));
  expect(leaves.map(({ name, index }) => [name, index])).toEqual([
    ["q", 0],
    ["a", 1],
    ["b", 2],
    ["c", 3],
  ]);
  expect(depth).toBe(4);
  expect(joints).toContainEqual({ depth: 1.5, top: 1, bottom: 2 });
  expect(branches.length).toBe(7);
  expect(() => parseNewick("(a,b")).toThrow("Not a tree");
});

test("the score in a sentence, with its expectation and its bound", () => {
  const matches = matchesOf({ ...SAMPLE.prediction, identifier: "" } as Result);
  expect(matches.map(({ number }) => number)).toEqual([1, 2]);
  expect(best(matches)?.number).toBe(1);
  expect(sentence(matches[0])).toBe(
    "FSDW at 19–22 is conserved: its conservation score is 0.78, where 0.11 would be expected from how far its surroundings have " +
      "diverged. 1 of 2 homologs keep it; of comparable random matches at most 0.5\u00A0% are conserved as well or better.",
  );
  expect(sentence(matches[1])).toBe("W at 53–53 cannot be judged: no homolog reaches it.");
});

test("the columns around a match are those of the whole row", () => {
  const row = "--MEabcF-sDW-";
  const whole = slotsOf(row, 1, 10).map(({ residue, insertion }) => residue + insertion);
  expect(whole).toEqual(["-", "-", "M", "Eabc", "F", "-s", "D", "W", "-"]);
  expect(slotsOf(row, 4, 6).map(({ residue, insertion }) => residue + insertion)).toEqual(whole.slice(3, 6));
  expect(slotsOf(row, 5, 5)).toEqual([{ residue: "F", insertion: "" }]);
});

test("bits are told as how often a pattern matches by chance", () => {
  expect(rarity(4.3)).toBe("4.3 bits: by chance once in 20 residues; many of its matches will mean nothing.");
  expect(rarity(15)).toBe("15.0 bits: by chance once in 33,000 residues.");
});
