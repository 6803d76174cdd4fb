import type { Redis } from "ioredis";
import { FAMILY_METHOD, type StoredFamily } from "../motif/index.ts";
import { announceDrop, checksum, EVENTS_KEPT, PREFIX } from "./redis-records.ts";

/** Families for a remote worker to compute. */
export interface FamilyRequest {
  id: string;
  /** SHA-256 of the corpus. */
  corpus: string;
  /** Version of the method. */
  method: string;
  /** Indexes in the corpus. */
  members: number[];
}

/** The result that a remote worker computed. */
export interface FamilyDelivery {
  id: string;
  worker: string;
  corpus: string;
  method: string;
  /** Families of the first members; of all unless the worker gave the task up. */
  families: StoredFamily[];
  /** True if a job interrupted the task. */
  isInterrupted: boolean;
  /** Reason for the failure of the task; null without a failure. */
  failure: string | null;
}

/** Why a worker cannot compute these families, or did not; null if it can. */
export function mismatch(
  { corpus, method }: FamilyRequest,
  own: string,
  ownMethod = FAMILY_METHOD,
): string | null {
  if (method !== ownMethod) return `The families need method ${method}, the worker has ${ownMethod}.`;
  return corpus === own ? null : `The families are of corpus ${corpus}, the worker has ${own}.`;
}

type Facts = Omit<FamilyDelivery, "families"> & {
  /** Protein, bytes of the record, and sizes of each family. */
  families: [protein: number, bytes: number, sizes: StoredFamily["sizes"]][];
};

/** A line with a checksum of the rest, a line of JSON, and the records. */
export function encodeDelivery(delivery: FamilyDelivery): Buffer {
  const { families } = delivery;
  const facts: Facts = {
    ...delivery,
    families: families.map(({ protein, record, sizes }) => [protein, record.length, sizes]),
  };
  const records = families.map(({ record }) => record);
  const rest = Buffer.concat([Buffer.from(`${JSON.stringify(facts)}\n`), ...records]);
  return Buffer.concat([Buffer.from(`${checksum(rest)}\n`), rest]);
}

/** @returns null for a damaged delivery */
export function decodeDelivery(bytes: Buffer): FamilyDelivery | null {
  const start = bytes.indexOf("\n") + 1;
  const rest = bytes.subarray(start);
  if (bytes.toString("latin1", 0, start) !== `${checksum(rest)}\n`) return null;
  let at = rest.indexOf("\n") + 1;
  const facts = JSON.parse(rest.toString("utf8", 0, at)) as Facts;
  const families = facts.families.map(([protein, size, sizes]) => {
    // A copy, so that the rest can be freed and the record is a plain array.
    const record = new Uint8Array(rest.subarray(at, (at += size)));
    return { protein, record, sizes };
  });
  return { ...facts, families };
}

/** Messages between server and workers about families, which may get lost. */
export interface FamilyMessages {
  /** Name of the queue of jobs for the same corpus and method. */
  readonly queue: string;
  /** Forgets all messages; called by the server. */
  clear(): Promise<void>;
  offer(request: string): Promise<void>;
  /** Requests that no worker has taken. */
  waiting(): Promise<string[]>;
  /** @returns false if a worker has taken it */
  withdraw(request: string): Promise<boolean>;
  /** Takes the results that workers have delivered. */
  collect(): Promise<Buffer[]>;
  /** Tells a worker that a task is not needed any more. */
  drop(worker: string, id: string): Promise<void>;
  /** The side of a worker. */
  take(): Promise<string | null>;
  deliver(delivery: Buffer): Promise<void>;
}

/** Seconds for which unread messages are kept. */
const LIFETIME = 3600;
/** Deliveries, of some 60 KB each, that are read together. */
const AT_ONCE = 32;

export class RedisFamilyMessages implements FamilyMessages {
  readonly #requests: string;
  readonly #deliveries: string;

  constructor(
    private readonly redis: Redis,
    readonly queue: string,
  ) {
    this.#requests = `${PREFIX}:families:${queue}`;
    this.#deliveries = `${PREFIX}:delivered-families:${queue}`;
  }

  async clear(): Promise<void> {
    await this.redis.del(this.#requests, this.#deliveries);
  }

  async offer(request: string): Promise<void> {
    const answers = await this.redis
      .multi()
      .rpush(this.#requests, request)
      .expire(this.#requests, LIFETIME)
      .exec();
    for (const [error] of answers ?? []) if (error) throw error;
  }

  waiting(): Promise<string[]> {
    return this.redis.lrange(this.#requests, 0, -1);
  }

  async withdraw(request: string): Promise<boolean> {
    return (await this.redis.lrem(this.#requests, 1, request)) > 0;
  }

  async collect(): Promise<Buffer[]> {
    return (await this.redis.lpopBuffer(this.#deliveries, AT_ONCE)) ?? [];
  }

  drop(worker: string, id: string): Promise<void> {
    return announceDrop(this.redis, worker, id);
  }

  take(): Promise<string | null> {
    return this.redis.lpop(this.#requests);
  }

  /** An event of the queue of jobs wakes the server. */
  async deliver(delivery: Buffer): Promise<void> {
    const answers = await this.redis
      .multi()
      .rpush(this.#deliveries, delivery)
      .expire(this.#deliveries, LIFETIME)
      .xadd(`${PREFIX}:${this.queue}:events`, "MAXLEN", "~", EVENTS_KEPT, "*", "event", "families")
      .exec();
    for (const [error] of answers ?? []) if (error) throw error;
  }
}
