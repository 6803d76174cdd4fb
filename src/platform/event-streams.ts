import { Problem } from "../problem.ts";

/** The present state of something that changes until it ends, such as a job. */
export interface Snapshot {
  /** Describes the content, without white space: two snapshots with the same id are equal. */
  id: string;
  state: string;
  hasEnded: boolean;
  /** Sent as JSON. */
  data: object;
}

export interface EventStreamsOptions {
  /** Milliseconds between checks of a watched object; more if a check takes long. */
  interval?: number;
  /** Milliseconds of silence after which a comment is sent: proxies end silent streams, and writing detects lost clients. */
  heartbeat?: number;
  /** Open streams, in all and per client. */
  maxStreams?: number;
  maxStreamsPerClient?: number;
}

interface Stream {
  client: string;
  read: () => Snapshot;
  /** Identifier of the last event sent, and the state in it. */
  sent: string;
  state: string | null;
  /** Time of the last message, by performance.now(). */
  time: number;
  controller: ReadableStreamDefaultController<Uint8Array>;
}

const HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store",
  // Otherwise proxies such as nginx would buffer events.
  "X-Accel-Buffering": "no",
};
/** Milliseconds after which a client reconnects. */
const RETRY = 2000;
/** Part of this thread's time that checks may take: each counts places in the queue. */
const MAX_LOAD = 0.1;
/** Events that may wait for a slow client; further progress is skipped, because the next event has everything. */
const MAX_PENDING = 8;

/**
 * Server-sent events (WHATWG HTML, section 9.2) of jobs and tasks. The data of each event is the whole job; it is `state` if
 * the state has changed, else `progress`. A stream begins with the current state and ends with the final one. The identifier of an
 * event describes its content, so that a client that reconnects with `Last-Event-ID` gets only what is new; one that has
 * the final state gets 204, after which browsers do not reconnect.
 */
export class EventStreams {
  readonly #options: Required<EventStreamsOptions>;
  readonly #streams = new Set<Stream>();
  #timer: Timer | undefined;
  /** Time of the next check by performance.now(), and the earliest time for it. */
  #due = 0;
  #notBefore = 0;
  #closed = false;

  constructor(options: EventStreamsOptions = {}) {
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

  /** Opens a stream for a request; for HEAD, answers with its headers. @throws Problem busy, and what `read` throws */
  respond(request: Request, client: string, read: () => Snapshot): Response {
    if (request.method !== "HEAD")
      return this.open(read, client, request.headers.get("last-event-id"), request.signal);
    read();
    // A stream without a reader would stay open.
    return new Response(null, { headers: HEADERS });
  }

  /**
   * Opens a stream.
   * @param read reads the watched object
   * @param client key of the client, for the limit per client
   * @param lastId identifier of the last event that the client has received
   * @throws Problem busy, and what `read` throws
   */
  open(read: () => Snapshot, client: string, lastId: string | null, signal: AbortSignal): Response {
    const first = read();
    if (first.hasEnded && lastId === first.id) return new Response(null, { status: 204 });
    const { maxStreams, maxStreamsPerClient } = this.#options;
    const own = [...this.#streams].filter((stream) => stream.client === client).length;
    if (this.#closed || this.#streams.size >= maxStreams || own >= maxStreamsPerClient) {
      const why = this.#closed ? "The service is stopping" : "Too many streams are open";
      throw new Problem("busy", `${why}. Poll instead.`, {
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
          if (lastId === first.id) stream.state = first.state;
          this.#streams.add(stream);
          this.#update(stream, first);
          if (this.#streams.size > 0 && !this.#timer)
            this.#checkAt(performance.now() + this.#options.interval);
        },
        cancel: forget,
      },
      { highWaterMark: MAX_PENDING },
    );
    signal.addEventListener("abort", forget, { once: true });
    return new Response(body, { headers: HEADERS });
  }

  /** Something has changed: checks soon. */
  checkSoon(): void {
    if (!this.#timer) return;
    const earliest = Math.max(performance.now(), this.#notBefore);
    if (earliest < this.#due) this.#checkAt(earliest);
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
    const begun = performance.now();
    for (const stream of this.#streams) {
      let now: Snapshot;
      try {
        now = stream.read();
      } catch {
        // A client that reconnects gets the error.
        this.#end(stream);
        continue;
      }
      this.#update(stream, now);
      if (begun - stream.time >= this.#options.heartbeat) send(stream, ": still here\n\n");
    }
    this.#timer = undefined;
    if (this.#streams.size === 0) return;
    const end = performance.now();
    this.#notBefore = end + (end - begun) / MAX_LOAD;
    this.#checkAt(Math.max(end + this.#options.interval, this.#notBefore));
  }

  /** Sends a snapshot that differs from the last one. */
  #update(stream: Stream, { id, state, hasEnded, data }: Snapshot): void {
    const isSlow = (stream.controller.desiredSize ?? 0) <= 0;
    if (id !== stream.sent && (hasEnded || !isSlow)) {
      const name = state === stream.state ? "progress" : "state";
      // JSON has no line breaks, which would split the data.
      send(stream, `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`);
      stream.sent = id;
      stream.state = state;
    }
    if (hasEnded) this.#end(stream);
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
