/**
 * Null distribution: conservation and z of random matches by number of homologs and predicted order.
 *
 *   LABD_BENCH_DATA=DIR bun run test/bench/null.bench.ts          cross-validates P values by protein
 *   LABD_BENCH_DATA=DIR bun run test/bench/null.bench.ts write    writes src/motif/null-quantiles.ts
 *
 * In every benchmark protein and OTHERS more of eukaryotes, where ELM's motifs occur: one match each of CLASSES random motif classes, without
 * known instances and what aligns with them. The check counts the others apart, which the fit has not seen either.
 */
import { join } from "node:path";
import { findMatches, findMatchPath, lookaroundTable } from "../../src/motif/automaton-matches.ts";
import { computeEvidence } from "../../src/motif/evidence.ts";
import { type Draw, toDraw, computeQuantiles } from "../../src/motif/calibration.ts";
import { NULL_BINS, type Statistics, tailProbability } from "../../src/motif/p-value.ts";
import { NULL_DEPTHS, NULL_ORDER, NULL_QUANTILES } from "../../src/motif/null-quantiles.ts";
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
  readTaxa,
} from "./benchmark-data.ts";
import { type Count, percent } from "./part.ts";
import { onThreads } from "./threads.ts";

const SEED = 31;
const OTHERS = 1500;
const CLASSES = 160;
/** Minimum matches per bin. */
const MIN_MATCHES = 400;
/** P values whose frequency among random matches is checked. */
const CHECKED = [0.05, 0.01, 0.2];
/** P values of the extrapolated tail, of which random matches are counted. */
const TAIL = [0.002, 0.001, 0.0005, 0.0002, 0.0001];

interface RandomMatch extends Draw {
  protein: string;
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
  cases
    .filter(({ isTrue, isSuspect }) => isTrue || isSuspect)
    .map(({ accession, motifClass }) => `${accession} ${motifClass}`),
);

const fitted = new Set(cases.map(({ accession }) => accession));

/** Human, mouse, rat, cow, chicken, frog, zebrafish, fly, worm, two yeasts, thale cress, rice and Dictyostelium. */
const EUKARYOTES = new Set([
  9606, 10090, 10116, 9913, 9031, 8355, 7955, 7227, 6239, 559292, 284812, 3702, 39947, 44689,
]);

/** The benchmark proteins and OTHERS more, sorted by length so that neighbours share a pass of the search. */
function proteinsToDraw(): string[] {
  const next = random(SEED);
  const proteins = new Set(fitted);
  const others = readTaxa(directory)
    .filter(({ taxon }) => EUKARYOTES.has(taxon))
    .map(({ accession }) => accession)
    .filter((accession) => corpus.findAccession(accession) >= 0 && !fitted.has(accession))
    .filter((accession) => subjectLength(corpus.findAccession(accession)) <= 2000);
  if (others.length < OTHERS) throw new Error(`${others.length} proteins of eukaryotes; ${OTHERS} needed`);
  while (proteins.size < fitted.size + OTHERS) proteins.add(others[Math.floor(next() * others.length)]);
  const length = (accession: string): number => subjectLength(corpus.findAccession(accession));
  return [...proteins]
    .filter((accession) => corpus.findAccession(accession) >= 0)
    .sort((a, b) => length(a) - length(b));
}

function subjectLength(index: number): number {
  return corpus.offsets[index + 1] - corpus.offsets[index];
}

