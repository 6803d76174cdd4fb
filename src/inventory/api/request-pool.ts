import {
  type FromProcess,
  type RemoteHead,
  type RemoteRequest,
  REQUEST_PROCESS,
  type ToProcess,
} from "./remote-request.ts";
import { callerKey, nextTurn, WRITER } from "./request-turns.ts";
import { BodyStream } from "../../platform/body-stream.ts";
import type { Log } from "../../platform/log.ts";
import { trackMemory } from "../../platform/memory.ts";
import { logOutput, spawnSelf } from "../../platform/self-command.ts";
import { traced } from "../../platform/traces.ts";
import { Problem } from "../../problem.ts";

/** Requests that may wait, in all and of one caller. */
const MAX_WAITING = 200;
const WAITING_PER_CALLER = 20;
/** Milliseconds that a request waits for a process. */
const MAX_WAIT = 30_000;
/** Seconds of computation after which a request is ended, and a writing request. */
const DEADLINE = 60;
const WRITE_DEADLINE = 600;
/** Milliseconds after which an idle process is ended. */
const IDLE_MILLISECONDS = 20_000;
/** Milliseconds after which a response that nobody reads may be cut off, because others need its process. */
const UNREAD_MILLISECONDS = 10_000;
/** Milliseconds that a request may still take when its client has gone: starting a process again costs more. */
const GRACE_MILLISECONDS = 300;

const READS_BUSY = "Long lists, searches and reports of other users occupy all processes. Try again later.";
const WRITES_WAIT = "Another bulk change is being made. Try again later.";

/** Holds the write lock during work. */
export type HoldLock = <T>(work: () => Promise<T>) => Promise<T>;

export interface RequestPoolOptions {
  /** File descriptor of the running executable: an upgrade may replace the file. */
  version: string;
  log: Log;
  /** Seconds that a request may compute before its first byte, and between two pieces of its body; 60 by default. */
  deadline?: number;
  /** Milliseconds after which an idle process is ended; 20,000 by default. */
  idle?: number;
  /** Milliseconds after which an unread response may be cut off; 10,000 by default. */
  unread?: number;
}

/** Key of the caller on whose behalf a request runs. */
export interface RemoteCaller {
  /** Row of the account; null for callers without credentials. */
  user: number | null;
  network: string;
  /** Aborted when the client has gone. */
  signal: AbortSignal;
  /** Names the expensive parts of the request in the error after the deadline. */
  describe: () => string;
}

interface Waiting {
  caller: RemoteCaller;
  key: string;
  resolve: (process: RequestProcess) => void;
  reject: (problem: Problem) => void;
}

/**
 * Answers heavy requests in processes, because nothing can interrupt a statement of SQLite in a thread. A process answers
 * one request at a time and is ended at the deadline. Callers take turns; processes start on demand and end when idle.
 */
export class RequestPool {
  readonly #processes = new Set<RequestProcess>();
  #waiting: Waiting[] = [];
  /** Milliseconds until an unread response may be cut off. */
  #later: Timer | undefined;
  #closed = false;

  constructor(private readonly options: RequestPoolOptions) {}

