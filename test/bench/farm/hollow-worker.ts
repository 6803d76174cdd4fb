/**
 * Workers of the farm that compute nothing: they hand in the same prediction for whatever they take. What is left is the work
 * of server, Redis and the queue between. Each worker of the process has its own connections, lock and record, as `labd worker`
 * has them.
 *
 *   bun run hollow-worker.ts redis://… PLACES FILE-WITH-A-PREDICTION [WORKERS]
 */
import { readFileSync } from "node:fs";
import { Worker } from "bullmq";
import { Redis } from "ioredis";
import {
  keepResult,
  PREFIX,
  readServer,
  registerWorker,
  resultsKey,
  type WorkerRecord,
} from "../../../src/farm/layout.ts";
import { packPrediction } from "../../../src/scoring/packed-prediction.ts";

const [url, places, file, count = "1"] = process.argv.slice(2);
const packed = packPrediction(readFileSync(file, "utf8"));

async function start(number: number): Promise<void> {
  const redis = new Redis(url, { maxRetriesPerRequest: null, replyMapping: "legacy" });
  const server = await readServer(redis);
  if (server === null) throw new Error("no server");
  const { queue, version, commit } = server;
  const record: WorkerRecord = {
    name: `hollow-${process.pid}-${number}`,
    host: "hollow",
    pid: process.pid,
    version,
    commit,
    method: "none",
    concurrency: Number(places),
    corpora: [],
    queue,
    refusal: null,
    draining: false,
    jobs: [],
    counts: { finished: 0, failed: 0, returned: 0 },
    memory: 0,
    since: Date.now(),
  };
  const worker = new Worker<unknown, null>(
    queue,
    async (job) => {
      // As a worker does: the prediction is there before the job counts as done.
      if ((await redis.hexists(resultsKey(queue), job.id!)) === 0)
        await keepResult(redis, queue, job.id!, {
          worker: record.name,
          attempts: job.attemptsMade + 1,
          packed,
        });
      record.counts.finished++;
      return null;
    },
    {
      connection: redis,
      prefix: PREFIX,
      name: record.name,
      concurrency: record.concurrency,
      lockDuration: 10_000,
      stalledInterval: 5000,
    },
  );
  worker.on("error", (error) => console.error(error.message));
  const look = async (): Promise<void> => {
    await readServer(redis);
    await registerWorker(redis, record);
  };
  await look();
  setInterval(() => void look(), 1000);
}

for (let i = 0; i < Number(count); i++) await start(i);
