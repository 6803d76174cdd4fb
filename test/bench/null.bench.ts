/**
 * Null distribution of labd-2: persistence of random matches by number of homologs and disorder.
 *
 *   LABD_BENCH_DATA=DIR bun run test/bench/null.bench.ts          cross-validates P values by protein
 *   LABD_BENCH_DATA=DIR bun run test/bench/null.bench.ts write    writes src/motif/null-quantiles.ts
 *
 * In every benchmark protein and OTHERS more of Swiss-Prot with at least three homologs: one match each of
 * CLASSES random motif classes, without known instances.
 */
import { join } from "node:path";
import { findMatches, pathOfMatch, lookaroundTable } from "../../src/motif/automaton-matches.ts";
import { evidenceOf } from "../../src/motif/evidence.ts";
import { quantilesOf } from "../../src/motif/calibration.ts";
import { binOf, NULL_BINS, tailProbability } from "../../src/motif/p-value.ts";
import { NULL_DEPTHS, NULL_DISORDER, NULL_QUANTILES } from "../../src/motif/null-quantiles.ts";
import { MIN_HOMOLOGS } from "../../src/motif/options.ts";
import { parsePattern } from "../../src/motif/pattern.ts";
import { type ScoringModel, SCORING_MODELS } from "../../src/motif/prediction.ts";
import { openMotif } from "../../src/motif/retention.ts";
import { seededRandom } from "../../src/motif/random.ts";
import { random } from "../fixtures/random-protein.ts";
import {
  benchCorpus,
  benchData,
  cacheDirectory,
  familyIn,
  findFamilies,
  readCases,
  readClasses,
} from "./benchmark-data.ts";
import { type Count, percent } from "./part.ts";
import { onThreads } from "./threads.ts";

const SEED = 31;
const OTHERS = 400;
const CLASSES = 160;
/** Minimum matches per bin. */
const MIN_MATCHES = 400;

interface RandomMatch {
  protein: string;
  bin: number;
  persistence: Record<ScoringModel, number>;
}

const directory = benchData();
const classes = readClasses(directory).map(({ name, expression }) => ({
  name,
  pattern: parsePattern(expression, "elm"),
}));
const corpus = benchCorpus(directory);
const cache = cacheDirectory();
const cases = readCases(directory);
const known = new Set(
  cases.filter(({ isTrue }) => isTrue).map(({ accession, motifClass }) => `${accession} ${motifClass}`),
);

/** The benchmark proteins and OTHERS more, sorted by length so that neighbours share a pass of the search. */
function proteinsToDraw(): string[] {
  const next = random(SEED);
  const proteins = new Set(cases.map(({ accession }) => accession));
  for (let i = 0; i < OTHERS; i++) {
    const index = Math.floor(next() * corpus.sequenceCount);
    if (lengthOf(index) <= 2000) proteins.add(corpus.accession(index));
  }
  const length = (accession: string): number => lengthOf(corpus.findAccession(accession));
  return [...proteins]
    .filter((accession) => corpus.findAccession(accession) >= 0)
    .sort((a, b) => length(a) - length(b));
}

function lengthOf(index: number): number {
  return corpus.offsets[index + 1] - corpus.offsets[index];
}

function drawIn(protein: string): RandomMatch[] {
  const next = seededRandom(SEED ^ Math.imul(corpus.findAccession(protein) + 1, 0x9e3779b1));
  const family = familyIn(corpus, protein, cache);
  if (family === null || family.homologs.length < MIN_HOMOLOGS) return [];
  const out: RandomMatch[] = [];
  for (let k = 0; k < CLASSES; k++) {
    const { name, pattern } = classes[Math.floor(next() * classes.length)];
    const position = next();
    if (known.has(`${protein} ${name}`)) continue;
    const lookarounds = lookaroundTable(pattern.automaton, family.query);
    const found = findMatches(pattern.automaton, family.query, lookarounds);
    if (found.length === 0) continue;
    const match = found[Math.floor(position * found.length)];
    const path = pathOfMatch(pattern.automaton, family.query, match, lookarounds);
    if (path === null) continue;
    const [first, second] = SCORING_MODELS.map((model) =>
      evidenceOf(openMotif(pattern.automaton, model), family, match, path, found.length),
    );
    if (first.homologs < MIN_HOMOLOGS || first.persistence === null || second.persistence === null) continue;
    const persistence = {
      [SCORING_MODELS[0]]: first.persistence,
      [SCORING_MODELS[1]]: second.persistence,
    } as RandomMatch["persistence"];
    out.push({ protein, bin: binOf(first.homologs, first.disorder), persistence });
  }
  return out;
}

