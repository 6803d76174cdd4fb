/**
 * Throughput and overhead of the farm compared with the server's own pool, with one and two workers, and with
 * workers that compute nothing. All on this machine over loopback, sharing its processors.
 *
 *   bun run build && bun run test/bench/farm.bench.ts PROTEINS.fasta [ROUNDS] [REAL-JOBS] [TRIVIAL-JOBS]
 *
 * Configurations take turns; prints medians. A job that fails or runs in the wrong place ends the run.
 */
import { Database } from "bun:sqlite";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { decode, readFasta } from "../../src/motif/index.ts";
import { labd, serve, type Server } from "../executable/labd.ts";
import { readResults, type WorkerProcess, startWorker } from "../executable/farm-worker.ts";
import { RedisServer } from "../farm/redis-server.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";
import { median, processorTime, say, withRange } from "./harness.ts";

const [file, ...numbers] = process.argv.slice(2);
const [rounds = 5, realJobs = 24, trivialJobs = 2000] = numbers.map(Number);
if (file === undefined)
  throw new Error("usage: farm.bench.ts PROTEINS.fasta [ROUNDS] [REAL-JOBS] [TRIVIAL-JOBS]");

const root = mkdtempSync(join(tmpdir(), "labd-farm-bench-"));
const next = random(20_261_122);
const proteins = readFasta(await Bun.file(file).bytes()).filter(
  ({ residues }) => residues.length >= 100 && residues.length <= 1000,
);
/** Each protein is used once, so that no result is cached. */
const realQuery = (): string => {
  const [protein] = proteins.splice(Math.floor(next() * proteins.length), 1);
  if (!protein) throw new Error("too few proteins");
  return decode(protein.residues);
};
/** A query without homologs. */
const trivial = (): string => decode(randomProtein(next, 24));

/** A server with its workers. */
interface Side {
  name: string;
  home: string;
  server: Server;
  workers: WorkerProcess[];
  redis: RedisServer | null;
}

async function createDataDirectory(name: string, corpus: string): Promise<string> {
  const home = join(root, name);
  const added = await labd(["corpus", "add", resolve(corpus)], { env: { LABD_DATA_DIR: home } });
  if (added.code !== 0) throw new Error(added.stderr);
  return home;
}

/** Configurations to stop at the end. */
const open = new Set<Side>();

async function side(name: string, template: string, slots: number[]): Promise<Side> {
  const home = join(root, name);
  cpSync(template, home, { recursive: true });
  // No rejections, and no disk reads for a backup.
  const words = ["--log", "problems", "--backup-hours", "0", "--workers", "1", "--max-queued", "2000000"];
  if (slots.length === 0) return { name, home, server: await serve(home, words), workers: [], redis: null };
  mkdirSync(`${home}-redis`);
  const redis = await RedisServer.start(`${home}-redis`);
  await redis.command("CONFIG", "SET", "appendfsync", "everysec");
  const server = await serve(home, [...words, "--queue", redis.url, "--queue-local", "never"]);
  const workers: WorkerProcess[] = [];
  const farm: Side = { name, home, server, workers, redis };
  open.add(farm);
  for (const [i, concurrency] of slots.entries()) {
    const directory = `${home}-worker${i}`;
    cpSync(join(home, "corpora"), join(directory, "corpora"), { recursive: true });
    workers.push(startWorker(directory, redis.url, ["--concurrency", String(concurrency)]));
  }
  await Promise.all(workers.map((worker) => worker.logs("takes work")));
  await Bun.sleep(2000);
  return farm;
}

async function end(side: Side): Promise<void> {
  const { server, workers, redis } = side;
  open.delete(side);
  await Promise.all(workers.map((worker) => worker.end("SIGKILL")));
  await server.end("SIGKILL");
  await redis?.end();
}

