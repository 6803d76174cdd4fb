import { expect, test } from "bun:test";
import { align } from "../../src/motif/align.ts";
import { decode, encode, GAP } from "../../src/motif/alphabet.ts";
import { guideTree } from "../../src/motif/guide-tree.ts";
import type { Row } from "../../src/motif/msa.ts";
import { alignProgressively } from "../../src/motif/progressive.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";
import { simulateFamily, type SimulatedFamily } from "../fixtures/simulated-family.ts";

const star = ([query, ...others]: readonly Uint8Array[]): Row[] => align(query, others).map(({ row }) => row);

/**
 * Columns within 5 of the motif in which every homolog has the homologous residue, or a gap if it has none.
 */
function wholeColumns({ sites, motif }: SimulatedFamily, rows: readonly Row[]): number {
  let whole = 0;
  for (let column = motif.start - 5; column < motif.end + 5; column++) {
    const isRight = ({ anchored, before }: Row, k: number): boolean =>
      (anchored[column] === GAP ? -1 : before[column]) === sites[k + 1].indexOf(sites[0][column]);
    if (rows.every(isRight)) whole++;
  }
  return whole;
}

test("aligns 10 % more columns around a motif correctly than pairwise alignment", () => {
  const next = random(83);
  let [pairwise, progressive] = [0, 0];
  for (let k = 0; k < 8; k++) {
    const family = simulateFamily(next, { sequences: 24, length: 260, depth: 0.9 });
    const rows = star(family.sequences);
    pairwise += wholeColumns(family, rows);
    progressive += wholeColumns(family, alignProgressively(family.sequences[0], rows));
  }
  expect(pairwise).toBeGreaterThan(30);
  expect(progressive).toBeGreaterThan(1.1 * pairwise);
});

test("places a shared gap in one column and keeps residue order", () => {
  const texts = ["MKVLAWRRPSTEDKHWCYFN", "MKVLAWRRSTEDKHWCYFN", "MKVLGWRKSTEEKHWCYFN", "MRVLGWRKSTEEKHWCFFN"];
  const sequences = texts.map(encode);
  const rows = alignProgressively(sequences[0], star(sequences));
  const gaps = rows.map((row) => decode(row.anchored).indexOf("-"));
  expect(new Set(gaps).size).toBe(1);
  expect(rows.map(({ residues }) => decode(residues))).toEqual(texts.slice(1));
  for (const { anchored, before, residues } of rows) {
    for (const [p, code] of anchored.entries()) {
      expect(before[p + 1] - before[p]).toBeGreaterThanOrEqual(code === GAP ? 0 : 1);
      if (code !== GAP) expect(residues[before[p]]).toBe(code);
    }
  }
});

test("the banded alignment equals the unbanded one", () => {
  const next = random(84);
  for (let k = 0; k < 6; k++) {
    const { sequences } = simulateFamily(next, { sequences: 8, length: 260, depth: 0.8 });
    const rows = star(sequences);
    expect(alignProgressively(sequences[0], rows)).toEqual(alignProgressively(sequences[0], rows, 1000));
  }
});

test("widens the band for long insertions and unaligned ends", () => {
  const next = random(85);
  const { sequences } = simulateFamily(next, { sequences: 4, length: 300, depth: 0.3 });
  const [query, one, other, third] = sequences;
  const insert = simulateFamily(next, { sequences: 1, length: 400, depth: 0 }).sequences[0];
  const long = Uint8Array.from([...one.subarray(0, 100), ...insert, ...one.subarray(100)]);
  const late = Uint8Array.from([...randomProtein(next, 200), ...third]);
  const family = [query, long, other, late];
  const rows = alignProgressively(query, star(family));
  expect(rows).toEqual(alignProgressively(query, star(family), 2000));
  for (const { anchored } of rows) {
    expect(anchored.filter((code) => code !== GAP).length).toBeGreaterThan(0.9 * query.length);
  }
});

test("returns an empty query or fewer than two homologs unchanged", () => {
  const query = encode("MKVLAWRRP");
  expect(alignProgressively(query, [])).toEqual([]);
  const [row] = star([query, encode("MKVLWRRP")]);
  expect(alignProgressively(query, [row])).toEqual([row]);
  const empty = star([encode(""), query, query]);
  expect(alignProgressively(encode(""), empty)).toEqual(empty);
  const [first, none] = alignProgressively(query, star([query, query, encode("")]));
  expect(decode(first.anchored)).toBe("MKVLAWRRP");
  expect(decode(none.anchored)).toBe("---------");
});

test("the guide tree joins the closest sequences first and breaks ties by number", () => {
  const distances = new Float64Array([0, 5, 5, 9, 5, 0, 1, 9, 5, 1, 0, 9, 9, 9, 9, 0]);
  expect(guideTree(distances, 4)).toEqual([
    [1, 2],
    [0, 4],
    [5, 3],
  ]);
  expect(guideTree(new Float64Array(9).fill(1), 3)).toEqual([
    [0, 1],
    [3, 2],
  ]);
  expect(guideTree(new Float64Array(1), 1)).toEqual([]);
});
