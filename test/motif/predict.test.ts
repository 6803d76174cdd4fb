import { describe, expect, test } from "bun:test";
import { decode, encode } from "../../src/motif/alphabet.ts";
import { packCorpus } from "../../src/motif/corpus-builder.ts";
import { type Corpus, openCorpus } from "../../src/motif/corpus.ts";
import {
  DEFAULTS,
  findHits,
  METHOD,
  type MatchScore,
  type Options,
  PatternError,
  type PatternRequest,
  predict,
  predictFromAlignment,
  type Prediction,
  SCORING_MODELS,
  SequenceError,
} from "../../src/motif/index.ts";
import { MIN_P } from "../../src/motif/p-value.ts";
import { mutated, random, randomProtein } from "../fixtures/random-protein.ts";
import { goldenAlignments, goldenScores } from "./golden.ts";

function makeCorpus(proteins: Uint8Array[]): Corpus {
  const entries = proteins.map((residues, i) => ({
    accession: `P${i}`,
    description: `protein ${i}`,
    organism: null,
    speciesKey: null,
    residues,
  }));
  return openCorpus(packCorpus("small", entries));
}

function pattern(expression: string, name: string | null = null): PatternRequest {
  return { expression, name };
}

/** A family diverged everywhere except in one place, among unrelated proteins. */
function plantedFamily(seed: number, members: number): { query: string; corpus: Corpus; start: number } {
  const next = random(seed);
  const motif = "WKPHCW";
  const [head, tail] = [randomProtein(next, 120), randomProtein(next, 140)];
  const family = Array.from({ length: members }, () =>
    Uint8Array.from([...mutated(next, head, 0.4), ...encode(motif), ...mutated(next, tail, 0.4)]),
  );
  const strangers = Array.from({ length: 150 }, () => randomProtein(next, 150 + Math.floor(next() * 200)));
  return {
    query: `${decode(head)}${motif}${decode(tail)}`,
    corpus: makeCorpus([...strangers, ...family]),
    start: 121,
  };
}

const planted = plantedFamily(61, 14);

function only(prediction: Prediction, index = 0): MatchScore {
  expect(prediction.patterns[index].matches.length).toBe(1);
  return prediction.patterns[index].matches[0];
}

