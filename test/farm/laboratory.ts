import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Dispatcher,
  type DispatcherOptions,
  FarmWorker,
  type FarmWorkerOptions,
} from "../../src/farm/index.ts";
import type { WorkerRecord } from "../../src/farm/redis-records.ts";
import { fetchCorpus } from "../../src/farm/corpus-fetch.ts";
import { Corpora } from "../../src/scoring/corpus/corpus.ts";
import { BackgroundQueue } from "../../src/scoring/jobs/background.ts";
import { FarmJobs } from "../../src/scoring/jobs/farm-jobs.ts";
import { Pool } from "../../src/scoring/jobs/pool.ts";
import { JobStore } from "../../src/scoring/jobs/store.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { closeDatabase } from "../../src/platform/sqlite.ts";
import { openMigrated } from "../database.ts";
import { waitFor } from "../wait.ts";

const FAULTY_WORKER = new URL("../scoring/faulty-worker.ts", import.meta.url).href;
export const VERSION = "1.2.3";

/** The record of a worker without work. */
export const IDLE_WORKER: WorkerRecord = {
  name: "",
  host: "elsewhere",
  pid: 1,
  version: VERSION,
  commit: "test",
  method: "labd-3",
  concurrency: 1,
  corpora: [],
  queue: null,
  refusal: null,
  draining: false,
  jobs: [],
  families: [],
  counts: { finished: 0, failed: 0, returned: 0 },
  memory: 0,
  since: 0,
};

/** A server's part of the farm and workers, in this process, quick to notice and with workers that do as they are told. */
export class Laboratory implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), "labd-farm-"));
  readonly database = openMigrated(join(this.directory, "labd.sqlite"));
  readonly corpora = new Corpora(this.directory, this.database, systemClock);
  readonly store: JobStore;
  readonly jobs: FarmJobs;
  readonly background = new BackgroundQueue();
  readonly logged: string[] = [];
  readonly #dispatchers: Dispatcher[] = [];
  readonly #pools: Pool[] = [];
  readonly #workers: FarmWorker[] = [];
  #queries = 0;

  constructor(readonly queue: string) {
    const { database, corpora } = this;
    this.store = new JobStore({
      database,
      clock: systemClock,
      scoringVersion: () => corpora.scoringVersion(),
    });
    this.jobs = new FarmJobs(database, this.store, systemClock);
  }

  get #log() {
    const write = (event: string, fields = {}): void =>
      void this.logged.push(`${event} ${JSON.stringify(fields)}`);
    return { info: write, problem: write };
  }

  /** The server's side, with a pool of one worker. */
  serve(options: Partial<DispatcherOptions> & { timeout?: number } = {}): Dispatcher {
    const { store, jobs, corpora } = this;
    let dispatcher: Dispatcher | undefined;
    const pool = new Pool({
      store: {
        lease: (milliseconds) => (dispatcher?.poolMayWork() ? store.lease(milliseconds) : null),
        finish: (lease, scoringVersion, prediction) => store.finish(lease, scoringVersion, prediction),
        fail: (rid, reason) => store.fail(rid, reason),
        retry: (rid, attempts, reason) => store.retry(rid, attempts, reason),
        release: (rid, counted) => store.release(rid, counted),
      },
      corpora,
      log: this.#log,
      size: 1,
      timeout: 200_000,
      workerUrl: FAULTY_WORKER,
    });
    this.#pools.push(pool);
    dispatcher = new Dispatcher(
      {
        address: { url: this.queue, ca: "" },
        mode: "never",
        log: this.#log,
        version: VERSION,
        commit: "test",
        interval: 40,
        grace: 300,
        reconcileEvery: 500,
        ...options,
      },
      {
        jobs,
        background: this.background,
        scoringVersion: () => corpora.scoringVersion(),
        corpus: () => corpora.active(),
        backlog: () => ({ waiting: store.queued(), oldest: store.oldestQueued() }),
        timeout: options.timeout ?? 200_000,
        settled: () => {},
        wakePool: () => pool.wake(),
        dropFromPool: (id) => pool.drop(id),
      },
    );
    this.#dispatchers.push(dispatcher);
    return dispatcher;
  }

  /** A worker with a data directory of its own, without a corpus. */
  async addWorker({
    from = [],
    ...options
  }: Partial<FarmWorkerOptions> & { from?: string[] } = {}): Promise<FarmWorker> {
    const dataDirectory = options.dataDirectory ?? join(this.directory, `worker-${this.#workers.length}`);
    mkdirSync(dataDirectory, { recursive: true });
    const worker = new FarmWorker({
      address: { url: this.queue, ca: "" },
      log: this.#log,
      dataDirectory,
      provide: (hash) => fetchCorpus(hash, from, dataDirectory, {}),
      concurrency: 1,
      version: VERSION,
      commit: "test",
      workerUrl: FAULTY_WORKER,
      interval: 40,
      // A worker of a machine without a moment to spare is not lost.
      lock: 30_000,
      ...options,
    });
    this.#workers.push(worker);
    await worker.start();
    return worker;
  }

  /** A job that makes the odd worker do this; each has a query of its own. */
  async submit(word: string, client = ""): Promise<string> {
    const query = `Q${"A".repeat(++this.#queries)}`;
    const request = { identifier: word, query, model: "continuous" as const, patterns: [] };
    const id = await this.store.insert(request, client);
    for (const one of [...this.#pools, ...this.#dispatchers]) one.wake();
    return id;
  }

  /** Says something to Redis itself. */
  async command(...words: (string | Uint8Array)[]): Promise<unknown> {
    const client = new Bun.RedisClient(this.queue);
    try {
      return await client.send(words[0] as string, words.slice(1) as string[]);
    } finally {
      client.close();
    }
  }

  state(id: string): string {
    return this.store.get(id).state;
  }

  /** Waits for a state of a job. */
  async reaches(id: string, state = "finished"): Promise<void> {
    await waitFor(
      () => this.state(id) === state,
      () => [this.#dispatchers.map((one) => one.state()), this.logged],
    );
  }

  row(id: string): { worker: string | null; attempts: number } {
    return this.database.query("SELECT worker, attempts FROM job WHERE id = ?").get(id) as {
      worker: string | null;
      attempts: number;
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.drain(0)));
    await Promise.all(this.#dispatchers.map((dispatcher) => dispatcher.close()));
    for (const pool of this.#pools) pool.close();
    closeDatabase(this.database);
    rmSync(this.directory, { recursive: true, force: true });
  }
}
