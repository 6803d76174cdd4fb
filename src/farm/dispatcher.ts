import { hostname } from "node:os";
import type { Redis } from "ioredis";
import { calibrationFileText } from "../scoring/corpus/calibration-file.ts";
import type { Farm, FarmJobs, FarmDependencies, RemoteLease } from "../scoring/jobs/farm-jobs.ts";
import { MAX_INTERRUPTIONS } from "../scoring/jobs/job.ts";
import type { Progress } from "../scoring/jobs/pool.ts";
import type { Log } from "../platform/log.ts";
import {
  announceServer,
  forgetQueue,
  queueName,
  readQueues,
  readWorkers,
  takeClaim,
  tellDropped,
  type WorkerRecord,
} from "./redis-records.ts";
import { readFacts, unsupportedReason } from "./farm-status.ts";
import { JobQueue } from "./job-queue.ts";
import {
  causeOf,
  connectRedis,
  connectionOptions,
  type QueueAddress,
  redactedAddress,
} from "./connection.ts";
import { BATCH, jobsAhead, QueueFiller } from "./queue-filler.ts";
import { BurstLimiter } from "./burst-limiter.ts";
import { type Counts, type FarmState, giveUpClaim, mixedFarm, type PoolMode, publishState } from "./state.ts";

export interface DispatcherOptions {
  place: QueueAddress;
  mode: PoolMode;
  log: Log;
  version: string;
  commit: string;
  /** Tells this server from all others, also when it starts again; by default it is another each time. */
  owner?: string;
  /** Milliseconds between two turns without news. */
  interval?: number;
  /** Milliseconds for which queue or workers may be away before the pool takes over. */
  grace?: number;
  /** Milliseconds between two reconciliations without a cause. */
  reconcileEvery?: number;
  /** Milliseconds after which a queue that took no jobs is tried again. */
  tryAgain?: number;
}

/** Turns in a row, then milliseconds for which news is gathered. */
const AT_ONCE = 4;
const GATHER = 10;
/** Milliseconds between two looks at who works, and at whether a queue that takes no jobs takes some again. */
const ASK = 900;
const TRY_AGAIN = 5000;
/** Milliseconds after its deadline at which a job of a worker that cannot be asked is taken back. */
const PATIENCE = 60_000;
const NONE: ReadonlySet<string> = new Set();
const STALLED = `The worker's process ended ${MAX_INTERRUPTIONS} times while it scored this job.`;

/**
 * The server's side of the farm. What is true stands in the database (FarmJobs); the queue in Redis is a copy of a part
 * of it that may be late, doubled or gone. Events say where to look; what they do not say, the reconciliation finds.
 * All of it happens in turns, one at a time, so that nothing is decided on what another part has just changed.
 */
export class Dispatcher implements Farm {
  readonly #token: string;
  readonly #jobs: FarmJobs;
  readonly #lines = new Map<string, JobQueue>();
  readonly #progress = new Map<string, Progress>();
  readonly #offering: QueueFiller;
  readonly #counts: Counts = { offered: 0, finished: 0, failed: 0, late: 0, returned: 0, lost: 0 };
  readonly #ticker: Timer;
  readonly #pace = new BurstLimiter(AT_ONCE, GATHER);
  readonly #since = Date.now();
  #redis: Redis | undefined;
  #current: JobQueue | null = null;
  #workers: WorkerRecord[] = [];
  #announced = "";
  /** Whether the queue is there and this server's. */
  #holds = false;
  #state: Pick<FarmState, "state" | "cause"> = { state: "away", cause: null };
  /** Whether it took no jobs the last time, and when that was. */
  #refuses = false;
  #tried = -Infinity;
  #asked = -Infinity;
  /** When the claim was renewed. */
  #claimed = -Infinity;
  /** Whether this connection's Redis is one for a queue. */
  #isLookedAt = false;
  #reconciled = -Infinity;
  #lackingSince: number | null = performance.now();
  #isAway = false;
  #turning: Promise<void> | undefined;
  #scheduled: Timer | undefined;
  #again = false;
  #closed = false;

