/**
 * Scans of p53 for all motif classes: from the submission to the ranked matches, with the executable's service.
 *
 *   bun run build.ts && bun run test/bench/scan.bench.ts PROTEINS.fasta [ELM_TABLE]
 *
 * With the built-in classes, or those of ELM's table. Each round scans another query, because the service shares the
 * results of equal ones: p53 without its last residues. Then the stages on one thread. Exit code 1 if the median is a
 * second or more.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULTS, predict, rankMatches, type Stage } from "../../src/motif/index.ts";
import { readElmTable } from "../../src/scoring/corpus/elm-table.ts";
import { openCorpusFile } from "../../src/scoring/corpus/corpus.ts";
import { starterClasses } from "../../src/scoring/corpus/motif-classes.ts";
import { packPrediction } from "../../src/scoring/jobs/packed-prediction.ts";
import { EXAMPLES } from "../../src/web/score/examples.ts";
import { LABD, serve } from "../executable/labd.ts";
import { readMemory, processorTime, say, withRange } from "./harness.ts";

const ROUNDS = 15;
const WARM_UP = 3;
const LIMIT = 1000;

const [fasta, table] = Bun.argv.slice(2);
if (fasta === undefined) throw new Error("usage: scan.bench.ts PROTEINS.fasta [ELM_TABLE]");
const { sequence } = EXAMPLES.find(({ name }) => name === "P04637")!;
const directory = mkdtempSync(join(tmpdir(), "labd-bench-"));
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));

function run(...words: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync([LABD, ...words, "--data-dir", directory]);
  if (exitCode !== 0) throw new Error(stderr.toString());
}

interface Round {
  milliseconds: number;
  processor: number;
  matches: number;
}

async function scan(url: string, pid: number, querySequence: string): Promise<Round> {
  const [start, before] = [performance.now(), processorTime(pid)];
  const submitted = await fetch(`${url}/api/scoring/jobs`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ querySequence, allMotifClasses: true }),
  });
  const { links } = (await submitted.json()) as { links: Record<"events" | "scan", string> };
  await (await fetch(links.events)).text();
  const { matches } = (await (await fetch(links.scan)).json()) as { matches: unknown[] };
  const milliseconds = performance.now() - start;
  return { milliseconds, processor: processorTime(pid) - before, matches: matches.length };
}

/** Milliseconds of each stage on this thread, without the service. */
function stages(query: string): Record<string, number> {
  const file = [...new Bun.Glob("*.labc").scanSync(join(directory, "corpora"))][0];
  const corpus = openCorpusFile(join(directory, "corpora", file));
  const classes = table ? readElmTable(readFileSync(table, "utf8")).classes : starterClasses();
  const patterns = classes.map(({ name, expression, dialect }) => ({ name, expression, dialect }));
  const times: Record<string, number> = {};
  let [name, since]: [string, number] = ["start", 0];
  const begin = (next: string): void => {
    const now = performance.now();
    if (next !== name) times[name] = (times[name] ?? 0) + now - since;
    if (next !== name) [name, since] = [next, now];
  };
  const request = { query, patterns, model: "continuous" as const };
  const prediction = predict(request, corpus, DEFAULTS, (stage: Stage) => begin(stage));
  begin("rank");
  rankMatches(prediction);
  begin("pack");
  packPrediction(prediction);
  begin("end");
  return times;
}

run("corpus", "add", fasta);
if (table !== undefined) run("elm", "import", table);
const server = await serve(directory, ["--workers", "2"]);
const rounds: Round[] = [];
for (let i = 0; i < WARM_UP + ROUNDS; i++)
  rounds.push(await scan(server.url, server.process.pid, sequence.slice(0, sequence.length - i)));
const warm = rounds.slice(WARM_UP);
say(`first scan   ${rounds[0].milliseconds.toFixed(0)} ms, ${rounds[0].matches} matches`);
say(
  `warm         ${withRange(
    warm.map(({ milliseconds }) => milliseconds),
    0,
  )} ms`,
);
say(
  `processor    ${withRange(
    warm.map(({ processor }) => processor),
    0,
  )} ms`,
);
say(`memory       ${readMemory(server.process.pid).toFixed(0)} MB`);
await server.end("SIGTERM");
for (let i = 0; i < WARM_UP; i++) stages(sequence);
for (const [stage, milliseconds] of Object.entries(stages(sequence)))
  if (stage !== "start") say(`${stage.padEnd(12)} ${milliseconds.toFixed(1)} ms`);
const slow =
  warm.map(({ milliseconds }) => milliseconds).toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] >= LIMIT;
process.exit(slow ? 1 : 0);
