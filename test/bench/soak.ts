/**
 * An hour's worth of mixed load, compressed: SOAP and JSON jobs, reads of all kinds, writes one by one and in
 * bulk, undo, imports, exports, uploads, sign-ins, webhooks, backups and changes of the corpus, from several
 * client processes; without a kill first, then with `kill -9` again and again. Every client keeps a ledger;
 * at the end the service is held against all of them. Ends with 1 where anything is not as it has to be.
 *
 *   bun run build && bun run test/bench/soak.ts [MINUTES] [SEED]
 *
 * An hour's worth is what a laboratory of 50 people asks for in an hour: each opens a page of four requests
 * every minute (12,000), writes 40 times (2,000) and submits 10 jobs that are asked for ten times each
 * (5,500); in round figures 20,000 requests. Flat is what rises, by the line through the second half of the
 * time without kills, from its beginning to its end by at most 15 % (memory), 20 (open files), 4 (threads),
 * 16 MB (log of the database).
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
/** Digits to print, and by how much the second half may rise to be flat. */
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
