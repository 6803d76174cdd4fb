import { resolveWorkerUrl } from "../../platform/worker-address.ts";
import { Problem } from "../../problem.ts";
import type { Computations } from "../proteome/own-searches.ts";
import { SearchFiles } from "../proteome/search-files.ts";
import type { ThreadCall, ThreadReport } from "./proteome-search-thread.ts";

interface ClientOptions {
  dataDirectory: string;
  /** Threads of a search. */
  workers: number;
  /** Milliseconds without a call after which the thread ends, and its memory is free. */
  idle?: number;
}

const IDLE_MILLISECONDS = 600_000;

/** The computations of the thread, for the searches of callers. */
export const makeComputations = (client: ProteomeSearchClient): Computations => ({
  progress: (id) => client.call({ do: "progress", id }),
  open: (request, { created, client: of }) =>
    client.call({ do: "open", request, now: created, client: of, view: null }),
  stop: (id) =>
    client.call({ do: "cancel", id }).catch((error: Problem) => {
      // The search has ended or was removed meanwhile.
      if (error.code !== "conflict" && error.code !== "not_found") throw error;
    }),
  drop: (id) => client.call({ do: "drop", id }),
});

/** The thread of proteome searches, which is started with the first call, or by a search that a stopped process has left. */
export class ProteomeSearchClient {
  #thread: Worker | undefined;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #ticket = 0;
  #isBusy = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: ClientOptions) {}

  /** Runs the searches that a stopped process has left. @param isAbandoned whether nobody wants a search any more */
  open(isAbandoned: (id: string) => boolean): void {
    const files = new SearchFiles(this.options.dataDirectory);
    const left = files.unfinished();
    for (const id of left.filter(isAbandoned)) files.remove(id);
    if (!left.every(isAbandoned)) this.#start();
  }

  /** @throws the Problem of the thread */
  async call<Value>(call: ThreadCall): Promise<Value> {
    const thread = (this.#thread ??= this.#start());
    const value = this.#post(thread, call);
    this.#endWhenIdle();
    return (await value) as Value;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#thread?.terminate();
    this.#thread = undefined;
  }

  #start(): Worker {
    const thread = new Worker(resolveWorkerUrl("scoring/api/proteome-search-thread.ts"));
    this.#thread = thread;
    thread.addEventListener("message", ({ data }: MessageEvent<ThreadReport>) => this.#onReport(data));
    thread.addEventListener("error", (event) => {
      event.preventDefault();
      this.close();
      for (const { reject } of this.#waiting.values()) reject(new Error(event.message));
      this.#waiting.clear();
    });
    const { dataDirectory, workers } = this.options;
    this.#post(thread, { do: "configure", dataDirectory, workers: Math.max(1, workers) }).catch(() => {});
    return thread;
  }

  #post(thread: Worker, call: ThreadCall): Promise<unknown> {
    const ticket = ++this.#ticket;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(ticket, waiting);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    thread.postMessage({ ticket, call });
    return waiting.promise;
  }

  #onReport(report: ThreadReport): void {
    this.#isBusy = report.isBusy;
    const waiting = this.#waiting.get(report.ticket);
    this.#waiting.delete(report.ticket);
    if ("value" in report) return waiting?.resolve(report.value);
    const { code, message, fields, headers, cause } = report.problem;
    waiting?.reject(new Problem(code, message, { ...(fields && { fields }), headers, cause }));
  }

  /** A search that nobody asks about any more may be at work; the last report does not know its end. */
  #endWhenIdle(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#isBusy || this.#waiting.size > 0) void this.call({ do: "check" }).catch(() => {});
      else this.close();
    }, this.options.idle ?? IDLE_MILLISECONDS);
    this.#timer.unref();
  }
}
