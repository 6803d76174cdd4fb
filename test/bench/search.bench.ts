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
import { openCorpus, packCorpus, type Corpus } from "../../src/motif/corpus.ts";
import { findHomologs } from "../../src/motif/homologs.ts";
import { DEFAULTS } from "../../src/motif/options.ts";
import { MIN_EXTENSION_SCORE, residuesOf, search } from "../../src/motif/search.ts";
import { indexSeeds } from "../../src/motif/seed-index.ts";
import { mutated, random, randomProtein } from "../fixtures/random-protein.ts";
import { median } from "./harness.ts";

const SEED = 2024;
const OPEN = { xDrop: 10, minSeedScore: 27, minLength: 0, maxLength: 1e9 };

/** Minimum time of some runs in milliseconds, and the last result. */
function timed<T>(runs: number, work: () => T): { ms: number; result: T } {
  let ms = Infinity;
  let result = work();
  for (let run = 0; run < runs; run++) {
    const begin = performance.now();
    result = work();
    ms = Math.min(ms, performance.now() - begin);
  }
  return { ms, result };
}

function pinned(what: string, value: number, wanted: number): void {
  if (value !== wanted) throw new Error(`${what}: ${value}, expected ${wanted}`);
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

function kernels(): void {
  const next = random(SEED);
  const query = randomProtein(next, 400);
  const subjects = Array.from({ length: 16 }, () => randomProtein(next, 400));
  const kernel = new Kernel(SCORING);
  const cells = (ms: number, count: number): string => `${((400 * 400 * count) / ms / 1e6).toFixed(1)} GCUPS`;
  const narrow = timed(50, () => kernel.scores8(query, subjects));
  const wide = timed(50, () => kernel.scores16(query, subjects.slice(0, 8)));
  pinned("scores differ", [...wide.result].filter((score, k) => score !== narrow.result[k]).length, 0);
  console.log(`scores, 8 bits          ${cells(narrow.ms, 16)}`);
  console.log(`scores, 16 bits         ${cells(wide.ms, 8)}`);
  const long = randomProtein(next, 575);
  const relatives = Array.from({ length: 100 }, () => mutated(next, long, 0.5));
  const made = timed(5, () => align(long, relatives));
  pinned("alignments", made.result.length, 100);
  console.log(`align 100 of 575        ${made.ms.toFixed(1)} ms`);
}

function searches(corpus: Corpus, count: number, exact: boolean): { hits: number; homologs: number } {
  const next = random(SEED);
  const rows: { seeds: number; scan: number; search: number; homologs: number }[] = [];
  let hits = 0;
  let homologs = 0;
  let good = 0;
  let kept = 0;
  while (rows.length < count) {
    const index = Math.floor(next() * corpus.sequenceCount);
    const query = residuesOf(corpus, index).slice();
    if (query.length < 40 || query.length > 2500) continue;
    const masked = maskLowComplexity(query);
    const made = timed(1, () => indexSeeds(masked));
    const scanned = timed(1, () =>
      blosumKernel().scan(
        masked,
        made.result.table,
        OPEN,
        corpus.residues,
        corpus.offsets,
        [[0, corpus.sequenceCount]],
        MIN_EXTENSION_SCORE,
        () => {},
      ),
    );
    const open = { maxEValue: 1e-5, exhaustive: false, minLength: 0, maxLength: 1e9 };
    const searched = timed(1, () => search(query, corpus, open));
    const found = timed(1, () => findHomologs(query, corpus, DEFAULTS));
    rows.push({ seeds: made.ms, scan: scanned.ms, search: searched.ms, homologs: found.ms });
    hits += searched.result.length;
    homologs += found.result.length;
    if (!exact) continue;
    const quick = new Set(searched.result.map((hit) => hit.index));
    const all = search(query, corpus, { ...open, exhaustive: true });
    const aligned = alignLocal(
      query,
      all.map((hit) => residuesOf(corpus, hit.index)),
    );
    for (const [k, hit] of all.entries()) {
      if (aligned[k].identity < 0.3 || aligned[k].coverage < 0.5) continue;
      good++;
      if (quick.has(hit.index)) kept++;
    }
  }
  const of = (what: keyof (typeof rows)[number]): string =>
    `${median(rows.map((row) => row[what])).toFixed(1)} ms`;
  console.log(`corpus                  ${corpus.sequenceCount} proteins, ${corpus.residueCount} residues`);
  console.log(
    `${count} queries, median: seeds ${of("seeds")}, scan ${of("scan")}, search ${of("search")}, homologs ${of("homologs")}`,
  );
  console.log(`hits ${hits}, homologs ${homologs}; memory ${process.memoryUsage.rss() >> 20} MB`);
  if (exact) {
    const part = ((100 * kept) / Math.max(1, good)).toFixed(2);
    console.log(`of ${good} hits with identity >= 30 %, coverage >= 50 %: ${part} % found`);
  }
  return { hits, homologs };
}

const [file, count, mode] = Bun.argv.slice(2);
kernels();
if (file === undefined) {
  const { hits, homologs } = searches(randomCorpus(), 20, false);
  pinned("hits", hits, 85);
  pinned("homologs", homologs, 65);
} else {
  searches(openCorpus(Bun.mmap(file)), Number(count ?? 20), mode === "exact");
}