describe("the pipeline", () => {
  test.each(SCORING_MODELS)("finds a conserved motif in a diverged family: %s", (model) => {
    const request = { query: planted.query, patterns: [pattern("W.P[HK].W", "planted")], model };
    const prediction = predict(request, planted.corpus);
    expect(prediction.method).toBe(METHOD);
    expect(prediction.corpus).toEqual({
      name: "small",
      hash: planted.corpus.hash,
      sequences: 164,
      residues: planted.corpus.residueCount,
    });
    expect(prediction.homologs.length).toBe(14);
    expect(prediction.homologs.every(({ accession }) => Number(accession.slice(1)) >= 150)).toBe(true);
    const match = only(prediction);
    expect([match.start, match.end, match.text]).toEqual([planted.start, planted.start + 5, "WKPHCW"]);
    expect(match.conservationLevel).toBe("conserved");
    expect(match.score).toBeGreaterThan(0.9);
    expect(match.expected).toBeLessThan(0.5);
    expect(match.pValue).toBeLessThanOrEqual(0.05);
    expect(match.conservation[1]).toBeNull();
    expect(match.conservation[0]).toBeGreaterThan(0.9);
    expect(prediction.patterns[0].name).toBe("planted");
    expect(prediction.patterns[0].explanation).toBe("W, any residue, P, H or K, any residue, W");
    expect(match.informationContent).toBe(prediction.patterns[0].informationContent);
    for (const { accession } of prediction.homologs) expect(prediction.tree).toContain(`${accession}:`);
    expect(prediction.tree).toContain("query:");
    expect(prediction.warnings).toEqual([]);
  });

  test("does not call diverged residues conserved", () => {
    const { query, corpus } = planted;
    const triples = Array.from({ length: 20 }, (_, i) => query.slice(10 + 4 * i, 14 + 4 * i));
    const verdicts = triples.flatMap((_, i) => {
      if (i % 5 > 0) return [];
      const patterns = triples.slice(i, i + 5).map((letters) => pattern(letters));
      const { patterns: scored } = predict({ query, patterns, model: "discontinuous" }, corpus);
      return scored.map(({ matches }) => matches[0].conservationLevel);
    });
    expect(verdicts.length).toBe(20);
    expect(verdicts).not.toContain("conserved");
    // One in five random matches is weakly conserved; fewer here.
    expect(verdicts.filter((verdict) => verdict === "not conserved").length).toBeGreaterThanOrEqual(18);
  });

  test("returns equal results regardless of white space and case", () => {
    const { query, corpus } = planted;
    const patterns = [pattern("[ST]P"), pattern("W.P"), pattern("L..L|[DE]{2,4}")];
    const one = predict({ query, patterns, model: "continuous" }, corpus);
    const wrapped = query.toLowerCase().replace(/(.{60})/g, " $1\r\n\t");
    expect(predict({ query: wrapped, patterns, model: "continuous" }, corpus)).toEqual(one);
    // Plain data survives JSON.
    expect(JSON.parse(JSON.stringify(one))).toEqual(one);
  });

  test("reports stages in order, each from 0 to at most 1", () => {
    const reports: [string, number][] = [];
    const request = {
      query: planted.query,
      patterns: [pattern("A"), pattern("L")],
      model: "continuous" as const,
    };
    predict(request, planted.corpus, DEFAULTS, (stage, fraction) => reports.push([stage, fraction]));
    expect([...new Set(reports.map(([stage]) => stage))]).toEqual(["homologs", "tree", "scores"]);
    const order = ["homologs", "tree", "scores"];
    reports.reduce(([lastStage, last], [stage, fraction]) => {
      expect(order.indexOf(stage)).toBeGreaterThanOrEqual(order.indexOf(lastStage));
      expect(fraction).toBeWithin(0, 1 + 1e-9);
      if (stage === lastStage) expect(fraction).toBeGreaterThanOrEqual(last);
      return [stage, fraction];
    });
    expect(reports.at(-1)).toEqual(["scores", 1]);
  });
});

