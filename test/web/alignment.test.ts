import { expect, test } from "bun:test";
import { alignFamily } from "../../src/web/score/aligned-family.ts";
import {
  type AlignedRow,
  columnAt,
  countSlots,
  findInsertions,
  listLetters,
  printFasta,
  readRow,
  findRuns,
  scrollTo,
  columnSlot,
  type Slots,
  visible,
} from "../../src/web/score/aligned-rows.ts";
import { findColour, countColumn, isScheme } from "../../src/web/score/residue-colours.ts";
import type { Result } from "../../src/web/score/result.ts";
import { makeLogo, MOST_BITS } from "../../src/web/score/sequence-logo.ts";

const CLOSED: Slots = { columns: 10, open: null };
const OPEN: Slots = { columns: 10, open: { after: 4, size: 3 } };
const all = (slots: Slots) => ({ from: 0, to: countSlots(slots) });

test("separates the insertions of a row from its columns, and finds the covered range", () => {
  const row = readRow("--MEabcF-sDW--");
  expect(row).toEqual({
    residues: "--MEF-DW--",
    insertions: new Map([
      [4, "abc"],
      [6, "s"],
    ]),
    first: 3,
    last: 8,
  });
  expect(readRow("aMK").insertions).toEqual(new Map([[0, "a"]]));
  const empty = readRow("-----");
  expect(listLetters(empty, { columns: 5, open: null }, { from: 0, to: 5 }).join("")).toBe("     ");
});

test("shows gaps, uncovered columns and an open insertion", () => {
  const row = readRow("--MEabcF-sDW--");
  expect(listLetters(row, CLOSED, all(CLOSED)).join("")).toBe("  MEF-DW  ");
  expect(listLetters(row, OPEN, all(OPEN)).join("")).toBe("  MEabcF-DW  ");
  expect(listLetters(readRow("MKTAsYIAKQR"), OPEN, all(OPEN)).join("")).toBe("MKTAs..YIAKQR");
  expect(listLetters(readRow("----YIAKQR"), OPEN, all(OPEN)).join("")).toBe("       YIAKQR");
  expect(listLetters(row, CLOSED, { from: 3, to: 5 })).toEqual(["E", "F"]);
});

test("maps columns to slots and back around an open insertion", () => {
  expect([1, 4, 5, 10].map((column) => columnSlot(column, OPEN))).toEqual([0, 3, 7, 12]);
  for (const slots of [CLOSED, OPEN, { columns: 10, open: { after: 0, size: 2 } }])
    for (let column = 1; column <= slots.columns; column++)
      expect(columnAt(columnSlot(column, slots), slots)).toEqual({ column, inserted: 0 });
  expect([4, 5, 6].map((slot) => columnAt(slot, OPEN))).toEqual(
    [1, 2, 3].map((inserted) => ({ column: 4, inserted })),
  );
});

test("counts the rows with an insertion after each column", () => {
  const rows = ["MKabT", "MKaT", "MKTz"].map(readRow);
  expect(findInsertions(rows)).toEqual(
    new Map([
      [2, { rows: 2, longest: 2 }],
      [3, { rows: 1, longest: 1 }],
    ]),
  );
});

test.each<[scrolled: number, expected: [number, number]]>([
  [0, [0, 48]],
  [13 * 16 - 1, [0, 64]],
  [13 * 16, [16, 64]],
  [446_000, [34_304, 34_350]],
  [-50, [0, 48]],
])("draws whole blocks of columns when scrolled by %p pixels", (scrolled, [from, to]) => {
  expect(visible(scrolled, 600, 13, 34_350, 16)).toEqual({ from, to });
});

test("scrolls a match to the middle, and a long one to its start", () => {
  expect(scrollTo({ from: 18, to: 26 }, 600, 10)).toBe(0);
  expect(scrollTo({ from: 100, to: 110 }, 600, 10)).toBe(750);
  expect(scrollTo({ from: 100, to: 300 }, 600, 10)).toBe(980);
});

test("neighbouring cells with the same look are drawn as one", () => {
  expect(findRuns(["a", "a", null, "a", "b"])).toEqual([
    { look: "a", from: 0, to: 2 },
    { look: "a", from: 3, to: 4 },
    { look: "b", from: 4, to: 5 },
  ]);
});

test("copies the part in view as FASTA", () => {
  const rows = [
    { name: "query", row: readRow("MKTAYIAKQR") },
    { name: "Q1 Mus musculus", row: readRow("--TAsYI---") },
  ];
  expect(printFasta(rows, CLOSED, { from: 1, to: 6 })).toBe(">query\nKTAYI\n>Q1 Mus musculus\n-TAYI\n");
  expect(printFasta(rows, { columns: 10, open: { after: 4, size: 1 } }, { from: 1, to: 6 })).toBe(
    ">query\nKTA-Y\n>Q1 Mus musculus\n-TASY\n",
  );
});

/** The information content of a column as its definition has it. */
function sumInformation(shares: readonly number[], effective: number): number {
  const entropy = -shares.reduce((sum, share) => sum + share * Math.log2(share), 0);
  return Math.log2(20) - entropy - 19 / (2 * Math.log(2) * effective);
}

