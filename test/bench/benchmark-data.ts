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
import { packCorpus } from "../../src/motif/corpus-builder.ts";
import { type Corpus, openCorpus } from "../../src/motif/corpus.ts";
import { type Family, buildFamily, passesThresholds, measureHomolog } from "../../src/motif/divergence.ts";
import { readFasta } from "../../src/motif/fasta.ts";
import { findHits, findHomologs } from "../../src/motif/homologs.ts";
import { DEFAULTS } from "../../src/motif/options.ts";
import { alignProgressively } from "../../src/motif/progressive.ts";
import { readAlignment } from "../../src/motif/query.ts";
import { readResidues, searchRanges } from "../../src/motif/search.ts";

interface Site {
  accession: string;
  expression: string;
  /** From 0, end exclusive. */
  start: number;
  end: number;
}

export interface Case extends Site {
  motifClass: string;
  isTrue: boolean;
  /** A: against the same class in other proteins; B: against other classes in the same protein; K: PairK. */
  parts: readonly ("A" | "B" | "K")[];
  /** A random match that an annotated instance of its class in a homolog aligns with: probably true. */
  isSuspect: boolean;
  /** Published scores of PairK's benchmark, by method. */
  published: Readonly<Record<string, number>>;
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
  const key = (row: Record<string, string>): string => `${row.accession} ${row.elm_class} ${row.start}`;
  const suspects = new Set(table(join(directory, "bench_elm_dev_suspect.tsv")).map(key));
  const toCase = (row: Record<string, string>, rest: Omit<Case, keyof Site>): Case => ({
    ...rest,
    accession: row.accession,
    expression: row.regex,
    start: Number(row.start) - 1,
    end: Number(row.end),
  });
  const elm = table(join(directory, "bench_elm_dev.tsv")).map((row) =>
    toCase(row, {
      motifClass: row.elm_class,
      isTrue: row.set === "positive",
      parts: parts[row.set as keyof typeof parts],
      isSuspect: row.set !== "positive" && suspects.has(key(row)),
      published: {},
    }),
  );
  const pairK = table(join(directory, "bench_pairk_dev.tsv")).map((row) =>
    toCase(row, {
      motifClass: row.slim_class,
      isTrue: row.label === "1",
      parts: ["K"],
      isSuspect: false,
      published: Object.fromEntries(
        Object.entries(row)
          .filter(([name, value]) => name.startsWith("pairk:") && value !== "")
          .map(([name, value]) => [name.replace("pairk:", ""), Number(value)]),
      ),
    }),
  );
  return [...elm, ...pairK];
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

/** Organisms of the proteins whose species is known, by accession. */
export function readOrganisms(directory: string): Map<string, string> {
  const rows = unpack(directory, "swissprot_names.tsv.xz").toString().split("\n").slice(1).filter(Boolean);
  return new Map(rows.map((row) => row.split("\t")).map((cells) => [cells[0], cells[4]]));
}

export function benchCorpus(directory: string): Corpus {
  return openCorpus(packCorpus("bench", readFasta(unpack(directory, "swissprot2014_elm_subset.fasta.xz"))));
}

/** The content of a file compressed with xz. */
export function unpack(directory: string, name: string): Buffer {
  const { exitCode, stdout } = Bun.spawnSync(["xz", "-dc", join(directory, name)]);
  if (exitCode !== 0) throw new Error(`${name} could not be unpacked`);
  return stdout;
}

/** Hash of the code that finds homologs. */
function codeVersion(): string {
  const hash = new Bun.CryptoHasher("sha256");
  const source = join(import.meta.dir, "../../src");
  const search = [
    "homologs",
    "search",
    "seed-index",
    "statistics",
    "complexity",
    "align",
    "matrix",
    "corpus",
  ];
  const motif = [...search, "composition-adjustment", "extension"];
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
  const queries = missing.map((accession) => readResidues(corpus, corpus.findAccession(accession)));
  const letters = queries.map((query) => decode(query));
  const hits = findHits(letters, corpus, DEFAULTS, new Int32Array(new SharedArrayBuffer(4)));
  for (const [k, accession] of missing.entries()) {
    const found = findHomologs(queries[k], corpus, DEFAULTS, () => {}, hits[k]);
    const path = join(cache, accession);
    writeFileSync(`${path}.part`, found.map(({ index }) => corpus.accession(index)).join("\n"));
    renameSync(`${path}.part`, path);
  }
}

/** A name for each group of proteins that are homologs of each other, directly or through others. */
export function groupByHomology(
  corpus: Corpus,
  accessions: readonly string[],
  maxEValue = DEFAULTS.maxEValue,
): Map<string, string> {
  const residues = accessions.map((accession) => readResidues(corpus, corpus.findAccession(accession)));
  const entries = accessions.map((accession, k) => ({
    accession,
    description: "",
    organism: null,
    speciesKey: null,
    residues: residues[k],
  }));
  const small = openCorpus(packCorpus("proteins", entries));
  const parent = Int32Array.from(accessions.keys());
  const findRoot = (k: number): number => {
    while (parent[k] !== k) k = parent[k];
    return k;
  };
  const options = { maxEValue, exhaustive: false, minLength: 0, maxLength: 1e9 };
  for (let from = 0; from < residues.length; from += 16) {
    const requests = residues.slice(from, from + 16).map((query) => ({ query, options }));
    const found = searchRanges(requests, small, [[0, small.sequenceCount]]);
    for (const [k, hits] of found.entries())
      for (const { index } of hits)
        parent[findRoot(from + k)] = findRoot(accessions.indexOf(small.accession(index)));
  }
  return new Map(accessions.map((accession, k) => [accession, accessions[findRoot(k)]]));
}

/** The family of a protein, or null if the corpus lacks the protein. */
export function familyIn(corpus: Corpus, accession: string, cache: string): Family | null {
  const at = corpus.findAccession(accession);
  if (at < 0) return null;
  const query = readResidues(corpus, at);
  const path = join(cache, accession);
  findFamilies(corpus, [accession], cache);
  const names = readFileSync(path, "utf8").split("\n").filter(Boolean);
  const rows = align(
    query,
    names.map((name) => readResidues(corpus, corpus.findAccession(name))),
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

/** Reads a family from an alignment in FASTA, query first; null if it is missing. */
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
