/** Seconds after which an idle connection is closed. */
export const IDLE_SECONDS = 60;

/** Seconds after which a connection is closed whose client reads nothing while the server stops. */
const IDLE_AT_STOP = 5;

interface Server {
  timeout(request: Request, seconds: number): void;
}

/**
 * Bun closes a connection after `idleTimeout` even while its handler runs, a body arrives or a stream is written
 * (Bun 1.4.5). The timeout is therefore off while a request is handled: `receive` limits the time of a body. It is on
 * again while the response is sent, except for event streams, which write regularly so that TCP detects a lost client.
 */
export class IdleTimeouts {
  #seconds = IDLE_SECONDS;
  /** Requests whose response is being read. */
  readonly #reading = new Set<Request>();

  async whileAnswered(server: Server, request: Request, answer: Promise<Response>): Promise<Response> {
    server.timeout(request, 0);
    const response = await answer;
    const isEvents =
      response.body && /^text\/event-stream\b/.test(response.headers.get("content-type") ?? "");
    if (!isEvents) server.timeout(request, this.#seconds);
    return response;
  }

  /** Notes that the client begins or ends to read a streamed response. */
  reads(request: Request, isReading: boolean): void {
    if (isReading) this.#reading.add(request);
    else this.#reading.delete(request);
  }

  /** Before the server stops: responses to reading clients continue, others are ended. */
  shorten(server: Server): void {
    this.#seconds = IDLE_AT_STOP;
    for (const request of this.#reading) server.timeout(request, this.#seconds);
  }
}
