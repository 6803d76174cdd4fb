/**
 * Scoring jobs from sequence to result, compared with a pipeline of five programs.
 *
 *   bun run build.ts && bun run test/bench/pipeline.bench.ts PROTEINS.fasta [QUERIES] [PEER-QUERIES]
 *
 * Queries are random proteins of the file with up to five motif classes that match. They go one by one
 * through the executable's service with two workers, some also through the peer; then as one batch with one
 * and two workers; then by stage on one thread.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Corpus,
  DEFAULTS,
  decode,
  encode,
  findHits,
  findMatches,
  openCorpus,
  parsePattern,
  predict,
  lookaroundTable,
  type Stage,
} from "../../src/motif/index.ts";
import { type MotifClass, starterClasses } from "../../src/scoring/corpus/motif-classes.ts";
import { LABD, serve } from "../executable/labd.ts";
import { random } from "../fixtures/random-protein.ts";
import { missing, openPeer, type PeerAnswer, type PeerTimes } from "./pipeline/peer.ts";
import { median, readMemory, processorTime, quantile, sum } from "./harness.ts";

const SEED = 2026;
const WORKERS = 2;
const WARM_UP = 3;
/** Expected results in Swiss-Prot 2014_01, by residues and number of queries. */
const PINNED: Record<string, { homologs: number; matches: number }> = {
  "186717374 16": { homologs: 1229, matches: 168 },
  "186717374 100": { homologs: 7198, matches: 1125 },
};

interface Query {
  accession: string;
  sequence: string;
  classes: MotifClass[];
}

const [fasta, queriesWanted = "100", peerWanted = "15"] = Bun.argv.slice(2);
if (fasta === undefined) throw new Error("usage: pipeline.bench.ts PROTEINS.fasta [QUERIES] [PEER-QUERIES]");

/** Draws proteins with matching motif classes. */
function draw(corpus: Corpus, count: number): Query[] {
  const next = random(SEED);
  const classes = starterClasses().map((one) => ({
    one,
    pattern: parsePattern(one.expression, one.dialect),
  }));
  const queries: Query[] = [];
  while (queries.length < count) {
    const index = Math.floor(next() * corpus.sequenceCount);
    const sequence = decode(corpus.residues.subarray(corpus.offsets[index], corpus.offsets[index + 1]));
    if (sequence.length < 40 || sequence.length > 2500) continue;
    const matching = classes.filter(({ pattern: { automaton } }) => {
      const residues = encode(sequence);
      return findMatches(automaton, residues, lookaroundTable(automaton, residues)).length > 0;
    });
    while (matching.length > 5) matching.splice(Math.floor(next() * matching.length), 1);
    if (matching.length === 0) continue;
    queries.push({ accession: corpus.accession(index), sequence, classes: matching.map(({ one }) => one) });
  }
  return queries;
}

const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
interface Answer {
  ms: number;
  /** Processor time of the service in milliseconds. */
  processor: number;
  homologs: number;
  matches: number;
}

/** Runs one job over JSON, from submission to result. */
async function ask(url: string, pid: number, { sequence, classes }: Query): Promise<Answer> {
  const used = processorTime(pid);
  const start = performance.now();
  const submitted = await fetch(`${url}/api/scoring/jobs`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ querySequence: sequence, motifClasses: classes.map(({ name }) => name) }),
  });
  const { links } = (await submitted.json()) as { links: Record<"events" | "result", string> };
  // The stream ends with the job.
  await (await fetch(links.events)).text();
  const result = await fetch(links.result);
  const { homologs, patterns } = (await result.json()) as {
    homologs: unknown[];
    patterns: { matches: unknown[] }[];
  };
  const elapsed = performance.now() - start;
  const processor = processorTime(pid) - used;
  return {
    ms: elapsed,
    processor,
    homologs: homologs.length,
    matches: sum(patterns.map((one) => one.matches.length)),
  };
}

async function labd(...words: string[]): Promise<{ ms: number; text: string; cpu: number }> {
  const start = performance.now();
  const process = Bun.spawn([LABD, ...words], { stdout: "pipe", stderr: "ignore" });
  const text = await Bun.readableStreamToText(process.stdout);
  if ((await process.exited) !== 0) throw new Error(`labd ${words[0]} failed`);
  return { ms: performance.now() - start, text, cpu: Number(process.resourceUsage()!.cpuTime.total) / 1000 };
}

/** Processor time of every stage of a job on this thread, in milliseconds. */
function profile(corpus: Corpus, queries: readonly Query[]): Record<string, number> {
  const spent: Record<string, number> = { search: 0, homologs: 0, tree: 0, scores: 0, printing: 0 };
  for (const { sequence, classes } of queries) {
    let stage = "search";
    const clock = (): number => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    };
    let since = clock();
    const turn = (next: string): void => {
      const now = clock();
      spent[stage] += now - since;
      [stage, since] = [next, now];
    };
    const [hits] = findHits([sequence], corpus, DEFAULTS, new Int32Array(new SharedArrayBuffer(4)));
    turn("homologs");
    const request = {
      query: sequence,
      patterns: classes.map(({ expression, dialect, name }) => ({ expression, dialect, name })),
      model: "continuous" as const,
    };
    const onStage = (next: Stage): void => (next === stage ? undefined : turn(next));
    const prediction = predict(request, corpus, DEFAULTS, onStage, hits);
    turn("printing");
    JSON.stringify(prediction);
    turn("printing");
  }
  return spent;
}