  /** Process ids, for tests. */
  get pids(): number[] {
    return [...this.#processes].map(({ pid }) => pid);
  }

  /**
   * The response, whose body is computed as fast as it is read. `hold` runs the part of the work that writes while it
   * holds the write lock. @throws Problem, also that of the handler
   */
  run(remote: RemoteRequest, caller: RemoteCaller, hold?: HoldLock): Promise<Response> {
    return traced("process", { "labd.writes": remote.writes }, () => this.#run(remote, caller, hold));
  }

  async #run(remote: RemoteRequest, caller: RemoteCaller, hold?: HoldLock): Promise<Response> {
    const process = await this.#acquire(remote, caller);
    // A write goes on: a client or a proxy may be less patient than a large change takes.
    const hurry = (): void => (remote.writes ? undefined : process.limit(GRACE_MILLISECONDS));
    caller.signal.addEventListener("abort", hurry);
    try {
      await process.started;
      if (caller.signal.aborted) throw busy("The client has disconnected.", 1);
      let reply = await process.exchange(remote, caller.describe);
      if (reply.kind === "lock") {
        const written = hold!(() => process.exchange({ kind: "locked" }, caller.describe));
        // The process would wait for the lock for ever.
        written.catch(() => process.end());
        reply = await written;
      }
      if (reply.kind !== "head") throw toProblem(reply);
      return this.#respond(reply, process, caller);
    } catch (error) {
      this.#release(process);
      throw error;
    } finally {
      caller.signal.removeEventListener("abort", hurry);
    }
  }

  /** Ends all processes; a write that has not committed is rolled back. */
  close(): void {
    this.#closed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(busy("The service is stopping.", 10));
    for (const process of this.#processes) process.end();
  }

  #respond(
    { status, headers, bytes, ended }: RemoteHead,
    process: RequestProcess,
    { signal, describe }: RemoteCaller,
  ): Response {
    const init = { status, headers };
    if (ended || signal.aborted) {
      if (!ended) process.send({ kind: "cancel" });
      this.#release(process);
      return new Response(bytes as Uint8Array<ArrayBuffer> | null, init);
    }
    this.#awaitReader(process);
    return new Response(this.#streamBody(process, bytes!, describe), init);
  }

  /** The remaining body after its first bytes, one piece at a time. */
  #streamBody(
    process: RequestProcess,
    first: Uint8Array,
    describe: () => string,
  ): ReadableStream<Uint8Array<ArrayBuffer>> {
    let isCancelled = false;
    const end = (): void => {
      if (isCancelled) process.send({ kind: "cancel" });
      this.#release(process);
    };
    return new BodyStream(
      {
        start: (sink) => sink.enqueue(first as Uint8Array<ArrayBuffer>),
        pull: async (sink) => {
          try {
            const reply = await process.exchange({ kind: "next" }, describe);
            if (reply.kind !== "chunk") throw toProblem(reply);
            if (isCancelled) return end();
            if (reply.bytes.byteLength > 0) sink.enqueue(reply.bytes as Uint8Array<ArrayBuffer>);
            if (!reply.ended) return this.#awaitReader(process);
            sink.close();
          } catch (error) {
            if (!isCancelled) sink.error(error);
          }
          this.#release(process);
        },
        cancel: () => {
          isCancelled = true;
          if (process.isAnswering) process.limit(GRACE_MILLISECONDS);
          else end();
        },
      },
      { highWaterMark: 0 },
    );
  }

  async #acquire({ writes }: RemoteRequest, caller: RemoteCaller): Promise<RequestProcess> {
    if (this.#closed) throw busy("The service is stopping.", 10);
    const key = writes ? WRITER : callerKey(caller.user, caller.network);
    this.#waiting = this.#waiting.filter((one) => !one.caller.signal.aborted);
    const own = this.#waiting.filter((one) => one.caller.user === caller.user && one.key === key).length;
    if (own >= WAITING_PER_CALLER || this.#waiting.length >= MAX_WAITING)
      throw busy(
        own >= WAITING_PER_CALLER
          ? `${own} of your long requests are waiting. Send fewer at a time.`
          : "Too many long lists, searches, reports and bulk changes are requested. Try again later.",
        10,
      );
    const { promise, resolve, reject } = Promise.withResolvers<RequestProcess>();
    const waiting = { caller, key, resolve, reject };
    this.#waiting.push(waiting);
    this.#dispatch();
    const late = busy(writes ? WRITES_WAIT : READS_BUSY, 10);
    const timer = setTimeout(() => {
      this.#waiting = this.#waiting.filter((one) => one !== waiting);
      reject(late);
    }, MAX_WAIT);
    return promise.finally(() => clearTimeout(timer));
  }

  /** Assigns free processes to the callers with the fewest, in the order of arrival. */
  #dispatch(): void {
    for (;;) {
      const { unread = UNREAD_MILLISECONDS } = this.options;
      const next = nextTurn(this.#waiting, [...this.#processes], unread, performance.now());
      clearTimeout(this.#later);
      if (typeof next === "number" && next < MAX_WAIT)
        this.#later = setTimeout(() => this.#dispatch(), next).unref();
      if (typeof next !== "object") return;
      const { request, displaced } = next;
      if (displaced) {
        this.#processes.delete(displaced);
        displaced.end();
      }
      this.#waiting.splice(this.#waiting.indexOf(request), 1);
      try {
        request.resolve(this.#take(request.key === WRITER, request.key));
      } catch (error) {
        request.reject(Problem.from(error));
      }
    }
  }

  /** An idle process or a new one. @throws Problem busy if none can be started */
  #take(writes: boolean, key: string): RequestProcess {
    const idle = [...this.#processes].find(
      (one) => one.writes === writes && one.key === undefined && !one.isEnding,
    );
    const process = idle ?? this.#start(writes);
    process.begin(key);
    return process;
  }

  #start(writes: boolean): RequestProcess {
    try {
      const process = new RequestProcess(writes, this.options, (ended) => {
        this.#processes.delete(ended);
        this.#dispatch();
      });
      this.#processes.add(process);
      return process;
    } catch (error) {
      const cause = (error as Error).message;
      this.options.log.problem("request process not started", { cause });
      throw busy("The server cannot start another process for this request. Try again.", 10);
    }
  }

  /** Lets other requests compute while the client reads. */
  #awaitReader(process: RequestProcess): void {
    process.unreadSince = performance.now();
    this.#dispatch();
  }

  #release(process: RequestProcess): void {
    process.becomeIdle();
    this.#dispatch();
  }
}

