/**
 * Data of the score benchmarks, read from the directory that LABD_BENCH_DATA names
 * (their licences do not allow including them), and the families of their proteins.
 *
 * Families are cached between runs in LABD_BENCH_CACHE (else in the temporary directory) as lists of
 * accessions, under a hash of all code that finds them; alignments are recomputed.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { align } from "../../src/motif/align.ts";
import { decode, GAP } from "../../src/motif/alphabet.ts";
import { type Corpus, openCorpus, packCorpus } from "../../src/motif/corpus.ts";
import { type Family, buildFamily, passesThresholds, measureHomolog } from "../../src/motif/divergence.ts";
import { readFasta } from "../../src/motif/fasta.ts";
import { findHits, findHomologs } from "../../src/motif/homologs.ts";
import { DEFAULTS } from "../../src/motif/options.ts";
import { alignProgressively } from "../../src/motif/progressive.ts";
import { readAlignment } from "../../src/motif/query.ts";
import { residuesOf } from "../../src/motif/search.ts";

export interface Case {
  accession: string;
  motifClass: string;
  expression: string;
  /** From 0, end exclusive. */
  start: number;
  end: number;
  isTrue: boolean;
  /** A: against the same class in other proteins; B: against other classes in the same protein; K: PairK. */
  parts: readonly ("A" | "B" | "K")[];
}

/** The directory of the benchmarks; exits if it is missing. */
export function benchData(): string {
  const directory = process.env.LABD_BENCH_DATA;
  if (!directory || !existsSync(join(directory, "bench_elm_dev.tsv"))) {
    console.error(
      "SKIPPED: set LABD_BENCH_DATA to a directory with bench_elm_dev.tsv, bench_pairk_dev.tsv and swissprot2014_elm_subset.fasta.xz.",
    );
    process.exit(0);
  }
  return directory;
}

function table(path: string): Record<string, string>[] {
  const [head, ...rows] = readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t"));
  return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i]])));
}

export function readCases(directory: string): Case[] {
  const parts = {
    positive: ["A", "B"],
    random_same_class: ["A"],
    random_same_protein: ["B"],
  } as const;
  const read = (
    row: Record<string, string>,
    motifClass: string,
    isTrue: boolean,
    caseParts: Case["parts"],
  ): Case => ({
    accession: row.accession,
    motifClass,
    expression: row.regex,
    start: Number(row.start) - 1,
    end: Number(row.end),
    isTrue,
    parts: caseParts,
  });
  const elm = table(join(directory, "bench_elm_dev.tsv"));
  const pairK = table(join(directory, "bench_pairk_dev.tsv"));
  return [
    ...elm.map((row) =>
      read(row, row.elm_class, row.set === "positive", parts[row.set as keyof typeof parts]),
    ),
    ...pairK.map((row) => read(row, row.slim_class, row.label === "1", ["K"])),
  ];
}

/** ELM's classes as published, for random matches; empty without the table. */
export function readClasses(directory: string): { name: string; expression: string }[] {
  const path = join(directory, "elm/elm_classes_2024-03-03.tsv");
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => !line.startsWith("#"));
  const cells = lines
    .filter(Boolean)
    .map((line) => line.split("\t").map((cell) => cell.replace(/^"|"$/g, "")));
  const at = (name: string): number => cells[0].findIndex((cell) => cell.toLowerCase() === name);
  const [name, expression] = [at("elmidentifier"), at("regex")];
  return cells.slice(1).map((row) => ({ name: row[name], expression: row[expression] }));
}

export function benchCorpus(directory: string): Corpus {
  const packed = Bun.spawnSync(["xz", "-dc", join(directory, "swissprot2014_elm_subset.fasta.xz")]);
  if (packed.exitCode !== 0) throw new Error("swissprot2014_elm_subset.fasta.xz could not be unpacked");
  return openCorpus(packCorpus("bench", readFasta(packed.stdout)));
}