describe("an alignment from the user", () => {
  test("derives verdicts for a user's alignment from the P values", () => {
    const levels = new Set<string>();
    const verdicts = new Set<string>();
    const byQuery = Map.groupBy(goldenScores(), ({ acc }) => acc);
    for (const [accession, rows] of [...goldenAlignments()].slice(0, 20)) {
      for (const model of SCORING_MODELS) {
        const patterns = byQuery.get(accession)!.map(({ regex }) => pattern(regex));
        const prediction = predictFromAlignment({ rows, patterns, model });
        expect([prediction.method, prediction.corpus]).toEqual([METHOD, null]);
        for (const match of prediction.patterns.flatMap(({ matches }) => matches)) {
          const { conservationLevel: level, pValue: p, score, homologs, overallPValue: overall } = match;
          levels.add(level);
          if (overall !== null) {
            const words = overall <= 0.02 ? "likely functional" : overall <= 0.1 ? "possible" : "no evidence";
            expect([match.verdict, match.overallVerdict]).toEqual([words, words]);
            verdicts.add(words);
          }
          if (p === null) expect([level, score]).toEqual(["insufficient data", null]);
          else {
            expect(homologs).toBeGreaterThanOrEqual(3);
            const kept = match.atHomologs.filter(({ state }) =>
              ["conserved", "shifted"].includes(state),
            ).length;
            const rest = 2 * kept >= homologs ? "conserved like its surroundings" : "not conserved";
            expect(level).toBe(p <= 0.05 ? "conserved" : p <= 0.2 ? "weakly conserved" : rest);
          }
        }
      }
    }
    expect([levels.size, verdicts.size]).toEqual([5, 3]);
  });

  test("uses the rows that meet the homolog criteria, in order", () => {
    const query = "MKWVTFISLLFLFSSAYSRGVF";
    const rows = [
      { name: "q", letters: query },
      { name: "short", letters: `MKWVTFISLL${"-".repeat(12)}` },
      { name: "it's", description: "kept", letters: query.replace("SSA", "..A") },
      { name: "far", letters: [...query].toReversed().join("") },
    ];
    const { homologs, tree } = predictFromAlignment({ rows, patterns: [], model: "continuous" });
    expect(homologs).toEqual([
      {
        accession: "it's",
        description: "kept",
        organism: null,
        gene: null,
        identity: 1,
        coverage: 0.909091,
        bitScore: null,
        eValue: null,
        weight: 1,
        relation: null,
      },
    ]);
    expect(tree).toBe("(query:0,'it''s':0);");
  });

  test.each([
    [[], 0, 0, "no row"],
    [["MKV", "MK"], 1, 2, "2 columns"],
    [["MKV", "MK-V"], 1, 3, "4 columns"],
    [["MKV", "M*V"], 1, 1, "neither a letter nor a gap"],
    [["MKÿ"], 0, 2, "neither a letter nor a gap"],
  ])("rejects %j at row %d, position %d", (letters, row, position, text) => {
    const rows = letters.map((each, i) => ({ name: `r${i}`, letters: each }));
    try {
      predictFromAlignment({ rows, patterns: [], model: "continuous" });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(SequenceError);
      const { row: atRow, position: at, message } = error as SequenceError;
      expect([atRow, at, message]).toEqual([row, position, expect.stringContaining(text)]);
    }
  });
});

