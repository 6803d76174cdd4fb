/**
 * Homolog search compared with blastp, diamond and mmseqs2: same queries and proteins, two threads, E ≤ 1e-5,
 * a process per search, databases prepared.
 *
 *   bun run test/bench/search-peers.bench.ts FASTA WORK_DIRECTORY [SINGLES [TENS [HUNDREDS]]]
 *
 * WORK_DIRECTORY keeps the databases. Batches of 1, 10 and 100 queries (5, 3 and 1 by default) go to all
 * programs in turn. Good hits have, by our local alignment, 30 % identity over half of the query.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { alignLocal } from "../../src/motif/align.ts";
import { CorpusBuilder, decode, encode, openCorpus, readFasta, type Corpus } from "../../src/motif/index.ts";
import { residuesOf } from "../../src/motif/search.ts";
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
async function run(command: readonly string[], output?: string): Promise<{ wall: number; busy: number }> {
  const begin = performance.now();
  const stdout = output === undefined ? ("ignore" as const) : Bun.file(output);
  const child = Bun.spawn([...command], { stdout, stderr: "pipe" });
  const complaint = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${complaint}`);
  const busy = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6;
  return { wall: (performance.now() - begin) / 1000, busy };
}

interface Program {
  name: string;
  needs: string;
  /** File that exists if the database does, and the commands that create it. */
  database: string;
  prepare: readonly (readonly string[])[];
  /** Searches; the output has the query first, the subject second. */
  search(queries: string, output: string): Promise<{ wall: number; busy: number }>;
}

const OWN = new URL("search-process.ts", import.meta.url).pathname;
const own = (name: string, ...more: string[]): Program => ({
  name,
  needs: process.execPath,
  database: at("corpus"),
  prepare: [],
  search: (queries, output) => run([process.execPath, OWN, at("corpus"), queries, THREADS, ...more], output),
});
const mmseqs = (name: string, database: string, prepare: Program["prepare"]): Program => ({
  name,
  needs: "mmseqs",
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
  own("labd, hits of every length"),
  own("labd, lengths of its homologs", "bounded"),
  {
    name: "blastp",
    needs: "blastp",
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
    needs: "diamond",
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

async function packed(): Promise<Corpus> {
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
const accessionOf = (name: string): string => (name.includes("|") ? name.split("|")[1] : name);

/** Indexes of the subjects found, by query. */
async function foundBy(output: string, corpus: Corpus): Promise<Map<string, Set<number>>> {
  const found = new Map<string, Set<number>>();
  for (const line of (await Bun.file(output).text()).split("\n")) {
    if (line === "") continue;
    const [query, subject] = line.split("\t");
    const own = found.get(accessionOf(query)) ?? new Set();
    found.set(accessionOf(query), own.add(corpus.findAccession(accessionOf(subject))));
  }
  return found;
}

interface Outcome {
  walls: number[];
  busy: number[];
  hits: number;
  /** Query and subject of good hits. */
  good: Set<string>;
}

/** Prints times, hits and overlap with the first program. */
function print(size: number, outcomes: Map<string, Outcome>): void {
  const [first] = outcomes.values();
  console.log(`\nbatches of ${size} (${first.walls.length} of them)`);
  console.log(
    "program\ts/query\tcpu s/query\ttimes labd's\thits\tgood\tof theirs labd has\tof labd's they have",
  );
  for (const [name, { walls, busy, hits, good }] of outcomes) {
    const both = [...good].filter((pair) => first.good.has(pair)).length;
    const share = (of: number): string => `${((100 * both) / Math.max(1, of)).toFixed(2)} %`;
    const ratio = median(walls.map((wall, k) => wall / first.walls[k]));
    const numbers = [median(walls) / size, median(busy) / size, ratio].map((value) => value.toFixed(3));
    console.log([name, ...numbers, hits, good.size, share(good.size), share(first.good.size)].join("\t"));
  }
}

const corpus = await packed();
const programs: Program[] = [];
for (const program of PROGRAMS) {
  if (Bun.which(program.needs) === null) {
    console.log(`SKIPPED ${program.name}: ${program.needs} is not installed`);
    continue;
  }
  if (!existsSync(program.database)) for (const command of program.prepare) await run(command);
  programs.push(program);
}
console.log(
  `${corpus.sequenceCount} proteins, ${corpus.residueCount} residues; ${THREADS} threads; times of whole processes`,
);

const next = random(SEED);
const drawn = new Set<number>();
/** Draws queries of 40 to 2,500 residues without repetition. */
function draw(): number {
  for (;;) {
    const index = Math.floor(next() * corpus.sequenceCount);
    const { length } = residuesOf(corpus, index);
    if (length < 40 || length > 2500 || drawn.has(index)) continue;
    drawn.add(index);
    return index;
  }
}

const goodness = new Map<string, boolean>();
/** Judges hits by the local alignment. */
function judge(query: number, subjects: number[]): void {
  const unknown = subjects.filter((subject) => !goodness.has(`${query} ${subject}`));
  const own = encode(decode(residuesOf(corpus, query)));
  const aligned = alignLocal(
    own,
    unknown.map((subject) => residuesOf(corpus, subject)),
  );
  for (const [k, { identity, coverage }] of aligned.entries()) {
    goodness.set(`${query} ${unknown[k]}`, identity >= MIN_IDENTITY && coverage >= MIN_COVERAGE);
  }
}

for (const [i, size] of [1, 10, 100].entries()) {
  const outcomes = new Map(
    programs.map(({ name }): [string, Outcome] => [name, { walls: [], busy: [], hits: 0, good: new Set() }]),
  );
  const batches = Number(counts[i] ?? [5, 3, 1][i]);
  for (let batch = 0; batch < batches; batch++) {
    const queries = Array.from({ length: size }, draw);
    const texts = queries.map(
      (index) => `>${corpus.accession(index)}\n${decode(residuesOf(corpus, index))}\n`,
    );
    await Bun.write(at("queries.fasta"), texts.join(""));
    for (const program of programs) {
      const output = at("hits.tsv");
      rmSync(output, { force: true });
      const outcome = outcomes.get(program.name)!;
      const { wall, busy } = await program.search(at("queries.fasta"), output);
      outcome.walls.push(wall);
      outcome.busy.push(busy);
      const found = await foundBy(output, corpus);
      for (const index of queries) {
        const subjects = [...(found.get(corpus.accession(index)) ?? [])];
        judge(index, subjects);
        outcome.hits += subjects.length;
        for (const subject of subjects) {
          if (goodness.get(`${index} ${subject}`)) outcome.good.add(`${index} ${subject}`);
        }
      }
    }
  }
  if (batches > 0) print(size, outcomes);
}
