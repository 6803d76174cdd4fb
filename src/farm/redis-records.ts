import type { Redis } from "ioredis";
import type { ScoringVersion } from "../scoring/index.ts";

/** The keys and records that server and workers keep in Redis, besides the queues of BullMQ. */

export const PREFIX = "labd";
/** Incremented when servers and workers of other versions could not understand each other. */
const PROTOCOL = 3;

/** Events that a queue keeps. */
export const EVENTS_KEPT = 10_000;

/** The server's lease on this database of Redis, and its milliseconds. */
const CLAIM = `${PREFIX}:claim`;
export const CLAIM_LIFE = 8000;
/** The state of the farm, as long as the lease holds. */
export const STATE = `${PREFIX}:state`;
const SERVER = `${PREFIX}:server`;
/** All queues that were in use, with their kinds of work. */
const QUEUES = `${PREFIX}:queues`;
const WORKERS = `${PREFIX}:workers`;
const WORKER_LIFE = 10_000;
const workerKey = (name: string): string => `${PREFIX}:worker:${name}`;
/** Cancelled jobs that a worker still has. */
const droppedKey = (worker: string): string => `${PREFIX}:dropped:${worker}`;
const DROPPED_LIFE = 600;
/** Predictions by job, until the server has stored them. */
export const resultsKey = (queue: string): string => `${PREFIX}:results:${queue}`;
const RESULT_LIFE = 7 * 86_400;

/** The kind of work in a queue: a worker takes only exactly its own kind. */
export interface WorkKind {
  /** Version of labd. */
  version: string;
  scoringVersion: ScoringVersion;
}

/** Name of the queue for this kind of work. */
export function queueName({ version, scoringVersion }: WorkKind): string {
  const text = JSON.stringify([PROTOCOL, version, scoringVersion.method, scoringVersion.corpus]);
  return `jobs-${new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 16)}`;
}

export interface ServerRecord extends WorkKind {
  commit: string;
  host: string;
  pid: number;
  /** The queue that gets jobs. */
  queue: string;
  /** Name of the corpus; null without one. */
  corpusName: string | null;
  /** Milliseconds since 1970-01-01 UTC. */
  since: number;
}

/** A worker process. */
export interface WorkerRecord {
  name: string;
  host: string;
  pid: number;
  version: string;
  commit: string;
  method: string;
  /** Concurrent jobs. */
  concurrency: number;
  /** Hashes of the corpora that the worker has verified. */
  corpora: string[];
  /** The queue from which the worker takes jobs; null if none. */
  queue: string | null;
  /** Reason why the worker accepts no jobs; null if it accepts jobs. */
  refusal: string | null;
  draining: boolean;
  /** Jobs of the worker and their progress. */
  jobs: { id: string; stage: string; fraction: number; since: number }[];
  /** Ids of tasks of builds that the worker has. */
  families: string[];
  /** Jobs finished, failed, and returned or lost since the worker started. */
  counts: { finished: number; failed: number; returned: number };
  /** Bytes of memory of the process. */
  memory: number;
  /** Milliseconds since 1970-01-01 UTC. */
  since: number;
}

const parse = <T>(text: string | null): T | null => (text === null ? null : (JSON.parse(text) as T));

export async function announceServer(redis: Redis, server: ServerRecord): Promise<void> {
  const { version, scoringVersion, queue } = server;
  await redis
    .multi()
    .set(SERVER, JSON.stringify(server))
    .hset(QUEUES, queue, JSON.stringify({ version, scoringVersion } satisfies WorkKind))
    .exec();
}

export const readServer = async (redis: Redis): Promise<ServerRecord | null> =>
  parse(await redis.get(SERVER));

export async function readQueues(redis: Redis): Promise<[name: string, kind: WorkKind][]> {
  const all = await redis.hgetall(QUEUES);
  return Object.entries(all).map(([name, kind]) => [name, JSON.parse(kind) as WorkKind]);
}

