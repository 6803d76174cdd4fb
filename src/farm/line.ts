import type { Queue, QueueEvents } from "bullmq";
import type { Redis } from "ioredis";
import { type Taken, UNKNOWN_WORKER } from "../scoring/farm-jobs.ts";
import type { Log } from "../shell/log.ts";
import { type FarmTask, PREFIX, resultsKey, type WorkKind } from "./layout.ts";
import { BLOCKING_SILENCE, causeOf } from "./link.ts";

/** Where a job is in a queue. */
export type Whereabouts = "waiting" | "active" | "completed" | "failed";

/** Events that are kept for who reads them late; what is lost of them the next reconciliation finds. */
const EVENTS_KEPT = 10_000;
/** BullMQ keeps priority and order of arrival in one number. */
const PRIORITY_UNIT = 2 ** 32;

/** What one that was handed in has with it. */
export interface HandedIn extends Taken {
  /** Why there is no prediction, where it failed. */
  reason: string | null;
  /** The prediction, packed; null where there is none. */
  result: Buffer | null;
}

/** A queue of BullMQ for one kind of work, as the server has it open. */
export class Line {
  /** Jobs of which something was heard, and where they were last. */
  readonly touched = new Map<string, Whereabouts>();
  /** Jobs that wait in it. */
  readonly waiting = new Map<string, { client: string; priority: number }>();
  heard: () => void = () => {};
  progressed: (id: string, progress: unknown) => void = () => {};

  private constructor(
    readonly name: string,
    readonly kind: WorkKind,
    readonly queue: Queue<FarmTask, null>,
    private readonly events: QueueEvents,
    private readonly redis: Redis,
  ) {}

  static async open(redis: Redis, name: string, kind: WorkKind, log: Log): Promise<Line> {
    const { Queue, QueueEvents } = await import("bullmq");
    const options = { prefix: PREFIX, streams: { events: { maxLen: EVENTS_KEPT } } };
    const queue = new Queue<FarmTask, null>(name, { connection: redis, ...options });
    queue.on("error", () => {});
    // One that loses its connection at its start stays broken: the next turn opens another.
    await queue.waitUntilReady();
    const [last] = await redis.xrevrange(queue.toKey("events"), "+", "-", "COUNT", 1);
    // It waits for events, and for the queue's return: commands of the server do not.
    const patient = { maxRetriesPerRequest: null, enableOfflineQueue: true, socketTimeout: BLOCKING_SILENCE };
    const connection = redis.duplicate(patient);
    connection.on("error", () => {});
    const events = new QueueEvents(name, { connection, prefix: PREFIX, lastEventId: last?.[0] ?? "0-0" });
    let told = "";
    events.on("error", (error) => {
      if (told === error.message) return;
      told = error.message;
      log.problem("queue events", { cause: causeOf(error) });
    });
    const line = new Line(name, kind, queue, events, redis);
    const touch = (id: string, whereabouts: Whereabouts): void => {
      line.touched.set(id, whereabouts);
      line.heard();
    };
    events.on("active", ({ jobId }) => touch(jobId, "active"));
    events.on("completed", ({ jobId }) => touch(jobId, "completed"));
    events.on("failed", ({ jobId }) => touch(jobId, "failed"));
    // The one who offered it knows that it waits: this is news only of one that was active.
    events.on("stalled", ({ jobId }) => touch(jobId, "waiting"));
    events.on("delayed", ({ jobId }) => touch(jobId, "waiting"));
    events.on("waiting", ({ jobId, prev }) => {
      if (prev === "active") touch(jobId, "waiting");
    });
    events.on("progress", ({ jobId, data }) => line.progressed(jobId, data));
    return line;
  }

  /** Where every job of it is, at one moment, and the priority of those that wait. */
  async list(): Promise<{ id: string; whereabouts: Whereabouts; priority: number }[]> {
    const key = (part: string): string => this.queue.toKey(part);
    const answers = await this.redis
      .multi()
      .lrange(key("wait"), 0, -1)
      .lrange(key("paused"), 0, -1)
      .zrange(key("delayed"), "0", "-1")
      .zrange(key("prioritized"), "0", "-1", "WITHSCORES")
      .lrange(key("active"), 0, -1)
      .zrange(key("completed"), "0", "-1")
      .zrange(key("failed"), "0", "-1")
      .exec();
    const [wait, paused, delayed, scored, active, completed, failed] = (answers ?? []).map(
      ([error, value]) => {
        if (error) throw error;
        return value as string[];
      },
    );
    const at = (ids: string[], whereabouts: Whereabouts) =>
      ids.map((id) => ({ id, whereabouts, priority: 1 }));
    const prioritized = scored.flatMap((id, i) =>
      i % 2 === 1
        ? []
        : [
            {
              id,
              whereabouts: "waiting" as const,
              priority: Math.floor(Number(scored[i + 1]) / PRIORITY_UNIT),
            },
          ],
    );
    return [
      ...at([...wait, ...paused, ...delayed], "waiting"),
      ...prioritized,
      ...at(active, "active"),
      ...at(completed, "completed"),
      ...at(failed, "failed"),
    ];
  }

  /** Who has or had a job, and for which time it is tried: that a worker was lost does not count. Null where it is not there. */
  async holder(id: string): Promise<{ worker: string; attempts: number } | null> {
    const [worker, failed, name] = await this.redis.hmget(this.queue.toKey(id), "pb", "atm", "name");
    return name === null ? null : { worker: worker ?? UNKNOWN_WORKER, attempts: Number(failed ?? 0) + 1 };
  }

  /** What was handed in for jobs that have ended. */
  async handedIn(ids: readonly string[]): Promise<HandedIn[]> {
    return Promise.all(
      ids.map(async (id) => {
        const [[worker, made, reason], result] = await Promise.all([
          this.redis.hmget(this.queue.toKey(id), "pb", "atm", "failedReason"),
          this.redis.hgetBuffer(resultsKey(this.name), id),
        ]);
        return {
          id,
          worker: worker ?? UNKNOWN_WORKER,
          attempts: Math.max(1, Number(made ?? 1)),
          reason,
          result,
        };
      }),
    );
  }

  /** Takes a job out, and what was handed in for it. @returns false where a worker has it: then it stays */
  async remove(id: string): Promise<boolean> {
    this.waiting.delete(id);
    if ((await this.queue.remove(id)) === 0) return false;
    await this.redis.hdel(resultsKey(this.name), id);
    return true;
  }

  /** Jobs whose predictions are kept. */
  kept(): Promise<string[]> {
    return this.redis.hkeys(resultsKey(this.name));
  }

  /** Takes the whole queue out of Redis. */
  async obliterate(): Promise<void> {
    await this.redis.del(resultsKey(this.name));
    await this.queue.obliterate({ force: true });
  }

  async close(): Promise<void> {
    await Promise.all([this.events.close().catch(() => {}), this.queue.close().catch(() => {})]);
  }
}