/** Hash of the code that finds homologs. */
function codeVersion(): string {
  const hash = new Bun.CryptoHasher("sha256");
  const source = join(import.meta.dir, "../../src");
  const motif = ["homologs", "search", "seed-index", "statistics", "complexity", "align", "matrix", "corpus"];
  for (const name of motif) hash.update(readFileSync(join(source, `motif/${name}.ts`)));
  const kernel = readdirSync(join(source, "kernel"), { recursive: true, encoding: "utf8" }).sort();
  for (const name of kernel)
    if (name.endsWith(".ts")) hash.update(readFileSync(join(source, "kernel", name)));
  return hash.digest("hex").slice(0, 16);
}

const cacheRoot = (): string => process.env.LABD_BENCH_CACHE ?? join(tmpdir(), "labd-bench");

export function cacheDirectory(): string {
  const directory = join(cacheRoot(), codeVersion());
  mkdirSync(directory, { recursive: true });
  return directory;
}

/** Finds the families of these proteins that the cache lacks, in one pass over the corpus. */
export function findFamilies(corpus: Corpus, accessions: readonly string[], cache: string): void {
  const missing = accessions.filter(
    (accession) => corpus.findAccession(accession) >= 0 && !existsSync(join(cache, accession)),
  );
  if (missing.length === 0) return;
  const queries = missing.map((accession) => residuesOf(corpus, corpus.findAccession(accession)));
  const letters = queries.map((query) => decode(query));
  const hits = findHits(letters, corpus, DEFAULTS, new Int32Array(new SharedArrayBuffer(4)));
  for (const [k, accession] of missing.entries()) {
    const found = findHomologs(queries[k], corpus, DEFAULTS, () => {}, hits[k]);
    const path = join(cache, accession);
    writeFileSync(`${path}.part`, found.map(({ index }) => corpus.accession(index)).join("\n"));
    renameSync(`${path}.part`, path);
  }
}

/** The family of a protein, or null if the corpus lacks the protein. */
export function familyIn(corpus: Corpus, accession: string, cache: string): Family | null {
  const at = corpus.findAccession(accession);
  if (at < 0) return null;
  const query = residuesOf(corpus, at);
  const path = join(cache, accession);
  findFamilies(corpus, [accession], cache);
  const names = readFileSync(path, "utf8").split("\n").filter(Boolean);
  const rows = align(
    query,
    names.map((name) => residuesOf(corpus, corpus.findAccession(name))),
  );
  const aligned = alignProgressively(
    query,
    rows.map(({ row }) => row),
  );
  return buildFamily(
    query,
    aligned.map((row) => measureHomolog(query, row)).filter((homolog) => passesThresholds(homolog, DEFAULTS)),
  );
}

/** The same from a given alignment in FASTA, query first; null if it is missing. */
export function familyFromFile(path: string): Family | null {
  if (!existsSync(path)) return null;
  const rows = readFileSync(path, "utf8")
    .split(">")
    .slice(1)
    .map((block) => {
      const line = block.indexOf("\n");
      return { name: block.slice(0, line), letters: block.slice(line).replaceAll(/\s/g, "") };
    });
  const { query, rows: aligned } = readAlignment(rows);
  const homologs = aligned
    .map((row) => measureHomolog(query, row))
    .filter((h) => passesThresholds(h, DEFAULTS));
  return buildFamily(query, homologs.slice(0, DEFAULTS.maxHomologs));
}

/** MAFFT's alignments, unpacked into the cache; null if the data have none. */
export function mafftDirectory(directory: string): string | null {
  const packed = join(directory, "elm_mafft_alignments.tar.xz");
  if (!existsSync(packed)) return null;
  const out = cacheRoot();
  mkdirSync(out, { recursive: true });
  if (!existsSync(join(out, "aln")) && !Bun.spawnSync(["tar", "xJf", packed, "-C", out]).success)
    throw new Error(`${packed} could not be unpacked`);
  return join(out, "aln");
}

/** Column means of the weighted Shannon entropy, negated so that higher is more conserved. */
export function entropyScore({ query, homologs }: Family, start: number, end: number): number {
  let sum = 0;
  for (let column = start; column < end; column++) {
    const counts = new Float64Array(32);
    counts[query[column]]++;
    for (const { row } of homologs) if (row.anchored[column] !== GAP) counts[row.anchored[column]]++;
    const total = counts.reduce((a, b) => a + b, 0);
    for (const count of counts) if (count > 0) sum += (count / total) * Math.log2(count / total);
  }
  return sum / (end - start);
}
