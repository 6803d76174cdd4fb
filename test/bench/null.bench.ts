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
const MIN_DRAWS = 400;

interface Drawn {
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

function drawIn(protein: string): Drawn[] {
  const next = seededRandom(SEED ^ Math.imul(corpus.findAccession(protein) + 1, 0x9e3779b1));
  const family = familyIn(corpus, protein, cache);
  if (family === null || family.homologs.length < MIN_HOMOLOGS) return [];
  const out: Drawn[] = [];
  for (let k = 0; k < CLASSES; k++) {
    const { name, pattern } = classes[Math.floor(next() * classes.length)];
    const at = next();
    if (known.has(`${protein} ${name}`)) continue;
    const lookarounds = lookaroundTable(pattern.automaton, family.query);
    const matches = findMatches(pattern.automaton, family.query, lookarounds);
    if (matches.length === 0) continue;
    const match = matches[Math.floor(at * matches.length)];
    const path = pathOfMatch(pattern.automaton, family.query, match, lookarounds);
    if (path === null) continue;
    const [first, second] = SCORING_MODELS.map((model) =>
      evidenceOf(openMotif(pattern.automaton, model), family, match, path, matches.length),
    );
    if (first.homologs < MIN_HOMOLOGS || first.persistence === null || second.persistence === null) continue;
    const persistence = {
      [SCORING_MODELS[0]]: first.persistence,
      [SCORING_MODELS[1]]: second.persistence,
    } as Drawn["persistence"];
    out.push({ protein, bin: binOf(first.homologs, first.disorder), persistence });
  }
  return out;
}

const drawn = (
  await onThreads(import.meta.path, proteinsToDraw(), (own) => {
    findFamilies(corpus, own, cache);
    return own.map(drawIn);
  })
).flat();
const perBin = Array.from({ length: NULL_BINS }, (_, bin) => drawn.filter((one) => one.bin === bin));
for (const [bin, own] of perBin.entries()) {
  if (own.length < MIN_DRAWS)
    throw new Error(`bin ${bin} has ${own.length} random matches: too few for a null`);
}
const proteins = new Set(drawn.map(({ protein }) => protein)).size;
console.log(`${drawn.length} random matches in ${proteins} proteins`);

if (process.argv[2] === "write") {
  await write();
} else {
  check();
}

/** Five-fold cross-validation by protein. */
function check(): void {
  const fold = new Map(
    [...new Set(drawn.map(({ protein }) => protein))].map((protein, i) => [protein, i % 5]),
  );
  for (const model of SCORING_MODELS) {
    console.log(
      `\n${model}: random matches called by P ≤ 0.05 and P ≤ 0.2, in per cent; | by the built-in null`,
    );
    const calls: { bin: number; protein: string; p: number; builtIn: number }[] = [];
    for (const [bin, own] of perBin.entries()) {
      for (let k = 0; k < 5; k++) {
        const row = quantilesOf(
          own.flatMap(({ protein, persistence }) => (fold.get(protein) !== k ? [persistence[model]] : [])),
        );
        for (const { protein, persistence } of own)
          if (fold.get(protein) === k)
            calls.push({
              bin,
              protein,
              p: tailProbability(row, persistence[model]).p,
              builtIn: tailProbability(NULL_QUANTILES[model][bin], persistence[model]).p,
            });
      }
    }
    const print = (title: string, own: typeof calls): void => {
      const at = (level: number, which: "p" | "builtIn"): string =>
        percent(own.map((call): Count => ({ group: call.protein, isHit: call[which] <= level })));
      console.log(
        `${title.padEnd(32)}${String(own.length).padStart(6)}  ${at(0.05, "p")}  ${at(0.2, "p")}  |  ${at(0.05, "builtIn")}  ${at(0.2, "builtIn")}`,
      );
    };
    for (let bin = 0; bin < NULL_BINS; bin++) {
      const depth = NULL_DEPTHS[Math.floor(bin / (NULL_DISORDER.length + 1))];
      const state = ["ordered", "between", "disordered"][bin % (NULL_DISORDER.length + 1)];
      print(
        `from ${depth} homologs, ${state}`,
        calls.filter((call) => call.bin === bin),
      );
    }
    print("all", calls);
  }
}

async function write(): Promise<void> {
  const rows = (model: ScoringModel): string =>
    perBin
      .map((own) => `[${quantilesOf(own.map(({ persistence }) => persistence[model])).join(", ")}],`)
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
export const NULL_MATCHES: readonly number[] = [${perBin.map((own) => own.length).join(", ")}];

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
  console.log(`written: ${path}`);
}