describe("unusual input", () => {
  const model = "discontinuous";
  const empty = makeCorpus([]);

  test.each([
    ["AUGGCNACGTACGTACGTACGTACGTACGT", true],
    ["AUGGCNACGTACGTACGTACGTACGTACG", false],
    ["AUGGCNACGTACGTACGTKCGTACGTACGT", false],
  ])("%s looks like nucleotides: %p", (query, expected) => {
    const { warnings } = predict({ query, patterns: [pattern("A")], model }, empty);
    expect(warnings.join(" ").includes("looks like DNA or RNA")).toBe(expected);
  });

  test.each([
    ["", 0, "empty"],
    [" \r\n\t", 0, "empty"],
    ["M", 1, "No homologs"],
    ["X".repeat(50), 50, "contains none"],
    ["MBJOUXZ", 7, "No homologs"],
  ])("accepts the query %j", (query, length, warning) => {
    const patterns = [pattern("A"), pattern("."), pattern("^M"), pattern("")];
    for (const corpus of [empty, planted.corpus]) {
      const prediction = predict({ query, patterns, model }, corpus);
      expect(prediction.queryLength).toBe(length);
      expect(prediction.homologs).toEqual([]);
      expect(prediction.tree).toBe("");
      expect(prediction.warnings.join(" ")).toContain(warning);
      expect(prediction.patterns.map(({ matches }) => matches.length)).toEqual([
        0,
        length,
        query.startsWith("M") ? 1 : 0,
        0,
      ]);
      for (const { matches } of prediction.patterns) {
        for (const match of matches) {
          expect(match.conservationLevel).toBe("insufficient data");
          expect([match.score, match.pValue, match.pValueIs]).toEqual([null, null, null]);
          expect(match.z === null).toBe(match.overallVerdict === null);
          expect(match.warnings.join(" ")).toContain(
            match.z === null ? "Not scored: every position" : "Few homologs: mostly context. No homologs at",
          );
        }
      }
    }
  });

  test("returns homologs and tree without a pattern", () => {
    const prediction = predict({ query: planted.query, patterns: [], model }, planted.corpus);
    expect([prediction.homologs.length, prediction.patterns]).toEqual([14, []]);
    expect(prediction.tree).toEndWith(";");
  });

  test("lists a pattern without matches and warns about one that matches everywhere", () => {
    const patterns = [
      pattern("WWWWW"),
      pattern("."),
      pattern("[^P]"),
      pattern("^$"),
      pattern("[ACDEFGHIKL]"),
    ];
    const { query, corpus } = planted;
    const [none, any, almost, nothing, common] = predict({ query, patterns, model }, corpus).patterns;
    expect([none.matches, none.warnings]).toEqual([[], []]);
    expect(nothing.warnings).toEqual(["The pattern matches no residues at all."]);
    expect(any.matches.length).toBe(query.length);
    for (const each of [any, almost, common]) expect(each.warnings.join()).toContain("very often");
    expect(any.matches[50].warnings).toContain("Not scored: every position of this match is a wildcard.");
    expect(any.matches[50].conservationLevel).toBe("insufficient data");
    expect(common.matches[20].score).not.toBeNull();
  });

  test("limits number and length of matches with a warning", () => {
    const query = "ACDEFGHIKLMNPQRSTVWY".repeat(200);
    const patterns = [pattern("[ST]"), pattern("C.*Y"), pattern("C.{0,600}Y"), pattern("S.")];
    const few = { ...DEFAULTS, maxMatches: 100 };
    const [often, long, middle] = predict({ query, patterns, model }, empty, few).patterns;
    expect(often.matches.length).toBe(100);
    expect(often.warnings).toContain("Only the first 100 of 400 matches are listed.");
    expect([long.matches[0].start, long.matches[0].end]).toEqual([2, 4000]);
    for (const each of [long, middle]) {
      expect(each.matches[0].warnings).toContain("Not scored: the match is longer than 500 residues.");
    }
    expect(middle.matches[0].end).toBe(600);
  });

  test("stops an expensive pattern after a fixed number of steps", () => {
    const [all, some] = [pattern("([^LSAG].{0,40}){2,60}"), pattern("W.PHCW")];
    const request = { query: planted.query, patterns: [all, some], model } as const;
    const [heavy, light] = predict(request, planted.corpus).patterns;
    const scored = heavy.matches.filter(({ z }) => z !== null).length;
    expect(scored).toBeWithin(1, heavy.matches.length);
    expect(heavy.matches.at(-1)!.warnings.join()).toContain("limit of work");
    expect(light.matches[0].conservationLevel).toBe("conserved");
  }, 300_000);

  test("judges no conservation below three homologs and warns below six", () => {
    const small = plantedFamily(62, 2);
    const patterns = [pattern("W.PHCW")];
    const two = predict({ query: small.query, patterns, model }, small.corpus);
    expect(two.warnings).toEqual(["Only 2 homologs: judging conservation needs at least 3."]);
    expect([only(two).homologs, only(two).conservationLevel, only(two).score]).toEqual([
      2,
      "insufficient data",
      null,
    ]);
    expect(only(two).warnings[0]).toStartWith("Few homologs: mostly context. 2 homologs at this match;");
    expect(only(two).z).toBeNumber();
    expect(only(two).overallPValue).toBeWithin(MIN_P, 1);
    expect(only(two).atHomologs.map(({ state }) => state)).toEqual(["conserved", "conserved"]);
    const more = plantedFamily(63, 4);
    const four = predict({ query: more.query, patterns, model }, more.corpus);
    expect(only(four).warnings).toEqual(["Few homologs: 4 homologs at this match."]);
    expect(only(four).conservationLevel).toBe("conserved");
  });

  test("warns about a match in a low-complexity region", () => {
    const query = `${decode(randomProtein(random(64), 60))}SPSPSPSPSPSPSPSP${decode(randomProtein(random(65), 60))}`;
    const { matches } = predict({ query, patterns: [pattern("SPSPSP")], model }, empty).patterns[0];
    expect(matches.length).toBe(6);
    for (const { warnings } of matches.slice(1, 5)) expect(warnings.join()).toContain("Low complexity");
    expect(
      only(predict({ query: planted.query, patterns: [pattern("W.PHCW")], model }, empty)).warnings.length,
    ).toBe(1);
  });
});

