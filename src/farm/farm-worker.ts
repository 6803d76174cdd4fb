import { hostname } from "node:os";
import type { Job, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { METHOD } from "../motif/index.ts";
import { MAX_INTERRUPTIONS, type JobRequest } from "../scoring/jobs/job.ts";
import { packPrediction } from "../scoring/jobs/packed-prediction.ts";
import { Pool } from "../scoring/jobs/pool.ts";
import type { Log } from "../platform/log.ts";
import { readFacts, unsupportedReason } from "./farm-status.ts";
import { JobReturned, Executor, JobFailure } from "./executor.ts";
import {
  type FarmTask,
  keepResult,
  PREFIX,
  queueName,
  readServer,
  registerWorker,
  removeWorker,
  resultsKey,
  type ServerRecord,
  type WorkerRecord,
} from "./redis-records.ts";
import { causeOf, connectRedis, type QueueAddress, redactedAddress } from "./connection.ts";
import { verifyServerCorpus, type ProvideCorpus, type VerifiedCorpus } from "./server-corpus.ts";

export interface FarmWorkerOptions {
  place: QueueAddress;
  log: Log;
  /** Holds `corpora/`. */
  dataDirectory: string;
  /** Jobs at a time. */
  concurrency: number;
  version: string;
  commit: string;
  /** Megabytes that each thread may have; 0: all share half of the machine's. */
  workerMemory?: number;
  provide: ProvideCorpus;
  /** Address of the thread's module; tests put others in its place. */
  workerUrl?: string;
  /** Milliseconds between two looks at the server's words. */
  interval?: number;
  /** Milliseconds after which a corpus that could not be had is asked for again. */
  askAgain?: number;
  /** Milliseconds after which a job of a worker that is gone is another's. */
  lock?: number;
}

/** Milliseconds until a corpus that could not be had is asked for again. */
const ASK_AGAIN = 10_000;
/** Milliseconds that a lock holds without a word of its worker. */
const LOCK = 10_000;

/**
 * A worker: one process that takes jobs from the queue between, and scores them with a pool as the server has one. It
 * takes work of one kind only, which it has proven to be its own: the server's version, method, corpus and null.
 */
export class FarmWorker {
  readonly name: string;
  readonly #hand = new Executor();
  readonly #pool: Pool;
  readonly #since = Date.now();
  readonly #counts = { finished: 0, failed: 0, returned: 0 };
  readonly #proven = new Map<string, VerifiedCorpus>();
  #redis: Redis | undefined;
  #worker: Worker<FarmTask, null> | undefined;
  #jobs = new Map<string, { job: Job<FarmTask, null>; since: number; told: string }>();
  #server: ServerRecord | null = null;
  #corpus: VerifiedCorpus | null = null;
  #refusal: string | null = "It has not heard of a server yet.";
  /** The refusal that the log has. */
  #told = "";
  /** Queue whose corpus could not be had, and when that was. */
  #unprovable: string | null = null;
  #askedAt = -Infinity;
  #turned: Worker<FarmTask, null>[] = [];
  #draining = false;
  /** Whether this connection's Redis is one for a queue. */
  #isLookedAt = false;
  #ended = false;
  #loop: Promise<void> = Promise.resolve();

  constructor(private readonly options: FarmWorkerOptions) {
    const { concurrency, workerMemory = 0, workerUrl, log } = options;
    this.name = `${hostname()}-${process.pid}-${crypto.randomUUID().slice(0, 8)}`;
    this.#pool = new Pool({
      store: this.#hand,
      corpora: {
        active: () => {
          const { path = null, sequences = 0 } = this.#corpus ?? {};
          return path === null ? null : { path, sequences };
        },
        scoringVersion: () => this.#server?.scoringVersion ?? { corpus: "", method: METHOD },
      },
      log,
      size: concurrency,
      timeout: 600_000,
      ...(workerUrl === undefined ? {} : { workerUrl }),
      ...(workerMemory === 0 ? {} : { workerMemory: workerMemory * 1024 * 1024 }),
    });
  }

  /** Connects, registers and takes work as soon as there is some of its own kind. */
  async start(): Promise<void> {
    this.#redis = await connectRedis(this.options.place, "patient", this.options.log);
    this.#redis.on("close", () => (this.#isLookedAt = false));
    let last = "";
    const loop = async (): Promise<void> => {
      while (!this.#ended) {
        const cause = await this.#look().then(() => "", causeOf);
        if (cause !== "" && cause !== last) this.options.log.problem("farm", { cause });
        last = cause;
        await Bun.sleep(this.options.interval ?? 1000);
      }
    };
    this.#loop = loop();
  }

  /**
   * Takes no more work, finishes what it has for at most so many milliseconds and gives the rest back.
   * @returns false where the queue is away, so that others take its jobs only when they are missed
   */
  async drain(milliseconds: number): Promise<boolean> {
    this.#draining = true;
    await this.#withinReason(this.#register(), 1000);
    const closed = Promise.all([this.#close(), ...this.#turned]);
    if (!(await this.#withinReason(closed, milliseconds))) {
      this.#pool.close();
      this.#hand.releaseWaiting();
    }
    const isClean = await this.#withinReason(closed, 5000);
    this.#ended = true;
    this.#pool.close();
    if (isClean) await this.#withinReason(removeWorker(this.#redis!, this.name), 1000);
    this.#redis!.disconnect();
    await this.#withinReason(this.#loop, 1000);
    return isClean;
  }

  /** One look: what the server says, whether that is our kind of work, and a word of ourselves. */
  async #look(): Promise<void> {
    if (!this.#isLookedAt) {
      const why = unsupportedReason(await readFacts(this.#redis!));
      if (why !== null) throw new Error(why);
      this.#isLookedAt = true;
    }
    const server = await readServer(this.#redis!);
    if (!this.#draining) await this.#follow(server);
    for (const dropped of await this.#register()) {
      this.#pool.drop(dropped);
      this.#hand.drop(dropped);
    }
    await Promise.all([...this.#jobs.values()].map((entry) => this.#tellProgress(entry)));
  }

  async #follow(server: ServerRecord | null): Promise<void> {
    const { version, commit } = this.options;
    // Redis may come back empty: what was proven stays so, and the server will say it again.
    if (server === null) return this.#worker ? undefined : this.#refuse("No server has used this queue yet.");
    if (this.#server?.queue === server.queue && this.#worker) return;
    if (server.version !== version || server.scoringVersion.method.split(" ")[0] !== METHOD) {
      return this.#refuse(
        `The server has labd ${server.version} with method ${server.scoringVersion.method.split(" ")[0]}, this is labd ${version} with method ${METHOD}: install the same labd on both.`,
      );
    }
    if (queueName(server) !== server.queue) {
      return this.#refuse(
        `The server speaks another protocol (commit ${server.commit}, this is ${commit}): install the same labd on both.`,
      );
    }
    const now = performance.now();
    if (this.#unprovable === server.queue && now - this.#askedAt < (this.options.askAgain ?? ASK_AGAIN))
      return;
    this.#askedAt = now;
    await this.#turnFrom();
    this.#server = server;
    try {
      this.#corpus = this.#proven.get(server.queue) ?? (await this.#prove(server));
    } catch (error) {
      this.#unprovable = server.queue;
      return this.#refuse((error as Error).message);
    }
    this.#unprovable = null;
    this.#told = "";
    if (this.#draining) return;
    this.#proven.set(server.queue, this.#corpus);
    await this.#open(server.queue);
    this.#refusal = null;
    this.options.log.info("takes work", {
      queue: redactedAddress(this.options.place.url),
      server: server.host,
      corpus: server.corpusName,
      concurrency: this.options.concurrency,
    });
  }

  async #prove(server: ServerRecord): Promise<VerifiedCorpus> {
    const { dataDirectory, provide } = this.options;
    const name = server.corpusName ?? "the corpus";
    this.#refusal = `It makes sure of ${name} first.`;
    return this.#whileBeating(
      verifyServerCorpus(dataDirectory, server, provide, (bytes, total) => {
        this.#refusal = `It fetches ${name}: ${Math.floor((100 * bytes) / Math.max(1, total))} % are there.`;
      }),
    );
  }

  /** Goes on registering while something takes its time. */
  async #whileBeating<T>(work: Promise<T>): Promise<T> {
    const beat = setInterval(() => void this.#register().catch(() => {}), this.options.interval ?? 1000);
    try {
      return await work;
    } finally {
      clearInterval(beat);
    }
  }

  async #refuse(reason: string): Promise<void> {
    if (reason !== this.#told) this.options.log.problem("takes no work", { cause: reason });
    this.#told = reason;
    this.#refusal = reason;
    await this.#turnFrom();
  }

  /** Takes no more of the present kind; what it has is finished first. */
  async #turnFrom(): Promise<void> {
    if (!this.#worker) return;
    this.#refusal ??= "It finishes jobs of another corpus first.";
    await this.#whileBeating(this.#close());
  }

  async #close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.close();
  }

  async #open(queue: string): Promise<void> {
    const { Worker, UnrecoverableError, WaitingError } = await import("bullmq");
    const { lock = LOCK, concurrency, log } = this.options;
    const process = async (job: Job<FarmTask, null>, token?: string): Promise<null> => {
      try {
        await this.#process(queue, job);
        return null;
      } catch (error) {
        if (error instanceof JobReturned) {
          this.#counts.returned++;
          await job.moveToWait(token);
          throw new WaitingError();
        }
        if (!(error instanceof JobFailure)) throw error;
        this.#counts.failed++;
        throw new UnrecoverableError(error.message);
      }
    };
    const worker = new Worker<FarmTask, null>(queue, process, {
      connection: this.#redis!,
      prefix: PREFIX,
      name: this.name,
      concurrency,
      lockDuration: lock,
      stalledInterval: lock / 2,
      maxStalledCount: MAX_INTERRUPTIONS - 1,
      runRetryDelay: 1000,
    });
    let told = "";
    worker.on("error", (error) => {
      const cause = causeOf(error);
      if (cause !== told && !/ECONNREFUSED|Connection is closed|ECONNRESET/.test(cause))
        log.problem("queue", { cause });
      told = cause;
    });
    this.#worker = worker;
  }

  /** Scores a job; what was found is in Redis before the job counts as done, so that it outlives a lost lock. */
  async #process(queue: string, job: Job<FarmTask, null>): Promise<void> {
    const id = job.id!;
    if ((await this.#redis!.hexists(resultsKey(queue), id)) === 1) return;
    this.#jobs.set(id, { job, since: Date.now(), told: "" });
    try {
      const { request, timeout } = job.data;
      const held = this.#hand.take({
        id,
        request: JSON.parse(request) as JobRequest,
        timeout,
        attempts: job.attemptsMade + 1,
      });
      this.#pool.wake();
      const prediction = await held;
      const packed = packPrediction(prediction);
      await keepResult(this.#redis!, queue, id, {
        worker: this.name,
        attempts: job.attemptsMade + 1,
        packed,
      });
      this.#counts.finished++;
    } finally {
      this.#jobs.delete(id);
    }
  }

  async #tellProgress(entry: { job: Job<FarmTask, null>; told: string }): Promise<void> {
    const progress = this.#pool.progress(entry.job.id!);
    const text = JSON.stringify(progress);
    if (progress === null || text === entry.told) return;
    entry.told = text;
    await entry.job.updateProgress({ ...progress }).catch(() => {});
  }

  #register(): Promise<string[]> {
    return registerWorker(this.#redis!, this.#record());
  }

  #record(): WorkerRecord {
    const { version, commit, concurrency } = this.options;
    return {
      name: this.name,
      host: hostname(),
      pid: process.pid,
      version,
      commit,
      method: METHOD,
      concurrency,
      corpora: [...new Set([...this.#proven.values()].map(({ hash }) => hash))],
      queue: this.#refusal === null ? (this.#server?.queue ?? null) : null,
      refusal: this.#refusal,
      draining: this.#draining,
      jobs: [...this.#jobs].map(([id, { since }]) => {
        const { stage, fraction } = this.#pool.progress(id) ?? { stage: "start", fraction: 0 };
        return { id, stage, fraction, since };
      }),
      counts: { ...this.#counts },
      memory: process.memoryUsage.rss(),
      since: this.#since,
    };
  }

  /** Whether it is done within the time. */
  async #withinReason(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), milliseconds);
    void work.then(
      () => resolve(true),
      () => resolve(false),
    );
    const isDone = await promise;
    clearTimeout(timer);
    return isDone;
  }
}
