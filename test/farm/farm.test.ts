import { afterAll, beforeAll, expect, test } from "bun:test";
import { Worker } from "bullmq";
import { Redis } from "ioredis";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FarmState } from "../../src/farm/index.ts";
import { PREFIX, queueName, registerWorker, resultsKey, encodeResult } from "../../src/farm/redis-records.ts";
import { corpusPath } from "../../src/scoring/index.ts";
import { IDLE_WORKER, Laboratory, VERSION } from "./laboratory.ts";
import { hasRedis, RedisServer } from "./redis-server.ts";
import { readPrediction } from "../scoring/job-queue.ts";
import { waitFor } from "../wait.ts";

/** Server and workers in one process; test/executable/farm.test.ts starts processes. */

let redis: RedisServer;
let home: string;
let databases = 0;
const open = (): Laboratory => new Laboratory(redis.at(databases++));
const withRedis = (what: string, run: () => Promise<void>, of = test.concurrent): void =>
  hasRedis ? of(what, run, 300_000) : test.skip(`${what} (SKIPPED without redis-server)`, run);

beforeAll(async () => {
  if (!hasRedis) return;
  home = mkdtempSync(join(tmpdir(), "labd-redis-"));
  redis = await RedisServer.start(home);
});
afterAll(async () => {
  if (!hasRedis) return;
  await redis.end();
  rmSync(home, { recursive: true, force: true });
});

withRedis(
  "a job fails once, with a reason for the client; an unexpected error stays in the log",
  async () => {
    await using lab = open();
    const farm = lab.serve();
    await lab.addWorker();
    const [told, hidden] = [await lab.submit("fail-with"), await lab.submit("fail")];
    await waitFor(() => lab.state(told) === "failed" && lab.state(hidden) === "failed");
    expect(lab.store.get(told).failure).toBe("The corpus is gone.");
    expect(lab.store.get(hidden).failure).toContain("defect of the program");
    expect(lab.row(told).attempts).toBe(1);
    expect(lab.logged.some((line) => line.includes("secret stack"))).toBe(true);
    expect(farm.state().counts.failed).toBe(2);
  },
);

withRedis("retries a job once if its thread dies", async () => {
  await using lab = open();
  lab.serve();
  await lab.addWorker({ concurrency: 2 });
  const [dead, once] = [
    await lab.submit("throw"),
    await lab.submit(`die-once ${join(lab.directory, "died")}`),
  ];
  await waitFor(() => lab.state(dead) === "failed" && lab.state(once) === "finished");
  expect(lab.store.get(dead).failure).toContain("ended 2 times");
  expect(lab.row(once).attempts).toBe(2);
});

withRedis("the server's deadline stops an endless job, and the next one runs", async () => {
  await using lab = open();
  lab.serve({ timeout: 300 });
  await lab.addWorker();
  const spun = await lab.submit("spin");
  // On a busy machine the next one, too, may take longer than that.
  for (;;) {
    const next = await lab.submit("finish");
    await waitFor(() => ["finished", "failed"].includes(lab.state(next)));
    if (lab.state(next) === "finished") break;
  }
  await lab.reaches(spun, "failed");
  expect(lab.store.get(spun).failure).toContain("after 0.3 seconds");
});

withRedis("progress is reported, and a cancelled job makes room for the next", async () => {
  await using lab = open();
  const farm = lab.serve();
  await lab.addWorker();
  const [slow, next, never] = [
    await lab.submit("progress"),
    await lab.submit("finish"),
    await lab.submit("finish"),
  ];
  await waitFor(() => farm.progress(slow)?.stage === "homologs");
  expect(farm.progress(slow)).toEqual({ stage: "homologs", fraction: 0.25 });
  for (const id of [slow, never]) {
    lab.store.cancel(id);
    farm.drop(id);
  }
  await lab.reaches(next);
  expect([lab.state(slow), lab.state(never)]).toEqual(["cancelled", "cancelled"]);
  await waitFor(() => farm.progress(slow) === null);
});

