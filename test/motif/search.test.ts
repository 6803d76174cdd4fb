import { describe, expect, test } from "bun:test";
import { encode } from "../../src/motif/alphabet.ts";
import { packCorpus } from "../../src/motif/corpus-builder.ts";
import { openCorpus, type Corpus } from "../../src/motif/corpus.ts";
import { maskLowComplexity } from "../../src/motif/complexity.ts";
import { sortHits, search, searchRanges, claimRanges, type SearchOptions } from "../../src/motif/search.ts";
import { SCORING } from "../../src/motif/blosum-kernel.ts";
import { scorePlain } from "../kernel/scalar-score.ts";
import { composition, compositionScale, eValue } from "../../src/motif/statistics.ts";
import { mutated, random, randomProtein } from "../fixtures/random-protein.ts";

const options: SearchOptions = { maxEValue: 1e-5, exhaustive: false, minLength: 0, maxLength: 1e9 };
const exhaustive: SearchOptions = { ...options, exhaustive: true };

function makeCorpus(sequences: Uint8Array[]): Corpus {
  const entries = sequences.map((residues, k) => ({
    accession: `P${String(k).padStart(5, "0")}`,
    description: "",
    organism: null,
    speciesKey: null,
    residues,
  }));
  return openCorpus(packCorpus("test", entries));
}

const next = random(61);
const queries = Array.from({ length: 12 }, () => randomProtein(next, 80 + Math.floor(next() * 400)));
const corpus = makeCorpus([
  ...Array.from({ length: 2000 }, () => randomProtein(next, 20 + Math.floor(next() * 600))),
  ...queries.flatMap((query) => Array.from({ length: 20 }, (_, k) => mutated(next, query, 0.1 + k * 0.03))),
]);

describe("search", () => {
  test("exhaustive search finds the hits of a direct computation", () => {
    const query = queries[0];
    const masked = maskLowComplexity(query);
    const wanted = new Map<number, number>();
    for (let index = 0; index < corpus.sequenceCount; index++) {
      const subject = corpus.residues.subarray(corpus.offsets[index], corpus.offsets[index + 1]);
      const raw = scorePlain(masked, subject, SCORING);
      const score = raw * compositionScale(composition(masked), composition(subject));
      const chance = eValue(score, query.length, subject.length, corpus.residueCount);
      if (chance <= 1e-5) wanted.set(index, raw);
    }
    const hits = search(query, corpus, exhaustive);
    expect(new Map(hits.toSorted((a, b) => a.index - b.index).map((h) => [h.index, h.rawScore]))).toEqual(
      wanted,
    );
    expect(wanted.size).toBeGreaterThan(10);
  });

  test("the prefilter misses almost no hits and keeps their scores", () => {
    let all = 0;
    let found = 0;
    for (const query of queries) {
      const exact = new Map(search(query, corpus, exhaustive).map((hit) => [hit.index, hit]));
      const quick = search(query, corpus, options);
      for (const hit of quick) expect(exact.get(hit.index)).toEqual(hit);
      all += exact.size;
      found += quick.length;
    }
    expect(all).toBeGreaterThan(150);
    expect(found / all).toBeGreaterThanOrEqual(0.99);
  });

  test("orders hits by E-value, score, accession", () => {
    const corpus = makeCorpus([queries[1], queries[1], mutated(random(1), queries[1], 0.2), queries[1]]);
    const hits = search(queries[1], corpus, options);
    expect(hits.map(({ index }) => index)).toEqual([0, 1, 3, 2]);
    expect(search(queries[1], corpus, options)).toEqual(hits);
    expect(search(queries[1], corpus, exhaustive)).toEqual(hits);
  });

  test("queries searched together find the same hits as alone, however ranges are divided", () => {
    const asked = [...queries, encode(""), queries[3], encode("MKV"), new Uint8Array(50).fill(0)];
    const requests = asked.map((query, k) => ({
      query,
      options: k % 3 === 1 ? { ...options, minLength: 150, maxLength: 400 } : options,
    }));
    const wanted = requests.map((request) => search(request.query, corpus, request.options));
    expect(wanted.flat().length).toBeGreaterThan(150);
    for (const threads of [1, 2, 4]) {
      // Alternating threads, as with claimRanges.
      const parts = Array.from({ length: threads }, (_, k) =>
        [0, 1, 2, 3, 4, 5, 6]
          .filter((i) => i % threads === k)
          .map((i) => [i * 330, Math.min((i + 1) * 330, corpus.sequenceCount)] as const),
      );
      const found = parts.map((own) => searchRanges(requests, corpus, own));
      const together = requests.map((_, k) =>
        sortHits(
          found.flatMap((hits) => hits[k]),
          corpus,
        ),
      );
      expect(together).toEqual(wanted);
    }
    const counter = new Int32Array(new SharedArrayBuffer(4));
    const taken = Array.from(claimRanges(corpus, counter));
    expect([...claimRanges(corpus, counter)]).toEqual([]);
    expect(taken[0][0]).toBe(0);
    expect(taken.at(-1)![1]).toBe(corpus.sequenceCount);
    for (const [k, [first]] of taken.entries()) if (k > 0) expect(first).toBe(taken[k - 1][1]);
  });

  test("length limits do not change E-values", () => {
    const bounded = { minLength: 150, maxLength: 260 };
    for (const how of [options, exhaustive]) {
      const hits = search(queries[2], corpus, { ...how, maxEValue: 1 });
      const subjectLength = (index: number): number => corpus.offsets[index + 1] - corpus.offsets[index];
      const wanted = hits.filter(({ index }) => subjectLength(index) >= 150 && subjectLength(index) <= 260);
      expect(search(queries[2], corpus, { ...how, ...bounded, maxEValue: 1 })).toEqual(wanted);
    }
  });

  test("low-complexity similarity does not count as a hit", () => {
    const poly = encode(`${"Q".repeat(60)}${"SR".repeat(40)}${"P".repeat(50)}`);
    const others = makeCorpus([poly, encode("Q".repeat(200)), encode("SRSRSRSR".repeat(20))]);
    for (const how of [options, exhaustive]) expect(search(poly, others, how)).toEqual([]);
  });

  test("chance hits are as frequent as their E-values", () => {
    // Random queries against random proteins: 60 searches with up to 0.2 hits expected in each.
    const noise = makeCorpus(Array.from({ length: 1500 }, () => randomProtein(next, 300)));
    let hits = 0;
    for (let round = 0; round < 60; round++) {
      hits += search(randomProtein(next, 250), noise, { ...exhaustive, maxEValue: 0.2 }).length;
    }
    // 12 expected; bounds of a Poisson distribution (p < .001).
    expect(hits).toBeGreaterThanOrEqual(3);
    expect(hits).toBeLessThanOrEqual(25);
  });
});
