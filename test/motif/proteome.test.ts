import { expect, test } from "bun:test";
import { decode, encode } from "../../src/motif/alphabet.ts";
import { packCorpus } from "../../src/motif/corpus-builder.ts";
import { openCorpus } from "../../src/motif/corpus.ts";
import { average, predictDisorder } from "../../src/motif/disorder/disorder.ts";
import { predict, SCORING_MODELS } from "../../src/motif/index.ts";
import { parsePattern } from "../../src/motif/pattern.ts";
import { familyRecords, scoreRecord } from "../../src/motif/proteome.ts";
import { mutated, random, randomProtein } from "../fixtures/random-protein.ts";

const PATTERNS = ["WKPH.W", "P..P", "^M", "[KR]{1,3}.L", "(?<=W)K", "L$", "....", "C{9}"];

/** Families of 9, 3, 2 and 1 proteins, of several species. */
const next = random(71);
const proteins = [9, 3, 2, 1].flatMap((size) => {
  const head = randomProtein(next, 70 + Math.floor(next() * 60));
  const tail = randomProtein(next, 90);
  return Array.from({ length: size }, () =>
    Uint8Array.from([...mutated(next, head, 0.4), ...encode("WKPHCW"), ...mutated(next, tail, 0.4)]),
  );
});
const entries = proteins.map((residues, i) => ({
  accession: `P${i}`,
  description: "",
  organism: `species ${i % 4}`,
  speciesKey: `os:species ${i % 4}`,
  residues,
}));
const corpus = openCorpus(packCorpus("families", entries));

test("scores records with the numbers of predict, for every protein, pattern and model", () => {
  const records = Array.from(familyRecords(corpus, [...proteins.keys()]), ({ record }) => record);
  let matches = 0;
  for (const [protein, record] of records.entries()) {
    const query = decode(proteins[protein]);
    const { disorder } = predictDisorder(proteins[protein]);
    for (const model of SCORING_MODELS) {
      const patterns = PATTERNS.map((expression) => ({ expression, name: null, dialect: "elm" as const }));
      const prediction = predict({ query, patterns, model }, corpus);
      for (const [k, { matches: expected }] of prediction.patterns.entries()) {
        const found = scoreRecord(record, protein, corpus, {
          pattern: parsePattern(PATTERNS[k], "elm"),
          model,
        });
        const numbers = expected.map(
          ({
            atHomologs: _atHomologs,
            orthologs: _orthologs,
            paralogs: _paralogs,
            history: _history,
            ...rest
          }) => rest,
        );
        expect(found.map(({ protein: _protein, disorder: _disorder, ...rest }) => rest)).toEqual(numbers);
        for (const match of found) {
          expect(match.protein).toBe(protein);
          expect(Math.abs(match.disorder - average(disorder, match.start - 1, match.end))).toBeLessThan(
            0.006,
          );
        }
        matches += found.length;
      }
    }
  }
  expect(matches).toBeGreaterThan(1000);
});
