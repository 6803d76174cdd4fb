/**
 * Soak test: SOAP and JSON jobs, reads, single and bulk writes, undo, imports, exports, uploads, sign-ins,
 * webhooks, backups and corpus changes from several client processes, first without kills, then with repeated
 * `kill -9`. Compares the service with the ledger of every client; exits with 1 on any difference.
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
import { soak } from "./soak/run.ts";
import { courseOf, type Measure } from "./soak/vitals.ts";

const HOUR = 20_000;
const [minutes = 4, seed = 1] = process.argv.slice(2).map(Number);
const directory = mkdtempSync(join(tmpdir(), "labd-soak-"));
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const seconds = minutes * 60;
const report = await soak({
  directory,
  calm: seconds * 0.75,
  rough: seconds * 0.25,
  killEvery: 3,
  seed,
  clients: 3,
  lanes: { records: 4, jobs: 2, readers: 3, signIns: 1 },
  say,
});

const { counts, requests, checked } = report;
say("\n| Request | Accepted | Refused | Unknown |\n|---|---|---|---|");
for (const [what, of] of Object.entries(counts).sort())
  say(`| ${what} | ${of.accepted ?? 0} | ${of.refused ?? 0} | ${of.unknown ?? 0} |`);
say(
  `\n${requests.all} requests (${(requests.all / HOUR).toFixed(1)} hours' worth), ${requests.calm} of them in ${report.seconds.calm.toFixed(0)} s without a kill (${(requests.calm / report.seconds.calm).toFixed(0)}/s), the others around ${report.kills} kills; slowest start ${report.slowestStart.toFixed(0)} ms`,
);
say(`beside: ${report.backups} backups, ${report.corpusChanges} changes of the corpus`);
say(`held against the ledgers: ${JSON.stringify(checked)}, told by webhook ${report.told}`);
say(
  "\n| Without a kill | Start | Median | Most | End | Rise over the second half |\n|---|---|---|---|---|---|",
);
/** Digits to print, and the growth limit over the second half. */
const MEASURES: [Measure, string, number, (median: number) => number][] = [
  ["memory", "Memory (RSS), MB", 0, (median) => 0.15 * median],
  ["files", "Open files", 0, () => 20],
  ["threads", "Threads", 0, () => 4],
  ["log", "Log of the database, MB", 1, () => 16],
];
for (const [measure, name, digits, bound] of MEASURES) {
  const { start, median, most, end, rise } = courseOf(report.vitals, measure);
  if (rise > bound(median)) report.faults.push(`${name} is not flat: it rises by ${rise.toFixed(1)}`);
  say(`| ${[name, ...[start, median, most, end, rise].map((value) => value.toFixed(digits))].join(" | ")} |`);
}
if (report.faults.length === 0) {
  say("\nnothing is wrong");
  rmSync(directory, { recursive: true, force: true });
} else {
  say(`\n${report.faults.length} FAULTS (${directory} stays):`);
  for (const fault of report.faults.slice(0, 50)) say(`- ${fault}`);
  process.exitCode = 1;
}
