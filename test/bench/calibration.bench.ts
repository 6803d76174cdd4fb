/**
 * How far the P values of a null that `labd corpus calibrate` made hold, and the built-in ones, in proteins that it has not seen.
 *
 *   LABD_BENCH_DATA=DIR bun run test/bench/calibration.bench.ts CORPUS [PROTEINS]
 *
 * CORPUS is a file of `corpora/`, calibrated; matches are drawn of published motif classes, in proteins of the same corpus that
 * come behind those of the null in the order of its seed.
 */
import { type Draw, drawMatches, drawnProteins } from "../../src/motif/calibration.ts";
import { NULL_BINS, pValueInContext } from "../../src/motif/null-context.ts";
import { NULL_DEPTHS, NULL_DISORDER } from "../../src/motif/null-quantiles.ts";
import { parsePattern } from "../../src/motif/pattern.ts";
import { SCORING_MODELS } from "../../src/motif/prediction.ts";
import { openCorpusFile } from "../../src/scoring/corpus.ts";
import { benchData, readCases, readClasses } from "./benchmark-data.ts";

const [path, count = "400"] = process.argv.slice(2);
const directory = benchData();
const corpus = openCorpusFile(path);
const { calibration } = corpus;
if (!calibration) throw new Error(`${path} has no null of its own: labd corpus calibrate makes it`);
const classes = readClasses(directory).map(({ name, expression }) => ({
  name,
  pattern: parsePattern(expression, "elm"),
}));
const known = new Set(
  readCases(directory).flatMap((one) => (one.isTrue ? [`${one.accession} ${one.motifClass}`] : [])),
);
const { seed, looked } = calibration;
const unseen = Array.from(drawnProteins(corpus, seed).subarray(looked, looked + Number(count)));
const draws: Draw[] = [];
for (let k = 0; k < unseen.length; k += 16) {
  const patterns = classes.map(({ pattern }) => pattern);
  const isKnown = (protein: number, i: number): boolean =>
    known.has(`${corpus.accession(protein)} ${classes[i].name}`);
  draws.push(...drawMatches(corpus, unseen.slice(k, k + 16), patterns, seed + 1, isKnown).flat());
}
console.log(
  `${draws.length} random matches in ${unseen.length} unseen proteins; the null rests on ${calibration.matches} in ${calibration.proteins}`,
);
for (const model of SCORING_MODELS) {
  console.log(`\n${model}: called by P ≤ 0.05 and P ≤ 0.2 in per cent, own null | built-in null`);
  const row = (title: string, own: readonly Draw[]): void => {
    const called = (null_: typeof calibration | null, level: number): string => {
      const hits = own.filter(({ bin, persistence }) => {
        const depth = NULL_DEPTHS[Math.floor(bin / (NULL_DISORDER.length + 1))];
        const disorder = [-1, ...NULL_DISORDER][bin % (NULL_DISORDER.length + 1)];
        return pValueInContext(model, depth, disorder, persistence[model], null_)!.p <= level;
      });
      return ((100 * hits.length) / own.length).toFixed(1).padStart(6);
    };
    const cells = [calibration!, null].map((one) => called(one, 0.05) + called(one, 0.2)).join("  |");
    console.log(`${title.padEnd(36)}${String(own.length).padStart(6)}${cells}`);
  };
  for (let bin = 0; bin < NULL_BINS; bin++) {
    const depth = NULL_DEPTHS[Math.floor(bin / (NULL_DISORDER.length + 1))];
    const state = ["ordered", "between", "disordered"][bin % (NULL_DISORDER.length + 1)];
    const filled = calibration.rows[model][bin] ? "" : ", not filled";
    row(
      `from ${depth} homologs, ${state}${filled}`,
      draws.filter((draw) => draw.bin === bin),
    );
  }
  row("all", draws);
}
