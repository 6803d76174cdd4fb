import { Problem } from "../../problem.ts";
import { hasEnded } from "../jobs/job.ts";
import type { JobObject } from "./json-schemas.ts";

export interface JobEventsOptions {
  /** Milliseconds between checks of the watched jobs; more if a check takes long. */
  interval?: number;
  /** Milliseconds of silence after which a comment is sent: proxies end silent streams, and writing detects lost clients. */
  heartbeat?: number;
  /** Open streams, in all and per client. */
  maxStreams?: number;
  maxStreamsPerClient?: number;
}

interface Stream {
  client: string;
  read: () => JobObject;
  /** Identifier of the last event sent, and the state in it. */
  sent: string;
  state: string | null;
  /** When something was last sent, by performance.now(). */
  time: number;
  controller: ReadableStreamDefaultController<Uint8Array>;
}

/** Milliseconds after which a client reconnects. */
const RETRY = 2000;
/** Part of this thread's time that checks may take: each counts places in the queue. */
const MAX_LOAD = 0.1;
/** Events that may wait for a slow client; further progress is skipped, because the next event has everything. */
const MAX_PENDING = 8;

/**
 * Server-sent events (WHATWG HTML, section 9.2) of jobs. The data of each event is the whole job; it is `state` if the state
 * has changed, else `progress`. A stream begins with the current state and ends with the final one. The identifier of an
 * event describes its content, so that a client that reconnects with `Last-Event-ID` gets only what is new; one that has
 * the final state gets 204, after which browsers do not reconnect.
 */
export class JobEvents {
  readonly #options: Required<JobEventsOptions>;
  readonly #streams = new Set<Stream>();
  #timer: Timer | undefined;
  /** When the next check is due by performance.now(), and the earliest time for it. */
  #due = 0;
  #notBefore = 0;
  #closed = false;

  constructor(options: JobEventsOptions = {}) {
    this.#options = {
      interval: 200,
      heartbeat: 15_000,
      maxStreams: 1000,
      maxStreamsPerClient: 100,
      ...options,
    };
  }

  /** Number of open streams. */
  get size(): number {
    return this.#streams.size;
  }

  /**
   * Opens a stream.
   * @param read reads the job
   * @param client key of the client, for the limit per client
   * @param lastId identifier of the last event that the client has received
   * @throws Problem unknown_job, busy
   */
  open(read: () => JobObject, client: string, lastId: string | null, signal: AbortSignal): Response {
    const job = read();
    if (hasEnded(job.state) && lastId === eventId(job)) return new Response(null, { status: 204 });
    const { maxStreams, maxStreamsPerClient } = this.#options;
    const own = [...this.#streams].filter((stream) => stream.client === client).length;
    if (this.#closed || this.#streams.size >= maxStreams || own >= maxStreamsPerClient) {
      const why = this.#closed ? "The service is stopping" : "Too many streams are open";
      throw new Problem("busy", `${why}. Poll the job instead.`, {
        headers: { "Retry-After": "10" },
      });
    }
    let stream: Stream | undefined;
    const forget = (): void => {
      if (stream) this.#forget(stream);
    };
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          stream = { client, read, sent: lastId ?? "", state: null, time: performance.now(), controller };
          send(stream, `retry: ${RETRY}\n\n`);
          if (lastId === eventId(job)) stream.state = job.state;
          this.#streams.add(stream);
          this.#update(stream, job);
          if (this.#streams.size > 0 && !this.#timer)
            this.#checkAt(performance.now() + this.#options.interval);
        },
        cancel: forget,
      },
      { highWaterMark: MAX_PENDING },
    );
    signal.addEventListener("abort", forget, { once: true });
    return new Response(body, {
      headers: {
        "Content-Type": "text/event-stream; charset=utf-8",
        "Cache-Control": "no-store",
        // Otherwise proxies such as nginx would buffer events.
        "X-Accel-Buffering": "no",
      },
    });
  }

  /** A job has changed: checks soon. */
  checkSoon(): void {
    if (!this.#timer) return;
    const soon = Math.max(performance.now(), this.#notBefore);
    if (soon < this.#due) this.#checkAt(soon);
  }

  #checkAt(time: number): void {
    clearTimeout(this.#timer);
    this.#due = time;
    this.#timer = setTimeout(() => this.#check(), Math.max(0, time - performance.now()));
  }

  /** Ends all streams; their clients reconnect later. */
  close(): void {
    this.#closed = true;
    for (const stream of this.#streams) this.#end(stream);
  }

  #check(): void {
    const now = performance.now();
    for (const stream of this.#streams) {
      let job: JobObject;
      try {
        job = stream.read();
      } catch {
        // A client that reconnects gets the error.
        this.#end(stream);
        continue;
      }
      this.#update(stream, job);
      if (now - stream.time >= this.#options.heartbeat) send(stream, ": still here\n\n");
    }
    this.#timer = undefined;
    if (this.#streams.size === 0) return;
    const end = performance.now();
    this.#notBefore = end + (end - now) / MAX_LOAD;
    this.#checkAt(Math.max(end + this.#options.interval, this.#notBefore));
  }

  /** Sends the job if it has changed. */
  #update(stream: Stream, job: JobObject): void {
    const id = eventId(job);
    const ends = hasEnded(job.state);
    const isSlow = (stream.controller.desiredSize ?? 0) <= 0;
    if (id !== stream.sent && (ends || !isSlow)) {
      const name = job.state === stream.state ? "progress" : "state";
      // JSON has no line breaks, which would split the data.
      send(stream, `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(job)}\n\n`);
      stream.sent = id;
      stream.state = job.state;
    }
    if (ends) this.#end(stream);
  }

  #end(stream: Stream): void {
    this.#forget(stream);
    try {
      stream.controller.close();
    } catch {
      // The client cancelled it.
    }
  }

  #forget(stream: Stream): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

const ENCODER = new TextEncoder();

function send(stream: Stream, text: string): void {
  stream.time = performance.now();
  try {
    stream.controller.enqueue(ENCODER.encode(text));
  } catch {
    // The client has gone; `cancel` follows.
  }
}

/** Identifies the content of an event: `queued-3`, `running-homologs-42`, `finished`. */
export function eventId({ state, stage, fraction, place }: JobObject): string {
  const parts = [state, stage, fraction === null ? null : Math.round(fraction * 100), place];
  return parts.filter((part) => part !== null).join("-");
}
