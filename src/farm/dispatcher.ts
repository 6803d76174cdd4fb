import { hostname } from "node:os";
import type { Redis } from "ioredis";
import type { Log } from "../platform/log.ts";
import { type Farm, type FarmDependencies, type Progress } from "../scoring/index.ts";
import {
  describeCause,
  connectionOptions,
  connectRedis,
  type QueueAddress,
  redactedAddress,
} from "./connection.ts";
import { FamilyDispatcher } from "./family-dispatcher.ts";
import { RedisFamilyMessages } from "./family-messages.ts";
import { JobQueue } from "./job-queue.ts";
import { QueueFiller, targetLength } from "./queue-filler.ts";
import { Reconciler } from "./reconciler.ts";
import {
  announceServer,
  forgetQueue,
  queueName,
  readQueues,
  readWorkers,
  releaseClaim,
  takeClaim,
  announceDrop,
  type WorkerRecord,
} from "./redis-records.ts";
import {
  acceptsJobs,
  type FarmState,
  mixedFarm,
  type PoolMode,
  publishState,
  readRedisInfo,
  unsupportedReason,
} from "./status.ts";

export interface DispatcherOptions {
  address: QueueAddress;
  mode: PoolMode;
  log: Log;
  version: string;
  commit: string;
  /** Identifies this server, also after a restart; random by default. */
  owner?: string;
  /** Milliseconds between two turns without a cause. */
  interval?: number;
  /** Milliseconds for which queue or workers may be missing before the pool takes over. */
  grace?: number;
  /** Milliseconds between two full reconciliations. */
  reconcileEvery?: number;
  /** Milliseconds after which a queue that rejected jobs is tried again. */
  retryAfter?: number;
  /** Milliseconds after which families that nobody computes are given out again. */
  lostAfter?: number;
}

/** Milliseconds from the start of a turn to the next: events in between are handled together. */
const GATHER_MILLISECONDS = 5;
/** Milliseconds between two reads of the workers, and between two renewals of the lease. */
const REFRESH_INTERVAL = 900;
/** Milliseconds after its deadline at which a job of an unreachable worker is taken back. */
const OVERDUE_MILLISECONDS = 60_000;

/**
 * The server's side of the farm: one loop of turns, each of which compares the queue in Redis with the jobs in the
 * database, stores results, and offers more jobs.
 */
export class Dispatcher implements Farm {
  readonly #owner: string;
  readonly #queues = new Map<string, JobQueue>();
  readonly #filler: QueueFiller;
  readonly #reconciler: Reconciler;
  readonly #families: FamilyDispatcher;
  readonly #timer: Timer;
  readonly #startedAt = Date.now();
  #redis: Redis | undefined;
  #current: JobQueue | null = null;
  #workers: WorkerRecord[] = [];
  #progress = new Map<string, Progress>();
  #announced = "";
  #ownsQueue = false;
  #isRedisChecked = false;
  #isRefused = false;
  #state: Pick<FarmState, "state" | "cause"> = { state: "away", cause: null };
  /** Times of performance.now(). */
  readonly #last = { claim: -Infinity, reconcile: -Infinity, workers: -Infinity, offer: -Infinity };
  #missingSince: number | null = performance.now();
  #isAway = false;
  #closed = false;
  #wakeUp = Promise.withResolvers<void>();
  readonly #loop: Promise<void>;

