/**
 * How long readers wait, and how many jobs are scored, while connections rest and while many sign in wrongly.
 *
 *   bun run build && bun run test/bench/starvation.bench.ts [SECONDS] [ROUNDS]
 *
 * Two readers ask for a list of 20 one after the other, three clients submit jobs and wait for each. Beside them: nobody;
 * 1,000 and 5,000 connections that were answered once and rest; 200 wrong sign-ins at once, of one address and of 200;
 * and as many wrong sign-ins as 150 clients of other addresses can make. Medians over the rounds; every answer is
 * looked at.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { E7, element, ended, labd, post, runJobMessage, serve } from "../executable/labd.ts";
import { dial } from "../executable/raw-http.ts";

const [seconds = 5, rounds = 3] = process.argv.slice(2).map(Number);
const directory = mkdtempSync(join(tmpdir(), "labd-starvation-"));
const env = { LABD_DATA_DIR: directory };
await labd(["corpus", "add", "--sample"], { env });
await labd(["user", "add", "ada", "--admin", "--password-stdin"], { env, stdin: "a password\n" });
const token = (await labd(["token", "add", "ada"], { env })).stdout.trim();
const server = await serve(directory, ["--log", "problems", "--trust-proxy", "true"]);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const headers = { Authorization: `Token ${token}`, "Content-Type": "application/json" };
for (let i = 0; i < 100; i++) {
  const body = JSON.stringify({ label: `Box ${i}` });
  await (await fetch(`${server.url}/api/v2/locations/`, { method: "POST", headers, body })).arrayBuffer();
}

const memory = (): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${server.process.pid}/status`, "utf8"))?.[1] ?? 0) /
  1024;
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1];
const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)];

interface Measured {
  p50: number;
  p99: number;
  jobs: number;
  signIns: number;
  most: number;
}

let sequences = 0;
/** Reads and scores until `over` comes; `signIns` is how many were answered meanwhile. */
async function measure(over: Promise<number>): Promise<Measured> {
  const state = { over: false };
  const waits: number[] = [];
  let [jobs, most] = [0, 0];
  const read = async (): Promise<void> => {
    while (!state.over) {
      const begun = performance.now();
      const response = await fetch(`${server.url}/api/v2/locations/?page_size=20`, { headers });
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`a read was answered by ${response.status}`);
      waits.push(performance.now() - begun);
      most = Math.max(most, memory());
      await Bun.sleep(3);
    }
  };
  const score = async (): Promise<void> => {
    while (!state.over) {
      const tail = (sequences++)
        .toString(20)
        .replaceAll(/./g, (digit) => "ACDEFGHIKLMNPQRSTVWY"[parseInt(digit, 20)]);
      const { text } = await post(server.url, runJobMessage({ sequence: E7 + tail, patterns: ["L.C.E"] }));
      if ((await ended(server.url, element(text, "JobIdentifier")!)) !== "finished") throw new Error(text);
      if (!state.over) jobs++;
    }
  };
  const begun = performance.now();
  const working = [read(), read(), score(), score(), score()];
  const signIns = await over;
  const took = (performance.now() - begun) / 1000;
  state.over = true;
  await Promise.all(working);
  return {
    p50: quantile(waits, 0.5),
    p99: quantile(waits, 0.99),
    jobs: jobs / took,
    signIns: signIns / took,
    most,
  };
}

let addresses = 0;
async function signInWrongly(address: string): Promise<number> {
  const response = await fetch(`${server.url}/api/v2/token-auth/`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Forwarded-For": address },
    body: JSON.stringify({ username: `nobody${addresses++}`, password: "wrong password" }),
  });
  await response.arrayBuffer();
  if (![401, 429, 503].includes(response.status))
    throw new Error(`a sign-in was answered by ${response.status}`);
  return response.status;
}
const newAddress = (): string => `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
const answered = (statuses: readonly number[]): number => statuses.filter((status) => status === 401).length;

const pause = async (): Promise<number> => {
  await Bun.sleep(seconds * 1000);
  return 0;
};
async function resting(count: number): Promise<Measured> {
  const sockets: Socket[] = Array.from({ length: count }, () => dial(server.url));
  await Promise.all(
    sockets.map((socket) => {
      socket.write("GET /healthz HTTP/1.1\r\nHost: lab\r\n\r\n");
      return new Promise((resolve) => socket.once("data", resolve));
    }),
  );
  const measured = await measure(pause());
  for (const socket of sockets) socket.destroy();
  await Bun.sleep(500);
  return measured;
}
let rush = 0;
const AT_ONCE: Record<string, () => Promise<Measured>> = {
  nobody: () => measure(pause()),
  "1,000 connections that rest": () => resting(1000),
  "5,000 connections that rest": () => resting(5000),
  "200 wrong sign-ins at once, of one address": () => {
    const address = `192.0.2.${rush++}`;
    return measure(Promise.all(Array.from({ length: 200 }, () => signInWrongly(address))).then(answered));
  },
  "200 wrong sign-ins at once, of 200 addresses": () =>
    measure(Promise.all(Array.from({ length: 200 }, () => signInWrongly(newAddress()))).then(answered)),
  "150 clients that sign in wrongly all the time": () => {
    const end = performance.now() + seconds * 1000;
    const client = async (): Promise<number> => {
      let count = 0;
      while (performance.now() < end) count += (await signInWrongly(newAddress())) === 401 ? 1 : 0;
      return count;
    };
    const all = Promise.all(Array.from({ length: 150 }, client));
    return measure(all.then((counts) => counts.reduce((a, b) => a + b, 0)));
  },
};
const found = new Map<string, Measured[]>(Object.keys(AT_ONCE).map((name) => [name, []]));
await measure(pause());
for (let round = 0; round < rounds; round++)
  for (const [name, run] of Object.entries(AT_ONCE)) {
    found.get(name)!.push(await run());
    await Bun.sleep(1000);
  }
say(
  "| Beside | A read waits (median) | 99 of 100 wait at most | Jobs | Wrong sign-ins looked at | Memory at most |",
);
say("|---|---|---|---|---|---|");
for (const [name, all] of found) {
  const of = (what: keyof Measured, digits = 0): string =>
    median(all.map((one) => one[what])).toFixed(digits);
  say(
    `| ${name} | ${of("p50", 1)} ms | ${of("p99", 1)} ms | ${of("jobs")}/s | ${of("signIns") === "0" ? "" : `${of("signIns")}/s`} | ${of("most")} MB |`,
  );
}
await server.end("SIGKILL");
rmSync(directory, { recursive: true, force: true });
