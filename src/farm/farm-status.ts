import type { Redis } from "ioredis";
import { Problem } from "../problem.ts";
import { readServer, readWorkers, type ServerRecord } from "./redis-records.ts";
import { causeOf, connectRedis, type QueueAddress, redactedAddress } from "./connection.ts";
import { type FarmState, mixedFarm, readState } from "./state.ts";

/** The farm as Redis shows it to whoever has its password. */
export interface FarmStatus {
  queue: string;
  redis: RedisFacts;
  /** The server that used it last; null where none has. */
  server: (Omit<ServerRecord, "calibration"> & { calibration: undefined }) | null;
  /** What that says; null where it is not there. */
  farm: (Omit<FarmState, "workers" | "mixed"> & { mixed: undefined }) | null;
  workers: FarmState["workers"];
  mixed: string[];
}

/** What a Redis or Valkey says of itself. */
export interface RedisFacts {
  product: string;
  version: string;
  /** What it does where memory is short. */
  policy: string;
  /** Bytes that it has, and may have; 0: no limit of its own. */
  memory: number;
  limit: number;
  /** Whether it writes down each command. */
  appendonly: boolean;
  /** `standalone`, `sentinel` or `cluster`. */
  mode: string;
  /** Whether it follows another Redis, and takes no writes itself. */
  isReplica: boolean;
}

/** Why this is no Redis for a queue, and what would be; null where it is one. */
export function unsupportedReason({ mode, isReplica }: RedisFacts): string | null {
  if (mode === "sentinel")
    return "This is a Sentinel, which holds no queue. Name the address under which clients find the present master (a name or an address that moves with it)";
  if (mode === "cluster")
    return "This is a Redis Cluster, which cannot hold the keys of a queue together. Name a Redis that stands alone";
  if (isReplica)
    return "This Redis is a replica and takes no writes. Name its master, or an address that moves with it";
  return null;
}

/** Milliseconds for which an answer is waited for. */
const PATIENCE = 5000;

/** Does something with the queue and lets go of it. @throws Problem queue_away */
async function withQueue<T>(place: QueueAddress, action: (redis: Redis) => Promise<T>): Promise<T> {
  const silent = { info: () => {}, problem: () => {} };
  const redis = await connectRedis(place, "impatient", silent);
  try {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    redis.once("ready", () => resolve());
    redis.once("error", reject);
    const timer = setTimeout(() => reject(new Error("it does not answer")), PATIENCE);
    await promise.finally(() => clearTimeout(timer));
    return await action(redis);
  } catch (error) {
    if (error instanceof Problem) throw error;
    const message = `The queue at ${redactedAddress(place.url)} cannot be used: ${causeOf(error)}.`;
    throw new Problem("queue_away", message, { cause: error });
  } finally {
    redis.disconnect();
  }
}

/** @throws Problem queue_away */
export function readStatus(place: QueueAddress): Promise<FarmStatus> {
  return withQueue(place, async (redis) => {
    const facts = await readFacts(redis);
    const why = unsupportedReason(facts);
    if (why !== null) throw new Error(why);
    const [server, state, workers] = await Promise.all([
      readServer(redis),
      readState(redis),
      readWorkers(redis),
    ]);
    return {
      queue: redactedAddress(place.url),
      redis: facts,
      server: server && { ...server, calibration: undefined },
      farm: state && { ...state, mixed: undefined },
      workers: workers.map((worker) => ({
        ...worker,
        fits: worker.queue !== null && worker.queue === server?.queue && !worker.draining,
      })),
      mixed: server === null ? [] : mixedFarm(server, workers),
    };
  });
}

export async function readFacts(redis: Redis): Promise<RedisFacts> {
  const text = await redis.info();
  const fact = (name: string): string => text.match(new RegExp(`^${name}:(.*?)\\r?$`, "m"))?.[1] ?? "";
  const valkey = fact("valkey_version");
  return {
    product: valkey === "" ? "Redis" : "Valkey",
    version: valkey || fact("redis_version"),
    policy: fact("maxmemory_policy"),
    memory: Number(fact("used_memory")),
    limit: Number(fact("maxmemory")),
    appendonly: fact("aof_enabled") === "1",
    mode: fact("redis_mode"),
    isReplica: fact("role") === "slave",
  };
}
