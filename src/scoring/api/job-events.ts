import { Problem } from "../../problem.ts";
import { hasEnded } from "../jobs/job.ts";
import type { JobObject } from "./json-schemas.ts";

export interface JobEventsOptions {
  /** Gives what tells the job as it is whenever it is called. @throws Problem unknown_job */
  watch: (id: string, base: string) => () => JobObject;
  /** Milliseconds between two looks at the jobs that somebody watches; more where a look takes long. */
  interval?: number;
  /** Milliseconds after which a stream without news gets a comment: proxies end what is silent for long, and a client that went without a word is found out by what is written to it. */
  heartbeat?: number;
  /** Streams that may be open at a time, and those of one client. */
  maxStreams?: number;
  maxStreamsPerClient?: number;
}

interface Stream {
  client: string;
  read: () => JobObject;
  /** Identifier of the last event that was sent. */
  sent: string;
  /** State in it. */
  state: string | null;
  /** When something was last sent, as performance.now() has it. */
  time: number;
  controller: ReadableStreamDefaultController<Uint8Array>;
}

/** Milliseconds after which a client whose stream broke comes back. */
const RETRY = 2000;
/** Part of the time of this thread, which answers requests too, that looking may take: a thousand places in a long queue are a thousand counts. */
const MOST_OF_TIME = 0.1;
/** Events that wait for a slow client; while they do, further progress is left out, for the next event says it all. */
const MOST_WAITING = 8;

/**
 * Server-sent events (WHATWG HTML, section 9.2) of jobs. An event has the whole job as its data: `state` when the state
 * has changed, `progress` when it is further within it. A stream begins with the job as it is, and ends with its
 * final state. An event's identifier names what it says, so that a client that comes back with `Last-Event-ID` is told
 * news only; one that has the final state is answered 204, on which browsers do not come back again.
 *
 * One timer looks at all watched jobs. A stream is forgotten when its client goes, its job ends, or the service stops.
 */
export class JobEvents {
  readonly #options: Required<JobEventsOptions>;
  readonly #streams = new Set<Stream>();
  #timer: Timer | undefined;
  /** When the next look is due, as performance.now() has it, and the earliest that it may be. */
  #due = 0;
  #notBefore = 0;
  #closed = false;

  constructor(options: JobEventsOptions) {
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
   * The answer to a client that watches a job.
   * @param client who asks, as a key; no stream of one client's may take the place of all others'.
   * @param lastId what the client says it has seen.
   * @throws Problem unknown_job, busy
   */
  open(id: string, base: string, client: string, lastId: string | null, signal: AbortSignal): Response {
    const read = this.#options.watch(id, base);
    const job = read();
    if (hasEnded(job.state) && lastId === eventId(job)) return new Response(null, { status: 204 });
    const { maxStreams, maxStreamsPerClient } = this.#options;
    const own = [...this.#streams].filter((stream) => stream.client === client).length;
    if (this.#closed || this.#streams.size >= maxStreams || own >= maxStreamsPerClient) {
      const why = this.#closed ? "The service is stopping" : "Too many streams are open";
      throw new Problem("busy", `${why}; ask for the job itself from time to time.`, {
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
          this.#tell(stream, job);
          if (this.#streams.size > 0 && !this.#timer)
            this.#lookAt(performance.now() + this.#options.interval);
        },
        cancel: forget,
      },
      { highWaterMark: MOST_WAITING },
    );
    signal.addEventListener("abort", forget, { once: true });
    return new Response(body, {
      headers: {
        "Content-Type": "text/event-stream; charset=utf-8",
        "Cache-Control": "no-store",
        // Proxies such as nginx would otherwise collect events before they pass them on.
        "X-Accel-Buffering": "no",
      },
    });
  }

  /** A job has ended: its watchers need not wait for the next look at all jobs. */
  checkSoon(): void {
    if (!this.#timer) return;
    const soon = Math.max(performance.now(), this.#notBefore);
    if (soon < this.#due) this.#lookAt(soon);
  }

  #lookAt(time: number): void {
    clearTimeout(this.#timer);
    this.#due = time;
    this.#timer = setTimeout(() => this.#look(), Math.max(0, time - performance.now()));
  }

  /** Ends all streams; their clients come back to whoever answers then. */
  close(): void {
    this.#closed = true;
    for (const stream of this.#streams) this.#end(stream);
  }

  #look(): void {
    const now = performance.now();
    for (const stream of this.#streams) {
      let job: JobObject;
      try {
        job = stream.read();
      } catch {
        // The row is gone, or the database cannot be read: a client that comes back is told which.
        this.#end(stream);
        continue;
      }
      this.#tell(stream, job);
      if (now - stream.time >= this.#options.heartbeat) send(stream, ": still here\n\n");
    }
    this.#timer = undefined;
    if (this.#streams.size === 0) return;
    const end = performance.now();
    this.#notBefore = end + (end - now) / MOST_OF_TIME;
    this.#lookAt(Math.max(end + this.#options.interval, this.#notBefore));
  }

  /** Sends the job where it says something new. */
  #tell(stream: Stream, job: JobObject): void {
    const id = eventId(job);
    const ends = hasEnded(job.state);
    const isSlow = (stream.controller.desiredSize ?? 0) <= 0;
    if (id !== stream.sent && (ends || !isSlow)) {
      const name = job.state === stream.state ? "progress" : "state";
      // JSON has no line ends of its own, which would divide the data.
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
      // It was cancelled from the other side.
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
    // The client has gone between two looks; `cancel` follows.
  }
}

/** Names what an event of this job says: `queued-3`, `running-homologs-42`, `finished`. */
export function eventId({ state, stage, fraction, place }: JobObject): string {
  const parts = [state, stage, fraction === null ? null : Math.round(fraction * 100), place];
  return parts.filter((part) => part !== null).join("-");
}