  constructor(
    private readonly options: DispatcherOptions,
    private readonly dependencies: FarmDependencies,
  ) {
    // What is wrong with the settings is told at the start, and not by the farm.
    connectionOptions(options.place);
    this.#token = options.owner ?? crypto.randomUUID();
    this.#jobs = dependencies.jobs;
    this.#offering = new QueueFiller(dependencies.jobs);
    void this.#connect();
    this.#ticker = setInterval(() => this.#tick(), options.interval ?? 1000);
  }

  wake(): void {
    this.#stir();
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
    if (!this.#holds) return;
    const told = async (): Promise<void> => {
      for (const line of this.#lines.values()) {
        const [holder] = await line.holders([id]);
        if (holder && !(await line.remove(id))) await tellDropped(this.#redis!, holder.worker, id);
      }
    };
    // What fails here the next reconciliation finds.
    told().catch(() => {});
  }

  /** The farm as it is. */
  state(): FarmState {
    const { place, mode, version, commit } = this.options;
    const { waiting, oldest } = this.dependencies.backlog();
    const queue = this.#current?.name ?? null;
    return {
      queue: redactedAddress(place.url),
      mode,
      ...this.#state,
      poolWorks: this.poolMayWork(),
      backlog: waiting,
      oldest,
      waiting: this.#current?.waiting.size ?? 0,
      running: this.#jobs.running(),
      counts: { ...this.#counts },
      workers: this.#workers.map((worker) => ({ ...worker, fits: this.#fits(worker) })),
      mixed: queue === null ? [] : mixedFarm({ queue, version, commit }, this.#workers),
    };
  }

  /** What workers have they go on with; the claim is given up. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#ticker);
    clearTimeout(this.#scheduled);
    await this.#turning;
    const redis = this.#redis;
    if (!redis) return;
    if (this.#holds) await giveUpClaim(redis).catch(() => {});
    this.#holds = false;
    await Promise.all([...this.#lines.values()].map((line) => line.close()));
    redis.disconnect();
  }

  async #connect(): Promise<void> {
    const { place, log } = this.options;
    const redis = await connectRedis(place, "impatient", log);
    this.#redis = redis;
    redis.on("error", (error) => (this.#state = { state: "away", cause: causeOf(error) }));
    redis.on("close", () => {
      this.#holds = false;
      if (this.#state.state !== "away") this.#state = { state: "away", cause: "The connection was closed." };
    });
    redis.on("ready", () => {
      this.#refuses = false;
      this.#isLookedAt = false;
      this.#reconciled = -Infinity;
      this.#stir();
    });
    if (this.#closed) redis.disconnect();
  }

  #stir(): void {
    this.#again = true;
    if (this.#turning || this.#scheduled || this.#closed) return;
    this.#scheduled = setTimeout(() => {
      this.#scheduled = undefined;
      this.#again = false;
      this.#turning = this.#turn()
        .catch((error) => this.#stumble(error))
        .finally(() => {
          this.#turning = undefined;
          if (this.#again) this.#stir();
        });
    }, this.#pace.next());
  }

  #tick(): void {
    this.#decide();
    this.#stir();
  }

  /** A turn was cut off: where the queue is not gone, it refused something. */
  #stumble(error: unknown): void {
    this.#reconciled = -Infinity;
    if (this.#closed || this.#redis?.status !== "ready") return;
    const cause = causeOf(error);
    if (this.#state.cause !== cause) this.options.log.problem("farm", { cause });
    this.#state = { state: "refuses", cause };
    this.#again = false;
  }

  async #turn(): Promise<void> {
    const redis = this.#redis;
    if (redis?.status !== "ready") return;
    if (!this.#isLookedAt) await this.#lookAtRedis(redis);
    if (!(await this.#claim(redis))) return;
    await this.#open(redis);
    const now = performance.now();
    if (now - this.#reconciled >= (this.options.reconcileEvery ?? 15_000)) {
      await this.#reconcile(redis);
      this.#reconciled = now;
    }
    for (const line of this.#lines.values()) await this.#settle(line, redis);
    if (now - this.#asked >= ASK) {
      this.#workers = await readWorkers(redis);
      await publishState(redis, this.state());
      this.#asked = now;
    }
    if (!this.#refuses) this.#state = { state: "there", cause: null };
    this.#decide();
    if (!this.#isAway || this.#refuses) await this.#offer(now);
    if (this.#isAway && this.options.mode !== "never") await this.#takeBack();
    await this.#retire(redis);
  }

  /** What it is decides whether it can hold a queue, and whether it can be relied on. */
  async #lookAtRedis(redis: Redis): Promise<void> {
    const facts = await readFacts(redis);
    const why = unsupportedReason(facts);
    if (why !== null) throw new Error(why);
    this.#isLookedAt = true;
    if (facts.policy !== "noeviction")
      this.options.log.problem("queue", {
        cause: `maxmemory-policy ${facts.policy} throws jobs away where memory is short; set noeviction in redis.conf`,
      });
  }

  /** One server has a database of Redis: two would take each other's jobs for strays. */
  async #claim(redis: Redis): Promise<boolean> {
    if (this.#holds && performance.now() - this.#claimed < ASK) return true;
    const claim = await takeClaim(redis, this.#token);
    if (claim === "taken") {
      if (this.#state.state !== "taken") {
        this.options.log.problem("farm", {
          cause: "another server uses this database of Redis, or did so a moment ago",
        });
      }
      const cause = "Another server uses this database of Redis; each needs one of its own (redis://…/1).";
      this.#holds = false;
      this.#state = { state: "taken", cause };
      return false;
    }
    // A claim that was lost, as by a flush, has taken everything else with it.
    if (claim === "new" || !this.#holds) {
      this.#reconciled = -Infinity;
      this.#announced = "";
    }
    this.#claimed = performance.now();
    this.#holds = true;
    return true;
  }

  /** Opens the queue for what jobs are scored on now, and says so to workers. */
  async #open(redis: Redis): Promise<void> {
    const { version, commit, log } = this.options;
    // What a corpus is and has of its own does not change below the same name.
    const kind = { version, scoringVersion: this.dependencies.scoringVersion() };
    const name = queueName(kind);
    if (!this.#lines.has(name)) await this.#openLine(redis, name, kind, log);
    if (this.#current?.name !== name) {
      this.#current = this.#lines.get(name)!;
      this.#offering.priority.reset();
      this.#reconciled = -Infinity;
    }
    if (this.#announced === name) return;
    const corpus = this.dependencies.corpus();
    await announceServer(redis, {
      ...kind,
      commit,
      host: hostname(),
      pid: process.pid,
      queue: name,
      calibration: corpus && calibrationFileText(corpus.path),
      corpusName: corpus?.name ?? null,
      since: this.#since,
    });
    this.#announced = name;
  }

  async #openLine(redis: Redis, name: string, kind: JobQueue["kind"], log: Log): Promise<void> {
    const line = await JobQueue.open(redis, name, kind, log);
    line.heard = () => this.#stir();
    line.progressed = (id, progress) => this.#progress.set(id, progress as Progress);
    this.#lines.set(name, line);
  }

  /** Compares what Redis has with what is true, both ways. */
  async #reconcile(redis: Redis): Promise<void> {
    for (const [name, kind] of await readQueues(redis)) {
      if (!this.#lines.has(name)) await this.#openLine(redis, name, kind, this.options.log);
    }
    const there = new Set<string>();
    this.#offering.priority.reset();
    for (const line of this.#lines.values()) {
      await line.promoteStuck(Date.now());
      const ours = new Map(this.#jobs.remoteJobs().map((job) => [job.id, job]));
      line.waiting.clear();
      for (const { id, whereabouts, priority } of await line.list()) {
        there.add(id);
        const isSettled = line === this.#current && whereabouts === "waiting" && ours.get(id)?.worker === "";
        if (isSettled) this.#nowWaits(line, id, priority);
        else line.touched.set(id, whereabouts);
      }
      await this.#collectKept(line, there);
    }
    const gone = this.#jobs.remoteJobs().filter(({ id }) => !there.has(id));
    const lost = gone.filter(({ id }) => this.#jobs.release(id)).length;
    if (lost > 0) this.options.log.info("farm jobs lost from the queue", { jobs: lost });
    this.#counts.lost += lost;
  }

  /** Takes predictions whose job is no longer in the queue: a worker had lost its hold on it, or it had ended. */
  async #collectKept(line: JobQueue, there: ReadonlySet<string>): Promise<void> {
    const kept = (await line.kept()).filter((id) => !there.has(id));
    const isWanted = (id: string): boolean =>
      // What waits is scored on what is in use now.
      line === this.#current || this.#jobs.find(id)?.state === "running";
    const wanted = kept.filter(isWanted);
    for (let i = 0; i < wanted.length; i += BATCH) await this.#collect(line, wanted.slice(i, i + BATCH));
    await Promise.all(kept.filter((id) => !wanted.includes(id)).map((id) => line.remove(id)));
  }

  #nowWaits(line: JobQueue, id: string, priority: number): void {
    const client = this.#jobs.find(id)?.client ?? "";
    line.waiting.set(id, { client, priority });
    this.#offering.priority.seen(client, priority);
  }

  /** Acts on what was heard of jobs. */
  async #settle(line: JobQueue, redis: Redis): Promise<void> {
    if (line.touched.size === 0) return;
    const touched = [...line.touched];
    line.touched.clear();
    const at = (wanted: string): string[] =>
      touched.flatMap(([id, whereabouts]) => (whereabouts === wanted ? [id] : []));
    for (const id of at("waiting")) await this.#returned(line, id);
    await this.#began(line, at("active"), redis);
    const failed = new Set(at("failed"));
    const ended = [...at("completed"), ...failed];
    for (let i = 0; i < ended.length; i += BATCH)
      await this.#collect(line, ended.slice(i, i + BATCH), failed);
    this.dependencies.settled();
  }

  /** A job waits in the queue that a worker had, or that we did not know to be there. */
  async #returned(line: JobQueue, id: string): Promise<void> {
    this.#progress.delete(id);
    const isOurs = line === this.#current && this.#jobs.markOffered(id);
    if (isOurs) {
      this.#counts.returned++;
      return this.#nowWaits(line, id, 1);
    }
    if (await line.remove(id)) this.#jobs.release(id);
  }

  async #began(line: JobQueue, ids: readonly string[], redis: Redis): Promise<void> {
    if (ids.length === 0) return;
    const holders = await line.holders(ids);
    const taken = ids.flatMap((id, i) => {
      this.#left(line, id);
      const holder = holders[i];
      return holder ? [{ id, ...holder, job: this.#jobs.find(id) }] : [];
    });
    // That the one before it was lost may not have been told.
    for (const { job, worker } of taken)
      if (job?.state === "running" && job.worker !== worker) this.#counts.returned++;
    const begun = this.#jobs.begin(taken, this.dependencies.timeout);
    // Where the pool has it by now, the first to finish counts.
    const dropped = taken.filter(({ job }, i) => !begun[i] && job === null);
    await Promise.all(dropped.map(({ worker, id }) => tellDropped(redis, worker, id)));
  }

  /** A job waits no more. */
  #left(line: JobQueue, id: string): void {
    const { priority = 0 } = line.waiting.get(id) ?? {};
    line.waiting.delete(id);
    if (line === this.#current) this.#offering.priority.begun(priority);
  }

  /**
   * Stores what was handed in, then lets go of it: a kill in between leaves what the next look drops.
   * @param failed those of them that failed, and stay in the queue until they are taken out
   */
  async #collect(line: JobQueue, ids: readonly string[], failed: ReadonlySet<string> = NONE): Promise<void> {
    const handed = await line.handedIn(ids);
    const finished: Parameters<FarmJobs["finish"]>[0][number][] = [];
    for (const { id, worker, attempts, reason, packed } of handed) {
      this.#left(line, id);
      this.#progress.delete(id);
      if (packed)
        finished.push({ id, worker, attempts, prediction: packed, scoringVersion: line.kind.scoringVersion });
      else if (reason) this.#fail({ id, worker, attempts }, reason);
      else if (this.#jobs.release(id)) this.#counts.lost++;
    }
    for (const hasEnded of this.#jobs.finish(finished, (id) => this.dependencies.dropFromPool(id))) {
      if (hasEnded) this.#counts.finished++;
      else this.#counts.late++;
    }
    await line.forget(finished.map(({ id }) => id));
    // A job that was completed has left the queue by itself.
    const stays = handed.flatMap(({ id, packed }) => (packed && !failed.has(id) ? [] : [id]));
    await Promise.all(stays.map((id) => line.remove(id)));
  }

  #fail(taken: RemoteLease, reason: string): void {
    const isStalled = reason.startsWith("job stalled more than");
    if (this.#jobs.fail(taken, isStalled ? STALLED : reason)) this.#counts.failed++;
  }

  #fits({ queue, draining }: WorkerRecord): boolean {
    return queue !== null && queue === this.#current?.name && !draining;
  }

  /** Whether the pool has to do without the farm. */
  #decide(): void {
    const lacks =
      !this.#holds || this.#state.state !== "there" || !this.#workers.some((worker) => this.#fits(worker));
    const now = performance.now();
    this.#lackingSince = lacks ? (this.#lackingSince ?? now) : null;
    const wasAway = this.#isAway;
    this.#isAway = this.#lackingSince !== null && now - this.#lackingSince >= (this.options.grace ?? 3000);
    if (!this.#isAway) return;
    if (!wasAway) this.options.log.info("farm away", { pool: this.options.mode !== "never" });
    if (!this.#holds && this.options.mode !== "never") {
      const withdrawn = this.#jobs.withdraw() + this.#jobs.releaseOverdue(PATIENCE);
      this.#current?.waiting.clear();
      if (withdrawn > 0 || !wasAway) this.dependencies.wakePool();
    } else if (!wasAway) this.dependencies.wakePool();
  }

  /** Takes what waits out of the queue, for the pool. */
  async #takeBack(): Promise<void> {
    const line = this.#current!;
    if (line.waiting.size === 0) return;
    const ids = [...line.waiting.keys()];
    const removed = await Promise.all(ids.map((id) => line.remove(id)));
    this.#jobs.withdraw(ids.filter((_, i) => removed[i]));
    this.dependencies.wakePool();
  }

  /** Keeps so many jobs in the queue that workers find the next one there. */
  async #offer(now: number): Promise<void> {
    if (this.#refuses && now - this.#tried < (this.options.tryAgain ?? TRY_AGAIN)) return;
    this.#tried = now;
    const places = this.#workers
      .filter((worker) => this.#fits(worker))
      .reduce((sum, { concurrency }) => sum + concurrency, 0);
    const most = jobsAhead(places, this.options.mode === "always");
    try {
      this.#counts.offered += await this.#offering.fill(this.#current!, most, this.dependencies.timeout);
    } catch (error) {
      this.#refuses = true;
      throw error;
    }
    if (places > 0) this.#refuses = false;
  }

  /** Takes queues of other kinds of work away, as soon as no worker has a job of theirs. */
  async #retire(redis: Redis): Promise<void> {
    for (const line of this.#lines.values()) {
      if (line === this.#current || line.touched.size > 0) continue;
      // What was completed left the queue by itself, maybe before its end was heard of: then its prediction lies there.
      if ((await line.list()).length > 0 || (await line.kept()).length > 0) continue;
      await line.obliterate();
      await forgetQueue(redis, line.name);
      await line.close();
      this.#lines.delete(line.name);
    }
  }
}