test("computes the letters of a logo by weight, corrected for few homologs", () => {
  const rows = Array.from({ length: 40 }, (_, i) => readRow(i < 30 ? "W" : "F"));
  const equal = rows.map(() => 0.5);
  const information = sumInformation([0.75, 0.25], 40);
  const [less, most] = makeLogo(rows, equal, 1);
  expect([less.residue, most.residue]).toEqual(["F", "W"]);
  expect(less.bits).toBeCloseTo(0.25 * information, 10);
  expect(most.bits).toBeCloseTo(0.75 * information, 10);
  // The weights of the 30 add up to those of the 10, as for near-identical homologs.
  const halves = makeLogo(
    rows,
    rows.map((_, i) => (i < 30 ? 1 : 3)),
    1,
  );
  const effective = 60 ** 2 / (30 + 10 * 9);
  for (const { bits } of halves) expect(bits).toBeCloseTo(0.5 * sumInformation([0.5, 0.5], effective), 10);
});

test("a logo is lower where homologs have gaps, and ignores homologs that do not cover the column", () => {
  const covering = Array.from({ length: 30 }, () => readRow("MWM"));
  const ones = (rows: readonly AlignedRow[]): number[] => rows.map(() => 1);
  const whole = makeLogo(covering, ones(covering), 2)[0].bits;
  expect(whole).toBeCloseTo(MOST_BITS - 19 / (2 * Math.log(2) * 30), 10);
  const withFragments = [...covering, readRow("--M"), readRow("M--")];
  expect(makeLogo(withFragments, ones(withFragments), 2)[0].bits).toBe(whole);
  const withGaps = [...covering, ...covering.map(() => readRow("M-M"))];
  expect(makeLogo(withGaps, ones(withGaps), 2)[0].bits).toBeCloseTo(whole / 2, 10);
  expect(makeLogo([readRow("X")], [1], 1)).toEqual([]);
  expect(makeLogo([readRow("W")], [1], 1)).toEqual([{ residue: "W", bits: 0 }]);
});

test.each<[column: string, colours: string]>([
  // Clustal X: hydrophobic residues are blue only where most are hydrophobic.
  ["LLLVA", "blue blue blue blue blue"],
  ["LLLDE", "- - - - -"],
  ["KKKRE", "red red red red magenta"],
  ["KDSTN", "- - - - -"],
  ["GPSTS", "orange yellow green green green"],
  ["CCCCC", "pink pink pink pink pink"],
  ["CCCCY", "- - - - cyan"],
  ["HLLLL", "cyan blue blue blue blue"],
  ["QQQEE", "green green green magenta magenta"],
  ["DDDEN", "magenta magenta magenta - -"],
  ["NNNYA", "green green green - -"],
])("colours the column %p as Clustal X does", (letters, colours) => {
  const rows = Array.from(letters, readRow);
  const facts = countColumn(rows, 1, null, letters[0]);
  const found = Array.from(letters, (letter) => findColour("clustal", letter, facts)?.slice(8) ?? "-");
  expect(found.join(" ")).toBe(colours);
});

test("colouring ignores rows that do not cover a column", () => {
  const rows = [..."LLL"].map(readRow).concat(Array.from({ length: 7 }, () => readRow("-")));
  expect(findColour("clustal", "L", countColumn(rows, 1, null, "L"))).toBe("clustal-blue");
});

test("colours by conservation and by hydropathy", () => {
  const at = (conservation: number | null) => ({ query: "W", conservation, residueShare: () => 0 });
  expect([0.9, 0.8, 0.5, 0.2, null].map((value) => findColour("conservation", "W", at(value)))).toEqual([
    "same-2",
    "same-2",
    "same-1",
    "same-0",
    "same-0",
  ]);
  expect(findColour("conservation", "F", at(1))).toBe(null);
  expect(Array.from("IAGK", (residue) => findColour("hydropathy", residue, at(1)))).toEqual([
    "hydrophobic-1",
    "hydrophobic-0",
    null,
    "hydrophilic",
  ]);
  expect(findColour("none", "W", at(1))).toBe(null);
  expect([isScheme("clustal"), isScheme("toString")]).toEqual([true, false]);
});

test("keeps the order of the tree, and all rows without a tree", () => {
  const makeResult = (tree: string) =>
    ({
      alignment: { query: "MKT", rows: ["MKT", "M-T"], conservation: [1, 0.5, 1] },
      homologs: [
        { accession: "a", weight: 1 },
        { accession: "b", weight: 2 },
      ],
      tree,
    }) as unknown as Result;
  const makeRows = (tree: string): number[] =>
    alignFamily(makeResult(tree)).tree.leaves.map(({ index }) => index);
  expect(makeRows("(b:1,(query:1,a:1):1);")).toEqual([0, 1, 2]);
  expect(makeRows("(a:1,(query:1,b:1):1);")).toEqual([0, 2, 1]);
  expect(makeRows("")).toEqual([0, 1, 2]);
  expect(alignFamily(makeResult("")).weights).toEqual([1, 2]);
});

test("parses 100 homologs of titin's length in less than 200 ms of processor time", () => {
  const row = `${"-".repeat(9_000)}${"MKTAYIAKQRabc".repeat(1_935)}${"-".repeat(6_000)}`;
  const rows = Array.from({ length: 100 }, () => row);
  const start = process.cpuUsage();
  const parsed = rows.map(readRow);
  findInsertions(parsed);
  const { user, system } = process.cpuUsage(start);
  expect(parsed[99].residues.length).toBe(34_350);
  expect((user + system) / 1000).toBeLessThan(200);
});
