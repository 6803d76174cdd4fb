/**
 * Speed and accuracy of the alignment compared with kalign and MAFFT where installed (docs/quality.md).
 *
 *   bun run test/bench/align.bench.ts                        simulated families with known alignment
 *   LABD_BENCH_DATA=DIR bun run test/bench/align.bench.ts    also AUC on MAFFT's alignments
 */
import { join } from "node:path";
import { align } from "../../src/motif/align.ts";
import { GAP } from "../../src/motif/alphabet.ts";
import { findMatches, findMatchPath, lookaroundTable } from "../../src/motif/automaton-matches.ts";
import { buildFamily, measureHomolog } from "../../src/motif/divergence.ts";
import { computeEvidence } from "../../src/motif/evidence.ts";
import type { Row } from "../../src/motif/msa.ts";
import { MIN_HOMOLOGS } from "../../src/motif/options.ts";
import { parsePattern } from "../../src/motif/pattern.ts";
import { alignProgressively } from "../../src/motif/progressive.ts";
import { openMotif } from "../../src/motif/retention.ts";
import { random } from "../fixtures/random-protein.ts";
import { benchData, type Case, familyFromFile, mafftDirectory, readCases } from "./benchmark-data.ts";
import { areaUnderCurve } from "./additive.ts";
import { type Aligner, printFasta, peerAligners, parseRows, runAligner } from "./peer-aligners.ts";
import { type SimulatedFamily, simulateFamily } from "../fixtures/simulated-family.ts";
import { median } from "./harness.ts";

const SEED = 575;
const RUNS = 21;
const FAMILIES = 60;
/** Residues on each side of the motif that count as its region. */
const MARGIN = 5;

const peers = peerAligners();
/** Pairwise with the query. */
const alignPairwise = (sequences: readonly Uint8Array[]): Row[] =>
  align(sequences[0], sequences.slice(1)).map(({ row }) => row);
/** Progressively. */
const alignTogether = (sequences: readonly Uint8Array[]): Row[] =>
  alignProgressively(sequences[0], alignPairwise(sequences));

speed();
for (const depth of [0.4, 0.8, 1.2]) accuracy(depth);
if (process.env.LABD_BENCH_DATA) discrimination();

/** 101 sequences of about 575 residues; all programs in turn. */
function speed(): void {
  const next = random(SEED);
  const { sequences } = simulateFamily(next, { sequences: 101, length: 540, depth: 0.8 });
  const residues = sequences.reduce((sum, { length }) => sum + length, 0);
  const [large, small] = [
    printFasta(sequences),
    printFasta(sequences.slice(0, 3).map((s) => s.subarray(0, 40))),
  ];
  const times = new Map<string, number[]>();
  const record = (name: string, work: () => void): void => {
    const start = performance.now();
    work();
    times.set(name, [...(times.get(name) ?? []), performance.now() - start]);
  };
  alignTogether(sequences);
  for (let run = 0; run < RUNS; run++) {
    record("labd, together", () => alignTogether(sequences));
    record("labd, pairwise", () => alignPairwise(sequences));
    for (const peer of peers) {
      record(peer.name, () => runAligner(peer, large));
      record(`${peer.name}, start only`, () => runAligner(peer, small));
    }
  }
  console.log(`101 sequences of ${Math.round(residues / 101)} residues, median of ${RUNS} runs in turn`);
  const time = (name: string): number => median(times.get(name)!);
  const ours = time("labd, together");
  for (const name of times.keys()) {
    console.log(
      `${name.padEnd(30)}${time(name).toFixed(0).padStart(6)} ms${(time(name) / ours).toFixed(1).padStart(8)} ×`,
    );
  }
}

interface Accuracy {
  /** Homologous pairs of residues, and those found. */
  pairs: number;
  found: number;
  /** Columns, and those with every homolog correct, gaps included. */
  columns: number;
  correct: number;
}

function measured(family: SimulatedFamily, rows: readonly Row[], from: number, to: number): Accuracy {
  const out = { pairs: 0, found: 0, columns: 0, correct: 0 };
  const [querySites, ...sites] = family.sites;
  const places = sites.map((residues) => new Map([...residues].map((site, i) => [site, i])));
  for (let column = Math.max(0, from); column < Math.min(querySites.length, to); column++) {
    let isCorrect = true;
    for (const [k, row] of rows.entries()) {
      const truth = places[k].get(querySites[column]);
      const given = row.anchored[column] === GAP ? undefined : row.before[column];
      if (truth !== undefined) {
        out.pairs++;
        if (given === truth) out.found++;
      }
      if (given !== truth) isCorrect = false;
    }
    out.columns++;
    if (isCorrect) out.correct++;
  }
  return out;
}

