import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { decode } from "../../src/motif/index.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";
import { E7, element, ended, labd, post, runJobMessage, scratch, serve, type Server } from "./labd.ts";
import { dial } from "./raw-http.ts";
import { waitFor } from "../wait.ts";

/**
 * Idle connections, many sign-ins at once, and a kill while a command runs. `test/bench/starvation.bench.ts` measures how
 * long other clients wait meanwhile.
 */

const IS_LINUX = process.platform === "linux";
const PASSWORD = "a password";

const place = scratch();
const env = { LABD_DATA_DIR: place.directory };
let server: Server;
let token = "";
const start = (): Promise<Server> =>
  serve(place.directory, "--workers 1 --log problems --trust-proxy true".split(" "));
beforeAll(async () => {
  await labd(["corpus", "add", "--sample"], { env });
  await labd(["user", "add", "ada", "--admin", "--password-stdin"], { env, stdin: `${PASSWORD}\n` });
  token = (await labd(["token", "add", "ada"], { env })).stdout.trim();
  server = await start();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

const get = (path: string): Promise<Response> =>
  fetch(server.url + path, { headers: { Authorization: `Token ${token}` } });
const files = (): number => (IS_LINUX ? readdirSync(`/proc/${server.process.pid}/fd`).length : 0);
/** Megabytes of memory now; 0 where the system does not tell. */
const memory = (): number =>
  IS_LINUX
    ? Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${server.process.pid}/status`, "utf8"))![1]) / 1024
    : 0;
test("1,000 idle connections use little memory and delay no client", async () => {
  for (let i = 0; i < 20; i++) await (await get("/api/v2/locations/")).text();
  const [filesBefore, memoryBefore] = [files(), memory()];
  const sockets: Socket[] = Array.from({ length: 1000 }, () => dial(server.url));
  let answered = 0;
  for (const socket of sockets) {
    socket.once("data", () => answered++);
    socket.write("GET /healthz HTTP/1.1\r\nHost: lab\r\n\r\n");
  }
  await waitFor(() => answered === 1000);
  if (IS_LINUX) expect(files() - filesBefore).toBeGreaterThan(990);
  for (let i = 0; i < 50; i++) expect((await get("/api/v2/locations/")).status).toBe(200);
  const { text } = await post(server.url, runJobMessage({ sequence: E7, patterns: ["L.C.E"] }));
  expect(await ended(server.url, element(text, "JobIdentifier")!)).toBe("finished");
  expect(memory() - memoryBefore).toBeLessThan(150);
  for (const socket of sockets) socket.destroy();
  await waitFor(() => files() - filesBefore < 20);
});

test("200 simultaneous failed sign-ins are limited by address, while reads and jobs continue", async () => {
  const before = memory();
  const seen = { most: 0, reads: 0, jobs: 0 };
  /** Normal traffic while somebody at another address tries passwords. */
  const flood = async (number: number): Promise<void> => {
    const address = `192.0.2.${100 + number}`;
    const waiting = { count: 200 };
    const signIns = Array.from({ length: 200 }, async (_, i) => {
      const response = await fetch(`${server.url}/api/v2/token-auth/`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Forwarded-For": address },
        body: JSON.stringify({ username: `nobody${number}-${i}`, password: "wrong password" }),
      });
      await response.arrayBuffer();
      waiting.count--;
      return response.status;
    });
    const read = async (): Promise<void> => {
      while (waiting.count > 0) {
        expect((await get("/api/v2/locations/")).status).toBe(200);
        seen.most = Math.max(seen.most, memory());
        if (waiting.count > 0) seen.reads++;
      }
    };
    const score = async (): Promise<void> => {
      for (let i = 0; waiting.count > 0; i++) {
        const message = runJobMessage({ sequence: E7 + "AC".repeat(i + 1), patterns: ["L.C.E"] });
        const job = element((await post(server.url, message)).text, "JobIdentifier")!;
        expect(await ended(server.url, job)).toBe("finished");
        if (waiting.count > 0) seen.jobs++;
      }
    };
    await Promise.all([read(), score()]);
    const statuses = await Promise.all(signIns);
    expect([401, 429].map((status) => statuses.filter((one) => one === status).length)).toEqual([100, 100]);
  };
  // A quick machine with many processors needs more than one of them.
  for (let i = 0; i < 1 || (i < 50 && (seen.reads <= 20 || seen.jobs <= 1)); i++) await flood(i);
  // Each hash takes 19 MiB, and a few run at once.
  expect(seen.most - before).toBeLessThan(200);
  expect(seen.reads).toBeGreaterThan(20);
  expect(seen.jobs).toBeGreaterThan(1);
  // Clients at other addresses are not affected.
  const right = await fetch(`${server.url}/api/v2/token-auth/`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Forwarded-For": "192.0.2.2" },
    body: JSON.stringify({ username: "ada", password: PASSWORD }),
  });
  expect(right.status).toBe(200);
}, 300_000);

test("a server killed while adding a corpus adds it after a restart", async () => {
  const next = random(7);
  const fasta = Array.from(
    { length: 30_000 },
    (_, i) => `>sp|T${i}|T${i}\n${decode(randomProtein(next, 300))}\n`,
  ).join("");
  const upload = (name: string): Promise<Response> =>
    fetch(`${server.url}/api/admin/corpora?name=${name}`, {
      method: "POST",
      headers: { Authorization: `Token ${token}` },
      body: fasta,
    });
  const accepted = await upload("many");
  expect(accepted.status).toBe(202);
  await accepted.arrayBuffer();
  const child = (): boolean =>
    !IS_LINUX ||
    readFileSync(`/proc/${server.process.pid}/task/${server.process.pid}/children`, "utf8").trim() !== "";
  await waitFor(child);
  await server.end("SIGKILL");
  server = await start();
  // The import may have continued; then the upload reports that the file exists.
  for (let i = 0; ; i++) {
    expect(i).toBeLessThan(400);
    const again = await upload("many");
    const { id } = (await again.json()) as { id: string };
    expect(again.status).toBe(202);
    const state = await waitFor(async () => {
      const task = (await (await get(`/api/admin/tasks/${id}`)).json()) as { state: string };
      return !["running", "waiting"].includes(task.state) && task.state;
    });
    if (state === "done") break;
    await Bun.sleep(500);
  }
  const listed = await labd(["corpus", "list"], { env });
  expect(listed.stdout).toMatch(/many.* 30,000 sequences/);
  expect(listed.stdout.match(/many/g)).toHaveLength(1);
  expect((await labd(["corpus", "verify"], { env })).code).toBe(0);
  await waitFor(() => readdirSync(join(place.directory, "uploads")).length === 0);
  // Nothing half-made is left.
  const left = readdirSync(join(place.directory, "corpora")).filter((name) => !/\.(labc|source)$/.test(name));
  expect(left).toEqual([]);
}, 300_000);
