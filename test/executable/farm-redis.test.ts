import { expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { hasRedis, RedisServer } from "../farm/redis-server.ts";
import { farmDirectories, finishedJobs, startWorker, submitJobs } from "./farm-worker.ts";
import { E7, labd, scratch, serve } from "./labd.ts";
import { waitFor } from "../wait.ts";

/** Redis with few rights, and as a replica. */

const withRedis = hasRedis ? test : test.skip;
const NAME = hasRedis ? "" : " (SKIPPED without redis-server)";

/** As docs/farm.md has it. */
const RULES =
  "resetchannels ~labd:* -@all +@read +@write +@blocking +@connection +@transaction -@dangerous +eval +evalsha +info";

withRedis(
  `a Redis user with the documented rights suffices${NAME}`,
  async () => {
    using place = scratch();
    const home = await farmDirectories(place.directory, ["worker"]);
    const worker = join(place.directory, "worker");
    expect(await Bun.file(join(import.meta.dir, "../../docs/farm.md")).text()).toContain(RULES);
    await using redis = await RedisServer.start(place.directory);
    await redis.command("ACL", "SETUSER", "labd", "on", ">less", ...RULES.split(" "));
    const url = redis.url.replace(":farm-secret", "labd:less");
    await using server = await serve(home, ["--queue", url, "--queue-local", "never"]);
    await using hand = startWorker(worker, url, ["--concurrency", "2"]);
    await hand.logs("takes work");
    await submitJobs(server.url, 0, 8);
    await waitFor(() => finishedJobs(home) === 8);
    // Another corpus: its queue is made, and the former taken away whole.
    await Bun.write(join(place.directory, "one.fasta"), `>P1\n${E7}\n`);
    const added = await labd(["corpus", "add", join(place.directory, "one.fasta"), "--data-dir", home]);
    expect([added.code, added.stderr]).toEqual([0, expect.any(String)]);
    const status = await labd(["farm", "status"], { env: { LABD_QUEUE: url } });
    expect([status.code, status.stderr]).toEqual([0, ""]);
    expect(await hand.end("SIGTERM")).toBe(0);
    expect(await server.end("SIGTERM")).toBe(0);
    expect(await redis.command("ACL", "LOG")).toEqual([]);
    expect(server.log() + hand.log()).not.toContain("NOPERM");
  },
  60_000,
);

withRedis(
  `server, worker, status and doctor report a replica and an eviction policy${NAME}`,
  async () => {
    using place = scratch();
    const { directory } = place;
    const home = await farmDirectories(directory, ["worker"]);
    const worker = join(directory, "worker");
    await using redis = await RedisServer.start(directory, ["--maxmemory-policy", "allkeys-lru"]);
    const told = async (url: string): Promise<string> => {
      const env = { LABD_QUEUE: url, LABD_DATA_DIR: home };
      const { stderr } = await labd(["farm", "status"], { env });
      const { stdout } = await labd(["doctor"], { env });
      const found = stdout.split("\n").filter((line) => / queue  /.test(line));
      return [stderr, ...found].join("\n");
    };
    const policy = await serve(home, ["--queue", redis.url]);
    await waitFor(() => policy.log().includes("maxmemory-policy allkeys-lru discards jobs"));
    expect(await policy.end("SIGTERM")).toBe(0);
    await redis.command("CONFIG", "SET", "maxmemory-policy", "noeviction");

    const words = ["--replicaof", `127.0.0.1 ${redis.port}`, "--masterauth", "farm-secret"];
    await using replica = await RedisServer.start(mkdtempSync(join(directory, "replica-")), words);
    expect(await told(replica.url)).toMatch(/is a read-only replica[^]*problem .*is a read-only replica/);
    await using server = await serve(home, ["--queue", replica.url, "--queue-local", "never"]);
    await using hand = startWorker(worker, replica.url);
    await waitFor(() => [server, hand].every(({ log }) => log().includes("is a read-only replica")));
    await submitJobs(server.url, 0, 3);
    // As a failover does: this one is the master now.
    await replica.command("REPLICAOF", "NO", "ONE");
    await waitFor(() => finishedJobs(home) === 3);

    const scheme = await labd(["farm", "status"], { env: { LABD_QUEUE: "redis+sentinel://one:26379/farm" } });
    expect([scheme.code, scheme.stderr]).toEqual([78, expect.stringContaining("not Sentinel or Cluster")]);
  },
  120_000,
);
