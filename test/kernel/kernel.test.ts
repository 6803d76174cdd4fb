import { describe, expect, test } from "bun:test";
import { Kernel } from "../../src/kernel/kernel.ts";
import { type ComputeBand, bandScalar, scoreLong, traceLong } from "../../src/kernel/long.ts";
import type { Path } from "../../src/kernel/path.ts";
import { traceScalar, type Scoring } from "../../src/kernel/scalar.ts";
import { scorePlain } from "./scalar-score.ts";
import { encode } from "../../src/motif/alphabet.ts";
import { BLOSUM62 } from "../../src/motif/matrix.ts";
import { mutated, randomProtein, random } from "../fixtures/random-protein.ts";

const scoring: Scoring = { matrix: BLOSUM62, gapFirst: 12, gapNext: 1 };
const kernel = new Kernel(scoring);

/** Enumerates all alignments of two tiny sequences. */
function bruteForce(query: Uint8Array, subject: Uint8Array, local: boolean): number {
  let best = 0;
  const go = (i: number, j: number, score: number, gap: "none" | "query" | "subject"): void => {
    if (local || i === query.length || j === subject.length) best = Math.max(best, score);
    if (i < query.length && j < subject.length) {
      go(i + 1, j + 1, score + BLOSUM62[query[i] * 32 + subject[j]], "none");
    }
    if (i < query.length) go(i + 1, j, score - (gap === "subject" ? 1 : 12), "subject");
    if (j < subject.length) go(i, j + 1, score - (gap === "query" ? 1 : 12), "query");
  };
  for (let i = 0; i <= query.length; i++) {
    for (let j = 0; j <= subject.length; j++) {
      if (local || i === 0 || j === 0) go(i, j, 0, "none");
    }
  }
  return best;
}

/** Score of a path, recomputed. */
function recomputed(query: Uint8Array, subject: Uint8Array, path: Path): number {
  let score = 0;
  let last = -1;
  for (let i = path.queryStart; i < path.queryEnd; i++) {
    if (path.paired[i] === 0) continue;
    const j = path.before[i];
    score += BLOSUM62[query[i] * 32 + subject[j]];
    if (last >= 0) {
      for (const gap of [i - last - 1, j - path.before[last] - 1]) if (gap > 0) score -= 11 + gap;
    }
    last = i;
  }
  return score;
}

/** Cheap gaps and a mild matrix, so that tiny sequences have gaps. */
const gappy: Scoring = { matrix: BLOSUM62.map((s) => (s > 0 ? 9 : -1)), gapFirst: 3, gapNext: 1 };