const matches = (
  await onThreads(import.meta.path, proteinsToDraw(), (proteins) => {
    findFamilies(corpus, proteins, cache);
    return proteins.map(drawIn);
  })
).flat();
const byBin = Array.from({ length: NULL_BINS }, (_, bin) => matches.filter((match) => match.bin === bin));
for (const [bin, { length }] of byBin.entries())
  if (length < MIN_MATCHES)
    throw new Error(`bin ${bin} has ${length} random matches; at least ${MIN_MATCHES} needed`);
const proteins = new Set(matches.map(({ protein }) => protein)).size;
console.log(`${matches.length} random matches in ${proteins} proteins`);

if (process.argv[2] === "write") {
  await write();
} else {
  check();
}

/** P values of a match, by the quantiles of the other proteins and by the built-in ones. */
interface Call {
  bin: number;
  protein: string;
  crossValidated: number;
  builtIn: number;
}

/** Five-fold cross-validation by protein. */
function crossValidate(model: ScoringModel): Call[] {
  const foldOf = new Map(
    [...new Set(matches.map(({ protein }) => protein))].map((protein, i) => [protein, i % 5]),
  );
  return byBin.flatMap((inBin, bin) => {
    const quantiles = Array.from({ length: 5 }, (_, fold) =>
      quantilesOf(
        inBin
          .filter(({ protein }) => foldOf.get(protein) !== fold)
          .map(({ persistence }) => persistence[model]),
      ),
    );
    return inBin.map(({ protein, persistence }) => ({
      bin,
      protein,
      crossValidated: tailProbability(quantiles[foldOf.get(protein)!], persistence[model]).p,
      builtIn: tailProbability(NULL_QUANTILES[model][bin], persistence[model]).p,
    }));
  });
}

function check(): void {
  for (const model of SCORING_MODELS) {
    console.log(`\n${model}: % of random matches with P ≤ 0.05 and P ≤ 0.2; after | with the built-in null`);
    const calls = crossValidate(model);
    for (let bin = 0; bin < NULL_BINS; bin++) {
      const depth = NULL_DEPTHS[Math.floor(bin / (NULL_DISORDER.length + 1))];
      const state = ["ordered", "intermediate", "disordered"][bin % (NULL_DISORDER.length + 1)];
      const title = `from ${depth} homologs, ${state}`;
      printCalls(
        title,
        calls.filter((call) => call.bin === bin),
      );
    }
    printCalls("all", calls);
  }
}

function printCalls(title: string, calls: readonly Call[]): void {
  const at = (level: number, pValue: "crossValidated" | "builtIn"): string =>
    percent(calls.map((call): Count => ({ group: call.protein, isHit: call[pValue] <= level })));
  const cells = (["crossValidated", "builtIn"] as const).map((p) => `${at(0.05, p)}  ${at(0.2, p)}`);
  console.log(`${title.padEnd(32)}${String(calls.length).padStart(6)}  ${cells.join("  |  ")}`);
}

async function write(): Promise<void> {
  const rows = (model: ScoringModel): string =>
    byBin
      .map((inBin) => `[${quantilesOf(inBin.map(({ persistence }) => persistence[model])).join(", ")}],`)
      .join("\n");
  const path = join(import.meta.dir, "../../src/motif/null-quantiles.ts");
  const text = `import type { ScoringModel } from "./prediction.ts";

/*
 * Null distribution of labd-2, generated by test/bench/null.bench.ts; do not edit. Random matches of published motif
 * classes, without known instances, in ${proteins} proteins of Swiss-Prot (January 2014) and their homologs there.
 */

/** Minimum number of homologs of each bin of depth. */
export const NULL_DEPTHS: readonly number[] = [${NULL_DEPTHS.join(", ")}];

/** Mean TOP-IDP at which the second and third bin of disorder begin: thirds of the random matches. */
export const NULL_DISORDER: readonly number[] = [${NULL_DISORDER.join(", ")}];

/** Random matches in each bin, by depth, then by disorder. */
export const NULL_MATCHES: readonly number[] = [${byBin.map(({ length }) => length).join(", ")}];

/** Quantiles of the persistence in each bin, at the levels of p-value.ts. */
export const NULL_QUANTILES: Readonly<Record<ScoringModel, readonly (readonly number[])[]>> = {
  discontinuous: [
    ${rows("discontinuous")}
  ],
  continuous: [
    ${rows("continuous")}
  ],
};
`;
  await Bun.write(path, text);
  console.log(`Wrote ${path}`);
}