function drawIn(protein: string): RandomMatch[] {
  const next = seededRandom(SEED ^ Math.imul(corpus.findAccession(protein) + 1, 0x9e3779b1));
  const family = familyIn(corpus, protein, cache);
  if (family === null) return [];
  const out: RandomMatch[] = [];
  for (let k = 0; k < CLASSES; k++) {
    const { name, pattern } = classes[Math.floor(next() * classes.length)];
    const position = next();
    if (known.has(`${protein} ${name}`)) continue;
    const lookarounds = lookaroundTable(pattern.automaton, family.query);
    const found = findMatches(pattern.automaton, family.query, lookarounds);
    if (found.length === 0) continue;
    const match = found[Math.floor(position * found.length)];
    const path = findMatchPath(pattern.automaton, family.query, match, lookarounds);
    if (path === null) continue;
    const numbers = SCORING_MODELS.map((model) =>
      computeEvidence(openMotif(pattern.automaton, model), family, match, path, found.length),
    );
    const draw = toDraw(numbers);
    if (draw !== null) out.push({ protein, ...draw });
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

/** Words for a bin. */
const formatBin = (bin: number): string => {
  const depth = NULL_DEPTHS[Math.floor(bin / (NULL_ORDER.length + 1))];
  return `from ${depth} homologs, ${["disordered", "intermediate", "ordered"][bin % (NULL_ORDER.length + 1)]}`;
};

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
function crossValidate(model: ScoringModel, name: keyof Statistics): Call[] {
  const foldByProtein = new Map(
    [...new Set(matches.map(({ protein }) => protein))].map((protein, i) => [protein, i % 5]),
  );
  return byBin.flatMap((inBin, bin) => {
    const builtIn = NULL_QUANTILES[model][bin][name];
    if (builtIn === null) return [];
    const readValue = ({ statistics }: RandomMatch): number => statistics[model][name]!;
    const quantiles = Array.from({ length: 5 }, (_, fold) =>
      computeQuantiles(inBin.filter(({ protein }) => foldByProtein.get(protein) !== fold).map(readValue)),
    );
    return inBin.map((one) => ({
      bin,
      protein: one.protein,
      crossValidated: tailProbability(quantiles[foldByProtein.get(one.protein)!], readValue(one)).p,
      builtIn: tailProbability(builtIn, readValue(one)).p,
    }));
  });
}

function check(): void {
  for (const model of SCORING_MODELS) {
    for (const name of ["z", "conservation"] as const) {
      console.log(
        `\n${model}, ${name}: % of random matches with P ≤ ${CHECKED.join(" and ")}; after | with the built-in null`,
      );
      const calls = crossValidate(model, name);
      printBins("all proteins", calls);
      printTail(calls);
      const { seen = [], unseen = [] } = Object.groupBy(calls, ({ protein }) =>
        fitted.has(protein) ? "seen" : "unseen",
      );
      printBins("proteins of the benchmarks", seen);
      printBins("proteins that the fit has not seen", unseen);
      printTail(unseen);
    }
  }
}

function printBins(title: string, calls: readonly Call[]): void {
  printCalls(title, calls);
  for (let bin = 0; bin < NULL_BINS; bin++) {
    const inBin = calls.filter((call) => call.bin === bin);
    if (inBin.length > 0) printCalls(`  ${formatBin(bin)}`, inBin);
  }
}

/** Random matches at or below small P values, and how many are expected. */
function printTail(calls: readonly Call[]): void {
  const cells = TAIL.map((level) => {
    const found = calls.filter(({ crossValidated }) => crossValidated <= level).length;
    return `P ≤ ${level}: ${found} of ${Math.round(level * calls.length)}`;
  });
  console.log(`  ${cells.join(", ")}`);
}

function printCalls(title: string, calls: readonly Call[]): void {
  const at = (level: number, pValue: "crossValidated" | "builtIn"): string =>
    percent(calls.map((call): Count => ({ group: call.protein, isHit: call[pValue] <= level })));
  const cells = (["crossValidated", "builtIn"] as const).map((p) =>
    CHECKED.map((level) => at(level, p)).join("  "),
  );
  console.log(`${title.padEnd(36)}${String(calls.length).padStart(6)}  ${cells.join("  |  ")}`);
}

async function write(): Promise<void> {
  const quantiles = (inBin: readonly RandomMatch[], model: ScoringModel, name: keyof Statistics): string => {
    const values = inBin.map(({ statistics }) => statistics[model][name]);
    return values.includes(null) ? "null" : `[${computeQuantiles(values as number[]).join(", ")}]`;
  };
  const rows = (model: ScoringModel): string =>
    byBin
      .map(
        (inBin) =>
          `{ matches: ${inBin.length}, conservation: ${quantiles(inBin, model, "conservation")}, z: ${quantiles(inBin, model, "z")} },`,
      )
      .join("\n");
  const path = join(import.meta.dir, "../../src/motif/null-quantiles.ts");
  const text = `import type { NullRow } from "./null-row.ts";
import type { ScoringModel } from "../../src/scoring/prediction/prediction.ts";

/*
 * Null distribution, generated by test/bench/null.bench.ts; do not edit. Random matches of published motif classes,
 * without known instances, in ${proteins} proteins of Swiss-Prot (January 2014) and their homologs there.
 */

/** Minimum number of homologs of each bin of depth; conservation is judged from the second on. */
export const NULL_DEPTHS: readonly number[] = [${NULL_DEPTHS.join(", ")}];

/** Mean predicted order at which the second and third bin begin: about thirds of the random matches. */
export const NULL_ORDER: readonly number[] = [${NULL_ORDER.join(", ")}];

/** Bins by depth, then by order. */
export const NULL_QUANTILES: Readonly<Record<ScoringModel, readonly NullRow[]>> = {
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
