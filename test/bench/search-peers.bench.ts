/**
 * Homolog search compared with blastp, diamond and mmseqs2: same queries and proteins, two threads, E ≤ 1e-5,
 * a process per search, databases prepared.
 *
 *   bun run test/bench/search-peers.bench.ts FASTA WORK_DIRECTORY [SINGLES [TENS [HUNDREDS]]]
 *
 * WORK_DIRECTORY keeps the databases. Batches of 1, 10 and 100 queries (5, 3 and 1 by default) go to all
 * programs in turn. Good hits have, in labd's local alignment, 30 % identity over half of the query.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { alignLocal } from "../../src/motif/align.ts";
import { CorpusBuilder, decode, encode, openCorpus, readFasta, type Corpus } from "../../src/motif/index.ts";
import { readResidues } from "../../src/motif/search.ts";
import { random } from "../fixtures/random-protein.ts";
import { median } from "./harness.ts";

const SEED = 2024;
const THREADS = "2";
const E = "1e-5";
/** No limit on the number of hits. */
const MANY = "100000";
const MIN_IDENTITY = 0.3;
const MIN_COVERAGE = 0.5;

const [fasta, directory, ...counts] = Bun.argv.slice(2);
if (fasta === undefined || directory === undefined) {
  throw new Error("usage: search-peers.bench.ts FASTA WORK_DIRECTORY [SINGLES [TENS [HUNDREDS]]]");
}
mkdirSync(directory, { recursive: true });
const at = (name: string): string => join(directory, name);

