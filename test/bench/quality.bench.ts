/**
 * Discrimination of true motifs from random matches (docs/quality.md).
 *
 *   LABD_BENCH_DATA=DIR bun run test/bench/quality.bench.ts           prints the tables
 *   LABD_BENCH_DATA=DIR bun run test/bench/quality.bench.ts write     fits the shapes: src/motif/term-shapes.ts
 */
import { join } from "node:path";
import { findMatches, lookaroundTable, findMatchPath } from "../../src/motif/automaton-matches.ts";
import { computeContributions, type Evidence, computeEvidence } from "../../src/motif/evidence.ts";
import { findClassMatches, listColumns } from "../../src/motif/class-examples.ts";
import { MIN_INSTANCES } from "../../src/motif/class-learning.ts";
import type { Family } from "../../src/motif/divergence.ts";
import { LIKELY_P, MIN_HOMOLOGS, POSSIBLE_P, REFERENCE_SHARES } from "../../src/motif/options.ts";
import {
  computePValue,
  conservationFeatures,
  type Surroundings,
  zFeatures,
} from "../../src/motif/p-value.ts";
import { divergenceOf } from "../../src/motif/pattern-scores.ts";
import { parsePattern } from "../../src/motif/pattern.ts";
import { findReferenceMatches, type ReferenceMatch } from "../../src/motif/pattern-reference.ts";
import { TERMS } from "../../src/motif/prediction.ts";
import { openMotif } from "../../src/motif/retention.ts";
import {
  areaUnderCurve,
  bootstrap,
  crossValidated,
  makeDesign,
  fitRows,
  type Reference,
  type Sample,
  drawShapes,
} from "./additive.ts";
import {
  benchCorpus,
  benchData,
  cacheDirectory,
  type Case,
  entropyScore,
  familyIn,
  findFamilies,
  groupByHomology,
  readCases,
} from "./benchmark-data.ts";
import { seededRandom } from "../../src/motif/random.ts";
import { type FoldMatch, learnFolds, zWithModel } from "./class-folds.ts";
import { onThreads } from "./threads.ts";

const TIMES = 400;
const FOLDS = 8;
const CLASS_TYPES = ["LIG", "DOC", "MOD", "DEG", "CLV", "TRG"];
const HELD_OUT = "z, family and class held out";

interface Scored {
  case: Case;
  group: string;
  homologs: number;
  terms: NonNullable<Evidence["terms"]>;
  scores: Record<string, number>;
  /** Window and contributions for class models; null if the match has none. */
  match: FoldMatch | null;
  /** Random matches of classes in the protein, from which class models are learned. */
  others: [motifClass: string, match: FoldMatch][];
  /** Discontinuous; of the conservation (1 if it cannot be judged) and of all evidence. */
  pValues: { conservation: number; overall: number };
}

/** The coverage of a table. */
interface Rows {
  title: string;
  has: (one: Scored) => boolean;
}

const PARTS: readonly Rows[] = [
  { title: "A", has: (one) => one.case.parts.includes("A") },
  { title: "A − suspects", has: (one) => one.case.parts.includes("A") && !one.case.isSuspect },
  { title: "B", has: (one) => one.case.parts.includes("B") },
  { title: "B − suspects", has: (one) => one.case.parts.includes("B") && !one.case.isSuspect },
  { title: "K", has: (one) => one.case.parts.includes("K") },
];

/** Scores of all cases of a protein. */
function score({ accession, cases }: { accession: string; cases: Case[] }): Scored[] {
  const family = familyIn(corpus, accession, cache);
  if (!family) return [];
  return cases.flatMap((one): Scored[] => {
    const { automaton } = parsePattern(one.expression, "elm");
    const lookarounds = lookaroundTable(automaton, family.query);
    const path = findMatchPath(automaton, family.query, one, lookarounds);
    if (path === null) return [];
    const count = findMatches(automaton, family.query, lookarounds).length;
    const evidence = computeEvidence(openMotif(automaton, "discontinuous"), family, one, path, count);
    const graded = computeEvidence(openMotif(automaton, "continuous"), family, one, path, count);
    const { terms, z, homologs } = evidence;
    if (terms === null || z === null) return [];
    const surroundings = {
      homologs: family.homologs.length,
      chainOrder: terms.chainOrder,
      anchors: automaton.anchors,
    };
    const overall = computePValue("z", z, "discontinuous", zFeatures(surroundings)).p;
    return [
      {
        case: one,
        match: findFoldMatch(family, one),
        others: one === cases[0] ? randomMatchesIn(family, accession, cases) : [],
        group: accession,
        homologs,
        terms,
        scores: {
          "column entropy": entropyScore(family, one.start, one.end),
          "CS discontinuous": evidence.score ?? 0,
          "z continuous": graded.z!,
          "z discontinuous": z,
          "P discontinuous": -overall,
        },
        pValues: {
          conservation: homologs < MIN_HOMOLOGS ? 1 : conservationP(evidence, automaton.anchors),
          overall,
        },
      },
    ];
  });
}

