import { expect, test } from "bun:test";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { E7, labd, scratch, serve, type Server } from "./labd.ts";
import { hasRedis, RedisServer } from "../farm/redis-server.ts";
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

async function until(what: string, condition: () => boolean | Promise<boolean>, seconds = 30): Promise<void> {
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
  60_000,
);
