/**
 * A server and Redis with as many workers as they are told of: records of workers that are there and compute nothing. What it
 * costs to know them, to keep 32 jobs in the queue for each, and to compare both sides, and how long the server's answers wait.
 *
 *   bun run build && bun run test/bench/farm-crowd.ts [WORKERS]
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decode } from "../../src/motif/index.ts";
import { labd, serve } from "../executable/labd.ts";
import { gather } from "../farm/crowd.ts";
import { RedisServer } from "../farm/redis-server.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";

const workers = Number(process.argv[2] ?? 1000);
const AHEAD = 32;
const root = mkdtempSync(join(tmpdir(), "labd-crowd-"));
const next = random(1122);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  const home = join(root, "home");
  mkdirSync(join(root, "redis"));
  writeFileSync(join(root, "one.fasta"), `>P1\n${"MKLTACDEFGHIKLMNPQRSTVWY".repeat(4)}\n`);
  await labd(["corpus", "add", join(root, "one.fasta")], { env: { LABD_DATA_DIR: home } });
  await using redis = await RedisServer.start(join(root, "redis"));
  await redis.command("CONFIG", "SET", "appendfsync", "everysec");
  const words = ["--log", "problems", "--backup-hours", "0", "--workers", "1", "--max-queued", "20000000"];
  words.push("--queue", redis.url, "--queue-local", "never");
  await using server = await serve(home, words);
  using crowd = await gather(redis.url, workers);
  const { link } = crowd;
  const { queue } = crowd.server;

  const processor = (): number => {
    const fields = readFileSync(`/proc/${server.process.pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  };
  const redisTime = async (): Promise<number> => {
    const info = String(await redis.command("INFO", "cpu"));
    const figure = (name: string): number => Number(new RegExp(`^${name}:(.*)$`, "m").exec(info)![1]);
    return 1000 * (figure("used_cpu_user") + figure("used_cpu_sys"));
  };
  /** What a stretch of time costs, and how long somebody waits who asks the server every 20 ms. */
  const during = async (what: string, done: () => boolean | Promise<boolean>): Promise<void> => {
    const [from, cost, remote] = [performance.now(), processor(), await redisTime()];
    const waits: number[] = [];
    while (!(await done())) {
      const asked = performance.now();
      await fetch(`${server.url}/healthz`);
      waits.push(performance.now() - asked);
      await Bun.sleep(20);
    }
    const seconds = (performance.now() - from) / 1000;
    waits.sort((a, b) => a - b);
    const at = (part: number): string => (waits[Math.floor(part * (waits.length - 1))] ?? 0).toFixed(0);
    say(
      `${what}: ${seconds.toFixed(1)} s; server ${((processor() - cost) / seconds).toFixed(0)} ms/s, Redis ${(((await redisTime()) - remote) / seconds).toFixed(0)} ms/s; an answer waits ${at(0.5)} ms, 99 % ${at(0.99)} ms, most ${at(1)} ms`,
    );
  };
  const forSeconds = (seconds: number): (() => boolean) => {
    const end = performance.now() + 1000 * seconds;
    return () => performance.now() > end;
  };
  await Bun.sleep(4000);
  await during(`${workers} workers, no job`, forSeconds(20));

  const jobs = workers * AHEAD;
  let left = jobs + 2000;
  const submitter = async (): Promise<void> => {
    while (left-- > 0) {
      const answer = await fetch(`${server.url}/api/scoring/jobs`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ querySequence: decode(randomProtein(next, 24)), patterns: ["P..P"] }),
      });
      if (answer.status !== 202) throw new Error(await answer.text());
      await answer.arrayBuffer();
    }
  };
  const submitting = { over: false };
  const all = Promise.all(Array.from({ length: 16 }, submitter)).then(() => (submitting.over = true));
  await during(`${jobs + 2000} jobs submitted`, () => submitting.over);
  await all;
  const waiting = (): Promise<number> => link.zcard(`labd:${queue}:prioritized`);
  await during(`until ${jobs} of them are in the queue`, async () => (await waiting()) >= jobs);
  await during("nothing but comparing both sides now and then", forSeconds(40));
  const memory = String(await redis.command("INFO", "memory"));
  say(`Redis has ${/used_memory_human:(.*)/.exec(memory)![1].trim()} of memory`);
} finally {
  rmSync(root, { recursive: true, force: true });
}
