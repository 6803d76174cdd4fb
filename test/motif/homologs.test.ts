import { describe, expect, test } from "bun:test";
import { encode, GAP, X } from "../../src/motif/alphabet.ts";
import { packCorpus } from "../../src/motif/corpus-builder.ts";
import { openCorpus, type Corpus } from "../../src/motif/corpus.ts";
import { unknownOrganisms } from "../../src/motif/homolog-choice.ts";
import { findHomologs, type HomologOptions } from "../../src/motif/homologs.ts";
import { DEFAULTS } from "../../src/motif/options.ts";
import { mutated, random, randomProtein } from "../fixtures/random-protein.ts";

const options: HomologOptions = DEFAULTS;

interface Entry {
  accession: string;
  residues: Uint8Array;
  species?: string;
}
function makeCorpus(entries: Entry[]): Corpus {
  const named = entries.map(({ accession, residues, species }) => ({
    accession,
    residues,
    description: "",
    organism: species ?? null,
    speciesKey: species ?? null,
  }));
  return openCorpus(packCorpus("test", named));
}
const names = (corpus: Corpus, found: { index: number }[]): string[] =>
  found.map(({ index }) => corpus.accession(index));

const next = random(11);
const query = randomProtein(next, 240);
const noise: Entry[] = Array.from({ length: 300 }, (_, k) => ({
  accession: `N${k}`,
  residues: randomProtein(next, 30 + Math.floor(next() * 500)),
}));
const relative = (divergence: number): Uint8Array => mutated(next, query, divergence);

/** Accessions found, sorted, with changed options. */
const foundWith = (corpus: Corpus, changed: Partial<HomologOptions>): string[] =>
  names(corpus, findHomologs(query, corpus, { ...options, ...changed })).sort();

describe("homolog criteria", () => {
  const half = query.subarray(0, 100);
  const entries: Entry[] = [
    ...noise,
    { accession: "near", residues: relative(0.1) },
    { accession: "far", residues: relative(0.4) },
    { accession: "self", residues: query },
    // 100 of 240 columns: too little of the query.
    { accession: "part", residues: Uint8Array.from([...randomProtein(next, 140), ...half]) },
    // Contains the query, but is more than three times as long.
    { accession: "giant", residues: Uint8Array.from([...randomProtein(next, 600), ...relative(0.1)]) },
    { accession: "long", residues: Uint8Array.from([...randomProtein(next, 440), ...relative(0.1)]) },
  ];
  const corpus = makeCorpus(entries);

  test("finds relatives in order, without the query, fragments and long proteins", () => {
    const found = findHomologs(query, corpus, options);
    expect(names(corpus, found).sort()).toEqual(["far", "long", "near"]);
    expect(names(corpus, found).at(-1)).toBe("far");
    for (let k = 1; k < found.length; k++)
      expect(found[k].rawScore).toBeLessThanOrEqual(found[k - 1].rawScore);
  });

  test.each([
    ["minIdentity", "identity", 1],
    ["minCoverage", "coverage", 1],
    ["maxIdentity", "identity", -1],
  ] as const)("a homolog may have exactly the %s", (option, name, sign) => {
    const all = findHomologs(query, corpus, options);
    // The best homolog covers the whole query, in the local alignment, too.
    const limit = name === "coverage" ? all[0].coverage : all[all.length - 1].identity;
    const within = all.filter((homolog) => sign * (homolog[name] - limit) >= 0);
    const beyond = all.filter((homolog) => sign * (homolog[name] - limit) > 0);
    const accessions = (homologs: typeof all): string[] => names(corpus, homologs).toSorted();
    expect(within.length).toBeGreaterThan(beyond.length);
    expect(foundWith(corpus, { [option]: limit })).toEqual(accessions(within));
    expect(foundWith(corpus, { [option]: limit + sign * 1e-9 })).toEqual(accessions(beyond));
  });

  test("finds the same homologs in exhaustive mode", () => {
    const found = findHomologs(query, corpus, options);
    expect(findHomologs(query, corpus, { ...options, exhaustive: true })).toEqual(found);
  });

  test("the choice of homologs respects each limit", () => {
    expect(foundWith(corpus, { minCoverage: 0.3 })).toEqual(["far", "long", "near", "part"]);
    expect(foundWith(corpus, { maxLengthRatio: 10 })).toEqual(["far", "giant", "long", "near"]);
    expect(foundWith(corpus, { minIdentity: 0.8 })).toEqual(["long", "near"]);
    expect(foundWith(corpus, { maxHomologs: 1 })).toHaveLength(1);
    expect(foundWith(corpus, { maxHomologs: 0 })).toEqual([]);
    expect(foundWith(corpus, { maxEValue: 1e-100 })).not.toContain("far");
    expect(foundWith(corpus, { maxIdentity: 0.8 })).toEqual(["far"]);
    expect(foundWith(corpus, { leaveOut: ["near", "absent"] })).toEqual(["far", "long"]);
  });

  test("uses only homologs of the chosen organisms, by name or taxon number", () => {
    const species = ["ox:9606", "ox:10090", "os:mus spretus", undefined];
    const own = openCorpus(
      packCorpus(
        "organisms",
        species.map((speciesKey, k) => ({
          accession: `S${k}`,
          residues: relative(0.1),
          description: "",
          organism: speciesKey ? ["Homo sapiens", "Mus musculus", "Mus spretus (Western mouse)"][k] : null,
          speciesKey: speciesKey ?? null,
        })),
      ),
    );
    expect(foundWith(own, { organisms: ["homo SAPIENS"] })).toEqual(["S0"]);
    expect(foundWith(own, { organisms: ["10090", "Mus spretus"] })).toEqual(["S1", "S2"]);
    expect(foundWith(own, { organisms: ["mouse"] })).toEqual(["S1"]);
    expect(foundWith(own, { organisms: ["Mus"] })).toEqual([]);
    expect(unknownOrganisms(own, ["9606", "Mus spretus", "mus", "9607"])).toEqual(["mus", "9607"]);
  });

  test("returns rows consistent with identity and coverage", () => {
    for (const { index, row, identity, coverage } of findHomologs(query, corpus, options)) {
      const residues = corpus.residues.slice(corpus.offsets[index], corpus.offsets[index + 1]);
      expect(row.residues).toEqual(residues);
      expect(row.anchored).toHaveLength(query.length);
      expect(row.before).toHaveLength(query.length + 1);
      let pairs = 0;
      let same = 0;
      for (const [p, code] of row.anchored.entries()) {
        expect(row.before[p + 1] - row.before[p]).toBeGreaterThanOrEqual(code === GAP ? 0 : 1);
        if (code === GAP) continue;
        expect(residues[row.before[p]]).toBe(code);
        pairs++;
        if (code === query[p]) same++;
      }
      expect(identity).toBeCloseTo(same / pairs, 12);
      expect(coverage).toBeCloseTo(pairs / query.length, 12);
    }
  });

  test("reports ascending progress from 0 to 1", () => {
    const heard: number[] = [];
    findHomologs(query, corpus, options, (fraction) => heard.push(fraction));
    expect(heard[0]).toBe(0);
    expect(heard.at(-1)).toBe(1);
    expect(heard).toEqual(heard.toSorted((a, b) => a - b));
  });
});

