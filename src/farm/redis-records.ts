import type { Redis } from "ioredis";
import type { ScoringVersion } from "../scoring/jobs/store.ts";

/** What server and workers write into Redis besides the queues of BullMQ, and under which keys. */

export const PREFIX = "labd";
/** Changes when server and worker of another version could not understand each other. */
const PROTOCOL = 2;

/** The server's claim on this database of Redis: it goes with it. */
export const CLAIM = `${PREFIX}:claim`;
export const CLAIM_LIFE = 8000;
/** What the server says of itself. */
const SERVER = `${PREFIX}:server`;
/** Names of all queues that have been in use, and what they stand for. */
const QUEUES = `${PREFIX}:queues`;
/** Names of workers; what each says of itself goes with it. */
const WORKERS = `${PREFIX}:workers`;
const WORKER_LIFE = 10_000;
const workerKey = (name: string): string => `${PREFIX}:worker:${name}`;
/** Jobs that a worker need not go on with. */
const droppedKey = (worker: string): string => `${PREFIX}:dropped:${worker}`;
const DROPPED_LIFE = 600;
/** Predictions by job, each from when a worker has it until the server has stored it. */
export const resultsKey = (queue: string): string => `${PREFIX}:results:${queue}`;
/** Seconds that predictions wait for the server. */
const RESULT_LIFE = 7 * 86_400;

/** Of what kind the work in one queue is: a worker takes none of a kind that is not exactly its own. */
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
  /** Queue that is offered into. */
  queue: string;
  /** Text of the corpus's own null; null where it has none. */
  calibration: string | null;
  /** Name of the corpus; null where there is none. */
  corpusName: string | null;
  /** Milliseconds since 1970-01-01 UTC. */
  since: number;
}

/** What one worker (a process) says of itself. */
export interface WorkerRecord {
  name: string;
  host: string;
  pid: number;
  version: string;
  commit: string;
  method: string;
  /** Jobs at a time. */
  concurrency: number;
  /** Hashes of the corpora that it has proven. */
  corpora: string[];
  /** Queue that it takes work from; null while it takes none. */
  queue: string | null;
  /** Why it takes none; null where it does. */
  refusal: string | null;
  draining: boolean;
  /** Identifiers of the jobs that it has, and how far they are. */
  jobs: { id: string; stage: string; fraction: number; since: number }[];
  /** Since it began: jobs handed in, failed, given back or lost. */
  counts: { finished: number; failed: number; returned: number };
  /** Bytes of memory that the process has. */
  memory: number;
  /** Milliseconds since 1970-01-01 UTC. */
  since: number;
}

export async function announceServer(redis: Redis, server: ServerRecord): Promise<void> {
  const { version, scoringVersion } = server;
  await redis
    .multi()
    .set(SERVER, JSON.stringify(server))
    .hset(QUEUES, server.queue, JSON.stringify({ version, scoringVersion } satisfies WorkKind))
    .exec();
}

export async function readServer(redis: Redis): Promise<ServerRecord | null> {
  const text = await redis.get(SERVER);
  return text === null ? null : (JSON.parse(text) as ServerRecord);
}

export async function readQueues(redis: Redis): Promise<Map<string, WorkKind>> {
  const all = await redis.hgetall(QUEUES);
  return new Map(Object.entries(all).map(([name, kind]) => [name, JSON.parse(kind) as WorkKind]));
}

export const forgetQueue = (redis: Redis, name: string): Promise<number> => redis.hdel(QUEUES, name);

/** Registers a worker for WORKER_LIFE. @returns jobs that it need not go on with */
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

/** The workers that are there; what is left of others is removed. */
export async function readWorkers(redis: Redis): Promise<WorkerRecord[]> {
  const names = (await redis.smembers(WORKERS)).sort();
  if (names.length === 0) return [];
  const texts = await redis.mget(names.map(workerKey));
  const gone = names.filter((_, i) => texts[i] === null);
  if (gone.length > 0) await redis.srem(WORKERS, gone);
  return texts.flatMap((text) => (text === null ? [] : [JSON.parse(text) as WorkerRecord]));
}

/** Tells a worker that nobody waits for a job any more. */
export async function tellDropped(redis: Redis, worker: string, job: string): Promise<void> {
  await redis.multi().sadd(droppedKey(worker), job).expire(droppedKey(worker), DROPPED_LIFE).exec();
}

/** A job as it lies in the queue. */
export interface FarmTask {
  /** The request as JSON text. */
  request: string;
  /** Milliseconds that it may take. */
  timeout: number;
}

/** A prediction as a worker hands it in, and who that was. */
export interface Kept {
  worker: string;
  /** 1 the first time that the job is tried. */
  attempts: number;
  packed: Uint8Array<ArrayBuffer>;
}

/** Keeps a prediction for the server, whatever becomes of the worker and of its hold on the job. */
export async function keepResult(redis: Redis, queue: string, job: string, kept: Kept): Promise<void> {
  const key = resultsKey(queue);
  await redis.multi().hset(key, job, sealKept(kept)).expire(key, RESULT_LIFE).exec();
}

const checksum = (bytes: Uint8Array): string => Bun.hash(bytes).toString(16);

/** A line of JSON, and the prediction as it will be stored behind it. */
export function sealKept({ worker, attempts, packed }: Kept): Buffer {
  const line = JSON.stringify([worker, attempts, checksum(packed)]);
  return Buffer.concat([Buffer.from(`${line}\n`), packed]);
}

/** What was kept; null where it was damaged, or is of another version. */
export function openKept(bytes: Buffer): Kept | null {
  const end = bytes.indexOf(10);
  const packed = new Uint8Array(bytes.subarray(end + 1));
  try {
    const [worker, attempts, sum] = JSON.parse(bytes.toString("utf8", 0, Math.max(0, end))) as [
      string,
      number,
      string,
    ];
    return sum === checksum(packed) ? { worker, attempts, packed } : null;
  } catch {
    return null;
  }
}

/**
 * Takes this database of Redis for the server, or renews what it has: two servers would take each other's jobs for strays.
 * @returns whether it has it now, and whether it was there for anybody: it goes with all else where Redis was emptied
 */
export async function takeClaim(redis: Redis, token: string): Promise<"ours" | "new" | "taken"> {
  const answer = await redis.eval(TAKE_CLAIM, 1, CLAIM, token, CLAIM_LIFE);
  return (["taken", "ours", "new"] as const)[answer as number];
}
const TAKE_CLAIM = `local holder = redis.call("GET", KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
return holder and 1 or 2`;
