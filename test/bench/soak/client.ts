/** One client process of the soak test: several lanes, each with a connection, until its standard input ends. */
import { writeFileSync } from "node:fs";
import { random } from "../../scoring/contract/random-message.ts";
import { type Account, Ledger } from "./ledger.ts";
import { read, score, signIn } from "./others.ts";
import { type RecordLane, writeRecords } from "./records.ts";
import type { ClientConfig, Lane } from "./wire.ts";

const config = JSON.parse(process.argv[2]) as ClientConfig;
const ledger = new Ledger(config.ledger);
const state = { stopped: false };
const kept: RecordLane = { records: [], refused: [] };
const jobs: Account["jobs"] = [];
const signed: Pick<Account, "tokens" | "failedSignIns"> = { tokens: [], failedSignIns: {} };

let lanes = 0;
const open = (kind: string, number: number): Lane => ({
  name: `${config.number}-${kind}${number}`,
  number: lanes++,
  config,
  ledger,
  next: random(config.seed * 1000 + config.number * 100 + lanes),
  stopped: () => state.stopped,
});
const several = (kind: string, count: number, work: (lane: Lane) => Promise<void>): Promise<void>[] =>
  Array.from({ length: count }, (_, i) => work(open(kind, i)));

const { lanes: wanted } = config;
const working = [
  ...several("r", wanted.records, (lane) => {
    const own: RecordLane = { records: [], refused: kept.refused };
    return writeRecords(lane, own).finally(() => void kept.records.push(...own.records));
  }),
  ...several("j", wanted.jobs, (lane) => score(lane, jobs)),
  ...several("g", wanted.readers, read),
  ...several("s", wanted.signIns, (lane) => signIn(lane, signed)),
];
for await (const _ of Bun.stdin.stream());
state.stopped = true;
await Promise.all(working);
ledger.flush();
const { counts, wrong } = ledger;
const account: Account = { ...kept, jobs, ...signed, counts, wrong };
writeFileSync(config.account, JSON.stringify(account));
