import { hostname } from "node:os";
import type { Job, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { METHOD } from "../motif/index.ts";
import type { Log } from "../platform/log.ts";
import { type JobRequest, MAX_INTERRUPTIONS, Pool } from "../scoring/index.ts";
import { describeCause, connectRedis, type QueueAddress, redactedAddress } from "./connection.ts";
import { RedisFamilyMessages } from "./family-messages.ts";
import { FamilyWorker } from "./family-worker.ts";
import { Executor, JobFailure, JobReturned } from "./executor.ts";
import {
  type FarmTask,
  PREFIX,
  queueName,
  readServer,
  registerWorker,
  removeWorker,
  resultsKey,
  saveResult,
  type ServerRecord,
  type WorkerRecord,
} from "./redis-records.ts";
import { type ProvideCorpus, type VerifiedCorpus, verifyServerCorpus } from "./server-corpus.ts";
import { readRedisInfo, unsupportedReason } from "./status.ts";

export interface FarmWorkerOptions {
  address: QueueAddress;
  log: Log;
  /** Contains `corpora/`. */
  dataDirectory: string;
  /** Concurrent jobs. */
  concurrency: number;
  version: string;
  commit: string;
  provide: ProvideCorpus;
  /** Module of the thread, for tests. */
  workerUrl?: string;
  /** Milliseconds between two reads of the server's record. */
  interval?: number;
  /** Milliseconds after which a corpus that was unavailable is asked for again. */
  retryAfter?: number;
  /** Milliseconds after which another worker takes the job of a lost worker. */
  lock?: number;
}

const RETRY_AFTER = 10_000;
const LOCK = 10_000;

/**
 * A process that takes jobs from the queue and scores them with a pool like the server's. It takes only work of its
 * own kind: of a server with the same version, method and corpus.
 */
export class FarmWorker {
  readonly name = `${hostname()}-${process.pid}-${crypto.randomUUID().slice(0, 8)}`;
  readonly #executor = new Executor();
  readonly #families: FamilyWorker;
  readonly #pool: Pool;
  readonly #since = Date.now();
  readonly #counts = { finished: 0, failed: 0, returned: 0 };
  readonly #corpora = new Map<string, VerifiedCorpus>();
  /** Start time of each running job. */
  readonly #jobs = new Map<string, number>();
  #redis: Redis | undefined;
  #isRedisChecked = false;
  #worker: Worker<FarmTask, null> | undefined;
  #server: ServerRecord | null = null;
  #corpus: VerifiedCorpus | null = null;
  #refusal: string | null = "No server has announced itself yet.";
  #loggedRefusal = "";
  /** The queue whose corpus was unavailable, and when. */
  #unavailable = { queue: "", at: -Infinity };
  #draining = false;
  #ended = false;
  #loop: Promise<void> = Promise.resolve();

  constructor(private readonly options: FarmWorkerOptions) {
    const { concurrency, workerUrl, log } = options;
    this.#families = new FamilyWorker({
      name: this.name,
      log,
      idle: () => Math.max(0, concurrency - this.#jobs.size),
      wake: () => this.#pool.wake(),
    });
    this.#pool = new Pool({
      store: this.#executor,
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
      background: this.#families,
      ...(workerUrl === undefined ? {} : { workerUrl }),
    });
  }

  /** Connects, registers, and takes jobs for its version and corpus as soon as they arrive. */
  async start(): Promise<void> {
    this.#redis = await connectRedis(this.options.address, "patient", this.options.log);
    this.#redis.on("close", () => (this.#isRedisChecked = false));
    this.#loop = this.#run();
  }

  async #run(): Promise<void> {
    let logged = "";
    while (!this.#ended) {
      const cause = await this.#turn().then(() => "", describeCause);
      if (cause !== "" && cause !== logged) this.options.log.problem("farm", { cause });
      logged = cause;
      await Bun.sleep(this.options.interval ?? 1000);
    }
  }

  /**
   * Takes no more jobs, finishes the running ones for at most so many milliseconds, and returns the others.
   * @returns false if the queue is unreachable, so that other workers take its jobs when the locks expire
   */
  async drain(milliseconds: number): Promise<boolean> {
    this.#draining = true;
    await endsWithin(1000, this.#register());
    const closed = this.#closeWorker();
    await endsWithin(1000, this.#families.stop());
    if (!(await endsWithin(milliseconds, closed))) {
      this.#pool.close();
      this.#executor.releaseWaiting();
    }
    const isClean = await endsWithin(5000, closed);
    this.#ended = true;
    this.#pool.close();
    if (isClean) await endsWithin(1000, removeWorker(this.#redis!, this.name));
    this.#redis!.disconnect();
    await endsWithin(1000, this.#loop);
    return isClean;
  }

  async #turn(): Promise<void> {
    if (!this.#isRedisChecked) {
      const reason = unsupportedReason(await readRedisInfo(this.#redis!));
      if (reason !== null) throw new Error(reason);
      this.#isRedisChecked = true;
    }
    const server = await readServer(this.#redis!);
    if (!this.#draining) await this.#follow(server);
    for (const dropped of await this.#register()) {
      this.#pool.drop(dropped);
      this.#executor.drop(dropped);
      this.#families.drop(dropped);
    }
    await this.#computeFamilies();
  }

  async #computeFamilies(): Promise<void> {
    const { path = null, hash = "" } = this.#corpus ?? {};
    if (!this.#worker || path === null || this.#draining) return;
    const messages = new RedisFamilyMessages(this.#redis!, this.#server!.queue);
    await this.#families.turn(messages, { hash, path });
  }

  /** Works for the server, if it can. */
  async #follow(server: ServerRecord | null): Promise<void> {
    // A Redis that was emptied does not end the work: the server will announce itself again.
    if (server === null) return this.#worker ? undefined : this.#refuse("No server has used this queue yet.");
    if (this.#server?.queue === server.queue && this.#worker) return;
    const mismatch = this.#mismatch(server);
    if (mismatch !== null) return this.#refuse(mismatch);
    const { queue } = server;
    const now = performance.now();
    const { retryAfter = RETRY_AFTER, log, concurrency, address } = this.options;
    if (this.#unavailable.queue === queue && now - this.#unavailable.at < retryAfter) return;
    await this.#leaveQueue();
    this.#server = server;
    try {
      this.#corpus = this.#corpora.get(queue) ?? (await this.#verifyCorpus(server));
    } catch (error) {
      this.#unavailable = { queue, at: now };
      return this.#refuse((error as Error).message);
    }
    this.#unavailable.queue = "";
    this.#loggedRefusal = "";
    if (this.#draining) return;
    this.#corpora.set(queue, this.#corpus);
    this.#worker = await this.#openWorker(queue);
    this.#refusal = null;
    log.info("takes work", {
      queue: redactedAddress(address.url),
      server: server.host,
      corpus: server.corpusName,
      concurrency,
    });
  }

  /** Why this worker cannot score as the server would; null if it can. */
  #mismatch(server: ServerRecord): string | null {
    const { version, commit } = this.options;
    const [method] = server.scoringVersion.method.split(" ");
    if (server.version !== version || method !== METHOD)
      return `The server has labd ${server.version} with method ${method}, this is labd ${version} with method ${METHOD}: install the same version of labd on both.`;
    if (queueName(server) !== server.queue)
      return `The server uses another protocol (commit ${server.commit}, this is ${commit}): install the same version of labd on both.`;
    return null;
  }

  #verifyCorpus(server: ServerRecord): Promise<VerifiedCorpus> {
    const { provide } = this.options;
    const name = server.corpusName ?? "the corpus";
    this.#refusal = `It is verifying ${name}.`;
    return this.#registeringDuring(
      verifyServerCorpus(server, provide, (bytes, total) => {
        this.#refusal = `It is fetching ${name}: ${Math.floor((100 * bytes) / Math.max(1, total))} %.`;
      }),
    );
  }

  async #registeringDuring<T>(work: Promise<T>): Promise<T> {
    const timer = setInterval(() => void this.#register().catch(() => {}), this.options.interval ?? 1000);
    try {
      return await work;
    } finally {
      clearInterval(timer);
    }
  }

  async #refuse(reason: string): Promise<void> {
    if (reason !== this.#loggedRefusal) this.options.log.problem("takes no work", { cause: reason });
    this.#loggedRefusal = reason;
    this.#refusal = reason;
    await this.#leaveQueue();
  }

  /** Takes no more jobs of this kind, and finishes the running ones. */
  async #leaveQueue(): Promise<void> {
    if (!this.#worker) return;
    await this.#families.stop();
    this.#refusal ??= "It is finishing jobs for another corpus first.";
    await this.#registeringDuring(this.#closeWorker());
  }

  async #closeWorker(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.close();
  }

  async #openWorker(queue: string): Promise<Worker<FarmTask, null>> {
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
    let logged = "";
    worker.on("error", (error) => {
      const cause = describeCause(error);
      if (cause !== logged && !/ECONNREFUSED|Connection is closed|ECONNRESET/.test(cause))
        log.problem("queue", { cause });
      logged = cause;
    });
    return worker;
  }

  /** Scores a job. The prediction is in Redis before the job is completed, so that it survives a lost lock. */
  async #process(queue: string, job: Job<FarmTask, null>): Promise<void> {
    const id = job.id!;
    const redis = this.#redis!;
    if ((await redis.hexists(resultsKey(queue), id)) === 1) return;
    this.#jobs.set(id, Date.now());
    try {
      const { request, timeout } = job.data;
      const attempts = job.attemptsMade + 1;
      const parsed = JSON.parse(request) as JobRequest;
      const running = this.#executor.run({ id, request: parsed, timeout, attempts });
      this.#pool.wake();
      const packed = await running;
      await saveResult(redis, queue, id, { worker: this.name, attempts, packed });
      this.#counts.finished++;
    } finally {
      this.#jobs.delete(id);
    }
  }

  /** @returns cancelled jobs */
  #register(): Promise<string[]> {
    const { version, commit, concurrency } = this.options;
    const record: WorkerRecord = {
      name: this.name,
      host: hostname(),
      pid: process.pid,
      version,
      commit,
      method: METHOD,
      concurrency,
      corpora: [...new Set([...this.#corpora.values()].map(({ hash }) => hash))],
      queue: this.#refusal === null ? (this.#server?.queue ?? null) : null,
      refusal: this.#refusal,
      draining: this.#draining,
      jobs: [...this.#jobs].map(([id, since]) => {
        const { stage, fraction } = this.#pool.progress(id) ?? { stage: "start", fraction: 0 };
        return { id, stage, fraction, since };
      }),
      families: this.#families.ids,
      counts: { ...this.#counts },
      memory: process.memoryUsage.rss(),
      since: this.#since,
    };
    return registerWorker(this.#redis!, record);
  }
}

/** True if work succeeds within so many milliseconds. */
async function endsWithin(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), milliseconds);
  work.then(
    () => resolve(true),
    () => resolve(false),
  );
  return promise.finally(() => clearTimeout(timer));
}
