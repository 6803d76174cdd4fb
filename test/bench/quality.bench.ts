/**
 * Discrimination of true motifs from random matches (docs/quality.md).
 *
 *   LABD_BENCH_DATA=DIR bun run test/bench/quality.bench.ts           score and terms; then
 *   LABD_BENCH_DATA=DIR bun run test/bench/quality.bench.ts fit       cross-validated weights
 */
import { join } from "node:path";
import { findMatches, pathOfMatch, lookaroundTable } from "../../src/motif/automaton-matches.ts";
import type { Family } from "../../src/motif/divergence.ts";
import { evidenceOf, persistenceOf, type Terms } from "../../src/motif/evidence.ts";
import { CONSERVED_P, MIN_HOMOLOGS, WEAKLY_CONSERVED_P } from "../../src/motif/options.ts";
import { pValueOf } from "../../src/motif/p-value.ts";
import { parsePattern } from "../../src/motif/pattern.ts";
import { openMotif } from "../../src/motif/retention.ts";
import {
  benchCorpus,
  benchData,
  cacheDirectory,
  type Case,
  entropyScore,
  familyFromFile,
  familyIn,
  findFamilies,
  mafftDirectory,
  readCases,
} from "./benchmark-data.ts";
import { onThreads } from "./threads.ts";
import { areaUnderCurve, bootstrap, crossValidated, fitLogistic, linear, type Sample } from "./logistic.ts";

const TERMS: readonly (keyof Terms)[] = [
  "retention",
  "lossRate",
  "divergence",
  "disorder",
  "chain",
  "burial",
  "charge",
  "serThrFraction",
  "terminusProximity",
  "abundance",
];
/** Terms of the fit; retention and lossRate are combined, as in the null distribution. */
const FITTED = [
  "persistence",
  ...TERMS.filter((term) => term !== "retention" && term !== "lossRate"),
] as const;
const PARTS = ["A", "B", "K"] as const;
const TIMES = 400;

interface Scored {
  case: Case;
  group: string;
  scores: Record<string, number>;
  terms: Terms;
  /** P value, discontinuous. */
  pValue: number;
}

/** Cases of a protein, on our alignment or MAFFT's. */
interface Task {
  accession: string;
  cases: Case[];
  by: "labd" | "MAFFT";
}

/** Scores of all cases of a protein with enough homologs. */
function score({ accession, cases, by }: Task): Scored[] {
  const out: Scored[] = [];
  const family: Family | null =
    by === "labd" ? familyIn(corpus, accession, cache) : familyFromFile(join(mafft!, `${accession}.fa`));
  if (!family || family.homologs.length < MIN_HOMOLOGS) return [];
  for (const one of cases) {
    const { automaton } = parsePattern(one.expression, "elm");
    const lookarounds = lookaroundTable(automaton, family.query);
    const path = pathOfMatch(automaton, family.query, one, lookarounds);
    if (path === null) continue;
    const count = findMatches(automaton, family.query, lookarounds).length;
    const graded = openMotif(automaton, "continuous");
    const strict = openMotif(automaton, "discontinuous");
    const evidence = evidenceOf(strict, family, one, path, count);
    if (evidence.homologs < MIN_HOMOLOGS || evidence.terms === null) continue;
    const scores: Record<string, number> = {
      "column entropy": entropyScore(family, one.start, one.end),
      "CS discontinuous": evidence.score!,
      "z continuous": evidenceOf(graded, family, one, path, count).z!,
      "z discontinuous": evidence.z!,
    };
    for (const term of TERMS) scores[`· ${term}`] = evidence.terms[term];
    const pValue = pValueOf("discontinuous", evidence)?.p ?? 1;
    out.push({ case: one, group: accession, scores, terms: evidence.terms, pValue });
  }
  return out;
}

function report(title: string, scored: readonly Scored[]): void {
  const sizes = PARTS.map((part) => scored.filter((one) => one.case.parts.includes(part)).length);
  console.log(
    `\n${title}: at least ${MIN_HOMOLOGS} homologs; ${PARTS.map((p, i) => `${p} ${sizes[i]}`).join(", ")} matches`,
  );
  for (const name of Object.keys(scored[0].scores)) printRow(name, scored, (one) => one.scores[name]);
}

