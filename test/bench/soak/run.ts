import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import proteins from "../../../src/sample/proteins.fasta" with { type: "text" };
import { random } from "../../scoring/contract/random-message.ts";
import { labd, serve, type Server } from "../../executable/labd.ts";
import { openReceiver, type Receiver } from "../../webhooks/receiver.ts";
import { checkIntegrity, checkJobs, checkRecords, type Checked, type Target } from "./check.ts";
import type { ClientReport } from "./ledger.ts";
import type { ClientConfig } from "./lane.ts";
import { type ProcessSample, sampleProcess } from "./process-samples.ts";
import { METRICS_TOKEN } from "./reads.ts";

export interface SoakOptions {
  /** An empty directory. */
  directory: string;
  /** Duration of the load without kills, then with kills. */
  seconds: { steady: number; kills: number };
  /** Mean seconds between kills. */
  killInterval: number;
  /** Requests without kills, kills, and requests before each kill. Both phases continue until they are reached. */
  minimum?: { requests: number; kills: number; requestsBetweenKills: number };
  seed: number;
  /** Client processes, and the lanes of each. */
  clients: number;
  lanes: ClientConfig["lanes"];
  log?: (line: string) => void;
}

export interface SoakReport {
  seconds: { steady: number; kills: number };
  requests: { steady: number; all: number };
  counts: ClientReport["counts"];
  kills: number;
  slowestStart: number;
  backups: number;
  corpusChanges: number;
  /** Samples of the phase without kills. */
  samples: ProcessSample[];
  checked: Partial<Checked>;
  deliveries: number;
  failures: string[];
}

const CLIENT = new URL("./client.ts", import.meta.url).pathname;
const PASSWORD = "a password for the soak test";
/** Part of the labels of records that the webhook is subscribed to: one lane of each client. */
const WATCHED = "-r0-";

/** Puts a server under load, kills it repeatedly, and compares it with the reports of its clients. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const { directory, seconds, log = () => {}, minimum } = options;
  const data = join(directory, "data");
  const reference = join(directory, "reference");
  for (const place of [data, reference]) await addCorpora(place, directory);
  const token = await addUser(data, "ada", ["--admin"]);
  const server = await KillableServer.start(data);
  await using receiver = openReceiver();
  await subscribe(server.url, token, receiver);
  const configs = await configureClients(options, server.url, data);
  const clients = configs.map((config) =>
    Bun.spawn([process.execPath, "run", CLIENT, JSON.stringify(config)], {
      stdin: "pipe",
      stdout: "inherit",
      stderr: "inherit",
    }),
  );
  const countRequests = (): number =>
    configs
      .filter(({ ledger }) => existsSync(ledger))
      .reduce((sum, { ledger }) => sum + readFileSync(ledger, "utf8").split("\n").length - 1, 0);

  const start = performance.now();
  const elapsed = (): number => (performance.now() - start) / 1000;
  const target: Target = { url: server.url, token, directory: data, failures: [] };
  const administration = administer(target, join(directory, "backups"), seconds.steady + seconds.kills);
  const samples: ProcessSample[] = [];
  while (elapsed() < seconds.steady || countRequests() < (minimum?.requests ?? 0)) {
    await Bun.sleep(250);
    const sample = sampleProcess(server.pid, join(data, "labd.sqlite"), elapsed());
    if (sample) samples.push(sample);
  }
  const steady = { seconds: elapsed(), requests: countRequests() };
  log(`${steady.requests} requests in ${steady.seconds.toFixed(0)} s without kills`);
  await killRepeatedly(server, options, countRequests);
  const killSeconds = elapsed() - steady.seconds;
  for (const client of clients) void client.stdin.end();
  for (const client of clients)
    if ((await client.exited) !== 0) target.failures.push("a client process failed");
  const administered = await administration;
  // Also without load.
  await server.kill();

  log("Load ended; comparing the server with the ledgers");
  const reports = configs.map(({ report }) => JSON.parse(readFileSync(report, "utf8")) as ClientReport);
  target.failures.push(...reports.flatMap(({ wrong }) => wrong));
  await waitUntilIdle(target);
  const checked: Partial<Checked> = {
    ...(await checkRecords(target, reports)),
    ...(await checkJobs(target, reports, reference)),
    ...(await checkIntegrity(target, reports)),
  };
  const deliveries = await checkDeliveries(target, reports, receiver);
  await checkBackups(target, join(directory, "backups"));
  target.failures.push(...server.loggedErrors());
  await server.end();
  const counts = sumCounts(reports);
  const all = Object.values(counts).flatMap((outcomes) => Object.values(outcomes));
  return {
    seconds: { steady: steady.seconds, kills: killSeconds },
    requests: { steady: steady.requests, all: all.reduce((a, b) => a + b, 0) },
    counts,
    kills: server.kills,
    slowestStart: server.slowestStart,
    ...administered,
    samples,
    checked,
    deliveries,
    failures: target.failures,
  };
}

/** A server that restarts on the same port after each kill. */
class KillableServer {
  kills = 0;
  slowestStart = 0;
  readonly #servers: Server[] = [];

