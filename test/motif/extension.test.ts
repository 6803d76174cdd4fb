import { describe, expect, test } from "bun:test";
import { alignLocal } from "../../src/motif/align.ts";
import { X } from "../../src/motif/alphabet.ts";
import { extensionScore, SCALE } from "../../src/motif/extension.ts";
import { BLOSUM62 } from "../../src/motif/matrix.ts";
import { mutated, random, randomProtein } from "../fixtures/random-protein.ts";

const SCORES = Int32Array.from(BLOSUM62, (score) => score * SCALE);

/** Score of the extension with BLOSUM62 along the best alignment with `subject`, whose copy `scored` is scored. */
function extended(query: Uint8Array, subject: Uint8Array, scored = subject): number {
  return extensionScore(query, scored, alignLocal(query, [subject])[0], SCORES);
}

const join = (...parts: Uint8Array[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => Array.from(part)));

describe("gapped extension", () => {
  test("equals Smith-Waterman for related proteins", () => {
    const next = random(91);
    for (let round = 0; round < 60; round++) {
      const query = randomProtein(next, 60 + Math.floor(next() * 400));
      const related = mutated(next, query, 0.1 + next() * 0.4);
      const gapped = join(
        related.subarray(0, 30),
        randomProtein(next, 1 + Math.floor(next() * 15)),
        related.subarray(30),
      );
      for (const subject of [related, gapped]) {
        expect(extended(query, subject)).toBe(alignLocal(query, [subject])[0].score);
      }
    }
  });

  test("the extension score never exceeds Smith-Waterman", () => {
    const next = random(92);
    for (let round = 0; round < 60; round++) {
      const [query, subject] = [randomProtein(next, 200), randomProtein(next, 300)];
      expect(extended(query, subject)).toBeLessThanOrEqual(alignLocal(query, [subject])[0].score);
    }
  });

  test("crosses a short masked region and stops at a long one", () => {
    const next = random(93);
    const [head, tail] = [randomProtein(next, 150), randomProtein(next, 100)];
    const alone = alignLocal(head, [head])[0].score;
    const withGap = (length: number): number => {
      const middle = randomProtein(next, length);
      const query = join(head, middle, tail);
      return extended(query, query, join(head, new Uint8Array(length).fill(X), tail));
    };
    // X scores -1, 0 or -2.
    expect(withGap(20)).toBeGreaterThan(alone + 300);
    expect(withGap(150)).toBe(alone);
  });

  test("the extension combines several pieces into the best score", () => {
    const next = random(94);
    const [first, second] = [randomProtein(next, 80), randomProtein(next, 300)];
    // Between them 100 residues that do not align, where the best alignment drops by more than 15 bits.
    const query = join(first, randomProtein(next, 100), second);
    const subject = join(first, randomProtein(next, 100), second);
    const hidden = join(first, subject.subarray(80, 180), new Uint8Array(300).fill(X));
    expect(extended(query, subject)).toBeGreaterThan(alignLocal(second, [second])[0].score - 1);
    expect(extended(query, subject, hidden)).toBeGreaterThan(alignLocal(first, [first])[0].score - 1);
  });

  test("the extension score is 0 without an alignment", () => {
    expect(extended(new Uint8Array(0), new Uint8Array(0))).toBe(0);
    expect(extended(new Uint8Array(30).fill(X), randomProtein(random(1), 30))).toBe(0);
  });
});
