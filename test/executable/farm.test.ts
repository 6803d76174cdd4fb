import { expect, test } from "bun:test";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { E7, labd, scratch, serve, type Server } from "./labd.ts";
import type { FarmStatus } from "../../src/farm/index.ts";
import { freePort, hasRedis, RedisServer } from "../farm/redis-server.ts";
import { jobsOf, resultsOf, startWorker } from "./farm-hand.ts";

/**
 * The server, Redis and workers as one would have them, each a process of its own.
 */

const withRedis = hasRedis ? test : test.skip;
const NAME = hasRedis ? "" : " (SKIPPED without redis-server)";

/** Proteins that are alike, and yet each its own question. */
const proteins = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => E7 + "ACDEFGHIKLMNPQRSTVWY"[i % 20].repeat(1 + Math.floor(i / 20)));

async function submit({ url }: Server, querySequence: string): Promise<string> {
  const response = await fetch(`${url}/api/scoring/jobs`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ querySequence, patterns: ["L.C.E", "[ST]P"] }),
  });
  if (response.status !== 202 && response.status !== 201 && response.status !== 200) {
    throw new Error(`${response.status} ${await response.text()}`);
  }
  return ((await response.json()) as { id: string }).id;
}

async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  seconds = 240,
): Promise<void> {
  for (let i = 0; !(await condition()); i++) {
    if (i > seconds * 50) throw new Error(`It did not come true in ${seconds} s: ${what}`);
    await Bun.sleep(20);
  }
}

const states = (directory: string): string[] => [...new Set(jobsOf(directory).map(({ state }) => state))];

/** A data directory with the sample corpus, and others that have the file of the corpus alone. */
async function laboratory(directory: string, workers: string[]): Promise<string> {
  const home = join(directory, "server");
  expect((await labd(["corpus", "add", "--sample", "--data-dir", home])).code).toBe(0);
  for (const worker of workers) {
    mkdirSync(join(directory, worker), { recursive: true });
    cpSync(join(home, "corpora"), join(directory, worker, "corpora"), { recursive: true });
  }
  return home;
}

withRedis(
  `two workers score what a server was asked, to the byte as it would itself${NAME}`,
  async () => {
    using place = scratch();
    const { directory } = place;
    const home = await laboratory(directory, ["one", "two", "alone"]);
    cpSync(home, join(directory, "alone"), { recursive: true });
    await using redis = await RedisServer.start(directory);
    await using server = await serve(home, ["--queue", redis.url, "--queue-local", "never"]);
    await using one = startWorker(join(directory, "one"), redis.url, ["--concurrency", "1"]);
    await using two = startWorker(join(directory, "two"), redis.url, ["--concurrency", "1"]);
    await Promise.all([one.says("takes work"), two.says("takes work")]);
    const asked = proteins(24);
    for (const protein of asked) await submit(server, protein);
    await until("all jobs finish", () => states(home).join() === "finished");
    const jobs = jobsOf(home);
    expect(jobs.length).toBe(24);
    expect(new Set(jobs.map(({ worker }) => worker)).size).toBe(2);
    expect(jobs.every(({ attempts }) => attempts === 1)).toBe(true);
    await until("nothing stays behind", async () => {
      const keys = (await redis.command("KEYS", "labd:*")) as string[];
      return !keys.some((key) => /:jobs-[0-9a-f]{16}:[0-9a-f]{8}-/.test(key));
    });
    expect([server, one, two].map(({ log }) => log()).join("")).not.toContain("farm-secret");

    await using alone = await serve(join(directory, "alone"));
    for (const protein of asked) await submit(alone, protein);
    await until("all jobs finish", () => states(join(directory, "alone")).join() === "finished");
    expect(resultsOf(home)).toEqual(resultsOf(join(directory, "alone")));

    // A worker drains; the server ends its part at once.
    expect(await one.end("SIGTERM")).toBe(0);
    expect(await server.end("SIGTERM")).toBe(0);
  },
  300_000,
);

