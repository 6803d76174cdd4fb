/** One client process of the soak test: several lanes in parallel until its standard input ends. */
import { writeFileSync } from "node:fs";
import { random } from "../../scoring/contract/random-message.ts";
import { JobClient } from "./jobs.ts";
import type { ClientConfig, Lane } from "./lane.ts";
import { type ClientReport, Ledger } from "./ledger.ts";
import { readPages } from "./reads.ts";
import { RecordClient } from "./records.ts";
import { SignInClient } from "./sign-ins.ts";

const config = JSON.parse(process.argv[2]) as ClientConfig;
const ledger = new Ledger(config.ledger);
let isStopped = false;
let lanes = 0;

function openLanes(kind: string, count: number): Lane[] {
  return Array.from({ length: count }, (_, i) => ({
    name: `${config.number}-${kind}${i}`,
    number: lanes++,
    config,
    ledger,
    next: random(config.seed * 1000 + config.number * 100 + lanes),
    stopped: () => isStopped,
  }));
}

const records = openLanes("r", config.lanes.records).map((lane) => new RecordClient(lane));
const jobs = openLanes("j", config.lanes.jobs).map((lane) => new JobClient(lane));
const signIns = openLanes("s", config.lanes.signIns).map((lane) => new SignInClient(lane));
const running = [
  ...[...records, ...jobs, ...signIns].map((client) => client.run()),
  ...openLanes("g", config.lanes.readers).map(readPages),
];
for await (const _ of Bun.stdin.stream());
isStopped = true;
await Promise.all(running);
ledger.flush();

const sum = (which: "confirmed" | "possible"): number =>
  signIns.reduce((total, { failedSignIns }) => total + failedSignIns[which], 0);
const report: ClientReport = {
  records: records.flatMap((client) => client.records),
  rejected: records.flatMap((client) => client.rejected),
  jobs: jobs.flatMap((client) => client.jobs),
  tokens: signIns.flatMap(({ tokens }) => tokens),
  failedSignIns: { confirmed: sum("confirmed"), possible: sum("possible") },
  counts: ledger.counts,
  wrong: ledger.wrong,
};
writeFileSync(config.report, JSON.stringify(report));