describe("hits left out", () => {
  const next = random(66);
  const founder = randomProtein(next, 400);
  const strangers = Array.from({ length: 50 }, () => randomProtein(next, 300));
  const full = Array.from({ length: 8 }, () => mutated(next, founder, 0.3));
  /** With a quarter of the founder among other residues. */
  const parts = Array.from({ length: 3 }, () =>
    Uint8Array.from([...mutated(next, founder.subarray(0, 100), 0.2), ...randomProtein(next, 300)]),
  );
  const NONE = "No homologs were found: matches are judged by their context only.";
  const AT_MOST_4 = "Homologs were chosen: at most 4. P values hold for the default choice, here roughly.";
  const LONG =
    "left out: more than 3 times the query's length. If the query is a fragment, score it with its surroundings.";
  const DISSIMILAR =
    "left out: less than 50 % of the query covered, or less than 25 % identity. If they share a domain with the query, score that domain alone.";
  const listWarnings = (
    residues: Uint8Array,
    proteins: Uint8Array[],
    changed: Partial<Options> = {},
  ): string[] => {
    const corpus = makeCorpus([...strangers, ...proteins]);
    const options = { ...DEFAULTS, ...changed };
    const request = { query: decode(residues), patterns: [pattern("P")], model: "continuous" } as const;
    const prediction = predict(request, corpus, options);
    const counter = new Int32Array(new SharedArrayBuffer(4));
    const [stranger, hits] = findHits([decode(strangers[0]), request.query], corpus, options, counter);
    expect(stranger.length).toBe(1);
    expect(predict(request, corpus, options, () => {}, hits)).toEqual(prediction);
    return prediction.warnings;
  };
  const fragment = founder.subarray(0, 100);

  test.each<[string, Uint8Array, Uint8Array[], Partial<Options>, string[]]>([
    ["the proteins of a fragment", fragment, full, {}, [NONE, `8 hits ${LONG}`]],
    ["one protein", fragment, full.slice(0, 1), {}, [NONE, `1 hit ${LONG}`]],
    ["proteins within a higher limit", fragment, full, { maxLengthRatio: 5 }, []],
    ["proteins without the coverage", founder, parts, {}, [NONE, `3 hits ${DISSIMILAR}`]],
    ["proteins despite enough homologs", founder, [...full, ...parts], {}, []],
    [
      "proteins despite as many homologs as admitted",
      founder,
      [...full, ...parts],
      { maxHomologs: 4 },
      [AT_MOST_4],
    ],
    [
      "no proteins left out by choice, but describes it",
      founder,
      parts,
      { minIdentity: 0.3, maxIdentity: 0.95, leaveOut: ["P1", "P2"], organisms: ["Homo sapiens", "10090"] },
      [
        "Homologs were chosen: of Homo sapiens, 10090; with 30 % to 95 % identity; without P1, P2. P values hold for the default choice, here roughly.",
        NONE,
      ],
    ],
    ["the query itself", founder, [founder], {}, [NONE]],
    ["strangers", founder, [], {}, [NONE]],
  ])("counts %s", (_, residues, proteins, changed, warnings) => {
    expect(listWarnings(residues, proteins, changed)).toEqual(warnings);
  });
});

function run(query: string, expression: string): () => Prediction {
  const request = { query, patterns: [pattern(expression)], model: "continuous" } as const;
  return () => predict(request, planted.corpus, DEFAULTS, () => expect.unreachable());
}

test("rejects invalid input before any work", () => {
  expect(run("MKV", "A(")).toThrow(PatternError);
  expect(run("MKV", "A{5000}{2}")).toThrow(PatternError);
  expect(run("MK*V", "A")).toThrow(SequenceError);
  expect(run("M\u00a0K", "A")).toThrow("Character 2");
  expect(run("M-K", "A")).toThrow("Only A–Z and white space");
});
