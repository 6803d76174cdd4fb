/**
 * Ranking of a motif class in a proteome: where the known instances are among all matches in human proteins.
 *
 *   LABD_BENCH_DATA=DIR bun run test/bench/proteome-ranking.bench.ts [PROTEINS]
 *
 * The human proteins of the benchmark with known instances, and others drawn by seed up to PROTEINS (2,600). Each class with
 * at least MIN_KNOWN instances there counts the same. Families are found once and cached.
 */
import { findClassMatches, listColumns } from "../../src/motif/class-examples.ts";
import { average } from "../../src/motif/disorder/disorder.ts";
import { computePValue, zFeatures } from "../../src/motif/p-value.ts";
import { parsePattern } from "../../src/motif/pattern.ts";
import { shuffled } from "../../src/motif/random.ts";
import { areaUnderCurve, bootstrap } from "./additive.ts";
import {
  benchCorpus,
  benchData,
  cacheDirectory,
  familyIn,
  findFamilies,
  groupByHomology,
  readCases,
  readClasses,
  readOrganisms,
} from "./benchmark-data.ts";
import { type FoldMatch, learnFolds, zOf, zWithModel } from "./class-folds.ts";
import { onThreads } from "./threads.ts";

const SEED = 28;
const MIN_KNOWN = 5;
const MAX_LENGTH = 2500;
const TIMES = 400;

interface FoundMatch extends FoldMatch {
  motifClass: string;
  scores: Record<string, number>;
}

const [wanted = "2600"] = process.argv.slice(2);
const directory = benchData();
const corpus = benchCorpus(directory);
const cache = cacheDirectory();
const organisms = readOrganisms(directory);
const lengthOf = (accession: string): number => {
  const at = corpus.findAccession(accession);
  return at < 0 ? 0 : corpus.offsets[at + 1] - corpus.offsets[at];
};
const human = [...organisms.keys()].filter(
  (accession) => organisms.get(accession) === "Homo sapiens" && lengthOf(accession) > 0,
);
const known = readCases(directory).filter(
  ({ accession, isTrue, parts }) =>
    isTrue && !parts.includes("K") && organisms.get(accession) === "Homo sapiens",
);
const starts = new Set(
  known.map(({ accession, motifClass, start }) => `${accession} ${motifClass} ${start}`),
);
const counts = Map.groupBy(known, ({ motifClass }) => motifClass);
const classes = readClasses(directory)
  .filter(({ name }) => (counts.get(name)?.length ?? 0) >= MIN_KNOWN)
  .map(({ name, expression }) => ({ name, pattern: parsePattern(expression, "elm") }))
  .map(({ name, pattern }) => ({ name, pattern, columns: listColumns(pattern.automaton) }));

/** Proteins with known instances, then others by chance; sorted by length so that neighbours share a pass of the search. */
function proteinsToRank(): string[] {
  const bearing = new Set(known.map(({ accession }) => accession).filter((one) => lengthOf(one) > 0));
  const others = human.filter((accession) => !bearing.has(accession) && lengthOf(accession) <= MAX_LENGTH);
  const order = shuffled(others.length, SEED).subarray(0, Math.max(0, Number(wanted) - bearing.size));
  return [...bearing, ...Array.from(order, (i) => others[i])].sort((a, b) => lengthOf(a) - lengthOf(b));
}

function matchesIn(accession: string): FoundMatch[] {
  const family = familyIn(corpus, accession, cache)!;
  return classes.flatMap(({ name, pattern, columns }) =>
    findClassMatches(family, pattern, columns).map((match): FoundMatch => {
      const parts = match.contributions.discontinuous;
      const z = zOf(match);
      const surroundings = {
        homologs: family.homologs.length,
        chainOrder: average(family.prediction.order),
        anchors: pattern.automaton.anchors,
      };
      const scores = {
        z,
        P: -computePValue("z", z, "discontinuous", zFeatures(surroundings)).p,
        "order and conservation": parts.order + parts.chainOrder + parts.conservation,
        conservation: parts.conservation,
        order: parts.order,
      };
      const isTrue = starts.has(`${accession} ${name} ${match.start - 1}`);
      return Object.assign(match, { motifClass: name, isTrue, family: accession, scores });
    }),
  );
}

