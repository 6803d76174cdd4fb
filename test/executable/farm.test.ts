import { expect, test } from "bun:test";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { labd, scratch, serve } from "./labd.ts";
import type { FarmStatus } from "../../src/farm/index.ts";
import { certify, OPENSSL } from "./certificate.ts";
import { freePort, hasRedis, RedisServer } from "../farm/redis-server.ts";
import {
  farmDirectories,
  finishedJobs,
  readJobs,
  readResults,
  startWorker,
  submitJobs,
} from "./farm-worker.ts";
import { waitFor } from "../wait.ts";

/** Server, Redis and workers, each in a process. */

const withRedis = hasRedis ? test : test.skip;
const NAME = hasRedis ? "" : " (SKIPPED without redis-server)";

withRedis(
  `two workers give exactly the results of the server${NAME}`,
  async () => {
    using place = scratch();
    const { directory } = place;
    const home = await farmDirectories(directory, ["one", "two", "alone"]);
    cpSync(home, join(directory, "alone"), { recursive: true });
    await using redis = await RedisServer.start(directory);
    await using server = await serve(home, ["--queue", redis.url, "--queue-local", "never"]);
    await using one = startWorker(join(directory, "one"), redis.url, ["--concurrency", "1"]);
    await using two = startWorker(join(directory, "two"), redis.url, ["--concurrency", "1"]);
    await Promise.all([one.logs("takes work"), two.logs("takes work")]);
    await submitJobs(server.url, 0, 24);
    await waitFor(() => finishedJobs(home) === 24);
    const jobs = readJobs(home);
    expect(jobs.length).toBe(24);
    expect(new Set(jobs.map(({ worker }) => worker)).size).toBe(2);
    expect(jobs.every(({ attempts }) => attempts === 1)).toBe(true);
    await waitFor(async () => {
      const keys = (await redis.command("KEYS", "labd:*")) as string[];
      return !keys.some((key) => /:jobs-[0-9a-f]{16}:[0-9a-f]{8}-/.test(key));
    });
    expect([server, one, two].map(({ log }) => log()).join("")).not.toContain("farm-secret");

    await using alone = await serve(join(directory, "alone"));
    await submitJobs(alone.url, 0, 24);
    await waitFor(() => finishedJobs(join(directory, "alone")) === 24);
    expect(readResults(home)).toEqual(readResults(join(directory, "alone")));

    // A worker drains; the server ends its part at once.
    expect(await one.end("SIGTERM")).toBe(0);
    expect(await server.end("SIGTERM")).toBe(0);
  },
  300_000,
);

withRedis(
  `status, metrics and doctor show the farm, and every job ends once after kills${NAME}`,
  async () => {
    using place = scratch();
    const { directory } = place;
    const home = await farmDirectories(directory, ["one", "none"]);
    await using redis = await RedisServer.start(directory);
    const words = ["--queue", redis.url, "--queue-local", "never", "--admin-password", "a long password"];
    let server = await serve(home, words);
    try {
      await using one = startWorker(join(directory, "one"), redis.url, ["--concurrency", "2"]);
      rmSync(join(directory, "none", "corpora"), { recursive: true });
      await using none = startWorker(join(directory, "none"), redis.url, ["--concurrency", "1"]);
      await Promise.all([one.logs("takes work"), none.logs("There is no server to fetch")]);
      const env = { LABD_QUEUE: redis.url, LABD_DATA_DIR: home };
      const status = async (): Promise<FarmStatus> => {
        const run = await labd(["farm", "status", "--json"], { env });
        expect([run.code, run.stderr]).toEqual([0, ""]);
        return JSON.parse(run.stdout) as FarmStatus;
      };
      await waitFor(async () => (await status()).workers.length === 2);

      await submitJobs(server.url, 0, 10);
      await redis.end();
      await submitJobs(server.url, 10, 20);
      await redis.restart();
      await submitJobs(server.url, 20, 30);
      await server.end("SIGKILL");
      server = await serve(home, words);
      await submitJobs(server.url, 30, 40);
      await waitFor(() => finishedJobs(home) === 40);
      expect(readJobs(home).length).toBe(40);

      const { mixed, server: record, workers, redis: facts } = await status();
      expect(facts).toMatchObject({ policy: "noeviction", appendonly: true });
      expect(record).toMatchObject({ corpusName: "sample", scoringVersion: { method: "labd-3" } });
      expect(mixed).toEqual([expect.stringContaining("accepts no jobs. The server scores on sample")]);
      expect(workers.filter(({ fits }) => fits).map(({ concurrency }) => concurrency)).toEqual([2]);
      // The status of each worker is up to a second old.
      await waitFor(async () => {
        const { stdout } = await labd(["farm", "status"], { env });
        expect(stdout).not.toContain("farm-secret");
        return stdout.includes("workers  2 with 3 slots, 0 busy");
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

(OPENSSL === null ? test.skip : withRedis)(
  `queues over TLS and a socket, and a badly configured one${NAME}${OPENSSL === null ? " (SKIPPED without openssl)" : ""}`,
  async () => {
    using place = scratch();
    const { directory } = place;
    const port = await freePort();
    const socket = join(directory, "redis.sock");
    certify(directory, "own");
    const at = (name: string): string => join(directory, `own-${name}.pem`);
    const more = `--tls-port ${port} --tls-cert-file ${at("cert")} --tls-key-file ${at("key")} --tls-auth-clients no`;
    const words = `${more} --tls-ca-cert-file ${at("ca")} --unixsocket ${socket} --maxmemory-policy allkeys-lru`;
    await using redis = await RedisServer.start(directory, words.split(" "));
    const status = (queue: string, more: Record<string, string> = {}): ReturnType<typeof labd> =>
      labd(["farm", "status"], { env: { LABD_QUEUE: queue, ...more } });
    const secure = `rediss://:farm-secret@localhost:${port}/0`;
    const there = await status(secure, { LABD_CA_FILE: at("ca") });
    expect([there.code, there.stdout]).toEqual([
      0,
      expect.stringContaining(`queue    rediss://localhost:${port}/0`),
    ]);
    const stranger = await status(secure);
    expect([stranger.code, stranger.stderr]).toEqual([
      69,
      expect.stringMatching(/cannot be used: .*certificate/),
    ]);
    const unknown = await status(secure.replace("farm-secret", "guess"), { LABD_CA_FILE: at("ca") });
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