/** Percentage of true and random matches that each verdict includes. */
function reportVerdicts(scored: readonly Scored[]): void {
  console.log("\n% included by P: true matches / random matches");
  for (const [level, words] of [
    [CONSERVED_P, "conserved"],
    [WEAKLY_CONSERVED_P, "at least weakly conserved"],
  ] as const) {
    const cells = PARTS.map((part) => {
      const inPart = scored.filter((one) => one.case.parts.includes(part));
      const percent = (isTrue: boolean): string => {
        const side = inPart.filter((one) => one.case.isTrue === isTrue);
        return ((100 * side.filter(({ pValue }) => pValue <= level).length) / side.length).toFixed(1);
      };
      return `${part} ${percent(true)} / ${percent(false)}`;
    });
    console.log(`${words.padEnd(28)}${cells.join("   ")}`);
  }
}

function printRow(name: string, scored: readonly Scored[], value: (one: Scored) => number): void {
  const cells = PARTS.map((part) => {
    const samples = scored
      .filter((one) => one.case.parts.includes(part))
      .map((one) => ({ group: one.group, isTrue: one.case.isTrue, score: value(one) }));
    const [low, high] = bootstrap(samples, areaUnderCurve, TIMES, 11);
    return `${areaUnderCurve(samples).toFixed(3)} (${low.toFixed(3)}–${high.toFixed(3)})`;
  });
  console.log(`${name.padEnd(28)}${cells.join("  ")}`);
}

function fit(scored: readonly Scored[]): void {
  const parts = new Map<Sample, Scored>();
  const samples = scored.map((one): Sample => {
    const sample = {
      group: one.group,
      isTrue: one.case.isTrue,
      values: FITTED.map((name) => (name === "persistence" ? persistenceOf(one.terms) : one.terms[name])),
    };
    parts.set(sample, one);
    return sample;
  });
  const isTraining = (sample: Sample): boolean => !parts.get(sample)!.case.parts.includes("K");
  const crossValidatedScores = new Map(
    crossValidated(samples, isTraining).map((value, i) => [scored[i], value]),
  );
  console.log("\ncross-validated by protein, trained on A and B only");
  printRow("all terms", scored, (one) => crossValidatedScores.get(one)!);
  for (const left of FITTED) {
    const fewer = samples.map((sample) => ({
      ...sample,
      values: sample.values.filter((_, k) => FITTED[k] !== left),
    }));
    const training = new Set<Sample>(fewer.filter((_, i) => isTraining(samples[i])));
    const values = crossValidated(fewer, (sample) => training.has(sample));
    const without = new Map(values.map((value, i) => [scored[i], value]));
    printRow(`without ${left}`, scored, (one) => without.get(one)!);
  }
  const weights = fitLogistic(samples.filter(isTraining));
  const random = samples.filter((sample) => isTraining(sample) && !sample.isTrue);
  const raw = random.map(({ values }) => linear(weights, values));
  const mean = raw.reduce((a, b) => a + b, 0) / raw.length;
  const spread = Math.sqrt(raw.reduce((sum, x) => sum + (x - mean) ** 2, 0) / raw.length);
  console.log("\nweights on the scale on which random matches have mean 0 and standard deviation 1");
  for (const [k, term] of FITTED.entries())
    console.log(`${term.padEnd(28)}${(weights[k + 1] / spread).toFixed(3)}`);
  console.log(`${"offset".padEnd(28)}${((weights[0] - mean) / spread).toFixed(3)}`);
}

const directory = benchData();
const cases = readCases(directory);
const corpus = benchCorpus(directory);
const cache = cacheDirectory();
const mafft = process.argv[2] === "fit" ? null : mafftDirectory(directory);
const lengthOf = (accession: string): number => {
  const at = corpus.findAccession(accession);
  return at < 0 ? 0 : corpus.offsets[at + 1] - corpus.offsets[at];
};
const proteins = [...Map.groupBy(cases, ({ accession }) => accession)]
  .map(([accession, cases]): Omit<Task, "by"> => ({ accession, cases }))
  .sort((a, b) => lengthOf(a.accession) - lengthOf(b.accession));
const tasks = (mafft ? (["labd", "MAFFT"] as const) : (["labd"] as const)).flatMap((by) =>
  proteins.map(({ accession, cases }): Task => ({ accession, cases, by })),
);
const scored = await onThreads(import.meta.path, tasks, (given) => {
  const ours = given.filter(({ by }) => by === "labd");
  findFamilies(
    corpus,
    ours.map(({ accession }) => accession),
    cache,
  );
  return given.map(score);
});
const scoredBy = (by: Task["by"]): Scored[] => scored.filter((_, i) => tasks[i].by === by).flat();
const ours = scoredBy("labd");
if (ours.length < 1000) throw new Error(`${ours.length} matches scored: at least 1,000 needed`);
if (process.argv[2] !== "fit") {
  report("our homologs, our alignments", ours);
  reportVerdicts(ours);
}
fit(ours);
if (mafft) report("MAFFT alignments", scoredBy("MAFFT"));