/** Runs a command; returns wall-clock and processor seconds. @throws if it fails */
async function run(command: readonly string[], output?: string): Promise<{ wall: number; cpu: number }> {
  const start = performance.now();
  const stdout = output === undefined ? ("ignore" as const) : Bun.file(output);
  const child = Bun.spawn([...command], { stdout, stderr: "pipe" });
  const message = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${message}`);
  const cpu = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6;
  return { wall: (performance.now() - start) / 1000, cpu };
}

interface Program {
  name: string;
  executable: string;
  /** File that exists if the database does, and the commands that create it. */
  database: string;
  prepare: readonly (readonly string[])[];
  /** Searches; the output has the query first, the subject second. */
  search(queries: string, output: string): Promise<{ wall: number; cpu: number }>;
}

/** Bundled, as in the executable. */
const SEARCH_PROCESS = at("search-process.js");
await Bun.build({
  entrypoints: [new URL("search-process.ts", import.meta.url).pathname],
  target: "bun",
  minify: true,
  outdir: directory,
});
const labd = (name: string, ...flags: string[]): Program => ({
  name,
  executable: process.execPath,
  database: at("corpus"),
  prepare: [],
  search: (queries, output) =>
    run([process.execPath, SEARCH_PROCESS, at("corpus"), queries, THREADS, ...flags], output),
});
const mmseqs = (name: string, database: string, prepare: Program["prepare"]): Program => ({
  name,
  executable: "mmseqs",
  database: at(`${database}.done`),
  prepare: [...prepare, ["touch", at(`${database}.done`)]],
  search: (queries, output) => {
    const work = at("mmseqs-work");
    rmSync(work, { recursive: true, force: true });
    const format = ["--format-output", "query,target,evalue"];
    const search = ["mmseqs", "easy-search", queries, at(database), output, work, ...format];
    return run([...search, "--threads", THREADS, "-e", E, "--max-seqs", MANY, "-v", "1"]);
  },
});
const PROGRAMS: readonly Program[] = [
  labd("labd, hits of every length"),
  labd("labd, hits with the lengths of homologs", "bounded"),
  {
    name: "blastp",
    executable: "blastp",
    database: at("blast.pin"),
    prepare: [["makeblastdb", "-in", fasta, "-dbtype", "prot", "-out", at("blast")]],
    search: (queries, output) => {
      const format = ["-outfmt", "6 qseqid sseqid evalue", "-max_target_seqs", MANY];
      const search = ["blastp", "-db", at("blast"), "-query", queries, "-evalue", E, ...format];
      return run([...search, "-num_threads", THREADS], output);
    },
  },
  {
    name: "diamond",
    executable: "diamond",
    database: at("diamond.dmnd"),
    prepare: [["diamond", "makedb", "--in", fasta, "-d", at("diamond"), "--threads", THREADS]],
    search: (queries, output) => {
      const format = ["-f", "6", "qseqid", "sseqid", "evalue", "-k", "0", "-o", output];
      const search = ["diamond", "blastp", "-d", at("diamond.dmnd"), "-q", queries, "-e", E, ...format];
      return run([...search, "--threads", THREADS, "--quiet"]);
    },
  },
  mmseqs("mmseqs2 without index", "mmseqs", [["mmseqs", "createdb", fasta, at("mmseqs"), "-v", "1"]]),
  mmseqs("mmseqs2 with index", "mmseqs-indexed", [
    ["mmseqs", "createdb", fasta, at("mmseqs-indexed"), "-v", "1"],
    ["mmseqs", "createindex", at("mmseqs-indexed"), at("mmseqs-index-work"), "--threads", THREADS, "-v", "1"],
  ]),
];

async function openPackedCorpus(): Promise<Corpus> {
  if (!existsSync(at("corpus"))) {
    const builder = new CorpusBuilder("peers");
    for (const entry of readFasta(await Bun.file(fasta).bytes())) builder.add(entry);
    const writer = Bun.file(at("corpus")).writer();
    for (const chunk of builder.finish().chunks) writer.write(chunk);
    await writer.end();
  }
  return openCorpus(Bun.mmap(at("corpus")));
}

/** Accession of a name in another program's output. */
const parseAccession = (name: string): string => (name.includes("|") ? name.split("|")[1] : name);

/** Indexes of the subjects found, by query. */
async function readHits(output: string, corpus: Corpus): Promise<Map<string, Set<number>>> {
  const found = new Map<string, Set<number>>();
  for (const line of (await Bun.file(output).text()).split("\n")) {
    if (line === "") continue;
    const [query, subject] = line.split("\t");
    const subjects = found.get(parseAccession(query)) ?? new Set();
    found.set(parseAccession(query), subjects.add(corpus.findAccession(parseAccession(subject))));
  }
  return found;
}

interface Outcome {
  wall: number[];
  cpu: number[];
  hits: number;
  /** Query and subject of good hits. */
  good: Set<string>;
}

/** Prints times, hits and overlap with the first program. */
function print(size: number, outcomes: Map<Program, Outcome>): void {
  const [first] = outcomes.values();
  console.log(`\nbatches of ${size} (${first.wall.length})`);
  console.log("program\ts/query\tcpu s/query\tratio to labd\thits\tgood\tfound by labd\tof labd's good hits");
  for (const [{ name }, { wall, cpu, hits, good }] of outcomes) {
    const both = [...good].filter((pair) => first.good.has(pair)).length;
    const share = (of: number): string => `${((100 * both) / Math.max(1, of)).toFixed(2)} %`;
    const ratio = median(wall.map((seconds, k) => seconds / first.wall[k]));
    const numbers = [median(wall) / size, median(cpu) / size, ratio].map((value) => value.toFixed(3));
    console.log([name, ...numbers, hits, good.size, share(good.size), share(first.good.size)].join("\t"));
  }
}

const corpus = await openPackedCorpus();
const programs: Program[] = [];
for (const program of PROGRAMS) {
  if (Bun.which(program.executable) === null) {
    console.log(`SKIPPED ${program.name}: ${program.executable} is not installed`);
    continue;
  }
  if (!existsSync(program.database)) for (const command of program.prepare) await run(command);
  programs.push(program);
}
console.log(
  `${corpus.sequenceCount} proteins, ${corpus.residueCount} residues; ${THREADS} threads; times include process start`,
);

const next = random(SEED);
const queried = new Set<number>();
/** Draws queries of 40 to 2,500 residues without repetition. */
function draw(): number {
  for (;;) {
    const index = Math.floor(next() * corpus.sequenceCount);
    const { length } = readResidues(corpus, index);
    if (length < 40 || length > 2500 || queried.has(index)) continue;
    queried.add(index);
    return index;
  }
}

const goodPairs = new Map<string, boolean>();
/** Query and subject of the good hits of a query, by the local alignment. */
function findGood(query: number, subjects: readonly number[]): string[] {
  const pairs = subjects.map((subject) => `${query} ${subject}`);
  const unknown = subjects.filter((_, k) => !goodPairs.has(pairs[k]));
  const aligned = alignLocal(
    encode(decode(readResidues(corpus, query))),
    unknown.map((subject) => readResidues(corpus, subject)),
  );
  for (const [k, { identity, coverage }] of aligned.entries())
    goodPairs.set(`${query} ${unknown[k]}`, identity >= MIN_IDENTITY && coverage >= MIN_COVERAGE);
  return pairs.filter((pair) => goodPairs.get(pair));
}

/** Searches a batch with one program and adds to its outcome. */
async function searchBatch(program: Program, queries: readonly number[], outcome: Outcome): Promise<void> {
  const output = at("hits.tsv");
  rmSync(output, { force: true });
  const { wall, cpu } = await program.search(at("queries.fasta"), output);
  outcome.wall.push(wall);
  outcome.cpu.push(cpu);
  const hits = await readHits(output, corpus);
  for (const query of queries) {
    const subjects = [...(hits.get(corpus.accession(query)) ?? [])];
    outcome.hits += subjects.length;
    for (const pair of findGood(query, subjects)) outcome.good.add(pair);
  }
}

for (const [i, size] of [1, 10, 100].entries()) {
  const outcomes = new Map(
    programs.map((program): [Program, Outcome] => [program, { wall: [], cpu: [], hits: 0, good: new Set() }]),
  );
  const batches = Number(counts[i] ?? [5, 3, 1][i]);
  for (let batch = 0; batch < batches; batch++) {
    const queries = Array.from({ length: size }, draw);
    const entries = queries.map(
      (index) => `>${corpus.accession(index)}\n${decode(readResidues(corpus, index))}\n`,
    );
    await Bun.write(at("queries.fasta"), entries.join(""));
    for (const [program, outcome] of outcomes) await searchBatch(program, queries, outcome);
  }
  if (batches > 0) print(size, outcomes);
}