/** The match of a case, with what a class model needs. */
function findFoldMatch(family: Family, one: Case): FoldMatch | null {
  const pattern = parsePattern(one.expression, "elm");
  const found = findClassMatches(family, pattern, listColumns(pattern.automaton));
  const match = found.find(({ start }) => start === one.start + 1);
  return match ? { ...match, isTrue: one.isTrue, family: one.accession } : null;
}

/** Every CLASS_SHARE-th protein has its random matches of a class scored. */
const CLASS_SHARE = 3;

function randomMatchesIn(family: Family, accession: string, own: readonly Case[]): Scored["others"] {
  const known = new Set(
    own.filter(({ isTrue }) => isTrue).map(({ motifClass, start }) => `${motifClass} ${start + 1}`),
  );
  return learnable
    .filter(({ name }) => Bun.hash.crc32(`${accession} ${name}`) % CLASS_SHARE === 0)
    .flatMap(({ name, pattern, columns }) =>
      findClassMatches(family, pattern, columns)
        .filter(({ start }) => !known.has(`${name} ${start}`))
        .map((match): Scored["others"][number] => [name, { ...match, isTrue: false, family: accession }]),
    );
}

const WITH_MODELS = "z, class models of other families";

/** z with models of classes that are learned from all families but those of the row's fold. */
function addModelScores(rows: readonly Scored[]): void {
  const byClass = Map.groupBy(
    rows.flatMap((row) => [
      ...(row.match && row.case.isTrue ? [[row.case.motifClass, row.match] as const] : []),
      ...row.others,
    ]),
    ([name]) => name,
  );
  let models = 0;
  const modelFor = new Map<string, ReturnType<typeof learnFolds>["modelFor"]>();
  for (const { name, columns } of learnable) {
    const examples = (byClass.get(name) ?? []).map(([, match]) => match);
    for (const match of examples) match.family = familyNames.get(match.family) ?? match.family;
    const folds = learnFolds(examples, columns, FOLDS);
    models += folds.learned;
    modelFor.set(name, folds.modelFor);
  }
  for (const row of rows) {
    if (row.match) row.match.family = familyNames.get(row.group) ?? row.group;
    const model = row.match && (modelFor.get(row.case.motifClass)?.(row.match) ?? null);
    row.scores[WITH_MODELS] =
      row.match && model ? zWithModel(row.match, model) : row.scores["z discontinuous"];
  }
  console.log(`${models} models of ${learnable.length} classes, each of all families but those of one fold`);
}

const conservationP = (evidence: Evidence, anchors: Surroundings["anchors"]): number =>
  computePValue(
    "conservation",
    evidence.terms!.conservation,
    "discontinuous",
    conservationFeatures(divergenceOf(evidence, anchors)),
  ).p;

type Value = (one: Scored) => number;

const scoredBy = (rows: readonly Scored[], value: Value) =>
  rows.map((one) => ({ group: one.group, isTrue: one.case.isTrue, score: value(one) }));

function printRow(name: string, rows: readonly Scored[], value: Value): void {
  const cells = PARTS.map(({ has }) => {
    const samples = scoredBy(rows.filter(has), value);
    const [low, high] = bootstrap(samples, areaUnderCurve, TIMES, 11);
    return `${areaUnderCurve(samples).toFixed(3)} (${low.toFixed(3)}–${high.toFixed(3)})`;
  });
  console.log(`${name.padEnd(32)}${cells.join("  ")}`);
}

function printHead(title: string, rows: readonly Scored[]): void {
  const sizes = PARTS.map((part) => `${part.title} ${rows.filter(part.has).length}`);
  console.log(`\n${title}: ${sizes.join(", ")} matches`);
}

/** Areas under the curve of each score and contribution, and of the held-out score by type of motif class. */
function printScores(title: string, rows: readonly Scored[]): void {
  printHead(title, rows);
  for (const name of Object.keys(rows[0].scores)) printRow(name, rows, (one) => one.scores[name]);
  for (const term of TERMS) printRow(`· ${term} alone`, rows, (one) => computeContributions(one.terms)[term]);
  for (const type of CLASS_TYPES) {
    const ofType = rows.filter((one) => one.case.motifClass.startsWith(type));
    printRow(`${type} only, held out`, ofType, (one) => one.scores[HELD_OUT]);
  }
}

