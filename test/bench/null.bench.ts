/**
 * Null distribution: conservation and z of random matches by homologs, order of the chain and anchors.
 *
 *   LABD_BENCH_DATA=DIR bun run test/bench/null.bench.ts          judges P values on proteins and families not in the fit
 *   LABD_BENCH_DATA=DIR bun run test/bench/null.bench.ts write    fits them: src/motif/null-models.ts
 *
 * In proteins of all kingdoms outside the collection of the benchmarks, whose homologs are searched in it: one match each of
 * ELM's classes, without known instances. For judging, also reversed proteins and patterns with shuffled elements.
 */
import { join } from "node:path";
import { findMatches, lookaroundTable, findMatchPath } from "../../src/motif/automaton-matches.ts";
import { decode } from "../../src/motif/alphabet.ts";
import { average } from "../../src/motif/disorder/disorder.ts";
import { buildFamily, type Family, measureHomolog, passesThresholds } from "../../src/motif/divergence.ts";
import { computeEvidence } from "../../src/motif/evidence.ts";
import { findHits, findHomologs } from "../../src/motif/homologs.ts";
import { DEFAULTS, MIN_HOMOLOGS } from "../../src/motif/options.ts";
import type { Statistic } from "../../src/motif/null-model.ts";
import {
  computePValue,
  conservationFeatures,
  type Divergence,
  type Surroundings,
  zFeatures,
} from "../../src/motif/p-value.ts";
import { divergenceOf } from "../../src/motif/pattern-scores.ts";
import { parsePattern, type Pattern } from "../../src/motif/pattern.ts";
import { SCORING_MODELS } from "../../src/motif/prediction.ts";
import { alignProgressively } from "../../src/motif/progressive.ts";
import { qValues } from "../../src/motif/ranking.ts";
import { openMotif } from "../../src/motif/retention.ts";
import { seededRandom, shuffled } from "../../src/motif/random.ts";
import { benchCorpus, benchData, readCases, readClasses } from "./benchmark-data.ts";
import { drawNullProteins, type Kingdom, type NullProtein } from "./null-proteins.ts";
import { percent } from "./part.ts";
import { fitNullModel } from "./quantile-regression.ts";
import { onThreads } from "./threads.ts";

/** P values whose frequency among random matches is checked, and small ones of which random matches are counted. */
const CHECKED = [0.05, 0.01, 0.2];
const TAIL = [0.001, 0.0003, 0.0001, 0.00003, 0.00001];
/** Numbers of homologs at which a group begins. */
const DEPTHS = [0, 1, 3, 6, 16, Infinity];
/** Part of the classes that are drawn in a protein for the fit, except anchored ones. */
const FIT_PART = 0.5;
/** Part of the patterns that are drawn shuffled, too, for judging. */
const SHUFFLED_PART = 0.35;

interface RandomMatch extends Surroundings {
  protein: string;
  kingdom: Kingdom;
  isFit: boolean;
  isShuffled: boolean;
  length: number;
  /** By scoring model; the conservation is null with too few homologs. */
  values: { conservation: (number | null)[]; z: number[] };
  divergence: Divergence;
}

const featuresOf = (name: Statistic, one: RandomMatch): number[] =>
  name === "z" ? zFeatures(one) : conservationFeatures(one.divergence);

const directory = benchData();
const corpus = benchCorpus(directory);
const known = new Set(
  readCases(directory)
    .filter(({ isTrue, isSuspect }) => isTrue || isSuspect)
    .map(({ accession, motifClass }) => `${accession} ${motifClass}`),
);
const classes = readClasses(directory).map(({ name, expression }) => ({
  name,
  expression,
  pattern: parsePattern(expression, "elm"),
}));

/** The elements of a pattern in another order; null for one with groups, alternatives or anchors. */
function shuffledPattern(expression: string, seed: number): Pattern | null {
  if (/[()|^$]/.test(expression.replaceAll("[^", "["))) return null;
  const elements = expression.match(/(\[[^\]]*\]|.)([*+?]|\{[^}]*\})?/g) ?? [];
  const text = Array.from(shuffled(elements.length, seed), (i) => elements[i]).join("");
  return text === expression ? null : parsePattern(text, "elm");
}

