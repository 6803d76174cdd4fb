import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import proteins from "../../../src/sample/proteins.fasta" with { type: "text" };
import { random } from "../../scoring/contract/random-message.ts";
import { labd, serve, type Server } from "../../executable/labd.ts";
import { openReceiver, type Receiver } from "../../webhooks/receiver.ts";
import { checkJobs, checkRecords, checkRest, type Checked, type Place } from "./check.ts";
import type { Account } from "./ledger.ts";
import { look, type Vitals } from "./vitals.ts";
import type { ClientConfig } from "./wire.ts";

export interface SoakOptions {
  /** An empty directory for all of it. */
  directory: string;
  /** Seconds of load without and with kills. */
  calm: number;
  rough: number;
  /** Seconds from one kill to the next, on average. */
  killEvery: number;
  /** Both parts go on until there were so many requests without kills, then so many kills with so many requests before each. */
  least?: { calm: number; kills: number; between: number };
  seed: number;
  /** Client processes, and the lanes of each. */
  clients: number;
  lanes: ClientConfig["lanes"];
  say?: (line: string) => void;
}

export interface Report {
  seconds: { calm: number; rough: number };
  requests: { calm: number; all: number };
  counts: Account["counts"];
  kills: number;
  slowestStart: number;
  backups: number;
  corpusChanges: number;
  /** Of the calm part. */
  vitals: Vitals[];
  checked: Partial<Checked>;
  told: number;
  /** All that was not as it has to be; empty where everything was. */
  faults: string[];
}

const CLIENT = new URL("./client.ts", import.meta.url).pathname;
const PASSWORD = "a password of the soak";

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });

/** Two corpora in a data directory: the sample, and the sample without every third protein. */
async function addCorpora(directory: string, scratch: string): Promise<void> {
  const env = { LABD_DATA_DIR: directory };
  const records = proteins.split(/^(?=>)/m);
  const fewer = join(scratch, "fewer.fa");
  writeFileSync(fewer, records.filter((_, i) => i % 3 > 0).join(""));
  await labd(["corpus", "add", "--sample"], { env });
  await labd(["corpus", "add", fewer, "--name", "fewer"], { env });
}

/** Puts a service under load, kills it, and holds it against what its clients know. */
export async function soak(options: SoakOptions): Promise<Report> {
  const { directory, seed, clients, say = () => {}, least = { calm: 0, kills: 0, between: 0 } } = options;
  const data = join(directory, "data");
  const calmData = join(directory, "calm");
  const env = { LABD_DATA_DIR: data };
  const faults: string[] = [];
  for (const place of [data, calmData]) {
    mkdirSync(place);
    await addCorpora(place, directory);
  }
  await labd(["user", "add", "ada", "--admin", "--password-stdin"], { env, stdin: `${PASSWORD}\n` });
  const tokenOf = async (who: string): Promise<string> =>
    (await labd(["token", "add", who], { env })).stdout.trim().split("\n")[0];
  const token = await tokenOf("ada");
  const port = await freePort();
  const flags = `--port ${port} --log problems --trust-proxy true --webhook-allow 127.0.0.0/8`;
  const started: Server[] = [];
  let slowestStart = 0;
  const start = async (): Promise<Server> => {
    const begun = performance.now();
    const server = await serve(data, flags.split(" "));
    slowestStart = Math.max(slowestStart, performance.now() - begun);
    started.push(server);
    return server;
  };
  let server = await start();
  const { url } = server;
  await using receiver = openReceiver();
  await listenTo(url, token, receiver);

  const configs: ClientConfig[] = [];
  for (let number = 0; number < clients; number++) {
    const username = `user${number}`;
    await labd(["user", "add", username, "--password-stdin"], { env, stdin: `${PASSWORD}\n` });
    configs.push({
      number,
      seed,
      url,
      ledger: join(directory, `ledger-${number}.jsonl`),
      account: join(directory, `account-${number}.json`),
      token: await tokenOf(username),
      username,
      password: PASSWORD,
      lanes: options.lanes,
    });
  }
  const processes = configs.map((config) =>
    Bun.spawn([process.execPath, "run", CLIENT, JSON.stringify(config)], {
      stdin: "pipe",
      stdout: "inherit",
      stderr: "inherit",
    }),
  );

  const next = random(seed);
  const begun = performance.now();
  const at = (): number => (performance.now() - begun) / 1000;
  const vitals: Vitals[] = [];
  let [backups, corpusChanges] = [0, 0];
  /** What an administrator does beside. */
  const beside = async (until: number): Promise<void> => {
    for (let turn = 0; at() < until; turn++) {
      await Bun.sleep(Math.min(5000, (options.calm + options.rough) * 120));
      const words =
        turn % 2 === 0
          ? ["backup", "--to", join(directory, "backups")]
          : ["corpus", "use", turn % 4 === 1 ? "fewer" : "sample"];
      const done = await labd(words, { env });
      if (done.code !== 0) faults.push(`labd ${words.join(" ")}: ${done.stderr}`);
      else if (turn % 2 === 0) backups++;
      else corpusChanges++;
    }
  };
  const administrator = beside(options.calm + options.rough - 1);
  const requestsSoFar = (): number =>
    configs
      .filter(({ ledger }) => existsSync(ledger))
      .reduce((sum, { ledger }) => sum + readFileSync(ledger, "utf8").split("\n").length - 1, 0);
  while (at() < options.calm || requestsSoFar() < least.calm) {
    await Bun.sleep(250);
    const seen = look(server.process.pid, join(data, "labd.sqlite"), at());
    if (seen) vitals.push(seen);
  }
  const calmSeconds = at();
  const calmRequests = requestsSoFar();
  say(`${calmRequests} requests in ${calmSeconds.toFixed(0)} s without a kill`);
  let kills = 0;
  const end = calmSeconds + options.rough;
  while (at() < end || kills < least.kills) {
    const before = requestsSoFar();
    await Bun.sleep(Math.max(0, Math.min(end - at(), 0.3 + next() * 2 * options.killEvery)) * 1000);
    while (requestsSoFar() < before + least.between) await Bun.sleep(50);
    await server.end("SIGKILL");
    kills++;
    server = await start();
  }
  const seconds = { calm: calmSeconds, rough: at() - calmSeconds };
  for (const client of processes) void client.stdin.end();
  for (const client of processes) if ((await client.exited) !== 0) faults.push("a client process failed");
  await administrator;
  // And once more, with nobody there.
  await server.end("SIGKILL");
  kills++;
  server = await start();

  const accounts = configs.map(({ account }) => JSON.parse(readFileSync(account, "utf8")) as Account);
  const counts = total(accounts);
  faults.push(...accounts.flatMap(({ wrong }) => wrong));
  const place: Place = { url, token, directory: data, faults };
  await settled(place);
  say("the load is over; holding the server against the ledgers");
  const checked: Partial<Checked> = await checkRecords(place, accounts);
  Object.assign(checked, await checkJobs(place, accounts, calmData));
  Object.assign(checked, await checkRest(place, accounts));
  const told = await checkTold(place, accounts, receiver);
  for (const { log } of started)
    for (const line of log().split("\n"))
      if (line.includes('"severity":"error"') || /panic|Segmentation/.test(line)) faults.push(`log: ${line}`);
  for (const backup of new Bun.Glob("*.json").scanSync(join(directory, "backups"))) {
    const looked = await labd(["restore", "--check", join(directory, "backups", backup)], { env });
    if (looked.code !== 0) faults.push(`labd restore --check: ${looked.stderr}`);
  }
  await server.end("SIGTERM");
  const requests = { calm: calmRequests, all: sum(counts) };
  return {
    seconds,
    requests,
    counts,
    kills,
    slowestStart,
    backups,
    corpusChanges,
    vitals,
    checked,
    told,
    faults,
  };
}

