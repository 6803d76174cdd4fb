import { expect, test } from "bun:test";
import { buildFamily, type Family, measureHomolog } from "../../src/motif/divergence.ts";
import { decodeFamily, encodeFamily } from "../../src/motif/family-record.ts";
import { align } from "../../src/motif/align.ts";
import type { Row } from "../../src/motif/msa.ts";
import { alignProgressively } from "../../src/motif/progressive.ts";
import { readAlignment } from "../../src/motif/query.ts";
import { mutated, random, randomProtein } from "../fixtures/random-protein.ts";

const makeFamily = (query: Uint8Array, rows: readonly Row[]): Family =>
  buildFamily(
    query,
    rows.map((row) => measureHomolog(query, row)),
  );

/** Checks that a family is read back to the bit; disorder in hundredths. */
function expectExact(family: Family): void {
  const indexes = family.homologs.map((_, i) => i * 40_000_000);
  const record = encodeFamily(family, indexes);
  const readResidues = (index: number): Uint8Array => family.homologs[indexes.indexOf(index)].row.residues;
  const read = decodeFamily(record, family.query, readResidues);
  expect(read.indexes).toEqual(indexes);
  const { prediction, ...rest } = read.family;
  const { prediction: expected, ...others } = family;
  expect(rest).toEqual(others);
  expect(prediction.order).toEqual(expected.order);
  expect(prediction.disorder).toEqual(expected.disorder.map((value) => Math.round(value * 100) / 100));
}

test("reads families of 0 to 100 diverged homologs back to the bit", () => {
  const next = random(16);
  for (const [homologs, length] of [
    [0, 40],
    [1, 41],
    [2, 1],
    [3, 90],
    [30, 123],
    [100, 60],
  ]) {
    const query = randomProtein(next, length);
    const relatives = Array.from({ length: homologs }, () => mutated(next, query, next()));
    const pairwise = align(query, relatives).map(({ row }) => row);
    expectExact(makeFamily(query, alignProgressively(query, pairwise)));
  }
});

test("reads gaps and insertions in any order back to the bit", () => {
  const { query, rows } = readAlignment(
    [
      "AC-D--EFG-HIKL-",
      "---------------",
      "A--D--EFG-HIKL-",
      "-WWWWWW-------W",
      "W-W-W-W-W-W-W-W",
      "--WD-WE-GWH-K-W",
      "WW-------------",
      "-------------WW",
      "ACWDWWEFGWHIKLW",
      "XBZJUO-W-------",
    ].map((letters, i) => ({ name: `row ${i}`, letters })),
  );
  expectExact(makeFamily(query, rows));
  for (const row of rows) expectExact(makeFamily(query, [row]));
});

test("keeps 20,000 proteins of 560 residues with 100 homologs each in 400 MB", () => {
  const next = random(17);
  const query = randomProtein(next, 560);
  const relatives = Array.from({ length: 100 }, () => mutated(next, query, 0.5));
  const pairwise = align(query, relatives).map(({ row }) => row);
  const family = makeFamily(query, pairwise);
  const record = encodeFamily(
    family,
    family.homologs.map((_, i) => 500_000 - i),
  );
  expect(record.length).toBeLessThan(400e6 / 20_000);
});
