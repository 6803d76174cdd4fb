import type { Redis } from "ioredis";
import { Problem } from "../problem.ts";
import { describeCause, connectRedis, type QueueAddress, redactedAddress } from "./connection.ts";
import {
  CLAIM_LIFE,
  readServer,
  readWorkers,
  type ServerRecord,
  STATE,
  type WorkerRecord,
} from "./redis-records.ts";

/** Condition under which the server's own workers score, too. */
export const POOL_MODES = ["away", "always", "never"] as const;
export type PoolMode = (typeof POOL_MODES)[number];

/** Numbers of jobs since the server started. */
export interface Counts {
  offered: number;
  finished: number;
  failed: number;
  /** Delivered for a job that had ended. */
  late: number;
  /** Jobs returned by a worker, or lost with it. */
  returned: number;
  /** Jobs in the database that are no longer in the queue. */
  lost: number;
}

/** The farm as the server sees it. */
export interface FarmState {
  /** Address of the queue, without user and password. */
  queue: string;
  mode: PoolMode;
  /** `there`; `away`: unreachable; `taken`: used by another server; `refuses`: rejects jobs. */
  state: "there" | "away" | "taken" | "refuses";
  /** The reason; null in the state `there`. */
  cause: string | null;
  /** True if the workers of the server's process may take jobs now. */
  poolWorks: boolean;
  /** Jobs that nobody has started, and when the oldest was submitted (milliseconds since 1970-01-01 UTC). */
  backlog: number;
  oldest: number | null;
  /** The unfinished jobs in the queue, and the jobs that workers have. */
  waiting: number;
  running: number;
  counts: Counts;
  /** `fits`: the worker accepts jobs now. */
  workers: (WorkerRecord & { fits: boolean })[];
  /** Sentences about workers that do not match the server. */
  mixed: string[];
}

/** True if a worker takes jobs from a queue now. */
export const acceptsJobs = (worker: WorkerRecord, queue: string | undefined): boolean =>
  worker.queue !== null && worker.queue === queue && !worker.draining;

/** Sentences about workers that do not match the server. */
export function mixedFarm(
  { queue, version, commit }: Pick<ServerRecord, "queue" | "version" | "commit">,
  workers: readonly WorkerRecord[],
): string[] {
  return workers.flatMap((worker) => {
    const name = `${worker.name} on ${worker.host}`;
    if (worker.refusal !== null) return [`${name} accepts no jobs. ${worker.refusal}`];
    if (worker.queue !== queue && !worker.draining) return [`${name} still works on another corpus.`];
    if (worker.commit === commit) return [];
    return [
      `${name} was built from ${worker.commit}, the server from ${commit}, both as labd ${version}: install the same build on both.`,
    ];
  });
}

type PublishedState = Omit<FarmState, "workers" | "mixed">;

/** Publishes the state of the farm for as long as the lease holds. */
export async function publishState(redis: Redis, state: FarmState): Promise<void> {
  const text = JSON.stringify({ ...state, workers: undefined, mixed: undefined });
  await redis.set(STATE, text, "PX", CLAIM_LIFE);
}

/** The state that the server published; null if it is not running. */
async function readState(redis: Redis): Promise<PublishedState | null> {
  const text = await redis.get(STATE);
  return text === null ? null : (JSON.parse(text) as PublishedState);
}

/** The farm as read from Redis. */
export interface FarmStatus {
  queue: string;
  redis: RedisInfo;
  /** The server that used it last; null if none has. */
  server: ServerRecord | null;
  /** Its state; null if it is not running. */
  farm: PublishedState | null;
  workers: FarmState["workers"];
  mixed: string[];
}

/** A Redis or Valkey. */
export interface RedisInfo {
  product: string;
  version: string;
  /** The maxmemory-policy of Redis. */
  policy: string;
  /** Bytes used and allowed; 0: no limit. */
  memory: number;
  limit: number;
  appendonly: boolean;
  /** `standalone`, `sentinel` or `cluster`. */
  mode: string;
  isReplica: boolean;
}

/** Why this Redis cannot hold a queue, and what to do; null if it can. */
export function unsupportedReason({ mode, isReplica }: RedisInfo): string | null {
  if (mode === "sentinel")
    return "This is a Sentinel, which stores no queue. Use an address that follows the current master";
  if (mode === "cluster")
    return "This is a Redis Cluster, which cannot keep the keys of a queue together. Use a single Redis";
  if (isReplica)
    return "This Redis is a read-only replica. Use its master, or an address that follows the master";
  return null;
}

/** Milliseconds to wait for a connection. */
const TIMEOUT = 5000;

/** @throws Problem queue_away */
export async function readStatus(address: QueueAddress): Promise<FarmStatus> {
  const redis = await connectRedis(address, "impatient", { info: () => {}, problem: () => {} });
  try {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    redis.once("ready", () => resolve());
    redis.once("error", reject);
    const timer = setTimeout(() => reject(new Error("it does not answer")), TIMEOUT);
    await promise.finally(() => clearTimeout(timer));
    return await inspectQueue(redis, redactedAddress(address.url));
  } catch (error) {
    if (error instanceof Problem) throw error;
    const message = `The queue at ${redactedAddress(address.url)} cannot be used: ${describeCause(error)}.`;
    throw new Problem("queue_away", message, { cause: error });
  } finally {
    redis.disconnect();
  }
}

async function inspectQueue(redis: Redis, queue: string): Promise<FarmStatus> {
  const info = await readRedisInfo(redis);
  const reason = unsupportedReason(info);
  if (reason !== null) throw new Error(reason);
  const [record, farm, workers] = await Promise.all([
    readServer(redis),
    readState(redis),
    readWorkers(redis),
  ]);
  return {
    queue,
    redis: info,
    server: record,
    farm,
    workers: workers.map((worker) => ({ ...worker, fits: acceptsJobs(worker, record?.queue) })),
    mixed: record === null ? [] : mixedFarm(record, workers),
  };
}

export async function readRedisInfo(redis: Redis): Promise<RedisInfo> {
  const text = await redis.info();
  const field = (name: string): string => text.match(new RegExp(`^${name}:(.*?)\\r?$`, "m"))?.[1] ?? "";
  const valkey = field("valkey_version");
  return {
    product: valkey === "" ? "Redis" : "Valkey",
    version: valkey || field("redis_version"),
    policy: field("maxmemory_policy"),
    memory: Number(field("used_memory")),
    limit: Number(field("maxmemory")),
    appendonly: field("aof_enabled") === "1",
    mode: field("redis_mode"),
    isReplica: field("role") === "slave",
  };
}