const directory = mkdtempSync(join(tmpdir(), "labd-pipeline-"));
try {
  await labd("corpus", "add", fasta, "--name", "bench", "--data-dir", directory);
  const file = [...new Bun.Glob("*.labc").scanSync({ cwd: join(directory, "corpora"), absolute: true })][0];
  const corpus = openCorpus(Bun.mmap(file));
  const queries = draw(corpus, Number(queriesWanted) + WARM_UP);
  const warmUp = queries.splice(0, WARM_UP);
  console.log(`${corpus.sequenceCount} proteins, ${corpus.residueCount} residues; ${cpus()[0].model.trim()}`);
  console.log(
    `${queries.length} queries of ${median(queries.map((one) => one.sequence.length))} residues (median)`,
  );

  const absent = missing();
  if (absent.length > 0) console.log(`No peer: ${absent.join(", ")} not installed`);
  const peer = absent.length > 0 ? null : await openPeer(fasta, directory, WORKERS);
  const every = Math.max(1, Math.floor(queries.length / Math.max(1, Number(peerWanted))));

  const answers: Answer[] = [];
  const pairs: { ours: Answer; theirs: number; answer: PeerAnswer }[] = [];
  {
    await using service = await serve(directory, ["--workers", String(WORKERS), "--log", "off"]);
    const { pid } = service.process;
    for (const query of warmUp) await ask(service.url, pid, query);
    await peer?.(warmUp[0].sequence, [warmUp[0].classes[0].expression]);
    for (const [k, query] of queries.entries()) {
      const answer = await ask(service.url, pid, query);
      answers.push(answer);
      if (!peer || Number(peerWanted) === 0 || k % every !== 0) continue;
      const start = performance.now();
      const theirs = await peer(
        query.sequence,
        query.classes.map(({ expression }) => expression),
      );
      pairs.push({ ours: answer, theirs: performance.now() - start, answer: theirs });
    }
    console.log(`peak memory of the service: ${Math.round(readMemory(pid, "VmHWM"))} MB`);
  }
  const found = {
    homologs: sum(answers.map((one) => one.homologs)),
    matches: sum(answers.map((one) => one.matches)),
  };
  const expected = PINNED[`${corpus.residueCount} ${queries.length}`];
  console.log(`${found.homologs} homologs, ${found.matches} matches${expected ? "" : " (not pinned)"}`);
  if (expected && (expected.homologs !== found.homologs || expected.matches !== found.matches)) {
    throw new Error(`expected ${expected.homologs} homologs, ${expected.matches} matches`);
  }
  const times = answers.map((one) => one.ms);
  console.log(
    `one job, ${WORKERS} workers: median ${ms(median(times))}, p95 ${ms(quantile(times, 0.95))}, maximum ${ms(Math.max(...times))}`,
  );

  const busy = answers.map((one) => one.processor);
  console.log(`  processor time: median ${ms(median(busy))}, mean ${ms(sum(busy) / busy.length)}`);

  if (pairs.length > 0) {
    const ours = pairs.map((one) => one.ours.ms);
    const theirs = pairs.map((one) => one.theirs);
    console.log(
      `the same ${pairs.length} queries: labd median ${ms(median(ours))}, peer ${ms(median(theirs))}`,
    );
    const ratios = pairs.map((one) => one.theirs / one.ours.ms);
    console.log(
      `peer / labd: ${(sum(theirs) / sum(ours)).toFixed(1)} of sums, ${median(ratios).toFixed(1)} median, ${Math.min(...ratios).toFixed(1)} minimum`,
    );
    const processors =
      sum(pairs.map((one) => one.answer.processor)) / sum(pairs.map((one) => one.ours.processor));
    console.log(`peer / labd, processor time: ${processors.toFixed(1)} of sums`);
    for (const step of Object.keys(pairs[0].answer.times) as (keyof PeerTimes)[]) {
      console.log(
        `  peer ${step.padEnd(10)} median ${ms(median(pairs.map((one) => one.answer.times[step])))}`,
      );
    }
    console.log(
      `  homologs: labd ${sum(pairs.map((one) => one.ours.homologs))}, peer ${sum(pairs.map((one) => one.answer.homologs))}`,
    );
  }

  const table = join(directory, "batch.tsv");
  const rows = queries.flatMap(({ accession, classes }) =>
    classes.map(({ name }) => `${accession}\t${name}\n`),
  );
  await Bun.write(table, rows.join(""));
  const batch = (workers: number) =>
    labd("score", "--batch", table, "--data-dir", directory, "--workers", String(workers));
  const rounds: number[] = [];
  for (let round = 0; round < 2; round++) {
    const one = await batch(1);
    const two = await batch(2);
    if (one.text !== two.text) throw new Error("one worker and two workers print different results");
    rounds.push(one.ms / two.ms);
    console.log(
      `batch of ${queries.length}: 1 worker ${ms(one.ms)} (processor ${ms(one.cpu)}), 2 workers ${ms(two.ms)} (${ms(two.cpu)}): ${(one.ms / two.ms).toFixed(2)} times`,
    );
  }
  console.log(`2 workers are ${(sum(rounds) / rounds.length).toFixed(2)} times as fast as 1`);

  profile(corpus, warmUp);
  const spent = profile(corpus, queries);
  const all = sum(Object.values(spent));
  console.log(`one thread, processor time, ${ms(all / queries.length)} a query:`);
  for (const [stage, elapsed] of Object.entries(spent)) {
    console.log(
      `  ${stage.padEnd(10)} ${ms(elapsed / queries.length)}  ${((100 * elapsed) / all).toFixed(1)} %`,
    );
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