function matchesIn(protein: NullProtein, family: Family): RandomMatch[] {
  const { accession, isFit } = protein;
  const seed = Bun.hash.crc32(accession);
  const next = seededRandom(seed);
  return classes.flatMap(({ name, expression, pattern }, k) => {
    if (known.has(`${accession} ${name}`)) return [];
    if (isFit && !pattern.automaton.anchored && next() >= FIT_PART) return [];
    const other = !isFit && next() < SHUFFLED_PART ? shuffledPattern(expression, seed + k) : null;
    const found = randomMatch(protein, family, pattern, next, false);
    return other ? found.concat(randomMatch(protein, family, other, next, true)) : found;
  });
}

/** One of a pattern's matches, if there is any. */
function randomMatch(
  { accession, kingdom, isFit, residues }: NullProtein,
  family: Family,
  { automaton }: Pattern,
  next: () => number,
  isShuffled: boolean,
): RandomMatch[] {
  const lookarounds = lookaroundTable(automaton, residues);
  const found = findMatches(automaton, residues, lookarounds);
  const match = found[Math.floor(next() * found.length)];
  if (found.length === 0 || match.end - match.start > DEFAULTS.maxMatchLength) return [];
  const path = findMatchPath(automaton, residues, match, lookarounds);
  if (path === null) return [];
  const numbers = SCORING_MODELS.map((model) =>
    computeEvidence(openMotif(automaton, model), family, match, path, found.length),
  );
  if (numbers.some(({ terms }) => terms === null)) return [];
  const conservation = numbers.map(({ homologs, terms }) =>
    homologs >= MIN_HOMOLOGS ? terms!.conservation : null,
  );
  return [
    {
      protein: accession,
      kingdom,
      isFit,
      isShuffled,
      length: residues.length,
      homologs: family.homologs.length,
      chainOrder: average(family.prediction.order),
      anchors: automaton.anchors,
      values: { conservation, z: numbers.map(({ z }) => z!) },
      divergence: divergenceOf(numbers[0], automaton.anchors),
    },
  ];
}

function drawAll(proteins: NullProtein[]): RandomMatch[][] {
  const hits = findHits(
    proteins.map(({ residues }) => decode(residues)),
    corpus,
    DEFAULTS,
    new Int32Array(new SharedArrayBuffer(4)),
  );
  return proteins.map((protein, k) => {
    const found = findHomologs(protein.residues, corpus, DEFAULTS, () => {}, hits[k]);
    const rows = alignProgressively(
      protein.residues,
      found.map(({ row }) => row),
    );
    const homologs = rows
      .map((row) => measureHomolog(protein.residues, row))
      .filter((one) => passesThresholds(one, DEFAULTS));
    return matchesIn(protein, buildFamily(protein.residues, homologs));
  });
}

const matches = (
  await onThreads(import.meta.path, Bun.isMainThread ? drawNullProteins(directory, corpus) : [], drawAll)
).flat();
const fitted = matches.filter(({ isFit }) => isFit);
const judged = matches.filter(({ isFit }) => !isFit);
const countOf = (some: readonly RandomMatch[]): string =>
  `${some.length} random matches in ${new Set(some.map(({ protein }) => protein)).size} proteins`;
console.log(`for the fit ${countOf(fitted)}; for judging ${countOf(judged)}`);
if (process.argv[2] === "write") await write();
else for (const name of ["z", "conservation"] as const) judge(name);

type Group = readonly [title: string, has: (one: RandomMatch) => boolean];

/** Groups of equal numbers of matches by a number, four of each. */
function quarters(
  title: string,
  some: readonly RandomMatch[],
  valueOf: (one: RandomMatch) => number,
): Group[] {
  const sorted = some.map(valueOf).sort((a, b) => a - b);
  const at = (part: number): number => sorted[Math.floor(part * (sorted.length - 1))];
  const chosen = new Set(some);
  return [0, 1, 2, 3].map((k): Group => {
    const [from, to] = [at(k / 4), k === 3 ? Infinity : at((k + 1) / 4)];
    return [
      `${title}, quarter from ${from.toFixed(2)}`,
      (one) => chosen.has(one) && valueOf(one) >= from && valueOf(one) < to,
    ];
  });
}

