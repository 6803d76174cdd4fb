/**
 * Calibration of P values on unseen proteins: a null distribution created by `labd corpus calibrate`, and the
 * built-in one.
 *
 *   LABD_BENCH_DATA=DIR bun run test/bench/calibration.bench.ts CORPUS [PROTEINS]
 *
 * CORPUS is a calibrated file of `corpora/`. Matches of published motif classes are drawn in the proteins
 * that follow those of the calibration. Fractions come with their standard error, clustered by protein.
 */
import { drawMatches, drawnProteins } from "../../src/motif/calibration.ts";
import { NULL_BINS, computePValue } from "../../src/motif/p-value.ts";
import { NULL_DEPTHS, NULL_ORDER } from "../../src/motif/null-quantiles.ts";
import { parsePattern } from "../../src/motif/pattern.ts";
import { SCORING_MODELS } from "../../src/motif/prediction.ts";
import { openCorpusFile } from "../../src/scoring/corpus/corpus.ts";
import { benchData, readCases, readClasses } from "./benchmark-data.ts";
import { percent } from "./part.ts";
import { onThreads } from "./threads.ts";

const [path, count = "1200"] = process.argv.slice(2);
const directory = benchData();
const corpus = openCorpusFile(path);
const { calibration } = corpus;
if (!calibration) throw new Error(`${path} is not calibrated: run labd corpus calibrate first`);
const classes = readClasses(directory).map(({ name, expression }) => ({
  name,
  pattern: parsePattern(expression, "elm"),
}));
const known = new Set(
  readCases(directory).flatMap((one) => (one.isTrue ? [`${one.accession} ${one.motifClass}`] : [])),
);
const { seed, examined } = calibration;
const unseen = Array.from(drawnProteins(corpus, seed).subarray(examined, examined + Number(count)));
const patterns = classes.map(({ pattern }) => pattern);
const isKnown = (protein: number, i: number): boolean =>
  known.has(`${corpus.accession(protein)} ${classes[i].name}`);
const draws = (
  await onThreads(import.meta.path, unseen, (proteins) =>
    drawMatches(corpus, proteins, patterns, seed + 1, isKnown),
  )
).flatMap((draws, protein) => draws.map((draw) => ({ ...draw, protein })));
console.log(
  `${draws.length} random matches in ${unseen.length} unseen proteins; calibrated on ${calibration.matches} in ${calibration.proteins}`,
);
const STATES = ["disordered", "intermediate", "ordered"];
const binsPerDepth = NULL_ORDER.length + 1;

for (const name of ["z", "conservation"] as const)
  for (const model of SCORING_MODELS) {
    console.log(
      `\n${name}, ${model}: random matches with P ≤ 0.05 and P ≤ 0.01 in %, calibrated null | built-in null`,
    );
    const row = (title: string, selected: typeof draws): void => {
      const reached = (nullDistribution: typeof calibration | null, level: number): string =>
        percent(
          selected.map(({ protein, bin, statistics }) => {
            const surroundings = {
              homologs: NULL_DEPTHS[Math.floor(bin / binsPerDepth)],
              order: [0, ...NULL_ORDER][bin % binsPerDepth],
            };
            const { p } = computePValue(
              name,
              statistics[model][name]!,
              model,
              surroundings,
              nullDistribution,
            )!;
            return { group: protein, isHit: p <= level };
          }),
        ).padStart(12);
      const cells = [calibration, null].map((one) => reached(one, 0.05) + reached(one, 0.01)).join("  |");
      console.log(`${title.padEnd(36)}${String(selected.length).padStart(6)}${cells}`);
    };
    const judged = draws.filter(({ statistics }) => statistics[model][name] !== null);
    for (let bin = 0; bin < NULL_BINS; bin++) {
      const inBin = judged.filter((draw) => draw.bin === bin);
      if (inBin.length > 0)
        row(
          `from ${NULL_DEPTHS[Math.floor(bin / binsPerDepth)]} homologs, ${STATES[bin % binsPerDepth]}`,
          inBin,
        );
    }
    row("all", judged);
  }
