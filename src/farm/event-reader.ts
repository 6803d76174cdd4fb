import type { Redis } from "ioredis";
import type { Log } from "../platform/log.ts";
import { BLOCKING_SILENCE, causeOf } from "./connection.ts";
import { BurstLimiter } from "./burst-limiter.ts";

/** What BullMQ says of a job: `event`, `jobId`, and by its kind `prev` or `data`. */
export type QueueEvent = Record<string, string>;

/** Milliseconds that Redis waits for the next event. */
const PATIENCE = 10_000;
/** Readings in a row, then milliseconds for which events are gathered: what comes one by one costs a reading each. */
const AT_ONCE = 4;
const GATHER = 10;
/** Events of one reading: answers to clients wait for as long as these take. */
const MOST = 1000;
const NONE = "0-0";

/**
 * Reads the events of a queue. BullMQ's own reader tells of each event twice and reads as soon as there is one; that was
 * a third of what the server did for a job.
 */
export class EventReader {
  #closed = false;
  #last: string;

  private constructor(
    private readonly connection: Redis,
    private readonly key: string,
    from: string,
    private readonly log: Log,
  ) {
    this.#last = from;
  }

  /** Reads events that come from now on. */
  static async open(
    redis: Redis,
    key: string,
    log: Log,
    tell: (event: QueueEvent) => void,
  ): Promise<EventReader> {
    const from = await newest(redis, key);
    // It waits for events, and for the queue's return: commands of the server do not.
    const connection = redis.duplicate({
      maxRetriesPerRequest: null,
      enableOfflineQueue: true,
      autoResendUnfulfilledCommands: false,
      socketTimeout: BLOCKING_SILENCE,
    });
    connection.on("error", () => {});
    const reader = new EventReader(connection, key, from, log);
    void reader.#read(tell);
    return reader;
  }

  async #read(tell: (event: QueueEvent) => void): Promise<void> {
    let told = "";
    let isCut = false;
    const pace = new BurstLimiter(AT_ONCE, GATHER);
    while (!this.#closed) {
      try {
        if (isCut) await this.#goOn();
        isCut = false;
        for (const event of await this.#next()) tell(event);
        told = "";
        const wait = pace.next();
        if (wait > 0) await Bun.sleep(wait);
      } catch (error) {
        isCut = true;
        const cause = causeOf(error);
        if (!this.#closed && cause !== told && !/Connection is closed|ECONN/.test(cause))
          this.log.problem("queue events", { cause });
        told = cause;
        await Bun.sleep(PATIENCE / 100);
      }
    }
  }

  /** What a Redis has that came back empty, or with another clock, begins before what was read last. */
  async #goOn(): Promise<void> {
    if (isBefore(await newest(this.connection, this.key), this.#last)) this.#last = NONE;
  }

  async #next(): Promise<QueueEvent[]> {
    const read = ["COUNT", MOST, "BLOCK", PATIENCE, "STREAMS", this.key, this.#last] as const;
    const [[, entries = []] = []] = ((await this.connection.xread(...read)) ?? []) as unknown as [
      string,
      [string, string[]][],
    ][];
    this.#last = entries.at(-1)?.[0] ?? this.#last;
    return entries.map(([, words]) => {
      const event: QueueEvent = {};
      for (let i = 0; i < words.length; i += 2) event[words[i]] = words[i + 1];
      return event;
    });
  }

  close(): void {
    this.#closed = true;
    this.connection.disconnect();
  }
}

async function newest(redis: Redis, key: string): Promise<string> {
  const [last] = await redis.xrevrange(key, "+", "-", "COUNT", 1);
  return last?.[0] ?? NONE;
}

/** Whether an entry of a stream lies before another: milliseconds, then a number within them. */
function isBefore(one: string, other: string): boolean {
  const [[time, number], [otherTime, otherNumber]] = [one, other].map((id) => id.split("-").map(Number));
  return time < otherTime || (time === otherTime && number < otherNumber);
}
