import { expect, test } from "bun:test";
import {
  decode,
  DEFAULTS,
  openCorpus,
  packCorpus,
  predict,
  predictFromAlignment,
  readFasta,
} from "../../src/motif/index.ts";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };

const CORPUS = openCorpus(packCorpus("sample", readFasta(proteins)));
const P53 = decode(readFasta(proteins).find(({ accession }) => accession === "P04637")!.residues);

const score = () =>
  predict(
    {
      query: P53,
      patterns: [
        { expression: "F...W..[LIV]", name: null },
        { expression: "P..P", name: null },
      ],
      model: "continuous",
    },
    CORPUS,
    DEFAULTS,
  );

test("the alignment of p53 agrees with the residues at its matches", () => {
  const { alignment, homologs, patterns } = score();
  const { query, rows, conservation, disorder } = alignment!;
  expect(query).toBe(P53);
  expect([rows.length, conservation.length, disorder.length]).toEqual([homologs.length, 393, 393]);
  let compared = 0;
  const columns = rows.map((row) => [...row.matchAll(/[A-Z-][a-z]*/g)].map(([slot]) => slot));
  for (const slots of columns) expect(slots.length).toBe(393);
  for (const match of patterns.flatMap(({ matches }) => matches)) {
    for (const { homolog, residues, state } of match.atHomologs) {
      const slots = columns[homolog].slice(match.start - 1, match.end);
      // An insertion after the last position does not belong to the match.
      slots[slots.length - 1] = slots.at(-1)![0];
      // Unaligned ends are not shown.
      if (state === "missing") continue;
      expect(residues).toBe(slots.join(""));
      compared++;
    }
  }
  expect(compared).toBeGreaterThan(100);
  // Cysteine 176 binds zinc in nearly all; few have the linker around residue 60.
  expect(conservation[175]).toBeGreaterThan(0.95);
  expect(conservation[59]!).toBeLessThan(0.6);
  expect(disorder[80]).toBeGreaterThan(disorder[250]);
});

test("contributions sum to z", () => {
  for (const match of score().patterns.flatMap(({ matches }) => matches)) {
    const sum = Object.values(match.contributions!).reduce((all, part) => all + part, 0);
    expect(sum).toBeCloseTo(match.z!, 4);
  }
});

test("writes insertions in lower case and counts inner gaps as losses", () => {
  const rows = [
    { name: "q", letters: "MKT-AYIAKQR" },
    { name: "whole", letters: "MKTWSYIAKQR" },
    { name: "part", letters: "--T-A-IAKQ-" },
  ];
  const { alignment } = predictFromAlignment({ rows, patterns: [], model: "continuous" });
  expect(alignment!.query).toBe("MKTAYIAKQR");
  expect(alignment!.rows).toEqual(["MKTwSYIAKQR", "--TA-IAKQ-"]);
  const [, , , substituted, gap] = alignment!.conservation as number[];
  expect(Math.min(substituted, gap)).toBeGreaterThan(0);
  expect(substituted + gap).toBeCloseTo(1, 1);
  expect(alignment!.conservation.filter((value) => value !== 1)).toEqual([substituted, gap]);
  expect(
    predictFromAlignment({ rows: [rows[0]], patterns: [], model: "continuous" }).alignment,
  ).toMatchObject({
    rows: [],
    conservation: Array.from({ length: 10 }, () => null),
  });
});