function groups(): Group[] {
  const plain = judged.filter((one) => one.kingdom !== "reversed" && !one.isShuffled);
  const chosen = new Set(plain);
  const eukaryotes = plain.filter(({ kingdom }) => kingdom === "eukaryotes");
  const ofKingdom = (kingdom: Kingdom): Group => [
    kingdom,
    (one) => one.kingdom === kingdom && !one.isShuffled,
  ];
  return [
    ...(["eukaryotes", "bacteria", "archaea", "viruses", "reversed"] as const).map(ofKingdom),
    ...quarters("eukaryotes, length", eukaryotes, ({ length }) => length),
    ...quarters("eukaryotes, order", eukaryotes, ({ chainOrder }) => chainOrder),
    ...quarters("all kingdoms, length", plain, ({ length }) => length),
    ...quarters("all kingdoms, order", plain, ({ chainOrder }) => chainOrder),
    ["patterns with ^", (one) => chosen.has(one) && one.anchors.start],
    ["patterns with $", (one) => chosen.has(one) && one.anchors.end],
    ["shuffled patterns", (one) => one.isShuffled && one.kingdom !== "reversed"],
    ...DEPTHS.slice(0, -1).map((from, k): Group => [
      `from ${from} homologs`,
      (one) => chosen.has(one) && one.homologs >= from && one.homologs < DEPTHS[k + 1],
    ]),
  ];
}

function judge(name: Statistic): void {
  for (const [m, model] of SCORING_MODELS.entries()) {
    const pOf = (one: RandomMatch): number =>
      computePValue(name, one.values[name][m]!, model, featuresOf(name, one)).p;
    const rows = judged.filter((one) => one.values[name][m] !== null);
    console.log(`\n${model}, ${name}: % of random matches with P ≤ ${CHECKED.join(", ")}`);
    for (const [title, has] of groups()) {
      const some = rows.filter(has);
      if (some.length === 0) continue;
      const cells = CHECKED.map((level) =>
        percent(some.map((one) => ({ group: one.protein, isHit: pOf(one) <= level }))),
      );
      console.log(`${title.padEnd(44)}${String(some.length).padStart(6)}  ${cells.join("  ")}`);
    }
    const ps = rows.map(pOf);
    const cells = TAIL.map(
      (level) => `P ≤ ${level}: ${ps.filter((p) => p <= level).length} of ${(level * ps.length).toFixed(1)}`,
    );
    console.log(cells.join(", "));
    if (name === "z") printProteinsWithSmallQ(rows, pOf);
  }
}

/** Proteins in which the matches of all classes have a q-value of at most 0.05. */
function printProteinsWithSmallQ(rows: readonly RandomMatch[], pOf: (one: RandomMatch) => number): void {
  const cells = (["bacteria", "reversed"] as const).map((kingdom) => {
    const proteins = Map.groupBy(
      rows.filter((one) => one.kingdom === kingdom && !one.isShuffled),
      ({ protein }) => protein,
    );
    const small = [...proteins.values()].filter((some) => {
      const [lowest] = qValues(some.map(pOf).sort((a, b) => a - b));
      return lowest <= 0.05;
    });
    return `${small.length} of ${proteins.size} ${kingdom}`;
  });
  console.log(`proteins with q ≤ 0.05: ${cells.join(", ")}`);
}

async function write(): Promise<void> {
  const modelOf = (name: Statistic, m: number): string => {
    const rows = fitted.filter((one) => one.values[name][m] !== null);
    return JSON.stringify(
      fitNullModel(
        rows.map((one) => featuresOf(name, one)),
        rows.map((one) => one.values[name][m]!),
      ),
    );
  };
  const models = SCORING_MODELS.map(
    (model, m) => `  ${model}: { conservation: ${modelOf("conservation", m)}, z: ${modelOf("z", m)} },`,
  );
  const proteins = new Set(fitted.map(({ protein }) => protein)).size;
  const text = `import type { NullModel, Statistic } from "./null-model.ts";
import type { ScoringModel } from "./prediction.ts";

/**
 * Null distribution, generated by test/bench/null.bench.ts; do not edit. Random matches of published motif classes in
 * ${proteins} eukaryotic, bacterial, archaeal and viral proteins of Swiss-Prot (January 2014).
 */
export const NULL_MODELS: Readonly<Record<ScoringModel, Readonly<Record<Statistic, NullModel>>>> = {
${models.join("\n")}
};
`;
  const path = join(import.meta.dir, "../../src/motif/null-models.ts");
  await Bun.write(path, text);
  console.log(`Wrote ${path}: run bun fmt and the golden tests`);
}
