import { describe, expect, test } from "bun:test";
import { decode, encode, GAP } from "../../src/motif/alphabet.ts";
import { align, alignLocal } from "../../src/motif/align.ts";
import { rowFromGapped } from "../../src/motif/msa.ts";
import { mutated, random, randomProtein } from "../fixtures/random-protein.ts";

const anchored = (query: string, subject: string): string =>
  decode(align(encode(query), [encode(subject)])[0].row.anchored);

describe("global alignment with free end gaps", () => {
  test("aligns small examples", () => {
    expect(anchored("MKVLAWRRP", "MKVLAWRRP")).toBe("MKVLAWRRP");
    expect(anchored("MKVLAWRRP", "VLAWR")).toBe("--VLAWR--");
    expect(anchored("VLAWR", "GGMKVLAWRRPGG")).toBe("VLAWR");
    // Three residues deleted in identical sequences: one gap.
    expect(anchored("WCHWCHWWKDEWWHCWHCW", "WCHWCHWWWWHCWHCW")).toBe("WCHWCHWW---WWHCWHCW");
  });

  test("keeps insertions between two columns", () => {
    const [{ row, identity, coverage, score }] = align(encode("WCHWCHWWHCWHCW"), [
      encode("GGWCHWCHWAAAWHCWHCWGG"),
    ]);
    expect(decode(row.anchored)).toBe("WCHWCHWWHCWHCW");
    expect([...row.before]).toEqual([2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 15, 16, 17, 18, 19]);
    expect([identity, coverage]).toEqual([1, 1]);
    // W 11, C 9, H 8; the gap of three costs 12 + 1 + 1.
    expect(score).toBe(6 * 11 + 4 * 9 + 4 * 8 - 14);
  });

  test("the scores equal the scores of the gapped alignment", () => {
    const next = random(51);
    for (let round = 0; round < 50; round++) {
      const query = randomProtein(next, 30 + Math.floor(next() * 100));
      const [{ row }] = align(query, [mutated(next, query, 0.5)]);
      // Overhang and insertions before each column, then the column.
      const top: number[] = [];
      const bottom: number[] = [];
      let at = 0;
      for (const [p, code] of row.anchored.entries()) {
        for (; at < row.before[p]; at++) {
          top.push(GAP);
          bottom.push(row.residues[at]);
        }
        top.push(query[p]);
        bottom.push(code);
        if (code !== GAP) at++;
      }
      for (; at < row.residues.length; at++) {
        top.push(GAP);
        bottom.push(row.residues[at]);
      }
      expect(rowFromGapped(Uint8Array.from(top), Uint8Array.from(bottom))).toEqual(row);
    }
  });

  test("counts identity over standard residue pairs and coverage over all", () => {
    const [{ identity, coverage }] = align(encode("MKVLAWXRRP"), [encode("MKVLAWXRRG")]);
    expect(identity).toBeCloseTo(8 / 9, 12);
    expect(coverage).toBe(1);
  });

  test("the alignment does not depend on the order of subjects", () => {
    const next = random(52);
    const query = randomProtein(next, 120);
    const subjects = Array.from({ length: 21 }, () => mutated(next, query, 0.6));
    const forward = align(query, subjects);
    const backward = align(query, subjects.toReversed()).toReversed();
    expect(backward).toEqual(forward);
    for (const [k, subject] of subjects.entries()) expect(align(query, [subject])[0]).toEqual(forward[k]);
  });
});

describe("local alignment", () => {
  test("aligns only the scoring segment", () => {
    const [{ row, coverage, score }] = alignLocal(encode("PPPPPVLAWRRCCCC"), [encode("DDDVLAWRRKKKKKK")]);
    expect(decode(row.anchored)).toBe("-----VLAWRR----");
    expect(coverage).toBeCloseTo(6 / 15, 12);
    expect(score).toBe(4 + 4 + 4 + 11 + 5 + 5);
  });

  test("returns an empty alignment without a positive score", () => {
    const [{ coverage, identity, score }] = alignLocal(encode("WWW"), [encode("PPP")]);
    expect([coverage, identity, score]).toEqual([0, 0, 0]);
  });
});
