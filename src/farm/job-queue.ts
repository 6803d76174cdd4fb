import type { Queue } from "bullmq";
import type { ChainableCommander, Redis } from "ioredis";
import type { Log } from "../platform/log.ts";
import { type RemoteLease, UNKNOWN_WORKER } from "../scoring/index.ts";
import { BLOCKING_SILENCE, describeCause } from "./connection.ts";
import {
  decodeResult,
  EVENTS_KEPT,
  type FarmTask,
  PREFIX,
  resultsKey,
  type WorkKind,
} from "./redis-records.ts";

/** BullMQ keeps priority and order of arrival in one number, */
const PRIORITY_UNIT = 2 ** 32;
/** and the time of a retry and the order of arrival in another. */
const DELAY_UNIT = 2 ** 12;
/** Milliseconds by which the clock of a worker may differ from the server's. */
const [MAX_AHEAD, MAX_BEHIND] = [60_000, 5000];

/** The outcome of a job that ended, or left the queue. */
export interface Delivery extends RemoteLease {
  /** Reason for the failure; null without a failure. */
  reason: string | null;
  /** The packed prediction; null if there is none, or it was damaged. */
  packed: Uint8Array<ArrayBuffer> | null;
}

/** The jobs of a queue at one moment. */
export interface Snapshot {
  active: Set<string>;
  /** Completed and failed jobs that are still in the queue. */
  ended: string[];
  /** Jobs with a stored prediction. */
  results: string[];
  /** Present only in a full snapshot. */
  waiting: { id: string; priority: number }[];
}

/** A BullMQ queue for one kind of work, on the server's side. */
export class JobQueue {
  /** Jobs known to wait in the queue. */
  readonly waiting = new Map<string, { client: string; priority: number }>();
  /** Jobs that workers had in the last snapshot. */
  active: ReadonlySet<string> = new Set();
  #watcher: { close(): void } | undefined;

  private constructor(
    readonly name: string,
    readonly kind: WorkKind,
    readonly queue: Queue<FarmTask, null>,
    private readonly redis: Redis,
  ) {}

  /** @param changed called after every event of the queue */
  static async open(
    redis: Redis,
    name: string,
    kind: WorkKind,
    log: Log,
    changed: () => void,
  ): Promise<JobQueue> {
    const { Queue } = await import("bullmq");
    const options = { prefix: PREFIX, skipVersionCheck: true, streams: { events: { maxLen: EVENTS_KEPT } } };
    const queue = new Queue<FarmTask, null>(name, { connection: redis, ...options });
    queue.on("error", () => {});
    // A queue that loses its connection here stays unusable; the next turn opens another.
    await queue.waitUntilReady();
    const opened = new JobQueue(name, kind, queue, redis);
    opened.#watcher = watchStream(redis, queue.toKey("events"), log, changed);
    return opened;
  }

  /** @param isFull also lists the waiting jobs, of which there may be many */
  async snapshot(isFull: boolean): Promise<Snapshot> {
    const key = (part: string): string => this.queue.toKey(part);
    const commands = this.redis
      .multi()
      .lrange(key("active"), 0, -1)
      .zrange(key("completed"), "0", "-1")
      .zrange(key("failed"), "0", "-1")
      .hkeys(resultsKey(this.name));
    if (isFull)
      commands
        .lrange(key("wait"), 0, -1)
        .lrange(key("paused"), 0, -1)
        .zrange(key("delayed"), "0", "-1")
        .zrange(key("prioritized"), "0", "-1", "WITHSCORES");
    const [active, completed, failed, results, wait = [], paused = [], delayed = [], scored = []] =
      await replies<string[]>(commands);
    const waiting = [...wait, ...paused, ...delayed].map((id) => ({ id, priority: 1 }));
    for (let i = 0; i < scored.length; i += 2)
      waiting.push({ id: scored[i], priority: Math.floor(Number(scored[i + 1]) / PRIORITY_UNIT) });
    return { active: new Set(active), ended: [...completed, ...failed], results, waiting };
  }

  /** Retries jobs immediately that would wait for long because of a worker's wrong clock. */
  async promoteStuck(now: number): Promise<void> {
    const delayed = await this.redis.zrange(this.queue.toKey("delayed"), "0", "-1", "WITHSCORES");
    for (let i = 0; i < delayed.length; i += 2) {
      const ahead = Number(delayed[i + 1]) / DELAY_UNIT - now;
      if (ahead <= MAX_AHEAD && ahead >= -MAX_BEHIND) continue;
      // A worker may have taken the job by now.
      await (await this.queue.getJob(delayed[i]))?.promote().catch(() => {});
    }
  }