withRedis("finds a cancelled job that is still in the queue", async () => {
  await using lab = open();
  lab.serve();
  await lab.addWorker();
  const [slow, waiting, next] = [
    await lab.submit("wait"),
    await lab.submit("wait"),
    await lab.submit("finish"),
  ];
  await lab.reaches(slow, "running");
  lab.store.cancel(slow);
  lab.store.cancel(waiting);
  await lab.reaches(next);
});

/** A job whose worker has disappeared. */
async function loseWorker(lab: Laboratory): Promise<{ id: string; queue: string } & AsyncDisposable> {
  const queue = queueName({ version: VERSION, scoringVersion: lab.corpora.scoringVersion() });
  const connection = new Redis(lab.queue, { maxRetriesPerRequest: null });
  await registerWorker(connection, { ...IDLE_WORKER, name: "lost", queue });
  const never = (): Promise<never> => new Promise(() => {});
  const silent = { skipLockRenewal: true, skipStalledCheck: true, lockDuration: 300 };
  const lost = new Worker(queue, never, { connection, prefix: PREFIX, name: "lost", ...silent });
  const id = await lab.submit("finish");
  await waitFor(() => lab.row(id).worker === "lost");
  return {
    id,
    queue,
    async [Symbol.asyncDispose]() {
      await lost.close(true);
      connection.disconnect();
    },
  };
}

withRedis("the job of a lost worker goes to another without counting as an attempt", async () => {
  await using lab = open();
  lab.serve();
  await using lost = await loseWorker(lab);
  const good = await lab.addWorker({ lock: 500 });
  await lab.reaches(lost.id);
  expect(lab.row(lost.id)).toEqual({ worker: good.name, attempts: 1 });
});

withRedis("a job whose worker was lost ten times fails", async () => {
  await using lab = open();
  lab.serve();
  await using lost = await loseWorker(lab);
  // BullMQ counts here how often; this is the tenth time.
  await lab.command("HSET", `${PREFIX}:${lost.queue}:${lost.id}`, "stc", "9");
  await lab.addWorker({ lock: 500 });
  await lab.reaches(lost.id, "failed");
  expect(lab.store.get(lost.id).failure).toBe(
    "The worker's process ended 10 times while it scored this job.",
  );
});

withRedis("a retry delayed by the wrong clock of a worker runs immediately", async () => {
  await using lab = open();
  lab.serve();
  const ids = [await lab.submit("finish"), await lab.submit("finish")];
  const queue = queueName({ version: VERSION, scoringVersion: lab.corpora.scoringVersion() });
  const key = `${PREFIX}:${queue}`;
  // For one who seems to take work the server puts them into the queue.
  const connection = new Redis(lab.queue, { maxRetriesPerRequest: null });
  await registerWorker(connection, { ...IDLE_WORKER, name: "idle", queue });
  connection.disconnect();
  await waitFor(async () => (await lab.command("ZCARD", `${key}:prioritized`)) === 2);
  const hour = 3_600_000;
  for (const [i, id] of ids.entries()) {
    // As a worker whose clock is an hour ahead, or behind, puts it off.
    await lab.command("ZREM", `${key}:prioritized`, id);
    await lab.command("ZADD", `${key}:delayed`, String((Date.now() + (i === 0 ? hour : -hour)) * 4096), id);
  }
  await lab.addWorker();
  await waitFor(() => ids.every((id) => lab.state(id) === "finished"));
});

withRedis("a second result of a job changes nothing", async () => {
  await using lab = open();
  const [id, other] = [await lab.submit("finish"), await lab.submit("finish")];
  const scoringVersion = lab.corpora.scoringVersion();
  const hand = (job: string, prediction: string) => ({
    id: job,
    prediction,
    scoringVersion,
    worker: "w",
    attempts: 1,
  });
  expect(lab.jobs.finish([hand(id, "1"), hand(id, "2"), hand("unknown", "3")])).toEqual([true, false, false]);
  expect(lab.jobs.fail(hand(id, ""), "late")).toBe(false);
  expect(lab.jobs.fail(hand(other, ""), "first")).toBe(true);
  expect(lab.jobs.finish([hand(other, "4")])).toEqual([false]);
  expect(readPrediction(lab.store, id) as unknown).toBe(1);
  expect(lab.store.counts()).toMatchObject({ finished: 1, failed: 1 });
  expect(lab.database.query("SELECT count(*) AS n FROM result").get()).toEqual({ n: 1 });
});