withRedis(
  `what the farm does is told, and every job ends once whatever is killed${NAME}`,
  async () => {
    using place = scratch();
    const { directory } = place;
    const home = await laboratory(directory, ["one", "none"]);
    await using redis = await RedisServer.start(directory);
    const words = ["--queue", redis.url, "--queue-local", "never", "--admin-password", "a long password"];
    let server = await serve(home, words);
    try {
      await using one = startWorker(join(directory, "one"), redis.url, ["--concurrency", "2"]);
      rmSync(join(directory, "none", "corpora"), { recursive: true });
      await using none = startWorker(join(directory, "none"), redis.url, ["--concurrency", "1"]);
      await Promise.all([one.says("takes work"), none.says("There is no source")]);
      const env = { LABD_QUEUE: redis.url, LABD_DATA_DIR: home };
      const status = async (): Promise<FarmStatus> => {
        const run = await labd(["farm", "status", "--json"], { env });
        expect([run.code, run.stderr]).toEqual([0, ""]);
        return JSON.parse(run.stdout) as FarmStatus;
      };
      await until("the server has seen both", async () => (await status()).workers.length === 2);

      const asked = proteins(40);
      for (const [i, protein] of asked.entries()) {
        await submit(server, protein);
        if (i === 10) await redis.end();
        if (i === 20) await redis.restart();
        if (i === 30) {
          await server.end("SIGKILL");
          server = await serve(home, words);
        }
      }
      await until("all jobs finish", () => states(home).join() === "finished");
      expect(jobsOf(home).length).toBe(40);

      const { mixed, server: record, workers, redis: facts } = await status();
      expect(facts).toMatchObject({ policy: "noeviction", appendonly: true });
      expect(record).toMatchObject({ corpusName: "sample", scoringVersion: { method: "labd-2" } });
      expect(mixed).toEqual([expect.stringContaining("takes no work. The server scores on sample")]);
      expect(workers.filter(({ fits }) => fits).map(({ concurrency }) => concurrency)).toEqual([2]);
      // What each says of itself is up to a second old.
      await until("nobody is busy", async () => {
        const { stdout } = await labd(["farm", "status"], { env });
        expect(stdout).not.toContain("farm-secret");
        return stdout.includes("workers  2 with 3 places, 0 of them busy");
      });
      const doctor = await labd(["doctor", "--format", "json"], { env });
      const findings = JSON.parse(doctor.stdout) as { about: string; state: string }[];
      expect(findings.filter(({ about }) => about === "farm").map(({ state }) => state)).toEqual(["warning"]);

      const text = await (await fetch(`${server.url}/metrics`)).text();
      expect(text).toContain("\nlabd_farm_up 1\n");
      expect(text).toMatch(/\nlabd_farm_places\{host="[^"]+",fits="true"\} 2\n/);
      const promtool = Bun.which("promtool");
      if (promtool !== null) {
        const checked = Bun.spawnSync([promtool, "check", "metrics"], { stdin: Buffer.from(text) });
        expect([checked.exitCode, checked.stdout.toString() + checked.stderr.toString()]).toEqual([0, ""]);
      }
      const headers = { Authorization: `Basic ${btoa("admin:a long password")}` };
      const answered = await fetch(`${server.url}/api/admin/farm`, { headers });
      const farm = (await answered.json()) as Record<string, unknown>;
      expect(farm).toMatchObject({
        enabled: true,
        state: "there",
        mode: "never",
        backlog: 0,
        pool_works: false,
      });
      expect((await fetch(`${server.url}/api/admin/farm`)).status).toBe(401);
    } finally {
      await server[Symbol.asyncDispose]();
    }
  },
  300_000,
);

const OPENSSL = Bun.which("openssl");

/** A certificate for this machine, signed by an authority of the test's own. */
function certify(directory: string): { ca: string; words: string[] } {
  const at = (name: string): string => join(directory, name);
  const run = (words: string): void => {
    const { exitCode, stderr } = Bun.spawnSync([OPENSSL!, ...words.split(" ")], { cwd: directory });
    if (exitCode !== 0) throw new Error(stderr.toString());
  };
  run("req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=authority");
  run("req -newkey rsa:2048 -nodes -keyout own.key -out own.csr -subj /CN=localhost");
  writeFileSync(at("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1");
  run("x509 -req -in own.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out own.pem -days 2 -extfile names");
  const words = `--tls-cert-file ${at("own.pem")} --tls-key-file ${at("own.key")} --tls-ca-cert-file ${at("ca.pem")} --tls-auth-clients no`;
  return { ca: at("ca.pem"), words: words.split(" ") };
}

(OPENSSL === null ? test.skip : withRedis)(
  `a queue with TLS, one behind a socket, and one that is set up badly${NAME}${OPENSSL === null ? " (SKIPPED without openssl)" : ""}`,
  async () => {
    using place = scratch();
    const { directory } = place;
    const port = await freePort();
    const socket = join(directory, "redis.sock");
    const { ca, words } = certify(directory);
    const more = [
      "--tls-port",
      String(port),
      ...words,
      "--unixsocket",
      socket,
      "--maxmemory-policy",
      "allkeys-lru",
    ];
    await using redis = await RedisServer.start(directory, more);
    const status = (queue: string, more: Record<string, string> = {}): ReturnType<typeof labd> =>
      labd(["farm", "status"], { env: { LABD_QUEUE: queue, ...more } });
    const secure = `rediss://:farm-secret@localhost:${port}/0`;
    const there = await status(secure, { LABD_CA_FILE: ca });
    expect([there.code, there.stdout]).toEqual([
      0,
      expect.stringContaining(`queue    rediss://localhost:${port}/0`),
    ]);
    const stranger = await status(secure);
    expect([stranger.code, stranger.stderr]).toEqual([
      69,
      expect.stringMatching(/cannot be used: .*certificate/),
    ]);
    const unknown = await status(secure.replace("farm-secret", "guess"), { LABD_CA_FILE: ca });
    expect([unknown.code, unknown.stderr]).toEqual([69, expect.stringContaining("WRONGPASS")]);
    expect(there.stdout + stranger.stderr + unknown.stderr).not.toMatch(/farm-secret|guess/);
    const local = await status(`unix://:farm-secret@${socket}?db=1`);
    expect([local.code, local.stdout]).toEqual([0, expect.stringContaining(`queue    unix:${socket}?db=1`)]);

    await redis.command("CONFIG", "SET", "appendonly", "no");
    const env = { LABD_QUEUE: redis.url, LABD_DATA_DIR: directory };
    const { stdout } = await labd(["doctor", "--format", "json"], { env });
    const findings = JSON.parse(stdout) as { about: string; state: string; found: string }[];
    expect(findings.filter(({ about }) => about === "queue")).toEqual([
      expect.objectContaining({ state: "problem", found: expect.stringContaining("allkeys-lru") }),
      expect.objectContaining({ state: "warning", found: expect.stringContaining("appendonly") }),
    ]);
  },
  300_000,
);