describe("species", () => {
  test("selects the best hit of every species before second hits", () => {
    const entries: Entry[] = [
      ...noise,
      { accession: "h1", species: "human", residues: relative(0.05) },
      { accession: "h2", species: "human", residues: relative(0.1) },
      { accession: "m1", species: "mouse", residues: relative(0.3) },
      { accession: "m2", species: "mouse", residues: relative(0.35) },
      { accession: "f1", species: "fly", residues: relative(0.5) },
    ];
    const corpus = makeCorpus(entries);
    const upTo = (maxHomologs: number): string[] =>
      names(corpus, findHomologs(query, corpus, { ...options, maxHomologs }));
    expect(upTo(1)).toEqual(["h1"]);
    expect(upTo(2)).toEqual(["h1", "m1"]);
    expect(upTo(3)).toEqual(["h1", "m1", "f1"]);
    expect(upTo(4)).toEqual(["h1", "h2", "m1", "f1"]);
    expect(upTo(9)).toEqual(["h1", "h2", "m1", "m2", "f1"]);
  });

  test("counts the query's species as included", () => {
    const corpus = makeCorpus([
      { accession: "self", species: "human", residues: query },
      { accession: "paralog", species: "human", residues: relative(0.1) },
      { accession: "ortholog", species: "mouse", residues: relative(0.3) },
    ]);
    const one = findHomologs(query, corpus, { ...options, maxHomologs: 1 });
    expect(names(corpus, one)).toEqual(["ortholog"]);
    expect(names(corpus, findHomologs(query, corpus, options))).toEqual(["paralog", "ortholog"]);
  });

  test("keeps the best homologs up to the limit", () => {
    const entries = Array.from({ length: 400 }, (_, k) => ({
      accession: `R${k}`,
      residues: relative(0.1 + (0.4 * (k % 20)) / 20),
    }));
    const corpus = makeCorpus(entries);
    const found = findHomologs(query, corpus, options);
    expect(found).toHaveLength(100);
    const all = findHomologs(query, corpus, { ...options, maxHomologs: 1000 });
    expect(found).toEqual(all.slice(0, 100));
  });

  test("orders equal sequences by accession", () => {
    const residues = relative(0.2);
    const corpus = makeCorpus(["c", "a", "b"].map((accession) => ({ accession, residues })));
    expect(names(corpus, findHomologs(query, corpus, options))).toEqual(["a", "b", "c"]);
  });
});

describe("queries without homologs", () => {
  const corpus = makeCorpus(noise);
  const cases: [string, Uint8Array][] = [
    ["no residue", new Uint8Array(0)],
    ["one residue", encode("W")],
    ["three residues", encode("WWW")],
    ["nothing but X", new Uint8Array(300).fill(X)],
    ["one residue repeated", encode("Q".repeat(300))],
    ["rare letters alone", encode("BZUOJX".repeat(50))],
    ["no relative", randomProtein(random(77), 250)],
  ];
  for (const exhaustive of [false, true]) {
    test.each(cases)(`%s (exhaustive ${exhaustive})`, (_, residues) => {
      expect(findHomologs(residues, corpus, { ...options, exhaustive })).toEqual([]);
    });
    test(`an empty corpus (exhaustive ${exhaustive})`, () => {
      expect(findHomologs(query, makeCorpus([]), { ...options, exhaustive })).toEqual([]);
    });
  }

  test("finds a relative of a query as long as titin", () => {
    const giant = randomProtein(random(5), 35_000);
    const entries = [
      ...noise,
      { accession: "giant", residues: mutated(random(6), giant, 0.3).slice(0, 4000) },
    ];
    const long = makeCorpus(entries);
    expect(names(long, findHomologs(giant, long, { ...options, minCoverage: 0.1 }))).toEqual(["giant"]);
  }, 300_000);
});
