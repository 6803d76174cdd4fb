/**
 * Speed and sensitivity of the homolog search.
 *
 *   bun run test/bench/search.bench.ts                         random proteins, expected counts
 *   bun run test/bench/search.bench.ts CORPUS [QUERIES]        a packed corpus (`labd corpus add`), random queries
 *   bun run test/bench/search.bench.ts CORPUS QUERIES exact    also the sensitivity of the prefilter
 */
import { Kernel } from "../../src/kernel/kernel.ts";
import { align, alignLocal } from "../../src/motif/align.ts";
import { blosumKernel, SCORING } from "../../src/motif/blosum-kernel.ts";
import { maskLowComplexity } from "../../src/motif/complexity.ts";
import { packCorpus } from "../../src/motif/corpus-builder.ts";
import { openCorpus, type Corpus } from "../../src/motif/corpus.ts";
import { findHomologs } from "../../src/motif/homologs.ts";
import { DEFAULTS } from "../../src/motif/options.ts";
import { readResidues, SCAN_LIMITS, search } from "../../src/motif/search.ts";
import { indexSeeds } from "../../src/motif/seed-index.ts";
import { mutated, random, randomProtein } from "../fixtures/random-protein.ts";
import { median } from "./harness.ts";

const SEED = 2024;

/** Minimum time of several runs in milliseconds, and the last result. */
function timed<T>(runs: number, work: () => T): { ms: number; result: T } {
  let ms = Infinity;
  let result = work();
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    result = work();
    ms = Math.min(ms, performance.now() - start);
  }
  return { ms, result };
}

function expectEqual(name: string, value: number, expected: number): void {
  if (value !== expected) throw new Error(`${name}: ${value}, expected ${expected}`);
}

/** 4,000 random proteins and 20 families of 50. */
function randomCorpus(): Corpus {
  const next = random(SEED);
  const sequences = Array.from({ length: 4000 }, () => randomProtein(next, 50 + Math.floor(next() * 650)));
  for (let family = 0; family < 20; family++) {
    const founder = randomProtein(next, 100 + Math.floor(next() * 500));
    for (let k = 0; k < 50; k++) sequences.push(mutated(next, founder, 0.1 + 0.012 * k));
  }
  const entries = sequences.map((residues, k) => ({
    accession: `R${k}`,
    description: "",
    organism: null,
    speciesKey: null,
    residues,
  }));
  return openCorpus(packCorpus("random", entries));
}

function measureKernels(): void {
  const next = random(SEED);
  const query = randomProtein(next, 400);
  const subjects = Array.from({ length: 16 }, () => randomProtein(next, 400));
  const kernel = new Kernel(SCORING);
  const rate = (ms: number, count: number): string => `${((400 * 400 * count) / ms / 1e6).toFixed(1)} GCUPS`;
  const narrow = timed(50, () => kernel.scores8(query, subjects));
  const wide = timed(50, () => kernel.scores16(query, subjects.slice(0, 8)));
  expectEqual(
    "different scores",
    [...wide.result].filter((score, k) => score !== narrow.result[k]).length,
    0,
  );
  console.log(`scores, 8 bits          ${rate(narrow.ms, 16)}`);
  console.log(`scores, 16 bits         ${rate(wide.ms, 8)}`);
  const long = randomProtein(next, 575);
  const relatives = Array.from({ length: 100 }, () => mutated(next, long, 0.5));
  const aligned = timed(5, () => align(long, relatives));
  expectEqual("alignments", aligned.result.length, 100);
  console.log(`align 100 of 575        ${aligned.ms.toFixed(1)} ms`);
}

const LIMITS = { maxEValue: 1e-5, minLength: 0, maxLength: 1e9 };

function measureSearches(corpus: Corpus, count: number, exact: boolean): { hits: number; homologs: number } {
  const next = random(SEED);
  const times: { seeds: number; scan: number; search: number; homologs: number }[] = [];
  let hits = 0;
  let homologs = 0;
  const sensitivity = { good: 0, found: 0 };
  while (times.length < count) {
    const query = readResidues(corpus, Math.floor(next() * corpus.sequenceCount)).slice();
    if (query.length < 40 || query.length > 2500) continue;
    const masked = maskLowComplexity(query);
    const seeds = timed(1, () => indexSeeds([masked]));
    const scan = timed(1, () =>
      blosumKernel().scan(
        seeds.result,
        { ...SCAN_LIMITS, minLength: 0, maxLength: 1e9 },
        corpus,
        [[0, corpus.sequenceCount]],
        () => {},
      ),
    );
    const searched = timed(1, () => search(query, corpus, { ...LIMITS, exhaustive: false }));
    const found = timed(1, () => findHomologs(query, corpus, DEFAULTS));
    times.push({ seeds: seeds.ms, scan: scan.ms, search: searched.ms, homologs: found.ms });
    hits += searched.result.length;
    homologs += found.result.length;
    if (!exact) continue;
    const foundIndexes = new Set(searched.result.map(({ index }) => index));
    const good = goodHits(query, corpus);
    sensitivity.good += good.length;
    sensitivity.found += good.filter((index) => foundIndexes.has(index)).length;
  }
  const formatMedian = (step: keyof (typeof times)[number]): string =>
    `${step} ${median(times.map((row) => row[step])).toFixed(1)} ms`;
  const steps = (["seeds", "scan", "search", "homologs"] as const).map(formatMedian).join(", ");
  console.log(`corpus                  ${corpus.sequenceCount} proteins, ${corpus.residueCount} residues`);
  console.log(`${count} queries, median: ${steps}`);
  console.log(`hits ${hits}, homologs ${homologs}; memory ${process.memoryUsage.rss() >> 20} MB`);
  if (exact) {
    const share = ((100 * sensitivity.found) / Math.max(1, sensitivity.good)).toFixed(2);
    console.log(`of ${sensitivity.good} hits with identity >= 30 %, coverage >= 50 %: ${share} % found`);
  }
  return { hits, homologs };
}

/** Indexes of hits with identity >= 30 % and coverage >= 50 %, by exhaustive search. */
function goodHits(query: Uint8Array, corpus: Corpus): number[] {
  const hits = search(query, corpus, { ...LIMITS, exhaustive: true });
  const aligned = alignLocal(
    query,
    hits.map(({ index }) => readResidues(corpus, index)),
  );
  return hits
    .filter((_, k) => aligned[k].identity >= 0.3 && aligned[k].coverage >= 0.5)
    .map(({ index }) => index);
}

const [file, count, mode] = Bun.argv.slice(2);
measureKernels();
if (file === undefined) {
  const { hits, homologs } = measureSearches(randomCorpus(), 20, false);
  expectEqual("hits", hits, 85);
  expectEqual("homologs", homologs, 65);
} else {
  measureSearches(openCorpus(Bun.mmap(file)), Number(count ?? 20), mode === "exact");
}
