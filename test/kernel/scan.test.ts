import { describe, expect, test } from "bun:test";
import { Kernel, SCAN_BLOCK } from "../../src/kernel/kernel.ts";
import { scanPlain } from "./scalar-scan.ts";
import { encode } from "../../src/motif/alphabet.ts";
import { BLOSUM62 } from "../../src/motif/matrix.ts";
import { chooseThreshold, indexSeeds } from "../../src/motif/seed-index.ts";
import { mutated, random, randomProtein } from "../fixtures/random-protein.ts";

const kernel = new Kernel({ matrix: BLOSUM62, gapFirst: 12, gapNext: 1 });
const open = { xDrop: 16, minSeedScore: 0, minExtensionScore: 1, minLength: 0, maxLength: 1e9 };

/** Positions of a word by the definition. */
function positions(query: Uint8Array): (word: Uint8Array) => number[] {
  const { threshold } = chooseThreshold(query);
  return (word) => {
    const found: number[] = [];
    for (let i = 0; i + 5 <= query.length; i++) {
      let score = 0;
      for (let k = 0; k < 5; k++) {
        const standard = query[i + k] < 20 && word[k] < 20;
        score += standard ? BLOSUM62[query[i + k] * 32 + word[k]] : -Infinity;
      }
      if (score >= threshold) found.push(i);
    }
    return found;
  };
}

function scan(
  query: Uint8Array,
  subjects: Uint8Array[],
  limits: typeof open = open,
): { scores: number[]; order: number[] } {
  const offsets = new Uint32Array(subjects.length + 1);
  for (const [k, subject] of subjects.entries()) offsets[k + 1] = offsets[k] + subject.length;
  const residues = new Uint8Array(offsets[subjects.length]);
  for (const [k, subject] of subjects.entries()) residues.set(subject, offsets[k]);
  const scores = subjects.map(() => 0);
  const order: number[] = [];
  kernel.scan(indexSeeds([query]), limits, { residues, offsets }, [[0, subjects.length]], (k, score) => {
    scores[k] = score;
    order.push(k);
  });
  return { scores, order };
}

describe("seed scan", () => {
  test("equals the scalar scan on random proteins and relatives", () => {
    const next = random(21);
    let positive = 0;
    for (let round = 0; round < 25; round++) {
      const query = randomProtein(next, 1 + Math.floor(next() * 150));
      if (query.length > 20) query[Math.floor(next() * query.length)] = 20 + Math.floor(next() * 6);
      const subjects = Array.from({ length: 30 }, () => {
        const subject =
          next() < 0.5
            ? randomProtein(next, Math.floor(next() * 250))
            : mutated(next, query, 0.2 + next() * 0.6);
        if (subject.length > 9) subject[Math.floor(next() * subject.length)] = 20 + Math.floor(next() * 6);
        return subject;
      });
      const findPositions = positions(query);
      const wanted = subjects.map((subject) => scanPlain(query, findPositions, BLOSUM62, open, subject));
      expect(scan(query, subjects).scores).toEqual(wanted);
      positive += wanted.filter((score) => score > 0).length;
    }
    expect(positive).toBeGreaterThan(150);
  });

  test("handles repeats with many hits per diagonal", () => {
    const query = encode("ACDEFGHIKL".repeat(12));
    const subjects = [1, 3, 9, 30].map((times) => encode("ACDEFGHIKL".repeat(times)));
    const wanted = subjects.map((s) => scanPlain(query, positions(query), BLOSUM62, open, s));
    expect(wanted.every((score) => score > 0)).toBe(true);
    expect(scan(query, subjects).scores).toEqual(wanted);
  });

  test("respects X-drop, lengths and threshold", () => {
    const next = random(22);
    const query = randomProtein(next, 200);
    const subjects = Array.from({ length: 40 }, () => mutated(next, query, 0.6));
    const findPositions = positions(query);
    for (const limits of [
      { ...open, xDrop: 3 },
      { ...open, minSeedScore: 27 },
      { ...open, minSeedScore: 60 },
      { ...open, minLength: 200 },
      { ...open, maxLength: 200 },
    ]) {
      const wanted = subjects.map((subject) => scanPlain(query, findPositions, BLOSUM62, limits, subject));
      expect(scan(query, subjects, limits).scores).toEqual(wanted);
    }
    const { scores } = scan(query, subjects);
    const middle = scores.toSorted((a, b) => a - b)[20];
    const { order } = scan(query, subjects, { ...open, minExtensionScore: middle });
    expect(order).toEqual(subjects.flatMap((_, k) => (scores[k] >= middle ? [k] : [])));
  });

  test("the result of a scan does not depend on the division into blocks", () => {
    const next = random(23);
    const query = randomProtein(next, 100);
    const relative = mutated(next, query, 0.2);
    const filler = Array.from({ length: 3000 }, () => randomProtein(next, 300));
    const giant = new Uint8Array(SCAN_BLOCK + 1000).fill(24);
    giant.set(relative, giant.length - relative.length);
    const alone = scan(query, [relative]).scores[0];
    expect(alone).toBeGreaterThan(100);
    const all = [relative, ...filler, relative, giant, relative];
    const { scores } = scan(query, all);
    for (const k of [0, 3001, 3002, 3003]) expect(scores[k]).toBe(alone);
    const some = Array.from({ length: 20 }, (_, k) => 1 + k * 150);
    expect(some.map((k) => scores[k])).toEqual(some.map((k) => scan(query, [all[k]]).scores[0]));
  });

  test("finds words at every offset of long and neighbouring sequences", () => {
    const next = random(25);
    const query = randomProtein(next, 60);
    const long = randomProtein(next, 9000);
    // Every 67 residues: copies start at all offsets of a vector and cross the ends of all steps.
    for (let at = 0; at + 60 < long.length; at += 67) long.set(mutated(next, query, 0.5).subarray(0, 60), at);
    for (let at = 33; at < long.length; at += 501) long[at] = 20 + Math.floor(next() * 6);
    const pieces = Array.from({ length: 300 }, (_, k) =>
      long.subarray(k * 29, k * 29 + Math.floor(next() * 40)),
    );
    const subjects = [long, ...pieces, long.subarray(1), long.subarray(0, 4096), long.subarray(5, 4102)];
    for (const limits of [open, { ...open, minLength: 20, maxLength: 5000 }]) {
      const wanted = subjects.map((one) => scanPlain(query, positions(query), BLOSUM62, limits, one));
      expect(wanted.filter((score) => score > 0).length).toBeGreaterThan(50);
      expect(scan(query, subjects, limits).scores).toEqual(wanted);
    }
  });

  test("hits do not extend from one query into the next query", () => {
    const next = random(24);
    const [first, second] = [randomProtein(next, 30), randomProtein(next, 30)];
    // Segments on one diagonal of both queries, with any residue between them.
    const subject = Uint8Array.from([...first, 0, ...second]);
    const offsets = Uint32Array.of(0, subject.length);
    const scores: number[] = [];
    const queries = indexSeeds([first, second]);
    kernel.scan(queries, open, { residues: subject, offsets }, [[0, 1]], (_, score, query) => {
      scores[query] = score;
    });
    expect(scores).toEqual([first, second].map((query) => scan(query, [subject]).scores[0]));
  });
});
