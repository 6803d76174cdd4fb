import { expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PREFIX, queueName, resultsKey, encodeResult } from "../../src/farm/redis-records.ts";
import { Laboratory, VERSION } from "./laboratory.ts";
import { hasRedis, RedisServer } from "./redis-server.ts";
import { waitFor } from "../wait.ts";

/** The cost of a job for the server, in commands: the same on every machine. */

const JOBS = 200;

/** Redis's count of each command. */
async function commands(redis: RedisServer): Promise<Map<string, number>> {
  const text = String(await redis.command("INFO", "commandstats"));
  return new Map(
    [...text.matchAll(/cmdstat_([^:]+):calls=(\d+)/g)].map(([, name, calls]) => [name, Number(calls)]),
  );
}

(hasRedis ? test : test.skip)(
  `results are stored with two commands and one transaction, however many jobs${hasRedis ? "" : " (SKIPPED without redis-server)"}`,
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "labd-redis-"));
    await using redis = await RedisServer.start(directory);
    await using lab = new Laboratory(redis.at(0));
    const ids: string[] = [];
    for (let i = 0; i < JOBS; i++) ids.push(await lab.submit("finish"));
    const queue = queueName({ version: VERSION, scoringVersion: lab.corpora.scoringVersion() });
    const packed = new Uint8Array(Bun.zstdCompressSync('{"kept":1}'));
    for (const id of ids)
      await lab.command("HSET", resultsKey(queue), id, encodeResult({ worker: "w", attempts: 2, packed }));
    const before = await commands(redis);
    const transactions = spyOn(lab.database, "transaction");
    // One turn without a cause for another.
    const farm = lab.serve({ reconcileEvery: 600_000, interval: 600_000 });
    await waitFor(
      () => lab.store.counts().finished === JOBS,
      () => farm.state(),
    );
    await waitFor(async () => (await lab.command("EXISTS", resultsKey(queue))) === 0);
    const after = await commands(redis);
    const told = (name: string): number => (after.get(name) ?? 0) - (before.get(name) ?? 0);
    expect({ read: told("hmget"), forgotten: told("hdel") }).toEqual({ read: 1, forgotten: 1 });
    // One command that renews the claim, and none that takes each job out of the queue.
    expect(told("eval")).toBe(1);
    expect(told("evalsha")).toBe(0);
    expect(transactions).toHaveBeenCalledTimes(1);
    expect(lab.row(ids[0])).toEqual({ worker: "w", attempts: 2 });
    expect(await lab.command("GET", `${PREFIX}:claim`)).toBeString();
    rmSync(directory, { recursive: true, force: true });
  },
  60_000,
);