async function submit({ server }: Side, querySequence: string): Promise<{ events: string }> {
  const answer = await fetch(`${server.url}/api/scoring/jobs`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ querySequence, patterns: ["P..P", "[ST]P.[KR]", "L.C.E"] }),
  });
  if (answer.status !== 202) throw new Error(`${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { links: { events: string } }).links;
}

/** Submits all, sixteen at a time. */
async function submitAll(side: Side, queries: readonly string[]): Promise<void> {
  const left = queries.slice();
  const one = async (): Promise<void> => {
    for (let query; (query = left.pop()) !== undefined;) await submit(side, query);
  };
  await Promise.all(Array.from({ length: 16 }, one));
}

/** Waits until all jobs have ended; checks that those after `after` finished in the right place. */
async function untilDone({ home, workers, name }: Side, after: number): Promise<number[]> {
  using database = new Database(join(home, "labd.sqlite"), { readonly: true });
  const left = database.query("SELECT count(*) AS n FROM job WHERE state IN ('queued', 'running')");
  while ((left.get() as { n: number }).n > 0) await Bun.sleep(5);
  const rows = database
    .query("SELECT state, worker, ended FROM job WHERE rid > ? ORDER BY ended")
    .all(after) as { state: string; worker: string | null; ended: number }[];
  const wrong = rows.filter(
    ({ state, worker }) => state !== "finished" || (worker !== null) !== workers.length > 0,
  );
  if (wrong.length > 0) throw new Error(`${name}: ${JSON.stringify(wrong[0])}`);
  return rows.map(({ ended }) => ended);
}

/** The median and the longest prediction. */
function readPredictions({ home }: Side): string[] {
  const texts = Object.values(readResults(home)).sort((a, b) => a.length - b.length);
  return [texts[Math.floor(texts.length / 2)], texts.at(-1)!];
}

const lastJob = ({ home }: Side): number => {
  using database = new Database(join(home, "labd.sqlite"), { readonly: true });
  return (database.query("SELECT coalesce(max(rid), 0) AS rid FROM job").get() as { rid: number }).rid;
};

/** Milliseconds from submission to the end event, one job after the other. */
async function oneByOne(side: Side, queries: readonly string[]): Promise<number[]> {
  const times: number[] = [];
  for (const query of queries) {
    const start = performance.now();
    const { events } = await submit(side, query);
    await (await fetch(events)).text();
    times.push(performance.now() - start);
  }
  return times;
}

/** Jobs per second, all submitted at once. */
async function together(side: Side, queries: readonly string[]): Promise<number> {
  const after = lastJob(side);
  const start = performance.now();
  await submitAll(side, queries);
  const ends = await untilDone(side, after);
  if (ends.length !== queries.length) throw new Error(`${side.name}: ${ends.length} jobs`);
  return (1000 * ends.length) / (performance.now() - start);
}

/** Processor seconds of server, workers and Redis, and commands and bytes of Redis, so far. */
async function costs({ server, workers, redis }: Side): Promise<number[]> {
  const info = redis ? String(await redis.command("INFO")) : "";
  const figure = (name: string): number => Number(new RegExp(`^${name}:(.*)$`, "m").exec(info)?.[1] ?? 0);
  return [
    processorTime(server.process.pid) / 1000,
    workers.reduce((sum, worker) => sum + processorTime(worker.process.pid) / 1000, 0),
    figure("used_cpu_user") + figure("used_cpu_sys"),
    figure("total_commands_processed"),
    figure("total_net_input_bytes") + figure("total_net_output_bytes"),
  ];
}

/** Costs of each configuration while it works. */
const spent = new Map<string, { jobs: number; sums: number[] }>();

async function counted<T>(side: Side, jobs: number, work: () => Promise<T>): Promise<T> {
  const before = await costs(side);
  const value = await work();
  const after = await costs(side);
  const entry = spent.get(side.name) ?? { jobs: 0, sums: [0, 0, 0, 0, 0] };
  entry.jobs += jobs;
  entry.sums = entry.sums.map((sum, i) => sum + after[i] - before[i]);
  spent.set(side.name, entry);
  return value;
}

function sayCosts({ name }: Side): void {
  const { jobs, sums } = spent.get(name)!;
  const [server, workers, redis, commands, bytes] = sums.map((sum) => sum / jobs);
  const ms = (seconds: number): string => `${(1000 * seconds).toFixed(2)} ms`;
  say(
    `  a job costs, ${name}: server ${ms(server)}, workers ${ms(workers)}, Redis ${ms(redis)}, ${commands.toFixed(0)} commands, ${(bytes / 1024).toFixed(1)} KiB through Redis`,
  );
}

async function inTurns(sides: Side[], work: (side: Side) => Promise<void>): Promise<void> {
  for (let round = 0; round < rounds; round++)
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) await work(side);
}

try {
  writeFileSync(join(root, "one.fasta"), `>P1\n${"MKLTACDEFGHIKLMNPQRSTVWY".repeat(4)}\n`);
  const tiny = await createDataDirectory("tiny", join(root, "one.fasta"));
  const sides = [await side("pool", tiny, []), await side("farm", tiny, [1])];
  const waits: Record<string, number[]> = { pool: [], farm: [] };
  const rates: Record<string, number[]> = { pool: [], farm: [] };
  for (const side of sides) await oneByOne(side, Array.from({ length: 50 }, trivial));
  await inTurns(sides, async (side) => {
    waits[side.name].push(median(await oneByOne(side, Array.from({ length: 100 }, trivial))));
  });
  say(
    `a trivial job alone, submission to end event, ms: pool ${withRange(waits.pool)}, farm ${withRange(waits.farm)}`,
  );
  await inTurns(sides, async (side) => {
    const queries = Array.from({ length: trivialJobs }, trivial);
    rates[side.name].push(await counted(side, queries.length, () => together(side, queries)));
  });
  say(
    `trivial jobs all at once, jobs/s: pool ${withRange(rates.pool, 0)}, farm with one worker ${withRange(rates.farm, 0)}`,
  );
  sides.forEach(sayCosts);
  for (const side of sides) await end(side);

  const full = await createDataDirectory("full", file);
  const real = [
    await side("pool1", full, []),
    await side("farm1", full, [1]),
    await side("farm2", full, [1, 1]),
  ];
  const speed: Record<string, number[]> = { pool1: [], farm1: [], farm2: [] };
  const alone: Record<string, number[]> = { pool1: [], farm1: [], farm2: [] };
  for (const side of real) await together(side, Array.from({ length: 4 }, realQuery));
  for (let round = 0; round < rounds; round++) {
    const queries = Array.from({ length: realJobs }, realQuery);
    const single = Array.from({ length: 5 }, realQuery);
    for (const side of round % 2 === 0 ? real : real.toReversed()) {
      speed[side.name].push(60 * (await counted(side, queries.length, () => together(side, queries))));
      alone[side.name].push(median(await oneByOne(side, single)));
    }
  }
  say(`one real job alone, ms: pool ${withRange(alone.pool1, 0)}, farm ${withRange(alone.farm1, 0)}`);
  say(
    `real jobs a minute: pool of one ${withRange(speed.pool1)}, one worker ${withRange(speed.farm1)}, two workers ${withRange(speed.farm2)}`,
  );
  const ratios = (a: string, b: string): number[] => speed[a].map((rate, i) => rate / speed[b][i]);
  say(
    `  one worker to the pool ${withRange(ratios("farm1", "pool1"), 2)}, two to one ${withRange(ratios("farm2", "farm1"), 2)}`,
  );
  real.forEach(sayCosts);
  const predictions = readPredictions(real[1]);
  for (const side of real) await end(side);

  // Workers that compute nothing meet queued jobs, so that submission does not interfere.
  const hollow = await side("hollow", tiny, [1]);
  for (const worker of hollow.workers) await worker.end("SIGTERM");
  const cases: [string, number[]][] = [
    [predictions[0], [32]],
    [predictions[0], [32, 32]],
    [predictions[1], [32, 32]],
  ];
  for (const [i, [text, slots]] of cases.entries()) {
    const prediction = join(root, "prediction.json");
    writeFileSync(prediction, text);
    const measured = { ...hollow, name: `hollow ${i}`, workers: [] };
    const through: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const after = lastJob(hollow);
      await submitAll(hollow, Array.from({ length: trivialJobs }, trivial));
      const ends = await counted(measured, trivialJobs, async () => {
        const workers = slots.map((count) =>
          Bun.spawn(
            [
              "bun",
              join(import.meta.dir, "farm/hollow-worker.ts"),
              hollow.redis!.url,
              String(count),
              prediction,
            ],
            { stdin: "ignore", stdout: "ignore", stderr: "inherit" },
          ),
        );
        const times = await untilDone(hollow, after);
        for (const worker of workers) worker.kill("SIGKILL");
        await Promise.all(workers.map(({ exited }) => exited));
        return times;
      });
      // The first and last tenth are excluded.
      const [from, to] = [Math.floor(ends.length * 0.1), Math.floor(ends.length * 0.9)];
      through.push((1000 * (to - from)) / (ends[to] - ends[from]));
    }
    say(
      `predictions of ${text.length} bytes (packed ${Bun.zstdCompressSync(text).length}) that cost nothing, ${slots.length} x ${slots[0]} slots, jobs/s: ${withRange(through, 0)}`,
    );
    sayCosts(measured);
  }
  await end(hollow);
} finally {
  for (const side of open) await end(side);
  rmSync(root, { recursive: true, force: true });
}
