/**
 * A worker of the farm that computes nothing: it hands in the same prediction for whatever it takes. What is left is the work
 * of server, Redis and the queue between.
 *
 *   bun run hollow-worker.ts redis://… PLACES FILE-WITH-A-PREDICTION
 */
import { readFileSync } from "node:fs";
import { Worker } from "bullmq";
import { Redis } from "ioredis";
import {
  saveResult,
  PREFIX,
  readServer,
  registerWorker,
  resultsKey,
  type WorkerRecord,
} from "../../../src/farm/redis-records.ts";

const [url, places, file] = process.argv.slice(2);
const redis = new Redis(url, { maxRetriesPerRequest: null, replyMapping: "legacy" });
const packed = new Uint8Array(Bun.zstdCompressSync(readFileSync(file)));
const server = await readServer(redis);
if (server === null) throw new Error("no server");
const { queue, version, commit } = server;
const record: WorkerRecord = {
  name: `hollow-${process.pid}`,
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
  families: [],
  counts: { finished: 0, failed: 0, returned: 0 },
  memory: 0,
  since: Date.now(),
};
const worker = new Worker<unknown, null>(
  queue,
  async (job) => {
    // As a worker does: the prediction is there before the job counts as done.
    if ((await redis.hexists(resultsKey(queue), job.id!)) === 0)
      await saveResult(redis, queue, job.id!, {
        worker: record.name,
        attempts: job.attemptsMade + 1,
        packed,
      });
    return null;
  },
  { connection: redis, prefix: PREFIX, name: record.name, concurrency: record.concurrency },
);
worker.on("error", (error) => console.error(error.message));
const register = (): Promise<string[]> => registerWorker(redis, record);
await register();
setInterval(() => void register(), 1000);