  constructor(
    private readonly options: DispatcherOptions,
    private readonly dependencies: FarmDependencies,
  ) {
    // Reports invalid settings at once.
    connectionOptions(options.address);
    this.#owner = options.owner ?? crypto.randomUUID();
    this.#filler = new QueueFiller(dependencies.jobs);
    this.#reconciler = new Reconciler(dependencies, this.#filler.priority);
    this.#families = new FamilyDispatcher(dependencies.background, options.log, options.lostAfter);
    this.#timer = setInterval(() => {
      // Set while a turn waits for Redis, too.
      this.#updateOutage();
      this.#families.expire();
      this.wake();
    }, options.interval ?? 1000);
    void this.#connect();
    this.#loop = this.#run();
  }

  wake(): void {
    this.#wakeUp.resolve();
  }

  poolMayWork(): boolean {
    const { mode } = this.options;
    return mode === "always" || (mode === "away" && this.#isAway);
  }

  progress(id: string): Progress | null {
    return this.#progress.get(id) ?? null;
  }

  drop(id: string): void {
    this.#progress.delete(id);
    if (!this.#ownsQueue) return;
    const drop = async (): Promise<void> => {
      for (const queue of this.#queues.values()) {
        const [holder] = await queue.holders([id]);
        if (holder && !(await queue.remove(id))) await announceDrop(this.#redis!, holder.worker, id);
      }
    };
    // After a failure the next full reconciliation finds the job.
    drop().catch(() => {});
  }

  state(): FarmState {
    const { address, mode, version, commit } = this.options;
    const { waiting, oldest } = this.dependencies.backlog();
    const queue = this.#current?.name ?? null;
    return {
      queue: redactedAddress(address.url),
      mode,
      ...this.#state,
      poolWorks: this.poolMayWork(),
      backlog: waiting,
      oldest,
      waiting: this.#current?.waiting.size ?? 0,
      running: this.dependencies.jobs.running(),
      counts: { ...this.#reconciler.counts },
      workers: this.#workers.map((worker) => ({ ...worker, fits: this.#fits(worker) })),
      mixed: queue === null ? [] : mixedFarm({ queue, version, commit }, this.#workers),
    };
  }

  /** Releases the lease; workers continue their jobs. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    this.wake();
    await this.#loop;
    const redis = this.#redis;
    if (!redis) return;
    if (this.#ownsQueue) await releaseClaim(redis).catch(() => {});
    this.#ownsQueue = false;
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
    redis.disconnect();
  }

  async #connect(): Promise<void> {
    const redis = await connectRedis(this.options.address, "impatient", this.options.log);
    this.#redis = redis;
    redis.on("error", (error) => (this.#state = { state: "away", cause: describeCause(error) }));
    redis.on("close", () => {
      this.#ownsQueue = false;
      if (this.#state.state !== "away") this.#state = { state: "away", cause: "The connection was closed." };
    });
    redis.on("ready", () => {
      this.#isRefused = false;
      this.#isRedisChecked = false;
      this.#last.reconcile = -Infinity;
      this.wake();
    });
    if (this.#closed) redis.disconnect();
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      this.#wakeUp = Promise.withResolvers();
      const started = performance.now();
      await this.#turn().catch((error) => this.#turnFailed(error));
      await Bun.sleep(Math.max(0, GATHER_MILLISECONDS - (performance.now() - started)));
      await this.#wakeUp.promise;
    }
  }

  /** With a connection, an error means that Redis rejected a command. */
  #turnFailed(error: unknown): void {
    this.#last.reconcile = -Infinity;
    if (this.#closed || this.#redis?.status !== "ready") return;
    const cause = describeCause(error);
    if (this.#state.cause !== cause) this.options.log.problem("farm", { cause });
    this.#state = { state: "refuses", cause };
  }

  async #turn(): Promise<void> {
    const redis = this.#redis;
    if (redis?.status !== "ready") return;
    if (!this.#isRedisChecked) await this.#checkRedis(redis);
    if (!(await this.#claim(redis))) return;
    await this.#openCurrent(redis);
    await this.#reconcile(redis);
    const now = performance.now();
    if (now - this.#last.workers >= REFRESH_INTERVAL) {
      this.#workers = await readWorkers(redis);
      this.#progress = new Map(
        this.#workers.flatMap(({ jobs }) =>
          jobs.map(({ id, stage, fraction }) => [id, { stage, fraction } as Progress]),
        ),
      );
      await publishState(redis, this.state());
      this.#last.workers = now;
    }
    if (!this.#isRefused) this.#state = { state: "there", cause: null };
    this.#updateOutage();
    if (!this.#isAway || this.#isRefused) await this.#offer(now);
    if (this.#isAway && this.options.mode !== "never") await this.#withdrawWaiting();
    await this.#computeFamilies(redis);
    await this.#retireQueues(redis);
  }

  /** Gives tasks of builds to workers without a job, while no job waits. */
  async #computeFamilies(redis: Redis): Promise<void> {
    const { name, waiting, kind } = this.#current!;
    const corpus = this.dependencies.corpus();
    if (corpus?.hash !== kind.scoringVersion.corpus) return;
    const workers = this.#workers.filter((worker) => this.#fits(worker));
    const slots = workers.map(({ concurrency, jobs }) => Math.max(0, concurrency - jobs.length));
    const idle = waiting.size > 0 || this.#isRefused ? 0 : slots.reduce((sum, one) => sum + one, 0);
    try {
      await this.#families.turn(new RedisFamilyMessages(redis, name), corpus, workers, idle);
    } catch (error) {
      this.#isRefused = true;
      throw error;
    }
  }

  async #checkRedis(redis: Redis): Promise<void> {
    const info = await readRedisInfo(redis);
    const reason = unsupportedReason(info);
    if (reason !== null) throw new Error(reason);
    this.#isRedisChecked = true;
    if (info.policy !== "noeviction")
      this.options.log.problem("queue", {
        cause: `maxmemory-policy ${info.policy} discards jobs when memory is short; set noeviction in redis.conf`,
      });
  }

  /** Takes or renews the lease on this database of Redis. */
  async #claim(redis: Redis): Promise<boolean> {
    if (this.#ownsQueue && performance.now() - this.#last.claim < REFRESH_INTERVAL) return true;
    const claim = await takeClaim(redis, this.#owner);
    if (claim === "taken") {
      const cause =
        "Another server uses this Redis database; each server needs a separate one (redis://…/1).";
      if (this.#state.state !== "taken") this.options.log.problem("farm", { cause });
      this.#ownsQueue = false;
      this.#state = { state: "taken", cause };
      return false;
    }
    // If the lease was lost, as by a flush, so was everything else.
    if (claim === "new" || !this.#ownsQueue) {
      this.#last.reconcile = -Infinity;
      this.#announced = "";
    }
    this.#last.claim = performance.now();
    this.#ownsQueue = true;
    return true;
  }

  /** Opens the queue for the corpus in use, and announces it to the workers. */
  async #openCurrent(redis: Redis): Promise<void> {
    const { version, commit } = this.options;
    const kind = { version, scoringVersion: this.dependencies.scoringVersion() };
    const name = queueName(kind);
    const queue = await this.#openQueue(redis, name, kind);
    if (this.#current !== queue) {
      this.#current = queue;
      this.#filler.priority.reset();
      this.#last.reconcile = -Infinity;
    }
    if (this.#announced === name) return;
    const corpus = this.dependencies.corpus();
    await announceServer(redis, {
      ...kind,
      commit,
      host: hostname(),
      pid: process.pid,
      queue: name,
      corpusName: corpus?.name ?? null,
      since: this.#startedAt,
    });
    this.#announced = name;
  }

  async #openQueue(redis: Redis, name: string, kind: JobQueue["kind"]): Promise<JobQueue> {
    const known = this.#queues.get(name);
    if (known) return known;
    const queue = await JobQueue.open(redis, name, kind, this.options.log, () => this.wake());
    this.#queues.set(name, queue);
    return queue;
  }

  async #reconcile(redis: Redis): Promise<void> {
    const now = performance.now();
    const isFull = now - this.#last.reconcile >= (this.options.reconcileEvery ?? 15_000);
    if (isFull) {
      for (const [name, kind] of await readQueues(redis)) await this.#openQueue(redis, name, kind);
      this.#filler.priority.reset();
    }
    const present = new Set<string>();
    for (const queue of this.#queues.values()) {
      const found = await this.#reconciler.sync(queue, redis, queue === this.#current, isFull);
      if (isFull) for (const id of found) present.add(id);
    }
    if (!isFull) return;
    const lost = this.#reconciler.releaseLost(present);
    if (lost > 0) this.options.log.info("farm jobs lost from the queue", { jobs: lost });
    this.#last.reconcile = now;
  }

  #fits(worker: WorkerRecord): boolean {
    return acceptsJobs(worker, this.#current?.name);
  }

  /** Decides whether the pool has to work without the farm. */
  #updateOutage(): void {
    const isMissing =
      !this.#ownsQueue ||
      this.#state.state !== "there" ||
      !this.#workers.some((worker) => this.#fits(worker));
    const now = performance.now();
    this.#missingSince = isMissing ? (this.#missingSince ?? now) : null;
    const wasDisconnected = this.#isAway;
    this.#isAway = this.#missingSince !== null && now - this.#missingSince >= (this.options.grace ?? 3000);
    if (!this.#isAway) return;
    const usesPool = this.options.mode !== "never";
    if (!wasDisconnected) this.options.log.info("farm away", { pool: usesPool });
    const { jobs, wakePool } = this.dependencies;
    let withdrawn = 0;
    if (!this.#ownsQueue && usesPool) {
      withdrawn = jobs.withdraw() + jobs.releaseOverdue(OVERDUE_MILLISECONDS);
      this.#current?.waiting.clear();
    }
    if (withdrawn > 0 || !wasDisconnected) wakePool();
  }

  /** Removes waiting jobs from the queue, so that the pool scores them. */
  async #withdrawWaiting(): Promise<void> {
    const queue = this.#current!;
    const ids = [...queue.waiting.keys()];
    if (ids.length === 0) return;
    const removed = await Promise.all(ids.map((id) => queue.remove(id)));
    this.dependencies.jobs.withdraw(ids.filter((_, i) => removed[i]));
    this.dependencies.wakePool();
  }

  /** Keeps the queue long enough that workers always find a job. */
  async #offer(now: number): Promise<void> {
    if (this.#isRefused && now - this.#last.offer < (this.options.retryAfter ?? 5000)) return;
    this.#last.offer = now;
    const slots = this.#workers
      .filter((worker) => this.#fits(worker))
      .reduce((sum, { concurrency }) => sum + concurrency, 0);
    const length = targetLength(slots, this.options.mode === "always");
    try {
      const { counts } = this.#reconciler;
      counts.offered += await this.#filler.fill(this.#current!, length, this.dependencies.timeout);
    } catch (error) {
      this.#isRefused = true;
      throw error;
    }
    if (slots > 0) this.#isRefused = false;
  }

  /** Deletes queues of other corpora once they are empty. */
  async #retireQueues(redis: Redis): Promise<void> {
    for (const queue of this.#queues.values()) {
      if (queue === this.#current) continue;
      const { active, ended, results, waiting } = await queue.snapshot(true);
      if (active.size + ended.length + results.length + waiting.length > 0) continue;
      await queue.obliterate();
      await forgetQueue(redis, queue.name);
      await queue.close();
      this.#queues.delete(queue.name);
    }
  }
}