  /** The last worker of each job and the number of the attempt; null where the job is not in the queue. */
  async holders(ids: readonly string[]): Promise<(Omit<RemoteLease, "id"> | null)[]> {
    const found = await this.#readJobs(ids, "name");
    return found.map(([worker, failed, name]) =>
      name === null ? null : { worker: worker ?? UNKNOWN_WORKER, attempts: Number(failed ?? 0) + 1 },
    );
  }

  /** The outcomes of jobs that ended. */
  async deliveries(ids: readonly string[]): Promise<Delivery[]> {
    if (ids.length === 0) return [];
    const stored = await this.redis.hmgetBuffer(resultsKey(this.name), ...ids);
    const results = stored.map((bytes) => bytes && decodeResult(bytes));
    const missing = ids.filter((_, i) => !results[i]);
    const failures = new Map(
      (await this.#readJobs(missing, "failedReason")).map((values, i) => [missing[i], values]),
    );
    return ids.map((id, i) => {
      const result = results[i];
      if (result) return Object.assign(result, { id, reason: null });
      const [worker, failed, reason] = failures.get(id)!;
      const attempts = Math.max(1, Number(failed ?? 1));
      return { id, worker: worker ?? UNKNOWN_WORKER, attempts, reason, packed: null };
    });
  }

  /** Worker, failed attempts and another field of each job. */
  async #readJobs(ids: readonly string[], field: string): Promise<(string | null)[][]> {
    if (ids.length === 0) return [];
    return replies(this.redis.pipeline(ids.map((id) => ["hmget", this.queue.toKey(id), "pb", "atm", field])));
  }

  /** Deletes predictions that are in the database. */
  async deleteResults(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.redis.hdel(resultsKey(this.name), ...ids);
  }

  /** Removes a job and its prediction. @returns false where a worker has it, so that it stays */
  async remove(id: string): Promise<boolean> {
    this.waiting.delete(id);
    if ((await this.queue.remove(id)) === 0) return false;
    await this.deleteResults([id]);
    return true;
  }

  /** Deletes the whole queue. */
  async obliterate(): Promise<void> {
    await this.redis.del(resultsKey(this.name));
    await this.queue.obliterate({ force: true });
  }

  async close(): Promise<void> {
    this.#watcher?.close();
    await this.queue.close().catch(() => {});
  }
}

async function replies<T>(commands: ChainableCommander): Promise<T[]> {
  return ((await commands.exec()) ?? []).map(([error, value]) => {
    if (error) throw error;
    return value as T;
  });
}

/** Milliseconds that Redis waits for the next event, and after an error. */
const BLOCK = 10_000;
const RETRY = 100;
/** Milliseconds for which events are gathered. */
const GATHER_MILLISECONDS = 5;

/** Calls `changed` whenever a stream has new entries; their content does not matter. */
function watchStream(redis: Redis, key: string, log: Log, changed: () => void): { close(): void } {
  const connection = redis.duplicate({
    maxRetriesPerRequest: null,
    enableOfflineQueue: true,
    autoResendUnfulfilledCommands: false,
    socketTimeout: BLOCKING_SILENCE,
  });
  connection.on("error", () => {});
  const closing = new AbortController();
  const watch = async (): Promise<void> => {
    let logged = "";
    while (!closing.signal.aborted) {
      try {
        // Read again each time: an emptied Redis counts from the beginning.
        const [[newest] = ["0-0"]] = await connection.xrevrange(key, "+", "-", "COUNT", 1);
        changed();
        await connection.xread("COUNT", 1, "BLOCK", BLOCK, "STREAMS", key, newest);
        logged = "";
        await Bun.sleep(GATHER_MILLISECONDS);
      } catch (error) {
        const cause = describeCause(error);
        if (!closing.signal.aborted && cause !== logged && !/Connection is closed|ECONN/.test(cause))
          log.problem("queue events", { cause });
        logged = cause;
        await Bun.sleep(RETRY);
      }
    }
  };
  void watch();
  return {
    close() {
      closing.abort();
      connection.disconnect();
    },
  };
}