describe("scores", () => {
  test("scalar and SIMD scores equal the enumeration of all alignments of tiny sequences", () => {
    const next = random(1);
    for (let round = 0; round < 300; round++) {
      const query = randomProtein(next, 1 + Math.floor(next() * 4));
      const subject = randomProtein(next, 1 + Math.floor(next() * 4));
      const best = bruteForce(query, subject, true);
      expect(scorePlain(query, subject, scoring)).toBe(best);
      expect(kernel.scores8(query, [subject])[0]).toBe(best);
      expect(kernel.scores16(query, [subject])[0]).toBe(best);
    }
  });

  test("all kernels agree on random proteins and relatives", () => {
    const next = random(2);
    for (let round = 0; round < 60; round++) {
      const query = randomProtein(next, 1 + Math.floor(next() * 150));
      const subjects = Array.from({ length: 1 + Math.floor(next() * 40) }, () =>
        next() < 0.5 ? randomProtein(next, Math.floor(next() * 200)) : mutated(next, query, next() * 0.9),
      );
      const wanted = subjects.map((subject) => scorePlain(query, subject, scoring));
      expect([...kernel.scores(query, subjects)]).toEqual(wanted);
      expect([...kernel.scores(query, subjects, (k) => k % 2 === 0)]).toEqual(wanted);
      const narrow = kernel.scores8(query, subjects.slice(0, 16));
      const wide = kernel.scores16(query, subjects.slice(0, 8));
      for (const [k, score] of narrow.entries()) expect(score).toBe(wanted[k] >= 255 ? -1 : wanted[k]);
      expect([...wide]).toEqual(wanted.slice(0, 8));
    }
  });

  test("8-bit scores return -1 on overflow", () => {
    // W against W is 11, A against A is 4, V against V is 4: 253, 254, 255, 256 and beyond.
    const cases: [string, number][] = [
      ["W".repeat(22) + "AAA", 254],
      ["W".repeat(23), 253],
      ["W".repeat(21) + "AAAAAA", 255],
      ["W".repeat(20) + "AAAAAAAAA", 256],
      ["W".repeat(24), 264],
    ];
    for (const [letters, score] of cases) {
      const codes = encode(letters);
      expect(scorePlain(codes, codes, scoring)).toBe(score);
      expect(kernel.scores8(codes, [codes])[0]).toBe(score >= 255 ? -1 : score);
      expect(kernel.scores(codes, [codes])[0]).toBe(score);
    }
  });

  test("16-bit scores return -1 on overflow", () => {
    for (const length of [5957, 5958, 6100]) {
      const codes = encode("W".repeat(length));
      const score = length * 11;
      expect(kernel.scores16(codes, [codes])[0]).toBe(score >= 65_535 ? -1 : score);
      expect(kernel.scores(codes, [codes])[0]).toBe(score);
    }
  });

  test("a large pair has the same score alone as in a batch", () => {
    const next = random(9);
    const query = randomProtein(next, 10_100);
    const relative = mutated(next, query, 0.9);
    const [together] = kernel.scores(query, [relative, relative]);
    expect(kernel.scores(query, [relative])).toEqual(Int32Array.of(together));
    expect(kernel.scores(query, [relative], () => true)).toEqual(Int32Array.of(together));
  }, 300_000);

  test("handles empty, single and non-standard residues", () => {
    const none = new Uint8Array(0);
    const all = encode("ACDEFGHIKLMNPQRSTVWYBJOUXZ");
    expect([...kernel.scores(none, [all, none])]).toEqual([0, 0]);
    expect([...kernel.scores(all, [none, encode("W"), encode("X"), all])]).toEqual([
      0,
      11,
      0,
      scorePlain(all, all, scoring),
    ]);
    expect([...kernel.scores(all, [])]).toEqual([]);
  });

  test("rejects an unsuitable matrix", () => {
    expect(() => new Kernel({ ...scoring, matrix: new Int8Array(1024) })).toThrow(RangeError);
    expect(() => new Kernel({ ...scoring, matrix: new Int8Array(400) })).toThrow(RangeError);
  });
});