function accuracy(depth: number): void {
  const next = random(SEED + 1);
  const aligners: { name: string; rows: (sequences: Uint8Array[]) => Row[] }[] = [
    { name: "labd", rows: alignTogether },
    { name: "labd, pairwise", rows: alignPairwise },
    ...peers.map((peer: Aligner) => ({
      name: peer.name,
      rows: (sequences: Uint8Array[]) => parseRows(runAligner(peer, printFasta(sequences))),
    })),
  ];
  const regions = ["motif", `motif ± ${MARGIN}`, "all"] as const;
  const sums = aligners.map(() => regions.map(() => ({ pairs: 0, found: 0, columns: 0, correct: 0 })));
  let identity = 0;
  for (let k = 0; k < FAMILIES; k++) {
    const family = simulateFamily(next, { sequences: 10 + Math.floor(next() * 41), length: 300, depth });
    const { start, end } = family.motif;
    const bounds = [
      [start, end],
      [start - MARGIN, end + MARGIN],
      [0, family.sequences[0].length],
    ];
    const [query, ...others] = family.sequences;
    const identities = align(query, others).map((one) => one.identity);
    identity += identities.reduce((a, b) => a + b, 0) / identities.length;
    for (const [a, { rows }] of aligners.entries()) {
      const got = rows(family.sequences);
      for (const [r, [from, to]] of bounds.entries()) {
        const here = measured(family, got, from, to);
        for (const key of ["pairs", "found", "columns", "correct"] as const) sums[a][r][key] += here[key];
      }
    }
  }
  console.log(
    `\n${FAMILIES} simulated families, mean identity to the query ${((100 * identity) / FAMILIES).toFixed(0)} %: pairs found / correct columns, in %`,
  );
  console.log(`${"".padEnd(18)}${regions.map((region) => region.padStart(16)).join("")}`);
  for (const [a, { name }] of aligners.entries()) {
    const cells = sums[a].map(
      ({ pairs, found, columns, correct }) =>
        `${((100 * found) / pairs).toFixed(1)} / ${((100 * correct) / columns).toFixed(1)}`,
    );
    console.log(`${name.padEnd(18)}${cells.map((cell) => cell.padStart(16)).join("")}`);
  }
}

/** AUC of z on MAFFT's alignments and ours of the same sequences. */
function discrimination(): void {
  const directory = benchData();
  const mafft = mafftDirectory(directory);
  if (mafft === null) return console.error("SKIPPED: the data have no MAFFT alignments");
  const scored: { group: string; isTrue: boolean; parts: Case["parts"]; z: number[] }[] = [];
  for (const [accession, cases] of Map.groupBy(readCases(directory), (one) => one.accession)) {
    const given = familyFromFile(join(mafft, `${accession}.fa`));
    if (given === null || given.homologs.length < MIN_HOMOLOGS) continue;
    const { query } = given;
    const sequences = [query, ...given.homologs.map(({ row }) => row.residues)];
    const families = [alignTogether(sequences), alignPairwise(sequences)].map((rows) =>
      buildFamily(
        query,
        rows.map((row) => measureHomolog(query, row)),
      ),
    );
    for (const one of cases) {
      const { automaton } = parsePattern(one.expression, "elm");
      const lookarounds = lookaroundTable(automaton, query);
      const path = findMatchPath(automaton, query, one, lookarounds);
      if (path === null) continue;
      const count = findMatches(automaton, query, lookarounds).length;
      const numbers = [...families, given].map((family) =>
        computeEvidence(openMotif(automaton, "discontinuous"), family, one, path, count),
      );
      if (numbers.some(({ homologs, z }) => homologs < MIN_HOMOLOGS || z === null)) continue;
      scored.push({ group: accession, isTrue: one.isTrue, parts: one.parts, z: numbers.map(({ z }) => z!) });
    }
  }
  console.log("\nareas under the curve of z, same sequences, same matches: A, B, K");
  for (const [k, name] of ["labd", "labd, pairwise", "MAFFT"].entries()) {
    const areas = (["A", "B", "K"] as const).map((part) =>
      areaUnderCurve(
        scored.filter(({ parts }) => parts.includes(part)).map(({ isTrue, z }) => ({ isTrue, score: z[k] })),
      ).toFixed(4),
    );
    console.log(`${name.padEnd(18)}${areas.join("  ")}`);
  }
  console.log(`of ${scored.length} matches`);
}
