import { expect, test } from "bun:test";
import { decode, encode } from "../../src/motif/alphabet.ts";
import {
  DEFAULTS,
  findHits,
  openCorpus,
  packCorpus,
  PatternError,
  predict,
  SCORING_MODELS,
} from "../../src/motif/index.ts";
import { MIN_P } from "../../src/motif/p-value.ts";
import { mutated, random, randomProtein } from "../fixtures/random-protein.ts";
import { randomForm, write } from "./pattern-cases.ts";

/** Random input gives bounded numbers or a PatternError; `LABD_FUZZ_PREDICT=n` for more rounds. */

const COUNT = Number(process.env.LABD_FUZZ_PREDICT ?? 60);
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

test(`${COUNT} random proteins, corpora and patterns`, () => {
  const next = random(97);
  const pick = (count: number): number => Math.floor(next() * count);
  const oddly = (): Uint8Array => {
    const length = next() < 0.2 ? pick(4) : pick(300);
    if (next() < 0.2) return encode(LETTERS[pick(26)].repeat(length));
    if (next() < 0.2) return encode(Array.from({ length }, () => LETTERS[pick(26)]).join(""));
    return randomProtein(next, length);
  };
  let [scored, refused, families] = [0, 0, 0];
  for (let round = 0; round < COUNT; round++) {
    const query = oddly();
    const count = pick(40);
    const residues = Array.from({ length: count }, () =>
      next() < 0.6 ? mutated(next, query, next()) : next() < 0.3 ? query : oddly(),
    ).filter(({ length }) => length > 0);
    const entries = residues.map((own, i) => ({
      accession: `P${pick(i + 1)}`,
      description: "",
      organism: null,
      speciesKey: next() < 0.5 ? `ox:${pick(9)}` : null,
      residues: own,
    }));
    const corpus = openCorpus(packCorpus("odd", entries));
    const text = decode(query);
    const patterns = Array.from({ length: 3 }, () => {
      const from = pick(query.length);
      const kept = text.slice(from, from + 1 + pick(6)).replace(/[BJOUXZ]/g, ".");
      return {
        expression: next() < 0.5 ? kept : write(randomForm(next, 3, true)),
        name: null,
        dialect: "elm" as const,
      };
    });
    const request = { query: text, patterns, model: SCORING_MODELS[round % 2] };
    try {
      const prediction = predict(request, corpus);
      const hits = findHits([text], corpus, DEFAULTS, new Int32Array(new SharedArrayBuffer(4)))[0];
      expect(predict(request, corpus, DEFAULTS, () => {}, hits.toReversed())).toEqual(prediction);
      if (prediction.homologs.length > 2) families++;
      expect(JSON.stringify(prediction)).not.toMatch(/NaN|Infinity/);
      for (const { identity, coverage, weight } of prediction.homologs) {
        for (const part of [identity, coverage]) expect(part).toBeWithin(0.25, 1 + 1e-9);
        expect(weight).toBeGreaterThan(0);
      }
      for (const match of prediction.patterns.flatMap(({ matches }) => matches)) {
        expect(match.text).toBe(text.slice(match.start - 1, match.end));
        expect(match.homologs).toBeLessThanOrEqual(prediction.homologs.length);
        if (match.conservationLevel === "insufficient data") {
          expect([match.score, match.expected, match.pValue]).toEqual([null, null, null]);
          expect([match.overallVerdict === null, match.overallPValue === null]).toEqual(
            Array(2).fill(match.z === null),
          );
          continue;
        }
        scored++;
        expect(match.homologs).toBeGreaterThanOrEqual(3);
        expect(match.score).toBeWithin(0, 1 + 1e-9);
        expect(match.expected).toBeWithin(0, 1 + 1e-9);
        expect(match.pValue).toBeWithin(MIN_P, 1);
        expect(match.z).toBeNumber();
      }
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      refused++;
    }
  }
  // Guards against an empty test.
  expect(families).toBeGreaterThan(COUNT / 10);
  expect(scored).toBeGreaterThan(COUNT);
  expect(refused).toBeLessThan(COUNT / 2);
}, 300_000);
