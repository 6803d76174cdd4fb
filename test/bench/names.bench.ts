/**
 * Latency of the name search in the executable, over HTTP, as the page asks while one types.
 *
 *   xz -dc swissprot.fasta.xz > all.fasta; xz -dc swissprot_names.tsv.xz > names.tsv
 *   bun test/bench/swissprot-names.ts all.fasta names.tsv fill > full.fasta
 *   bun run build && bun run test/bench/names.bench.ts full.fasta
 *
 * Exit code 1 if a query takes more than 50 ms of wall time at the median. Prints memory before and after.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { LABD, serve } from "../executable/labd.ts";
import { median, readMemory, processorTime, quantile, say } from "./harness.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 20);
const LIMIT = 50;
const TYPED = [
  "TP53",
  "P53_HUMAN",
  "P04637",
  "cellular tumor antigen",
  "BRCA1 mouse",
  "brca1 mus musculus",
  "ribosomal protein L2 e.coli",
  "NF-kappa-B inhibitor",
  "probable kinase human",
];
/** Every beginning, as it is typed. */
const QUERIES = TYPED.flatMap((text) => Array.from(text, (_, i) => text.slice(0, i + 1)));

const [file] = process.argv.slice(2);
const directory = mkdtempSync(join(tmpdir(), "labd-names-"));
const add = Bun.spawnSync([LABD, "corpus", "add", resolve(file), "--data-dir", directory]);
say(
  `${add.stdout.toString().trim()}; packed with ${(add.resourceUsage.maxRSS / 1e6).toFixed(0)} MB at most, `,
);
say(`in ${(Number(add.resourceUsage.cpuTime.total) / 1e6).toFixed(1)} s of processor time`);

let slow = 0;
{
  await using server = await serve(directory, ["--log", "off", "--workers", "1"]);
  const ask = async (query: string): Promise<number> => {
    const started = performance.now();
    const response = await fetch(`${server.url}/api/scoring/proteins?query=${encodeURIComponent(query)}`);
    await response.json();
    if (!response.ok) throw new Error(`${response.status} for ${query}`);
    return performance.now() - started;
  };
  const before = readMemory(server.process.pid);
  const first = await ask("TP53");
  const used = processorTime(server.process.pid);
  const times = new Map<string, number[]>(QUERIES.map((query) => [query, []]));
  for (let round = 0; round < ROUNDS; round++)
    for (const query of QUERIES) times.get(query)!.push(await ask(query));
  const all = [...times.values()].flat();
  const each = (processorTime(server.process.pid) - used) / all.length;
  const worst = [...times].map(([query, own]) => [query, median(own)] as const).sort((a, b) => b[1] - a[1]);
  slow = worst[0][1];
  say(`first query ${first.toFixed(1)} ms`);
  say(
    `${all.length} queries: median ${median(all).toFixed(1)} ms, 95 % ${quantile(all, 0.95).toFixed(1)} ms, ${each.toFixed(1)} ms of processor time each`,
  );
  for (const [query, time] of worst.slice(0, 5)) say(`slowest: ${time.toFixed(1)} ms for "${query}"`);
  say(`memory ${before.toFixed(0)} MB before, ${readMemory(server.process.pid).toFixed(0)} MB after`);
}
rmSync(directory, { recursive: true });
process.exit(slow > LIMIT ? 1 : 0);