withRedis("a stored prediction is collected even if its worker is lost", async () => {
  await using lab = open();
  lab.serve();
  const id = await lab.submit("wait");
  const name = queueName({ version: VERSION, scoringVersion: lab.corpora.scoringVersion() });
  const packed = new Uint8Array(Bun.zstdCompressSync('{"kept":1}'));
  await lab.command("HSET", resultsKey(name), id, encodeResult({ worker: "w", attempts: 1, packed }));
  await lab.addWorker();
  await lab.reaches(id);
  expect(readPrediction(lab.store, id) as unknown).toEqual({ kept: 1 });
});

withRedis("jobs are offered again after the queue was emptied, and each ends once", async () => {
  await using lab = open();
  lab.serve();
  await lab.addWorker({ concurrency: 2 });
  const ids: string[] = [];
  for (let i = 0; i < 60; i++) ids.push(await lab.submit("finish", `client ${i % 3}`));
  for (const at of [10, 30]) {
    await waitFor(() => lab.store.counts().finished > at);
    await lab.command("FLUSHDB");
  }
  await waitFor(
    () => lab.store.counts().finished === 60,
    () => lab.store.counts(),
  );
  for (const id of ids) {
    const { query } = lab.store.request(id)!;
    expect((readPrediction(lab.store, id) as unknown as { query: string }).query).toBe(query);
  }
});

withRedis("a draining worker returns jobs that take too long", async () => {
  await using lab = open();
  const farm = lab.serve();
  const first = await lab.addWorker({ concurrency: 2 });
  const [slow, quick] = [await lab.submit("wait"), await lab.submit("finish")];
  await waitFor(() => lab.state(slow) === "running" && lab.state(quick) === "finished");
  expect(await first.drain(50)).toBe(true);
  const second = await lab.addWorker();
  await waitFor(() => lab.row(slow).worker === second.name);
  expect(lab.row(slow).attempts).toBe(1);
  expect(farm.state().counts.returned).toBeGreaterThan(0);
});

/** Why the only worker takes no jobs. */
const readRefusal = ({ workers }: FarmState): string => workers[0]?.refusal ?? "";

withRedis("a worker of another version takes no jobs, and the pool does the work", async () => {
  await using lab = open();
  const farm = lab.serve({ mode: "away" });
  await lab.addWorker({ version: "9.9.9" });
  await waitFor(
    () => readRefusal(farm.state()).includes("9.9.9"),
    () => [farm.state(), lab.logged],
  );
  expect(readRefusal(farm.state())).toContain("The server has labd 1.2.3");
  expect(readRefusal(farm.state())).toContain("install the same version of labd on both");
  expect(farm.state().workers).toMatchObject([{ fits: false, queue: null }]);
  const id = await lab.submit("finish");
  await lab.reaches(id);
  expect(lab.row(id).worker).toBeNull();
});

withRedis("a worker without the right corpus takes no jobs until it has it", async () => {
  await using lab = open();
  const bytes = new TextEncoder().encode(">P1 one\nMKVLAARNDC\n>P2 two\nMKVLAARNDE\n");
  const { hash, path } = await lab.corpora.add({ name: "two", bytes: new Blob([bytes]).stream() });
  const farm = lab.serve();
  await lab.addWorker({ retryAfter: 100 });
  await waitFor(
    () => readRefusal(farm.state()).includes("There is no server to fetch"),
    () => farm.state(),
  );
  let asked = 0;
  await using store = Bun.serve({
    port: 0,
    async fetch({ url }) {
      if (!url.endsWith(`/api/scoring/corpora/${hash}`)) return new Response("", { status: 404 });
      const whole = await Bun.file(path).bytes();
      // The first time one byte is another.
      if (asked++ === 0) whole[whole.length - 1] ^= 1;
      return new Response(whole);
    },
  });
  const second = await lab.addWorker({ from: [`http://127.0.0.1:${store.port}`], retryAfter: 300 });
  await waitFor(() => lab.logged.some((line) => line.includes("is not that corpus")));
  const id = await lab.submit("finish");
  await lab.reaches(id);
  expect(farm.state().workers.find(({ name }) => name === second.name)?.corpora).toEqual([hash]);
  expect(lab.row(id).worker).toBe(second.name);
  expect(asked).toBe(2);
});