  private constructor(
    readonly directory: string,
    readonly port: number,
  ) {}

  static async start(directory: string): Promise<KillableServer> {
    const server = new KillableServer(directory, await freePort());
    await server.#start();
    return server;
  }

  get url(): string {
    return this.#servers[0].url;
  }

  get pid(): number {
    return this.#servers.at(-1)!.process.pid;
  }

  async #start(): Promise<void> {
    const flags = `--port ${this.port} --log problems --trust-proxy true --webhook-allow 127.0.0.0/8`;
    const env = { LABD_METRICS_TOKEN: METRICS_TOKEN };
    const start = performance.now();
    this.#servers.push(await serve(this.directory, flags.split(" "), env));
    this.slowestStart = Math.max(this.slowestStart, performance.now() - start);
  }

  async kill(): Promise<void> {
    await this.#servers.at(-1)!.end("SIGKILL");
    this.kills++;
    await this.#start();
  }

  async end(): Promise<void> {
    await this.#servers.at(-1)!.end("SIGTERM");
  }

  loggedErrors(): string[] {
    return this.#servers
      .flatMap((server) => server.log().split("\n"))
      .filter((line) => line.includes('"severity":"error"') || /panic|Segmentation/.test(line))
      .map((line) => `log: ${line}`);
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });

/** Adds two corpora to a new data directory: the sample, and the sample without every third protein. */
async function addCorpora(directory: string, temporary: string): Promise<void> {
  mkdirSync(directory);
  const env = { LABD_DATA_DIR: directory };
  const records = proteins.split(/^(?=>)/m);
  const fewer = join(temporary, "fewer.fa");
  writeFileSync(fewer, records.filter((_, i) => i % 3 > 0).join(""));
  await labd(["corpus", "add", "--sample"], { env });
  await labd(["corpus", "add", fewer, "--name", "fewer"], { env });
}

/** @returns a token of the new user */
async function addUser(directory: string, name: string, flags: readonly string[] = []): Promise<string> {
  const env = { LABD_DATA_DIR: directory };
  await labd(["user", "add", name, ...flags, "--password-stdin"], { env, stdin: `${PASSWORD}\n` });
  return (await labd(["token", "add", name], { env })).stdout.trim().split("\n")[0];
}

async function configureClients(options: SoakOptions, url: string, data: string): Promise<ClientConfig[]> {
  const configs: ClientConfig[] = [];
  for (let number = 0; number < options.clients; number++) {
    const username = `user${number}`;
    configs.push({
      number,
      seed: options.seed,
      url,
      ledger: join(options.directory, `ledger-${number}.jsonl`),
      report: join(options.directory, `report-${number}.json`),
      token: await addUser(data, username),
      username,
      password: PASSWORD,
      lanes: options.lanes,
    });
  }
  return configs;
}