export const forgetQueue = (redis: Redis, name: string): Promise<number> => redis.hdel(QUEUES, name);

/** Registers a worker for some seconds. @returns its cancelled jobs */
export async function registerWorker(redis: Redis, worker: WorkerRecord): Promise<string[]> {
  const key = droppedKey(worker.name);
  const answers = await redis
    .multi()
    .sadd(WORKERS, worker.name)
    .set(workerKey(worker.name), JSON.stringify(worker), "PX", WORKER_LIFE)
    .smembers(key)
    .del(key)
    .exec();
  return (answers?.[2]?.[1] ?? []) as string[];
}

export async function removeWorker(redis: Redis, name: string): Promise<void> {
  await redis.multi().srem(WORKERS, name).del(workerKey(name)).exec();
}

/** The registered workers; names of expired ones are removed. */
export async function readWorkers(redis: Redis): Promise<WorkerRecord[]> {
  const names = (await redis.smembers(WORKERS)).sort();
  if (names.length === 0) return [];
  const texts = await redis.mget(names.map(workerKey));
  const expired = names.filter((_, i) => texts[i] === null);
  if (expired.length > 0) await redis.srem(WORKERS, expired);
  return texts.flatMap((text) => {
    const worker = parse<WorkerRecord>(text);
    // Earlier versions compute no families.
    return worker === null ? [] : Object.assign({ families: [] }, worker);
  });
}

/** Tells a worker that a job was cancelled. */
export async function announceDrop(redis: Redis, worker: string, job: string): Promise<void> {
  await redis.multi().sadd(droppedKey(worker), job).expire(droppedKey(worker), DROPPED_LIFE).exec();
}

/** The data of a job in the queue. */
export interface FarmTask {
  /** The request as JSON text. */
  request: string;
  /** Milliseconds that the job may take. */
  timeout: number;
}

/** A prediction and the worker that made it. */
export interface Result {
  worker: string;
  /** 1 for the first attempt. */
  attempts: number;
  packed: Uint8Array<ArrayBuffer>;
}

/** Stores a prediction for the server, independent of the worker's lock on the job. */
export async function saveResult(redis: Redis, queue: string, job: string, result: Result): Promise<void> {
  const key = resultsKey(queue);
  await redis.multi().hset(key, job, encodeResult(result)).expire(key, RESULT_LIFE).exec();
}

export const checksum = (bytes: Uint8Array): string => Bun.hash(bytes).toString(16);

/** A line of JSON followed by the packed prediction. */
export function encodeResult({ worker, attempts, packed }: Result): Buffer {
  const line = JSON.stringify([worker, attempts, checksum(packed)]);
  return Buffer.concat([Buffer.from(`${line}\n`), packed]);
}

/** @returns null for a damaged result or one of another version */
export function decodeResult(bytes: Buffer): Result | null {
  const end = bytes.indexOf(10);
  const packed = new Uint8Array(bytes.subarray(end + 1));
  try {
    const line = bytes.toString("utf8", 0, Math.max(0, end));
    const [worker, attempts, sum] = JSON.parse(line) as [string, number, string];
    return sum === checksum(packed) ? { worker, attempts, packed } : null;
  } catch {
    return null;
  }
}

/**
 * Takes or renews the lease on this database of Redis: two servers would remove each other's jobs.
 * @returns `new` where no one had it, as after a flush; `taken` where another server has it
 */
export async function takeClaim(redis: Redis, token: string): Promise<"ours" | "new" | "taken"> {
  const answer = await redis.eval(TAKE_CLAIM, 1, CLAIM, token, CLAIM_LIFE);
  return (["taken", "ours", "new"] as const)[answer as number];
}
const TAKE_CLAIM = `local holder = redis.call("GET", KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
return holder and 1 or 2`;

/** Releases the lease, so that another server may take it immediately. */
export async function releaseClaim(redis: Redis): Promise<void> {
  await redis.del(CLAIM, STATE);
}
