import { expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { freePort, hasRedis, RedisServer } from "../farm/redis-server.ts";
import { jobsOf, startWorker } from "./farm-hand.ts";
import { E7, labd, scratch, serve, type Server } from "./labd.ts";

/** What a Redis can be, and can do, that is not as one would have it. */

const withRedis = hasRedis ? test : test.skip;
const NAME = hasRedis ? "" : " (SKIPPED without redis-server)";

async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; !(await condition()); i++) {
    if (i > 3000) throw new Error(`It did not come true: ${what}`);
    await Bun.sleep(20);
  }
}

async function laboratory(directory: string): Promise<{ home: string; worker: string }> {
  const [home, worker] = [join(directory, "server"), join(directory, "worker")];
  expect((await labd(["corpus", "add", "--sample", "--data-dir", home])).code).toBe(0);
  mkdirSync(worker);
  cpSync(join(home, "corpora"), join(worker, "corpora"), { recursive: true });
  return { home, worker };
}

async function submit({ url }: Server, i: number): Promise<void> {
  const response = await fetch(`${url}/api/scoring/jobs`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      querySequence: E7 + "ACDEFGHIKLMNPQRSTVWY"[i % 20].repeat(1 + Math.floor(i / 20)),
      patterns: ["L.C.E"],
    }),
  });
  expect(response.status).toBe(202);
  await response.arrayBuffer();
}

const finished = (home: string): number => jobsOf(home).filter(({ state }) => state === "finished").length;

/** As docs/farm.md has it. */
const RULES =
  "resetchannels ~labd:* -@all +@read +@write +@blocking +@connection +@transaction -@dangerous +eval +evalsha +info";

withRedis(
  `a user of Redis with no more rights than the documentation names does for server, worker and what looks at them${NAME}`,
  async () => {
    using place = scratch();
    const { home, worker } = await laboratory(place.directory);
    expect(await Bun.file(join(import.meta.dir, "../../docs/farm.md")).text()).toContain(RULES);
    await using redis = await RedisServer.start(place.directory);
    await redis.command("ACL", "SETUSER", "labd", "on", ">less", ...RULES.split(" "));
    const url = redis.url.replace(":farm-secret", "labd:less");
    await using server = await serve(home, ["--queue", url, "--queue-local", "never"]);
    await using hand = startWorker(worker, url, ["--concurrency", "2"]);
    await hand.says("takes work");
    for (let i = 0; i < 8; i++) await submit(server, i);
    await until("all finish", () => finished(home) === 8);
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
  `a Redis that forgets all of a hundred jobs that are under way, twice: each ends once${NAME}`,
  async () => {
    using place = scratch();
    const { home, worker } = await laboratory(place.directory);
    await using redis = await RedisServer.start(place.directory, ["--appendonly", "no"]);
    await using server = await serve(home, ["--queue", redis.url, "--queue-local", "never"]);
    await using hand = startWorker(worker, redis.url, ["--concurrency", "2"]);
    await hand.says("takes work");
    for (let i = 0; i < 100; i++) await submit(server, i);
    for (const least of [10, 30]) {
      await until(`${least} finish`, () => finished(home) >= least);
      await redis.end();
      await redis.restart();
      expect((await redis.command("KEYS", "labd:*:events")) as string[]).toBeArray();
    }
    await until("all finish", () => finished(home) === 100);
    expect(jobsOf(home).length).toBe(100);
    expect(server.log()).toContain("lost from the queue");
  },
  120_000,
);

withRedis(
  `a Sentinel, a replica and a policy that throws jobs away are named, by server, worker, status and doctor${NAME}`,
  async () => {
    using place = scratch();
    const { directory } = place;
    const { home, worker } = await laboratory(directory);
    await using redis = await RedisServer.start(directory, ["--maxmemory-policy", "allkeys-lru"]);
    const told = async (url: string): Promise<string> => {
      const env = { LABD_QUEUE: url, LABD_DATA_DIR: home };
      const { stderr } = await labd(["farm", "status"], { env });
      const { stdout } = await labd(["doctor"], { env });
      const found = stdout.split("\n").filter((line) => / queue  /.test(line));
      return [stderr, ...found].join("\n");
    };
    const policy = await serve(home, ["--queue", redis.url]);
    await until("the server says so", () =>
      policy.log().includes("maxmemory-policy allkeys-lru throws jobs away"),
    );
    expect(await policy.end("SIGTERM")).toBe(0);
    await redis.command("CONFIG", "SET", "maxmemory-policy", "noeviction");

    await using replica = await RedisServer.start(mkdtempSync(join(directory, "replica-")), [
      "--replicaof",
      `127.0.0.1 ${redis.port}`,
      "--masterauth",
      "farm-secret",
    ]);
    expect(await told(replica.url)).toMatch(/is a replica and takes no writes[^]*problem .*is a replica/);
    await using server = await serve(home, ["--queue", replica.url, "--queue-local", "never"]);
    await using hand = startWorker(worker, replica.url);
    await until("both say so", () =>
      [server, hand].every(({ log }) => log().includes("is a replica and takes no writes")),
    );
    for (let i = 0; i < 3; i++) await submit(server, i);
    // As a failover does: this one is the master now.
    await replica.command("REPLICAOF", "NO", "ONE");
    await until("all finish", () => finished(home) === 3);

    const port = await freePort();
    const file = join(directory, "sentinel.conf");
    await Bun.write(
      file,
      `port ${port}\nbind 127.0.0.1\nsentinel monitor farm 127.0.0.1 ${replica.port} 1\n`,
    );
    const sentinel = Bun.spawn(
      [Bun.which("redis-server") ?? Bun.which("valkey-server")!, file, "--sentinel"],
      {
        stdout: "ignore",
        stderr: "ignore",
      },
    );
    const at = `redis://127.0.0.1:${port}/0`;
    await until("it answers", async () => !(await told(at)).includes("ECONNREFUSED"));
    expect(await told(at)).toMatch(/is a Sentinel, which holds no queue[^]*problem .*is a Sentinel/);
    sentinel.kill();
    await sentinel.exited;
    const scheme = await labd(["farm", "status"], { env: { LABD_QUEUE: "redis+sentinel://one:26379/farm" } });
    expect([scheme.code, scheme.stderr]).toEqual([
      78,
      expect.stringContaining("neither Sentinel nor Cluster"),
    ]);
  },
  120_000,
);