const sum = (counts: Account["counts"]): number =>
  Object.values(counts).reduce((all, one) => all + Object.values(one).reduce((a, b) => a + b, 0), 0);

function total(accounts: readonly Account[]): Account["counts"] {
  const counts: Account["counts"] = {};
  for (const account of accounts)
    for (const [what, outcomes] of Object.entries(account.counts))
      for (const [outcome, n] of Object.entries(outcomes) as [keyof typeof outcomes, number][]) {
        const of = (counts[what] ??= {});
        of[outcome] = (of[outcome] ?? 0) + n;
      }
  return counts;
}

/** A webhook for the records of one lane of each client. */
async function listenTo(url: string, token: string, receiver: Receiver): Promise<void> {
  const answer = await fetch(`${url}/api/webhooks/`, {
    method: "POST",
    headers: { Authorization: `Token ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({
      url: receiver.url,
      events: ["record.created"],
      resource: "locations",
      query_expression: '{"category":"label","operator":"contains","value":"-r0-"}',
    }),
  });
  if (answer.status !== 201) throw new Error(await answer.text());
}

/** Waits for imports that were accepted for later, and for what webhooks still have to tell. */
async function settled({ url, token }: Place): Promise<void> {
  const headers = { Authorization: `Token ${token}` };
  const get = async (path: string): Promise<any> => (await fetch(url + path, { headers })).json(); // oxlint-disable-line no-explicit-any
  for (let i = 0; i < 1200; i++) {
    const { results: imports } = await get("/api/v2/imports/");
    const { results: hooks } = await get("/api/webhooks/");
    const isBusy = imports.some(({ state }: { state: string }) =>
      ["waiting", "reading", "writing"].includes(state),
    );
    if (!isBusy && hooks.every(({ waiting }: { waiting: number }) => waiting === 0)) return;
    await Bun.sleep(100);
  }
}

/** Every record that was made for the webhook to tell of was told, if it is still there to be seen. */
async function checkTold(
  { faults }: Place,
  accounts: readonly Account[],
  receiver: Receiver,
): Promise<number> {
  const wanted: { id: string; label: string }[] = [];
  for (const { id, label, states } of accounts.flatMap(({ records }) => records)) {
    // What was deleted before it was sent is not told any more.
    if (id === null || !label.includes("-r0-") || states.some((state) => !state?.alive)) continue;
    wanted.push({ id, label });
  }
  const untold = (): typeof wanted => {
    const told = new Set(receiver.got.map(({ data }) => String(data.id)));
    return wanted.filter(({ id }) => !told.has(id));
  };
  // An attempt that a kill cut off is made again after five seconds.
  for (let i = 0; i < 200 && untold().length > 0; i++) await Bun.sleep(100);
  faults.push(...untold().map(({ label }) => `the webhook was not told of ${label}`));
  return wanted.length;
}