/** One process, which reads or writes. */
class RequestProcess {
  /** Key of the caller on whose behalf the process works; undefined while idle. */
  key: string | undefined;
  /** Time at which the response began to wait for the client; undefined while the process computes. */
  unreadSince: number | undefined;
  /** @throws Problem busy if it cannot be started */
  readonly started: Promise<void>;
  readonly #child: Bun.Subprocess;
  #reply: PromiseWithResolvers<FromProcess> | undefined;
  #timer: Timer | undefined;
  isEnding = false;
  readonly #stopTracking: () => void;

  constructor(
    readonly writes: boolean,
    private readonly options: RequestPoolOptions,
    onEnd: (process: RequestProcess) => void,
  ) {
    const ready = Promise.withResolvers<void>();
    this.started = ready.promise;
    this.#child = spawnSelf([REQUEST_PROCESS], {
      // The process must not outlive the server, not even within a statement.
      env: { ...process.env, BUN_FEATURE_FLAG_NO_ORPHANS: "1" },
      stdio: ["ignore", "ignore", "pipe"],
      serialization: "advanced",
      ipc: (message: FromProcess) => {
        if (message.kind !== "ready") this.#takeReply()?.resolve(message);
        else if (message.version === options.version) ready.resolve();
        else {
          ready.reject(busy("Another version of labd was installed. Restart the service.", 60));
          this.end();
        }
      },
      onExit: (_, code, signal) => {
        const ended = ENDED_MESSAGES[this.writes ? "write" : "read"];
        const cause = `exit code ${code}, signal ${signal}`;
        if (!this.isEnding) options.log.problem("request process ended", { cause });
        ready.reject(busy(ended, 5));
        this.#takeReply()?.reject(busy(ended, 5));
        this.#stopTracking();
        onEnd(this);
      },
    });
    void logOutput(this.#child.stderr as ReadableStream<Uint8Array>, options.log, "request process");
    this.#stopTracking = trackMemory(this.pid, () => this.#endUnneeded());
    // An idle process must not keep the server from ending.
    this.#child.unref();
    const late = setTimeout(() => this.end(), MAX_WAIT);
    ready.promise.catch(() => {}).finally(() => clearTimeout(late));
  }

  get pid(): number {
    return this.#child.pid;
  }

  get isAnswering(): boolean {
    return this.#reply !== undefined;
  }

  begin(key: string): void {
    this.key = key;
    clearTimeout(this.#timer);
  }

  /** Ends the process if it gets no new work for a while. */
  becomeIdle(): void {
    if (this.isEnding) return;
    this.key = undefined;
    this.unreadSince = undefined;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end(), this.options.idle ?? IDLE_MILLISECONDS);
    this.#timer.unref();
  }

  send(message: ToProcess): void {
    try {
      this.#child.send(message);
    } catch {
      // The process has just ended, which `onExit` reports.
    }
  }

  /** Sends a message and waits for the reply. @throws Problem too_expensive after the deadline, busy if it ends */
  exchange(message: ToProcess, describe: () => string): Promise<FromProcess> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null)
      return Promise.reject(busy(ENDED_MESSAGES[this.writes ? "write" : "read"], 5));
    this.unreadSince = undefined;
    this.#reply = Promise.withResolvers();
    const { promise, reject } = this.#reply;
    const { deadline = this.writes ? WRITE_DEADLINE : DEADLINE } = this.options;
    this.#timer = setTimeout(() => {
      const problem = new Problem("too_expensive", expensiveMessage(deadline, describe(), this.writes));
      this.#takeReply();
      reject(problem);
      this.end();
    }, deadline * 1000);
    this.send(message);
    return promise;
  }

  /** Leaves the current exchange so many milliseconds. */
  limit(milliseconds: number): void {
    if (!this.isAnswering) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end(), milliseconds);
  }

  /** Ends an idle process, or one whose response nobody reads. */
  #endUnneeded(): boolean {
    const isIdle = !this.isEnding && (this.key === undefined || this.unreadSince !== undefined);
    if (isIdle) this.end();
    return isIdle;
  }

  end(): void {
    this.isEnding = true;
    this.#child.kill("SIGKILL");
  }

  #takeReply(): PromiseWithResolvers<FromProcess> | undefined {
    const reply = this.#reply;
    this.#reply = undefined;
    clearTimeout(this.#timer);
    return reply;
  }
}

const ENDED_MESSAGES = {
  read: "The process that computed the response ended unexpectedly. Try again.",
  write:
    "The process that wrote the records ended unexpectedly: all of them were written, or none. Read one of them before you try again.",
};

const busy = (message: string, seconds: number): Problem =>
  new Problem("busy", message, { headers: { "Retry-After": String(seconds) } });

const expensiveMessage = (deadline: number, described: string, writes: boolean): string =>
  `${described} took more than ${deadline} seconds. ` +
  (writes
    ? "Nothing was written. Select fewer records at a time."
    : "Use fewer conditions; filters for whole values and beginnings are the fastest.");

function toProblem(reply: FromProcess): Problem {
  if (reply.kind !== "failed") throw new Error(`Unexpected reply: ${reply.kind}.`);
  return new Problem(reply.code, reply.message, reply.details);
}
