import { expect, test } from "bun:test";
import { carryOver, type StoredFamily } from "../../src/motif/carry-over.ts";
import { compareCorpora } from "../../src/motif/corpus-change.ts";
import { type NewProtein, packCorpus } from "../../src/motif/corpus-builder.ts";
import { type Corpus, openCorpus } from "../../src/motif/corpus.ts";
import { sizeRange } from "../../src/motif/hit-range.ts";
import { familyRecords } from "../../src/motif/proteome.ts";
import { shuffled } from "../../src/motif/random.ts";
import { mutated, random, randomProtein } from "../fixtures/random-protein.ts";

const next = random(2026);
const pick = (count: number): number => Math.floor(next() * count);

let made = 0;
const protein = (residues: Uint8Array): NewProtein => {
  const species = pick(30);
  const [accession, organism] = [`P${made++}`, `species ${species}`];
  return {
    accession,
    description: "",
    organism,
    speciesKey: species === 0 ? null : `os:${organism}`,
    residues,
  };
};

/** Families of all degrees of similarity, also around the limits of E-value, identity and coverage. */
const ancestors = Array.from({ length: 6 }, () => randomProtein(next, 50 + pick(70)));
const relative = (from = ancestors[pick(ancestors.length)], divergence = 0.6): NewProtein => {
  const fragment = from.subarray(0, Math.ceil(from.length * (next() < 0.3 ? 0.4 + 0.2 * next() : 1)));
  return protein(next() < 0.1 ? fragment : mutated(next, fragment, 0.2 + divergence * next()));
};
/** One with more relatives than homologs are taken. */
const large = randomProtein(next, 45);
const former = [
  ...Array.from({ length: 30 }, () => relative()),
  ...Array.from({ length: 140 }, () => relative(large, 0.2)),
];
const QUERIES = 32;

const makeCorpus = (proteins: readonly NewProtein[]): Corpus => openCorpus(packCorpus("some", proteins));
const old = makeCorpus(former);
const families = [...familyRecords(old, [...former.keys()].slice(0, QUERIES))];

/** Carries the families over, compares each with a new build, and returns their number. */
function carried(proteins: readonly NewProtein[]): number {
  const corpus = makeCorpus(proteins);
  const found = [...carryOver(families, old, corpus, compareCorpora(old, corpus))];
  const fresh = familyRecords(
    corpus,
    found.map((family) => family.protein),
  );
  for (const [i, { record }] of [...fresh].entries()) expect(record).toEqual(found[i].record);
  return found.length;
}

const unrelated = (count: number): NewProtein[] =>
  Array.from({ length: count }, () => protein(randomProtein(next, 90)));
const without = (count: number): NewProtein[] => former.slice(count);

test.each<[string, NewProtein[], number, number]>([
  ["the same in another order", [...shuffled(former.length, 5)].map((i) => former[i]), 32, 32],
  ["unrelated ones added", [...former, ...unrelated(3)], 26, 32],
  ["four times the residues", [...former, ...unrelated(400)], 2, 31],
  ["two thirds of the residues", former.slice(0, 110), 2, 31],
  ["relatives added", [...former, relative(), relative()], 2, 31],
  ["the same sequence in another species", [...former, protein(former[31].residues)], 2, 31],
  ["relatives removed", without(3), 2, 28],
  [
    "another species for a protein",
    [{ ...former[0], organism: "other", speciesKey: "os:other" }, ...without(1)],
    2,
    31,
  ],
  ["some added and removed", [...without(2), relative(), ...unrelated(5)], 2, 30],
])("carries over what a new build would compute: %s", (_, proteins, least, most) => {
  const count = carried(proteins);
  expect(count).toBeGreaterThanOrEqual(least);
  expect(count).toBeLessThanOrEqual(most);
});

test("stores hits that only the size of the corpus excludes", () => {
  const more = unrelated(80);
  const [[query], [family]] = [former, families];
  const extended = (): { close: NewProtein; larger: Corpus; once: StoredFamily[] } => {
    const close = protein(mutated(next, query.residues, 0.7));
    const larger = makeCorpus([...former, close, ...more]);
    return { close, larger, once: [...carryOver([family], old, larger, compareCorpora(old, larger))] };
  };
  let found = extended();
  const without = ({ larger }: typeof found): number => larger.residueCount - 80 * 90;
  for (let i = 0; i < 300 && !(found.once[0]?.sizes[0] > without(found)); i++) found = extended();
  const smaller = makeCorpus([...former, found.close]);
  expect([...carryOver(found.once, found.larger, smaller, compareCorpora(found.larger, smaller))]).toEqual(
    [],
  );
  const [fresh] = familyRecords(smaller, [0]);
  expect(fresh.record).not.toEqual(family.record);
});

test.each<[string, number[], readonly [number, number]]>([
  ["no hits", [], [500_001, Number.MAX_SAFE_INTEGER]],
  ["hits on both sides of the limit", [0, 1e-7, 5e-6, 1.6e-5, 1.7e-5], [625_001, 1_999_999]],
  ["only strong hits", [0, 0, 0], [500_001, Number.MAX_SAFE_INTEGER]],
  ["hits whose order depends on rounding", [1e-7, 1e-7 * (1 + 1e-15)], [1_000_000, 1_000_000]],
  ["equal E-values of different alignments", [1e-9, 1e-9], [1_000_000, 1_000_000]],
])("knows in which corpora a search finds the same: %s", (_, eValues, sizes) => {
  const hits = eValues.map((eValue, index) => ({ index, rawScore: 100 - index, bitScore: 50, eValue }));
  const offsets = Uint32Array.from({ length: 6 }, (_zero, i) => 100 * i);
  expect(sizeRange(hits, { offsets, residueCount: 1_000_000 }, 1e-5)).toEqual(sizes);
});
