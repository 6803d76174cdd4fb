/**
 * Read latency and job throughput under idle connections and failed sign-ins.
 *
 *   bun run build && bun run test/bench/starvation.bench.ts [SECONDS] [ROUNDS]
 *
 * Two readers and three job clients work alongside: nothing; 1,000 and 5,000 idle connections; 200 failed
 * sign-ins at once from one address and from 200; 150 clients that keep failing to sign in. Prints medians
 * over the rounds.
 */
import { mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { E7, element, ended, labd, post, runJobMessage, serve } from "../executable/labd.ts";
import { dial } from "../executable/raw-http.ts";
import { median, readMemory, quantile, say } from "./harness.ts";

const [seconds = 5, rounds = 3] = process.argv.slice(2).map(Number);
const directory = mkdtempSync(join(tmpdir(), "labd-starvation-"));
const env = { LABD_DATA_DIR: directory };
await labd(["corpus", "add", "--sample"], { env });
await labd(["user", "add", "ada", "--admin", "--password-stdin"], { env, stdin: "a password\n" });
const token = (await labd(["token", "add", "ada"], { env })).stdout.trim();
const server = await serve(directory, ["--log", "problems", "--trust-proxy", "true"]);
const headers = { Authorization: `Token ${token}`, "Content-Type": "application/json" };
for (let i = 0; i < 100; i++) {
  const body = JSON.stringify({ label: `Box ${i}` });
  await (await fetch(`${server.url}/api/v2/locations/`, { method: "POST", headers, body })).arrayBuffer();
}

interface Measured {
  p50: number;
  p99: number;
  jobs: number;
  signIns: number;
  most: number;
}

let sequences = 0;
/** Reads and scores until `over` resolves to the number of answered sign-ins. */
async function measure(over: Promise<number>): Promise<Measured> {
  const state = { over: false };
  const waits: number[] = [];
  let [jobs, most] = [0, 0];
  const read = async (): Promise<void> => {
    while (!state.over) {
      const start = performance.now();
      const response = await fetch(`${server.url}/api/v2/locations/?page_size=20`, { headers });
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`a read was answered by ${response.status}`);
      waits.push(performance.now() - start);
      most = Math.max(most, readMemory(server.process.pid));
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
  const start = performance.now();
  const working = [read(), read(), score(), score(), score()];
  const signIns = await over;
  const elapsed = (performance.now() - start) / 1000;
  state.over = true;
  await Promise.all(working);
  return {
    p50: quantile(waits, 0.5),
    p99: quantile(waits, 0.99),
    jobs: jobs / elapsed,
    signIns: signIns / elapsed,
    most,
  };
}

let addresses = 0;
async function failSignIn(address: string): Promise<number> {
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
async function withIdleConnections(count: number): Promise<Measured> {
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
const LOADS: Record<string, () => Promise<Measured>> = {
  nothing: () => measure(pause()),
  "1,000 idle connections": () => withIdleConnections(1000),
  "5,000 idle connections": () => withIdleConnections(5000),
  "200 failed sign-ins at once from one address": () => {
    const address = `192.0.2.${rush++}`;
    return measure(Promise.all(Array.from({ length: 200 }, () => failSignIn(address))).then(answered));
  },
  "200 failed sign-ins at once from 200 addresses": () =>
    measure(Promise.all(Array.from({ length: 200 }, () => failSignIn(newAddress()))).then(answered)),
  "150 clients that keep failing to sign in": () => {
    const end = performance.now() + seconds * 1000;
    const client = async (): Promise<number> => {
      let count = 0;
      while (performance.now() < end) count += (await failSignIn(newAddress())) === 401 ? 1 : 0;
      return count;
    };
    const all = Promise.all(Array.from({ length: 150 }, client));
    return measure(all.then((counts) => counts.reduce((a, b) => a + b, 0)));
  },
};
const found = new Map<string, Measured[]>(Object.keys(LOADS).map((name) => [name, []]));
await measure(pause());
for (let round = 0; round < rounds; round++)
  for (const [name, run] of Object.entries(LOADS)) {
    found.get(name)!.push(await run());
    await Bun.sleep(1000);
  }
say("| Load | Read latency (median) | 99th percentile | Jobs | Failed sign-ins checked | Peak memory |");
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