withRedis("after a change of corpus waiting jobs use the new one, running jobs the old one", async () => {
  await using lab = open();
  lab.serve();
  const go = join(lab.directory, "go");
  // A job that counts as lost on a slow machine would be scored again, by the new worker.
  await lab.addWorker({ lock: 60_000 });
  const before = lab.corpora.scoringVersion();
  const slow = await lab.submit(`until ${go}`);
  const waiting = await lab.submit("finish");
  await lab.reaches(slow, "running");
  const bytes = new Blob([">P1 one\nMKVLAARNDC\n"]).stream();
  const { path, hash } = await lab.corpora.add({ name: "one", bytes });
  await waitFor(async () => `${await lab.command("GET", `${PREFIX}:server`)}`.includes(hash));
  const dataDirectory = join(lab.directory, "theirs");
  mkdirSync(join(dataDirectory, "corpora"), { recursive: true });
  writeFileSync(corpusPath(dataDirectory, hash), new Uint8Array(await Bun.file(path).arrayBuffer()));
  await lab.addWorker({ dataDirectory });
  await lab.reaches(waiting);
  expect(lab.state(slow)).toBe("running");
  writeFileSync(go, "");
  await lab.reaches(slow);
  const readCorpus = (id: string) =>
    lab.database
      .query("SELECT r.corpus FROM job AS j JOIN result AS r ON r.rid = j.result WHERE j.id = ?")
      .get(id);
  expect(readCorpus(slow)).toEqual({ corpus: before.corpus });
  expect(readCorpus(waiting)).toEqual({ corpus: hash });
});

withRedis("a second server leaves the queue alone and scores by itself", async () => {
  await using lab = open();
  const first = lab.serve();
  await waitFor(() => first.state().state === "there");
  await using other = new Laboratory(lab.queue);
  const second = other.serve({ mode: "away" });
  await waitFor(() => second.state().state === "taken");
  expect(second.state().cause).toContain("each server needs a separate one");
  const id = await other.submit("finish");
  await other.reaches(id);
  expect(first.state().state).toBe("there");
});

withRedis(
  "the pool takes over from a queue that rejects jobs, until it accepts them again",
  async () => {
    await using lab = open();
    const farm = lab.serve({ mode: "away", retryAfter: 200 });
    await lab.addWorker();
    await waitFor(() => farm.state().workers.some(({ fits }) => fits));
    const configure = (bytes: string): Promise<unknown> => redis.command("CONFIG", "SET", "maxmemory", bytes);
    await configure("1");
    try {
      const id = await lab.submit("finish");
      await lab.reaches(id);
      expect(lab.row(id).worker).toBeNull();
      expect(farm.state()).toMatchObject({ state: "refuses" });
    } finally {
      await configure("0");
    }
    await waitFor(() => farm.state().state === "there" && !farm.poolMayWork());
    const id = await lab.submit("finish");
    await lab.reaches(id);
    expect(lab.row(id).worker).not.toBeNull();
  },
  test,
);

withRedis("a worker that lost Redis while verifying its corpus works when Redis is back", async () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-redis-"));
  await using own = await RedisServer.start(directory);
  await using lab = new Laboratory(own.at(0));
  const farm = lab.serve();
  await waitFor(() => farm.state().state === "there");
  await lab.corpora.add({ name: "one", bytes: `>P1\n${"MKLTACDEFGHIKLMNPQRSTVWY".repeat(4)}\n` });
  let isGone = false;
  await lab.addWorker({
    provide: async (hash) => {
      await own.end();
      isGone = true;
      return corpusPath(lab.directory, hash);
    },
  });
  await waitFor(() => isGone);
  const job = await lab.submit("finish");
  // The worker opens its queue in the meantime.
  await Bun.sleep(500);
  await own.restart();
  await lab.reaches(job);
  rmSync(directory, { recursive: true, force: true });
});