describe("alignments", () => {
  for (const local of [true, false]) {
    const name = local ? "local" : "free ends";

    test(`${name}: scalar alignment equals the enumeration of all alignments of tiny sequences`, () => {
      const next = random(3);
      for (let round = 0; round < 300; round++) {
        const query = randomProtein(next, 1 + Math.floor(next() * 4));
        const subject = randomProtein(next, 1 + Math.floor(next() * 4));
        const path = traceScalar(query, subject, scoring, local);
        expect(path.score).toBe(bruteForce(query, subject, local));
        expect(recomputed(query, subject, path)).toBe(path.score);
      }
    });

    test(`${name}: SIMD and scalar tracebacks agree, and their scores add up`, () => {
      const next = random(4);
      for (let round = 0; round < 40; round++) {
        const query = randomProtein(next, 1 + Math.floor(next() * 120));
        const subjects = Array.from({ length: 1 + Math.floor(next() * 12) }, () =>
          next() < 0.3 ? randomProtein(next, Math.floor(next() * 200)) : mutated(next, query, next() * 0.8),
        );
        const wanted = subjects.map((subject) => traceScalar(query, subject, scoring, local));
        expect(kernel.traces(query, subjects, local)).toEqual(wanted);
        for (const [k, path] of wanted.entries()) {
          expect(recomputed(query, subjects[k], path)).toBe(path.score);
          if (local) expect(path.score).toBe(scorePlain(query, subjects[k], scoring));
        }
      }
    });

    test(`${name}: SIMD and scalar tracebacks agree with cheap gaps and many ties`, () => {
      const cheap = new Kernel(gappy);
      const next = random(5);
      for (let round = 0; round < 40; round++) {
        const query = randomProtein(next, 1 + Math.floor(next() * 60));
        const subjects = Array.from({ length: 8 }, () => mutated(next, query, 0.6));
        const wanted = subjects.map((subject) => traceScalar(query, subject, gappy, local));
        expect(cheap.traces(query, subjects, local)).toEqual(wanted);
      }
    });
  }

  test("banded pairs have the same scores and tracebacks as scalar ones", () => {
    const next = random(6);
    const lengths = [1, 2, 3, 4, 5, 31, 511, 512, 513, 514, 515, 700, 1024, 1025, 1100];
    const some = (): number => lengths[Math.floor(next() * lengths.length)];
    let gaps = 0;
    for (let round = 0; round < 60; round++) {
      const costs = round % 2 === 0 ? scoring : gappy;
      const simd = new Kernel(costs).computeBand;
      const plain: ComputeBand = (rows, subject, above, local) =>
        bandScalar(rows, subject, above, local, costs);
      const query = randomProtein(next, some());
      const related = next() < 0.7;
      const subject = (related ? mutated(next, query, next() * 0.8) : randomProtein(next, some())).subarray(
        0,
        some(),
      );
      if (subject.length === 0) continue;
      for (const local of [true, false]) {
        const wanted = traceScalar(query, subject, costs, local);
        expect(traceLong(query, subject, costs, local, simd)).toEqual(wanted);
        expect(traceLong(query, subject, costs, local, plain)).toEqual(wanted);
        gaps += wanted.paired.filter((paired) => paired === 0).length;
      }
      expect(scoreLong(query, subject, simd)).toBe(scorePlain(query, subject, costs));
    }
    expect(gaps).toBeGreaterThan(1000);
  });

  test("aligns pairs that are too large for full step storage", () => {
    const next = random(8);
    const query = randomProtein(next, 3000);
    const subject = mutated(next, query, 0.3);
    for (const local of [true, false]) {
      const [path] = kernel.traces(query, [subject], local);
      expect(recomputed(query, subject, path)).toBe(path.score);
      expect(path).toEqual(traceScalar(query, subject, scoring, local));
    }
  });

  test("returns an empty path if a sequence is empty", () => {
    const none = new Uint8Array(0);
    const one = encode("W");
    for (const local of [true, false]) {
      for (const path of kernel.traces(one, [none, encode("P")], local)) {
        expect([path.score, path.queryStart, path.queryEnd, path.paired[0]]).toEqual([0, 0, 0, 0]);
      }
      expect(kernel.traces(none, [one], local)[0].before).toHaveLength(1);
    }
  });
});

test("scores a band of profiles exactly like residue by residue", () => {
  const next = random(91);
  for (let round = 0; round < 40; round++) {
    const rows = 1 + Math.floor(next() * 20);
    const columns = 1 + Math.floor(next() * 300);
    const frequencies = Float64Array.from({ length: rows * 20 }, () => (next() < 0.7 ? 0 : next()));
    const residueScores = Array.from({ length: 20 }, () =>
      Float64Array.from({ length: columns }, () => next() * 20 - 8),
    );
    const low = Int32Array.from({ length: rows }, () => Math.floor(next() * columns));
    const high = low.map((from) => from + Math.floor(next() * (columns - from)));
    const wanted: number[] = [];
    for (let i = 0; i < rows; i++) {
      for (let j = low[i]; j <= high[i]; j++) {
        let score = 0;
        for (let r = 0; r < 20; r++) score += frequencies[i * 20 + r] * residueScores[r][j];
        wanted.push(score);
      }
    }
    expect([...kernel.bandScores(frequencies, residueScores, low, high)]).toEqual(wanted);
  }
});