/** Percentage of true and random matches at each level of the P values. */
function printVerdicts(rows: readonly Scored[]): void {
  console.log("\n% of true matches / random matches");
  for (const name of ["overall", "conservation"] as const) {
    for (const level of [LIKELY_P, POSSIBLE_P]) {
      const cells = PARTS.map(({ title, has }) => {
        const percent = (isTrue: boolean): string => {
          const side = rows.filter((one) => has(one) && one.case.isTrue === isTrue);
          return ((100 * side.filter(({ pValues }) => pValues[name] <= level).length) / side.length).toFixed(
            1,
          );
        };
        return `${title} ${percent(true)} / ${percent(false)}`;
      });
      console.log(`${`${name} P ≤ ${level}`.padEnd(32)}${cells.join("   ")}`);
    }
  }
}

/** The held-out score against those published with PairK's benchmark, on the rows that have both. */
function printPublished(rows: readonly Scored[]): void {
  console.log("\nK: AUC of the held-out score, of the published one, difference with 95 % interval");
  const methods = new Set(rows.flatMap((one) => Object.keys(one.case.published)));
  for (const method of methods) {
    const both = rows.filter((one) => one.case.parts.includes("K") && method in one.case.published);
    const pairs = both.map((one) => ({
      group: one.group,
      isTrue: one.case.isTrue,
      ours: one.scores[HELD_OUT],
      theirs: one.case.published[method],
    }));
    const areas = (some: typeof pairs): [number, number] => [
      areaUnderCurve(some.map((one) => ({ isTrue: one.isTrue, score: one.ours }))),
      areaUnderCurve(some.map((one) => ({ isTrue: one.isTrue, score: one.theirs }))),
    ];
    const [ours, theirs] = areas(pairs);
    const difference = (some: typeof pairs): number => areas(some)[0] - areas(some)[1];
    const interval = bootstrap(pairs, difference, TIMES, 11).map((x) => x.toFixed(3));
    console.log(
      `${method.padEnd(44)}${both.length}  ${ours.toFixed(3)}  ${theirs.toFixed(3)}  ${(ours - theirs).toFixed(3)} (${interval.join(" to ")})`,
    );
  }
}

const FITTED = TERMS.filter((term) => term !== "pattern");
type Fitted = (typeof FITTED)[number];

const sharesOf = (terms: readonly Fitted[]): number[] =>
  terms.map((term) => (term === "conservation" ? 0 : REFERENCE_SHARES[term]));

/** Random matches of each pattern, with values for some terms. */
function findReferences(rows: readonly Scored[], terms: readonly Fitted[]): Map<string, Reference> {
  const expressions = new Set(rows.map((one) => one.case.expression));
  return new Map(
    Array.from(expressions, (expression) => [
      expression,
      referenceMatches(expression).map(({ terms: values, weight }) => ({
        values: terms.map((term) => (term === "conservation" ? 0 : values[term])),
        weight,
      })),
    ]),
  );
}

const found = new Map<string, ReferenceMatch[]>();
function referenceMatches(expression: string): ReferenceMatch[] {
  if (!found.has(expression))
    found.set(expression, findReferenceMatches(parsePattern(expression, "elm").automaton));
  return found.get(expression)!;
}

function makeSamples(rows: readonly Scored[], terms: readonly Fitted[]): Sample[] {
  const references = findReferences(rows, terms);
  return rows.map((one) => ({
    group: one.group,
    isTrue: one.case.isTrue,
    values: terms.map((term) => one.terms[term]),
    reference: references.get(one.case.expression)!,
  }));
}

/** Fitted on A and B with matches of any depth, without the suspects. */
const isTraining = ({ case: one }: Scored): boolean => !one.parts.includes("K") && !one.isSuspect;

/** Scores of all rows by some terms, each fitted without the row's family, or without its family and class. */
function heldOutScores(rows: readonly Scored[], terms: readonly Fitted[]) {
  const next = seededRandom(7);
  const foldByFamily = new Map<string, number>();
  const fold = (name: string): number => {
    if (!foldByFamily.has(name)) foldByFamily.set(name, Math.floor(next() * FOLDS));
    return foldByFamily.get(name)!;
  };
  const families = rows.map((one) => fold(familyNames.get(one.group)!));
  const classes = rows.map((one) => fold(one.case.motifClass));
  const samples = makeSamples(rows, terms);
  const design = makeDesign(samples, sharesOf(terms));
  const training = rows.map(isTraining);
  const scores = (byClass: boolean): number[] => {
    const folds = families.map((family, i) => ({ family, motifClass: byClass ? classes[i] : -1 }));
    return crossValidated(design, samples, folds, (i) => training[i]);
  };
  return { byFamily: scores(false), byFamilyAndClass: scores(true) };
}

