import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { type RemoteLease, UNKNOWN_WORKER } from "../scoring/jobs/farm-jobs.ts";
import type { Log } from "../platform/log.ts";
import { EventReader, type QueueEvent } from "./event-reader.ts";
import { type FarmTask, openKept, PREFIX, resultsKey, type WorkKind } from "./redis-records.ts";

/** Where a job is in a queue. */
export type Whereabouts = "waiting" | "active" | "completed" | "failed";

/** Events that are kept for who reads them late; what is lost of them the next reconciliation finds. */
const EVENTS_KEPT = 10_000;
/** BullMQ keeps priority and order of arrival in one number. */
const PRIORITY_UNIT = 2 ** 32;
/** It keeps the moment of another attempt and the order of arrival in one number. */
const DELAY_UNIT = 2 ** 12;
/** Milliseconds by which that moment may lie ahead or behind: it is by the clock of a worker, and workers' clocks let it pass. */
const [MOST_AHEAD, MOST_BEHIND] = [60_000, 5000];

/** What one that was handed in has with it. */
export interface HandedIn extends RemoteLease {
  /** Why there is no prediction, where it failed. */
  reason: string | null;
  /** The prediction, packed; null where there is none, or it was damaged. */
  packed: Uint8Array<ArrayBuffer> | null;
}

/** A queue of BullMQ for one kind of work, as the server has it open. */
export class JobQueue {
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
    private readonly redis: Redis,
  ) {}

  #events: EventReader | undefined;

  static async open(redis: Redis, name: string, kind: WorkKind, log: Log): Promise<JobQueue> {
    const { Queue } = await import("bullmq");
    // The server looks at the Redis itself, and tells of it in its log.
    const options = { prefix: PREFIX, skipVersionCheck: true, streams: { events: { maxLen: EVENTS_KEPT } } };
    const queue = new Queue<FarmTask, null>(name, { connection: redis, ...options });
    queue.on("error", () => {});
    // One that loses its connection at its start stays broken: the next turn opens another.
    await queue.waitUntilReady();
    const line = new JobQueue(name, kind, queue, redis);
    line.#events = await EventReader.open(redis, queue.toKey("events"), log, (event) => line.#hear(event));
    return line;
  }

  #hear({ event, jobId, prev, data }: QueueEvent): void {
    if (event === "progress") return this.progressed(jobId, JSON.parse(data));
    const whereabouts = heardOf(event, prev);
    if (whereabouts === null) return;
    this.touched.set(jobId, whereabouts);
    this.heard();
  }

  /** Lets jobs be tried again that would wait for long because a worker's clock is wrong. */
  async promoteStuck(now: number): Promise<void> {
    const delayed = await this.redis.zrange(this.queue.toKey("delayed"), "0", "-1", "WITHSCORES");
    for (let i = 0; i < delayed.length; i += 2) {
      const ahead = Number(delayed[i + 1]) / DELAY_UNIT - now;
      if (ahead <= MOST_AHEAD && ahead >= -MOST_BEHIND) continue;
      // A worker may have it by now.
      await (await this.queue.getJob(delayed[i]))?.promote().catch(() => {});
    }
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

  /** Who has or had jobs, and for which time each is tried: that a worker was lost does not count. Null where it is not there. */
  async holders(ids: readonly string[]): Promise<({ worker: string; attempts: number } | null)[]> {
    const found = await this.#ask(ids, (key) => ["hmget", key, "pb", "atm", "name"]);
    return found.map(([worker, failed, name]) =>
      name === null ? null : { worker: worker ?? UNKNOWN_WORKER, attempts: Number(failed ?? 0) + 1 },
    );
  }

  /** What was handed in for jobs that have ended. */
  async handedIn(ids: readonly string[]): Promise<HandedIn[]> {
    if (ids.length === 0) return [];
    const kept = await this.redis.hmgetBuffer(resultsKey(this.name), ...ids);
    const read = ids.map((id, i) => ({ id, kept: kept[i] && openKept(kept[i]) }));
    const lacking = read.flatMap((one) => (one.kept ? [] : [one.id]));
    const failures = await this.#ask(lacking, (key) => ["hmget", key, "pb", "atm", "failedReason"]);
    return read.map(({ id, kept }) => {
      if (kept) return Object.assign(kept, { id, reason: null });
      const [worker, made, reason] = failures[lacking.indexOf(id)];
      const attempts = Math.max(1, Number(made ?? 1));
      return { id, worker: worker ?? UNKNOWN_WORKER, attempts, reason, packed: null };
    });
  }

  /** The same of many jobs, in one go. */
  async #ask(ids: readonly string[], command: (key: string) => string[]): Promise<(string | null)[][]> {
    if (ids.length === 0) return [];
    const answers = await this.redis.pipeline(ids.map((id) => command(this.queue.toKey(id)))).exec();
    return (answers ?? []).map(([error, value]) => {
      if (error) throw error;
      return value as (string | null)[];
    });
  }

  /** Lets go of predictions that were stored. */
  async forget(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.redis.hdel(resultsKey(this.name), ...ids);
  }

  /** Takes a job out, and what was handed in for it. @returns false where a worker has it: then it stays */
  async remove(id: string): Promise<boolean> {
    this.waiting.delete(id);
    if ((await this.queue.remove(id)) === 0) return false;
    await this.forget([id]);
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
    this.#events?.close();
    await this.queue.close().catch(() => {});
  }
}

/** Where a job is by an event; null where that is no news. */
function heardOf(event: string, prev: string | undefined): Whereabouts | null {
  switch (event) {
    case "active":
    case "completed":
    case "failed":
      return event;
    // The one who offered it knows that it waits: this is news only of one that was active.
    case "waiting":
      return prev === "active" ? "waiting" : null;
    case "stalled":
    case "delayed":
      return "waiting";
    default:
      return null;
  }
}