const matches = (
  await onThreads(import.meta.path, proteinsToRank(), (proteins) => {
    findFamilies(corpus, proteins, cache);
    return proteins.map(matchesIn);
  })
).flat();
const byClass = [...Map.groupBy(matches, ({ motifClass }) => motifClass)].filter(
  ([, some]) => some.filter(({ isTrue }) => isTrue).length >= MIN_KNOWN,
);
const familyOf = groupByHomology(corpus, [
  ...new Set(matches.filter(({ isTrue }) => isTrue).map(({ family }) => family)),
]);
const columnsOf = new Map(classes.map(({ name, columns }) => [name, columns]));
/** Title of z with class models, by the folds of which all but one are learned from. */
const WITH_MODELS = { 2: "z, models of half", 8: "z, models of 7 eighths" } as const;
const models = { 2: 0, 8: 0 };
for (const [name, some] of byClass) {
  for (const match of some) match.family = familyOf.get(match.family) ?? match.family;
  for (const folds of [2, 8] as const) {
    const { modelFor, learned } = learnFolds(some, columnsOf.get(name)!, folds);
    models[folds] += learned;
    for (const match of some) match.scores[WITH_MODELS[folds]] = zWithModel(match, modelFor(match));
  }
}
const judged = byClass.flatMap(([, some]) => some);
console.log(
  `${byClass.length} classes, ${judged.filter(({ isTrue }) => isTrue).length} known of ${judged.length} matches; ${models[2]} class models of half of the families, ${models[8]} of seven eighths`,
);
printRandom(judged);

/** Shares of random matches that reach P of at most .05, by class: median and 90 % of the classes. */
function printRandom(all: readonly FoundMatch[]): void {
  const shares = byClass.map(([, some]) => {
    const random = some.filter(({ isTrue }) => !isTrue);
    return ["z", WITH_MODELS[8]].map(
      (name) =>
        random.filter(({ scores, thresholds }) => scores[name] >= thresholds.discontinuous[1]).length /
        random.length,
    );
  });
  for (const [k, title] of ["z", "class models"].entries()) {
    const sorted = shares.map((one) => 100 * one[k]).toSorted((a, b) => a - b);
    const at = (level: number): string => sorted[Math.round(level * (sorted.length - 1))].toFixed(1);
    console.log(`random matches with P ≤ .05, by class, ${title}: ${at(0.05)}, ${at(0.5)}, ${at(0.95)} %`);
  }
  console.log(`${all.length} matches judged`);
}

/** How one class is ranked: AUC, and the fractions of its known instances among the first. */
function rankingOf(some: readonly FoundMatch[], name: string): number[] {
  const sorted = some.toSorted((a, b) => b.scores[name] - a.scores[name]);
  const places = [...sorted.keys()].filter((place) => sorted[place].isTrue);
  const within = (first: number): number => places.filter((place) => place < first).length / places.length;
  const area = areaUnderCurve(some.map(({ isTrue, scores }) => ({ isTrue, score: scores[name] })));
  return [area, within(0.01 * some.length), within(0.05 * some.length), within(20)];
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, x) => sum + x, 0) / values.length;

for (const name of Object.keys(judged[0].scores)) {
  const rankings = byClass.map(([group, some]) => ({ group, values: rankingOf(some, name) }));
  const area = (some: typeof rankings): number => meanOf(some.map(({ values }) => values[0]));
  const interval = bootstrap(rankings, area, TIMES, 11).map((x) => x.toFixed(3));
  const first = [1, 2, 3].map(
    (k) => `${(100 * meanOf(rankings.map(({ values }) => values[k]))).toFixed(1)} %`,
  );
  console.log(
    `${name.padEnd(24)} AUC ${area(rankings).toFixed(3)} (${interval.join("–")}); top 1 %, top 5 %, first 20: ${first.join(", ")}`,
  );
}