/** Adds the scores of fits that have seen neither a match's family nor its class. */
function addHeldOutScores(rows: readonly Scored[]): void {
  const { byFamily, byFamilyAndClass } = heldOutScores(rows, FITTED);
  for (const [i, one] of rows.entries()) {
    one.scores["z, family held out"] = byFamily[i];
    one.scores[HELD_OUT] = byFamilyAndClass[i];
  }
}

/** The contribution of each term. */
function printAblation(rows: readonly Scored[]): void {
  printHead("family and class held out, all matches, without one term", rows);
  for (const term of FITTED) {
    const { byFamilyAndClass } = heldOutScores(
      rows,
      FITTED.filter((one) => one !== term),
    );
    const scoreByRow = new Map(rows.map((one, i) => [one, byFamilyAndClass[i]]));
    printRow(`without ${term}`, rows, (one) => scoreByRow.get(one)!);
  }
}

async function writeShapes(rows: readonly Scored[]): Promise<void> {
  const training = rows.filter(isTraining);
  const samples = makeSamples(training, FITTED);
  const design = makeDesign(samples, sharesOf(FITTED));
  const isTrue = samples.map((sample) => sample.isTrue);
  const random = [...samples.keys()].filter((i) => !isTrue[i]);
  const { shapes, typical } = drawShapes(design, fitRows(design.rows, isTrue), random);
  const numbers = (values: readonly number[]): string =>
    values.map((value) => Number(value.toPrecision(6))).join(", ");
  const lines = shapes.map(
    ({ low, high, knots, coefficients }, k) =>
      `  ${FITTED[k]}: { low: ${numbers([low])}, high: ${numbers([high])}, knots: [${numbers(knots)}], coefficients: [${numbers(coefficients)}] },`,
  );
  const text = `import type { Term } from "./prediction.ts";
import type { Shape } from "./shape.ts";

/** Made by test/bench/quality.bench.ts from ${training.length} matches of published motif classes; do not edit. */
export const TERM_SHAPES: Readonly<Record<Term, Shape>> = {
${lines.join("\n")}
  // Already a contribution.
  pattern: { low: -3, high: 3, knots: [], coefficients: [0, 1, 0] },
};

/** Shares of the contributions of random matches that REFERENCE_SHARES gives, for the typical pattern of the benchmark. */
export const TYPICAL_REFERENCE = ${numbers([typical])};
`;
  const path = join(import.meta.dir, "../../src/motif/term-shapes.ts");
  await Bun.write(path, text);
  console.log(`Wrote ${path}: run bun fmt, null.bench.ts write, and the golden tests`);
}

const directory = benchData();
const cases = readCases(directory);
const corpus = benchCorpus(directory);
const cache = cacheDirectory();
const readLength = (accession: string): number => {
  const at = corpus.findAccession(accession);
  return at < 0 ? 0 : corpus.offsets[at + 1] - corpus.offsets[at];
};
const instances = Map.groupBy(
  cases.filter(({ isTrue, parts }) => isTrue && !parts.includes("K")),
  ({ motifClass }) => motifClass,
);
const learnable = [...instances]
  .filter(([, some]) => some.length >= MIN_INSTANCES)
  .map(([name, [{ expression }]]) => ({ name, pattern: parsePattern(expression, "elm") }))
  .map(({ name, pattern }) => ({ name, pattern, columns: listColumns(pattern.automaton) }));
const tasks = [...Map.groupBy(cases, ({ accession }) => accession)]
  .map(([accession, ofProtein]) => ({ accession, cases: ofProtein }))
  .sort((a, b) => readLength(a.accession) - readLength(b.accession));
const scored = (
  await onThreads(import.meta.path, tasks, (given) => {
    findFamilies(
      corpus,
      given.map(({ accession }) => accession),
      cache,
    );
    return given.map(score);
  })
).flat();
if (scored.length < 1000) throw new Error(`${scored.length} matches scored: at least 1,000 needed`);
const familyNames = groupByHomology(corpus, [...new Set(scored.map(({ group }) => group))]);
if (process.argv[2] === "write") await writeShapes(scored);
else {
  addModelScores(scored);
  addHeldOutScores(scored);
  printScores(
    "at least 3 homologs",
    scored.filter(({ homologs }) => homologs >= MIN_HOMOLOGS),
  );
  printScores("all matches", scored);
  printVerdicts(scored);
  printPublished(scored);
  printAblation(scored);
}