/** Makes backups and changes the corpus until shortly before the load ends. */
async function administer(
  { directory, failures }: Target,
  backupDirectory: string,
  seconds: number,
): Promise<{ backups: number; corpusChanges: number }> {
  const done = { backups: 0, corpusChanges: 0 };
  const end = performance.now() + (seconds - 1) * 1000;
  for (let turn = 0; performance.now() < end; turn++) {
    await Bun.sleep(Math.min(5000, seconds * 120));
    const isBackup = turn % 2 === 0;
    const words = isBackup
      ? ["backup", "--to", backupDirectory]
      : ["corpus", "use", turn % 4 === 1 ? "fewer" : "sample"];
    const run = await labd(words, { env: { LABD_DATA_DIR: directory } });
    if (run.code !== 0) failures.push(`labd ${words.join(" ")}: ${run.stderr}`);
    else done[isBackup ? "backups" : "corpusChanges"]++;
  }
  return done;
}

async function killRepeatedly(
  server: KillableServer,
  { seconds, killInterval, minimum, seed }: SoakOptions,
  countRequests: () => number,
): Promise<void> {
  const next = random(seed);
  const end = performance.now() + seconds.kills * 1000;
  while (performance.now() < end || server.kills < (minimum?.kills ?? 0)) {
    const before = countRequests();
    const pause = (0.3 + next() * 2 * killInterval) * 1000;
    await Bun.sleep(Math.max(0, Math.min(end - performance.now(), pause)));
    while (countRequests() < before + (minimum?.requestsBetweenKills ?? 0)) await Bun.sleep(50);
    await server.kill();
  }
}

async function subscribe(url: string, token: string, receiver: Receiver): Promise<void> {
  const response = await fetch(`${url}/api/webhooks/`, {
    method: "POST",
    headers: { Authorization: `Token ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({
      url: receiver.url,
      events: ["record.created"],
      resource: "locations",
      query_expression: JSON.stringify({ category: "label", operator: "contains", value: WATCHED }),
    }),
  });
  if (response.status !== 201) throw new Error(await response.text());
}

/** Waits for background imports and pending webhook deliveries. */
async function waitUntilIdle({ url, token }: Target): Promise<void> {
  const headers = { Authorization: `Token ${token}` };
  const list = async <T>(path: string): Promise<T[]> =>
    ((await (await fetch(url + path, { headers })).json()) as { results: T[] }).results;
  for (let i = 0; i < 1200; i++) {
    const imports = await list<{ state: string }>("/api/v2/imports/");
    const webhooks = await list<{ waiting: number }>("/api/webhooks/");
    const isImporting = imports.some(({ state }) => ["waiting", "reading", "writing"].includes(state));
    if (!isImporting && webhooks.every(({ waiting }) => waiting === 0)) return;
    await Bun.sleep(100);
  }
}

/** Checks that every watched record that exists was delivered: a record deleted before its delivery is skipped. */
async function checkDeliveries(
  { failures }: Target,
  reports: readonly ClientReport[],
  receiver: Receiver,
): Promise<number> {
  const expected = reports
    .flatMap(({ records }) => records)
    .filter(
      ({ id, label, states }) =>
        id !== null && label.includes(WATCHED) && states.every((state) => state?.alive),
    );
  const missing = (): typeof expected => {
    const delivered = new Set(receiver.got.map(({ data }) => String(data.id)));
    return expected.filter(({ id }) => !delivered.has(id!));
  };
  // An attempt interrupted by a kill is repeated after five seconds.
  for (let i = 0; i < 200 && missing().length > 0; i++) await Bun.sleep(100);
  failures.push(...missing().map(({ label }) => `the webhook did not deliver ${label}`));
  return expected.length;
}

async function checkBackups({ failures, directory: data }: Target, directory: string): Promise<void> {
  const env = { LABD_DATA_DIR: data };
  for (const backup of new Bun.Glob("*.json").scanSync(directory)) {
    const checked = await labd(["restore", "--check", join(directory, backup)], { env });
    if (checked.code !== 0) failures.push(`labd restore --check: ${checked.stderr}`);
  }
}

function sumCounts(reports: readonly ClientReport[]): ClientReport["counts"] {
  const sums: ClientReport["counts"] = {};
  for (const { counts } of reports)
    for (const [request, outcomes] of Object.entries(counts))
      for (const [outcome, count] of Object.entries(outcomes) as [keyof typeof outcomes, number][]) {
        const sum = (sums[request] ??= {});
        sum[outcome] = (sum[outcome] ?? 0) + count;
      }
  return sums;
}
