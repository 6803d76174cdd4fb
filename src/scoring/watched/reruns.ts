import type { Log } from "../../platform/log.ts";
import { Problem } from "../../problem.ts";
import type { FeatureSource } from "../features/annotation.ts";
import type { Comparison } from "../results/comparison.ts";
import type { Handlers, JobRunner } from "../jobs/handlers.ts";
import { print } from "../results/print-thread.ts";
import { hasEnded } from "../jobs/job.ts";
import { SERVICE } from "../jobs/anonymous-storage.ts";
import type { JobStore } from "../jobs/store.ts";
import type { WatchedQueries, WatchedQuery } from "./watched-queries.ts";

interface RerunOptions {
  queries: WatchedQueries;
  store: JobStore;
  runner: JobRunner;
  handlers: Handlers;
  featureSource: () => FeatureSource;
  /** Hash of the corpus in use; null without one. */
  corpus: () => string | null;
  log: Log;
  /** Milliseconds between looks at the corpus, which a command may change. */
  interval?: number;
}

const INTERVAL = 5000;
/** Milliseconds in which changes of jobs count as one. */
const PAUSE_MILLISECONDS = 50;
/** Matches that are kept of a change; the comparison of the results has all. */
const MAX_MATCHES = 20;

/**
 * Scores watched queries again once another corpus is in use: one at a time, and only while no other job waits. The database
 * says what is left, so that it continues after a restart.
 */
export class Reruns {
  readonly #options: RerunOptions;
  readonly #timer: Timer;
  #running: Promise<void> | undefined;
  /** True if `advance` was called while it ran. */
  #again = false;
  /** True if a query is scored again, or waits for that. */
  #isWaiting = false;
  #soon: Timer | undefined;
  #isClosed = false;

  constructor(options: RerunOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.advance(), options.interval ?? INTERVAL);
    this.#timer.unref();
    void this.advance();
  }

  /** Records the rerun that has ended, and starts the next. */
  advance(): Promise<void> {
    this.#again = true;
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** Call it when a job has changed. */
  jobChanged(): void {
    if (!this.#isWaiting || this.#isClosed) return;
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.advance();
    }, PAUSE_MILLISECONDS);
  }

  /** Cancels the reruns of a user. */
  async cancel(owner: string): Promise<void> {
    const { queries, runner, corpus } = this.#options;
    const hash = corpus();
    if (hash !== null) queries.cancelWaiting(owner, hash);
    const running = queries.list(owner).find(({ rerun }) => rerun !== null);
    if (running?.rerun && !hasEnded(running.rerun.state)) runner.cancel(running.rerun.id);
    await this.advance();
  }

  /** Writes nothing from now on. The next start continues. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
  }

  async #run(): Promise<void> {
    try {
      while (this.#again && !this.#isClosed) {
        this.#again = false;
        while (!this.#isClosed && (await this.#step()));
      }
    } catch (error) {
      // For example if the queue or the disk is full: the timer tries again.
      if (!this.#isClosed) this.#options.log.problem("rerun", { cause: String(error) });
    }
  }

  /** @returns whether something was done */
  async #step(): Promise<boolean> {
    const { queries, corpus } = this.#options;
    const current = queries.rerunning();
    const hash = corpus();
    const next = current || hash === null ? null : queries.next(hash);
    this.#isWaiting = current !== null || next !== null;
    if (current) return this.#finish(current);
    return next !== null && this.#start(next);
  }

  async #start({ rid, request }: WatchedQuery): Promise<boolean> {
    const { queries, store, runner } = this.#options;
    if (store.queued() > 0) return false;
    // A client of its own: the queue is shared fairly with it.
    const job = await store.insert(request, SERVICE);
    if (this.#isClosed) return false;
    queries.begin(rid, job);
    runner.wake();
    return true;
  }

  async #finish({ rid, job, rerun }: WatchedQuery): Promise<boolean> {
    const { queries, corpus } = this.#options;
    const { id, state, failure } = rerun!;
    if (!hasEnded(state)) return false;
    const change = state === "finished" ? await this.#change(job, id) : null;
    if (this.#isClosed) return false;
    if (state === "finished") queries.finish(rid, change);
    else queries.fail(rid, corpus() ?? "", failure ?? "");
    return true;
  }

  /** The changed verdicts; null if there are none, or the results cannot be compared. */
  async #change(before: string, after: string): Promise<Comparison | null> {
    const { handlers, log, featureSource } = this.#options;
    try {
      const [a, b] = await Promise.all([before, after].map((job) => handlers.getPrediction(job)));
      const text = await print({ compared: [a, b], source: featureSource() });
      const comparison = (
        typeof text === "string" ? JSON.parse(text) : await new Response(text).json()
      ) as Comparison;
      if (comparison.flipped === 0) return null;
      const matches = comparison.matches.filter(({ isFlipped }) => isFlipped).slice(0, MAX_MATCHES);
      return { ...comparison, matches };
    } catch (error) {
      const { code, message } = Problem.from(error);
      if (code === "busy") throw error;
      log.problem("comparison", { job: after, cause: message });
      return null;
    }
  }
}
