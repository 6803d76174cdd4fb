/**
 * Soak test: SOAP and JSON jobs, reads, single and bulk writes, undo, imports, exports, uploads, sign-ins,
 * webhooks, backups and corpus changes from several client processes, first without kills, then with repeated
 * `kill -9`. Compares the server with the ledger of every client; exits with 1 on any difference.
 *
 *   bun run build && bun run test/bench/soak.ts [MINUTES] [SEED]
 *
 * An hour's load of a laboratory of 50 people is about 20,000 requests: 12,000 for pages, 2,000 writes, 5,500
 * for jobs. Growth limits over the second half without kills: 15 % (memory), 20 (open files), 4 (threads), 16
 * MB (WAL).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Measure, fitTrend } from "./soak/process-samples.ts";
import { soak } from "./soak/run.ts";

const REQUESTS_PER_HOUR = 20_000;
const [minutes = 4, seed = 1] = process.argv.slice(2).map(Number);
const directory = mkdtempSync(join(tmpdir(), "labd-soak-"));

const report = await soak({
  directory,
  seconds: { steady: minutes * 45, kills: minutes * 15 },
  killInterval: 3,
  seed,
  clients: 3,
  lanes: { records: 4, jobs: 2, readers: 3, signIns: 1 },
  log: console.log,
});

const { counts, requests, seconds, failures } = report;
console.log("\n| Request | Accepted | Rejected | Unknown |\n|---|---|---|---|");
for (const [request, { accepted = 0, rejected = 0, unknown = 0 }] of Object.entries(counts).sort())
  console.log(`| ${request} | ${accepted} | ${rejected} | ${unknown} |`);
const hours = (requests.all / REQUESTS_PER_HOUR).toFixed(1);
const rate = (requests.steady / seconds.steady).toFixed(0);
console.log(`
Requests: ${requests.all} (${hours} hours of laboratory load)
Without kills: ${requests.steady} in ${seconds.steady.toFixed(0)} s (${rate}/s)
Kills: ${report.kills}; slowest start: ${report.slowestStart.toFixed(0)} ms
Backups: ${report.backups}; corpus changes: ${report.corpusChanges}
Checked: ${JSON.stringify(report.checked)}; webhook deliveries: ${report.deliveries}

| Without kills | Start | Median | Maximum | End | Growth in the second half |
|---|---|---|---|---|---|`);
/** Digits to print, and the growth limit over the second half. */
const MEASURES: [Measure, string, number, (median: number) => number][] = [
  ["memory", "Memory (RSS), MB", 0, (median) => 0.15 * median],
  ["files", "Open files", 0, () => 20],
  ["threads", "Threads", 0, () => 4],
  ["wal", "WAL, MB", 1, () => 16],
];
for (const [measure, name, digits, limit] of MEASURES) {
  const { start, median, max, end, growth } = fitTrend(report.samples, measure);
  if (growth > limit(median))
    failures.push(`${name}: grew by ${growth.toFixed(1)}; at most ${limit(median)} allowed`);
  const cells = [start, median, max, end, growth].map((value) => value.toFixed(digits));
  console.log(`| ${[name, ...cells].join(" | ")} |`);
}
if (failures.length === 0) {
  console.log("\nNo failures.");
  rmSync(directory, { recursive: true, force: true });
} else {
  console.log(`\nFailures: ${failures.length}. The files are in ${directory}.`);
  for (const failure of failures.slice(0, 50)) console.log(`- ${failure}`);
  process.exitCode = 1;
}
