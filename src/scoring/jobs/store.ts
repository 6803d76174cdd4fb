import type { Clock } from "../../platform/clock.ts";
import { type Database, withoutSync } from "../../platform/sqlite.ts";
import { getWriteLock } from "../../platform/write-lock.ts";
import { traceSubmission } from "../../platform/traces.ts";
import { Problem } from "../../problem.ts";
import type { ScoringVersion } from "../corpus/corpus.ts";
import { AnonymousStorage, isAnonymous } from "./anonymous-storage.ts";
import { FairScheduler, type Lease } from "./fair-scheduler.ts";
import { GroupCommit } from "./group-commit.ts";
import {
  type AcceptedKnowledge,
  givenRequest,
  hashRequest,
  type JobEvent,
  type JobRequest,
  MAX_ATTEMPTS,
  MAX_INTERRUPTIONS,
  type State,
  STATES,
  transitionSql,
} from "./job.ts";
import {
  type Form,
  type Parts,
  readResult,
  findResult,
  storeResult,
  verifyParts,
} from "./packed-prediction.ts";

/** A job as its client may see it. Times are milliseconds since 1970-01-01 UTC. */
export interface JobView {
  id: string;
  state: State;
  submitted: number;
  started: number | null;
  ended: number | null;
  /** Time at which an ended job becomes `expired`; null before its end, and if it is kept forever. */
  expires: number | null;
  /** Why a failed, cancelled or expired job has no prediction, in a sentence. */
  failure: string | null;
  /** Estimated place in the queue, 1 for the next; null unless queued. */
  place: number | null;
}

export interface StoreOptions {
  database: Database;
  clock: Clock;
  /** The version that scores jobs now; results of the same version are shared. */
  scoringVersion: () => ScoringVersion;
  /** Knowledge beside the sequence of a job. */
  knowledge?: (request: JobRequest) => AcceptedKnowledge;
  /** Jobs that may wait, in all and per client. */
  maxQueued?: number;
  maxQueuedPerClient?: number;
  /** Milliseconds for which an ended job is kept; null keeps it forever. */
  retention?: number | null;
  /** Makes identifiers of jobs; by default the clock's. */
  newId?: () => string;
}

type LeasedJob = Pick<Lease, "rid" | "digest">;

interface Submitted {
  kind: "submitted";
  id: string;
  client: string;
  request: string;
  digest: string;
  /** Idempotency key. */
  key: string | null;
  owner: string | null;
}

interface Finished {
  kind: "finished";
  lease: LeasedJob;
  version: ScoringVersion;
  prediction: string | Uint8Array<ArrayBuffer>;
}

const RELEASE = transitionSql("release");
const RUNNING = RELEASE.where;
const UNFINISHED = "state IN ('queued', 'running')";
/** Jobs that wait. The second term is redundant, but makes SQLite use the partial index on unfinished jobs. */
const IS_WAITING = `${transitionSql("lease").where} AND ${UNFINISHED}`;
const INSERT_QUEUED = `INSERT INTO job (state, id, client, owner, idempotency_key, request, digest, submitted, twin) VALUES ('queued', ?, ?, ?, ?, ?, ?, ?,
  EXISTS (SELECT 1 FROM job WHERE digest = ? AND client = ? AND ${UNFINISHED}))`;
/** A job that is queued and, by `reuse`, finished at once. */
const INSERT_FINISHED = `INSERT INTO job (state, id, client, owner, idempotency_key, request, digest, submitted, started, ended, expires, result)
  VALUES ('finished', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
/** Takes a job from its worker, back into the queue. */
const REQUEUE = `UPDATE job SET ${RELEASE.set}, worker = NULL, deadline = NULL, started = NULL`;

/** Jobs and results in SQLite. Only one process writes: it holds the lock of the data directory. */
export class JobStore {
  readonly #database: Database;
  readonly #options: StoreOptions;
  readonly #scheduler: FairScheduler;
  readonly #verifying = new Map<string, Promise<void>>();
  readonly #changes: GroupCommit<Submitted | Finished, string>;
  /** False once a lease has found nothing, until a job is queued or another ends. */
  #mayLease = true;
  /** True if the jobs that a former process left are still to be recovered: the disk was full at start. */
  #mustRecover = false;

  constructor(options: StoreOptions) {
    this.#database = options.database;
    this.#options = options;
    this.#scheduler = new FairScheduler(options.database);
    this.#changes = new GroupCommit(
      (changes) => this.#write(changes),
      () => getWriteLock(options.database).free(),
    );
  }

  /**
   * Accepts a job and returns its identifier once its row is on the disk. Jobs that arrive while the event loop is busy
   * share one transaction and fsync. A result that the client has already finishes the job at once; a duplicate of an
   * unfinished job of the same client (a "twin") waits for its result. Jobs of other clients have no effect: how fast a
   * job ends must not reveal what others submitted.
   * @param key idempotency key: if the client has submitted this request with it, the identifier of that job is returned
   * @param owner key of the owner; null for the account of the client
   * @throws Problem busy if the queue is full or the disk accepts no more; key_reused, quota_exceeded
   */
  insert(
    request: JobRequest,
    client = "",
    key: string | null = null,
    owner: string | null = null,
  ): Promise<string> {
    const id = this.#options.newId?.() ?? this.#options.clock.newId();
    const { knowledge: _, classModels: __, ...given } = request;
    const accepted = { ...given, ...this.#options.knowledge?.(request) };
    const digest = hashRequest(accepted);
    const text = JSON.stringify(accepted);
    traceSubmission(id);
    return this.#changes.add({ kind: "submitted", id, client, request: text, digest, key, owner });
  }

  /** Like `finish`, in the same transaction as what is submitted and finished meanwhile. If it rejects, try again. */
  async finishInGroup(
    lease: LeasedJob,
    version: ScoringVersion,
    prediction: string | Uint8Array<ArrayBuffer>,
  ): Promise<void> {
    if (this.#changes.isClosed) return void this.finish(lease, version, prediction);
    try {
      await this.#changes.add({ kind: "finished", lease, version, prediction });
    } catch (error) {
      // The Problem is worded for clients that submit.
      throw (error as Problem).cause ?? error;
    }
  }

  /** Writes pending changes and accepts no more jobs. The database stays open. */
  close(): void {
    this.#changes.close();
  }

  /** Finished jobs come first, so that identical submissions in the batch reuse their results. */
  #write(changes: readonly (Submitted | Finished)[]): (string | Problem)[] {
    let mayLease = this.#mayLease;
    const write = this.#database.transaction(() => {
      const finished = changes.filter((change) => change.kind === "finished");
      for (const { lease, version, prediction } of finished) this.finish(lease, version, prediction);
      mayLease ||= finished.length > 0;
      const insert = this.#openBatch();
      return changes.map((change) => {
        if (change.kind === "finished") return "";
        const repeated = this.#submittedBefore(change);
        if (repeated !== null) return repeated;
        const inserted = insert(change);
        if (inserted === "queued") mayLease = true;
        return inserted instanceof Problem ? inserted : change.id;
      });
    });
    const answers = write.immediate();
    this.#mayLease = mayLease;
    return answers;
  }

  /** The job that the client has submitted with this idempotency key; null if there is none. */
  #submittedBefore({ client, key, request }: Submitted): string | Problem | null {
    if (key === null) return null;
    const sql = "SELECT id, request FROM job WHERE client = ? AND idempotency_key = ?";
    const known = this.#row<{ id: string; request: string }>(sql, client, key);
    if (known === null || givenRequest(known.request) === givenRequest(request)) return known?.id ?? null;
    const text = "This Idempotency-Key was used with another request. Use a new key for each job.";
    return new Problem("key_reused", text);
  }

  /** Inserts the jobs of one transaction; counts and results are read once. */
  #openBatch(): (job: Submitted) => "finished" | "queued" | Problem {
    const { clock, scoringVersion, maxQueued = Infinity, maxQueuedPerClient = Infinity } = this.#options;
    const insertQueued = this.#database.query(INSERT_QUEUED);
    const insertFinished = this.#database.query(INSERT_FINISHED);
    const now = clock.now();
    const version = scoringVersion();
    const results = new Map<string, number | null>();
    const waitingByClient = new Map<string, number>();
    let waiting = this.queued();
    const storage = new AnonymousStorage(this.#database);
    return ({ id, client, request, digest, key, owner }) => {
      const exceeded = storage.problem("jobs", client, request.length);
      if (exceeded) return exceeded;
      const question = `${digest} ${client}`;
      let result = results.get(question);
      if (result === undefined)
        results.set(question, (result = findResult(this.#database, digest, version, client)));
      if (result !== null) {
        insertFinished.run(id, client, owner, key, request, digest, now, now, now, this.#expiry(now), result);
        return "finished";
      }
      const own = waitingByClient.get(client) ?? this.#countQueued(client);
      if (waiting >= maxQueued) return full(`The queue is full: ${waiting} jobs wait.`);
      if (own >= maxQueuedPerClient) return full(`The limit of ${own} queued jobs per client is reached.`);
      insertQueued.run(id, client, owner, key, request, digest, now, digest, client);
      waiting++;
      waitingByClient.set(client, own + 1);
      return "queued";
    };
  }

  /** Leases the next job to a worker, for at most `milliseconds`; null if none can start now. */
  lease(milliseconds: number): Lease | null {
    if (this.#mustRecover) this.recover();
    if (!this.#mayLease) return null;
    const now = this.#options.clock.now();
    // If a power cut undoes the lease, the job waits, as after every start.
    const lease = withoutSync(this.#database, () => this.#scheduler.lease(now, now + milliseconds));
    this.#mayLease = lease !== null;
    return lease;
  }

  /**
   * Stores a prediction (JSON text, or packed) and finishes its job and the identical ones of its client that wait.
   * @returns false if the job is not running any more
   */
  finish(
    { rid, digest }: LeasedJob,
    version: ScoringVersion,
    prediction: string | Uint8Array<ArrayBuffer>,
  ): boolean {
    const now = this.#options.clock.now();
    return this.change(() => {
      const job = this.#row<{ client: string }>(`SELECT client FROM job WHERE rid = ? AND ${RUNNING}`, rid);
      if (job === null) return false;
      // The method is deterministic: if another job was faster, it stored the same.
      const added = storeResult(this.#database, digest, version, prediction, now);
      const stored = added ?? findResult(this.#database, digest, version);
      if (added !== null && isAnonymous(job.client))
        this.#database
          .query("UPDATE result SET client = ?, bytes = ? WHERE rid = ?")
          .run(job.client, prediction.length, added);
      this.#end("finish", { result: stored }, "rid = ?", rid);
      const { client } = job;
      const waits = `SELECT 1 FROM job WHERE digest = ? AND client = ? AND ${IS_WAITING} LIMIT 1`;
      if (this.#row(waits, digest, client) === null) return true;
      // Waiting jobs are scored with the current version, which may have changed while this one ran.
      const result = findResult(this.#database, digest, this.#options.scoringVersion());
      if (result === null) this.#promoteTwin(digest, client);
      else this.#end("reuse", { result }, `digest = ? AND client = ? AND ${IS_WAITING}`, digest, client);
      return true;
    });
  }

  /**
   * Ends a running job without a result, and the identical ones of its client that wait for it.
   * @returns false if the job is not running any more
   */
  fail(rid: number, reason: string): boolean {
    return this.change(() => {
      const failed = this.#end("fail", { failure: reason }, "rid = ?", rid);
      if (failed === null) return false;
      const failure = `The identical job that this one waited for failed: ${reason}`;
      const identical = `digest = ? AND client = ? AND ${IS_WAITING}`;
      this.#end("inherit", { failure }, identical, failed.digest, failed.client);
      return true;
    });
  }

  /**
   * Cancels a job that waits or runs; identical jobs continue. Cancelling it again changes nothing.
   * @throws Problem unknown_job, conflict if it has ended otherwise
   */
  cancel(id: string): JobView {
    this.change(() => {
      const cancelled = this.#end("cancel", { failure: "The job was cancelled." }, "id = ?", id);
      if (cancelled) this.#promoteTwin(cancelled.digest, cancelled.client);
    });
    const job = this.get(id);
    if (job.state === "cancelled") return job;
    throw new Problem("conflict", `The job is ${job.state}; only queued and running jobs can be cancelled.`);
  }

  /** Ends jobs by a transition. @returns the first of them; null if there was none */
  #end(
    event: JobEvent,
    { result = null, failure = null }: { result?: number | null; failure?: string | null },
    where: string,
    ...keys: (number | string)[]
  ): { digest: string; client: string } | null {
    const { set, where: from } = transitionSql(event);
    const now = this.#options.clock.now();
    const started = event === "reuse" ? now : null;
    return this.#row(
      `UPDATE job SET ${set}, twin = 0, deadline = NULL, started = coalesce(started, ?), ended = ?, expires = ?, result = ?, failure = ?
       WHERE ${from} AND ${where} RETURNING digest, client`,
      started,
      now,
      this.#expiry(now),
      result,
      failure,
      ...keys,
    );
  }

  /** Lets the oldest twin be leased, unless another job of the client with this question will answer it. */
  #promoteTwin(digest: string, client: string): void {
    this.#database
      .query(
        `UPDATE job SET twin = 0 WHERE rid = (SELECT min(rid) FROM job WHERE digest = ?1 AND client = ?2 AND ${IS_WAITING})
         AND NOT EXISTS (SELECT 1 FROM job WHERE digest = ?1 AND client = ?2 AND ${UNFINISHED} AND twin = 0)`,
      )
      .run(digest, client);
  }

  /**
   * Returns a running job to its old place in the queue.
   * @param counted whether the attempt counts: true if its worker died, false if the service stops
   */
  release(rid: number, counted: boolean): boolean {
    const { changes } = this.#database
      .query(`${REQUEUE}, attempts = attempts - ? WHERE rid = ? AND ${RUNNING}`)
      .run(counted ? 0 : 1, rid);
    this.#mayLease = true;
    return changes > 0;
  }

  /** Releases a job whose worker died, or fails it after its last attempt. @returns its new state */
  retry(rid: number, attempts: number, reason: string): State {
    if (attempts < MAX_ATTEMPTS) this.release(rid, true);
    else this.fail(rid, reason);
    return attempts < MAX_ATTEMPTS ? "queued" : "failed";
  }

  /**
   * Requeues the jobs that the end of a former process cut off; call it at start, before any worker. With a farm, jobs of
   * remote workers continue. If it throws, nothing is leased until it has succeeded.
   */
  recover(hasFarm = false): { requeued: number; failed: number } {
    this.#mustRecover = true;
    const recovered = this.change(() => {
      if (!hasFarm) {
        this.#database.run(`${REQUEUE} WHERE ${RUNNING} AND worker IS NOT NULL`);
        this.#database.run("UPDATE job SET worker = NULL WHERE state = 'queued' AND worker = ''");
      }
      const abandoned = this.#database
        .query(
          `UPDATE job SET interruptions = interruptions + 1 WHERE ${RUNNING} AND worker IS NULL RETURNING rid, interruptions`,
        )
        .all() as { rid: number; interruptions: number }[];
      const suspects = abandoned.filter(({ interruptions }) => interruptions >= MAX_INTERRUPTIONS);
      for (const { rid, interruptions } of suspects)
        this.fail(rid, `The service ended ${interruptions} times while it scored this job.`);
      for (const { rid } of abandoned) this.release(rid, false);
      return { requeued: abandoned.length - suspects.length, failed: suspects.length };
    });
    this.#mustRecover = false;
    return recovered;
  }

  /** @throws Problem unknown_job */
  get(id: string): JobView {
    const row = this.#row<JobView & { rid: number; client: string }>(
      "SELECT rid, id, state, client, submitted, started, ended, expires, failure FROM job WHERE id = ?",
      id,
    );
    if (!row) throw unknownJob();
    const { rid, client, ...job } = row;
    return { ...job, place: job.state === "queued" ? this.#scheduler.place(rid, client) : null };
  }

  /** The stored prediction; null if the job is not finished. @throws Problem unknown_job */
  storedPrediction(id: string, form: Form): Parts | null {
    const row = this.#row<{ result: number | null }>("SELECT result FROM job WHERE id = ?", id);
    if (!row) throw unknownJob();
    return row.result === null ? null : readResult(this.#database, row.result, form);
  }

  /**
   * Likewise, once all of it has been read. A damaged one is no longer shared, so that scoring again computes it again.
   * @throws Problem unknown_job; content_damaged naming the job
   */
  async intactPrediction(id: string, form: Form): Promise<Parts | null> {
    try {
      const parts = this.storedPrediction(id, form);
      if (parts) await this.#verify(`${id} ${form}`, parts);
      return parts;
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "content_damaged") throw error;
      const retire =
        "UPDATE result SET digest = 'damaged ' || rid WHERE rid = (SELECT result FROM job WHERE id = ?)";
      this.change(() => this.#database.query(retire).run(id));
      const text = `The stored prediction of job ${id} is damaged, and cannot be read. Score the query again.`;
      throw new Problem("content_damaged", text, { cause: error.cause });
    }
  }

  /** Requests for one prediction at the same time wait for one reading of it. */
  #verify(key: string, parts: Parts): Promise<void> {
    const running = this.#verifying.get(key);
    if (running) return running;
    const verified = verifyParts(parts).finally(() => this.#verifying.delete(key));
    this.#verifying.set(key, verified);
    return verified;
  }

  /** Key of the owner of a job. @throws Problem unknown_job */
  readOwner(id: string): string {
    const row = this.#row<{ owner: string }>(
      "SELECT coalesce(owner, client) AS owner FROM job WHERE id = ?",
      id,
    );
    if (!row) throw unknownJob();
    return row.owner;
  }

  /** The request of a job; null once it has expired. @throws Problem unknown_job */
  request(id: string): JobRequest | null {
    const row = this.#row<{ request: string | null }>("SELECT request FROM job WHERE id = ?", id);
    if (!row) throw unknownJob();
    return row.request === null ? null : (JSON.parse(row.request) as JobRequest);
  }

  /** Number of jobs by state. */
  counts(): Record<State, number> {
    const rows = this.#database.query("SELECT state, count(*) AS n FROM job GROUP BY state").all();
    const found = new Map((rows as { state: State; n: number }[]).map(({ state, n }) => [state, n]));
    return Object.fromEntries(STATES.map((state) => [state, found.get(state) ?? 0])) as Record<State, number>;
  }

  /** Submission time of the job that has waited longest; null if none waits. */
  oldestQueued(): number | null {
    const sql = "SELECT submitted FROM job WHERE state = 'queued' ORDER BY rid LIMIT 1";
    return this.#row<{ submitted: number }>(sql)?.submitted ?? null;
  }

  /** Number of jobs that wait. */
  queued(): number {
    return this.#row<{ n: number }>("SELECT coalesce(sum(waiting), 0) AS n FROM queue")!.n;
  }

  #countQueued(client: string): number {
    const row = this.#row<{ waiting: number }>("SELECT waiting FROM queue WHERE client = ?", client);
    return row?.waiting ?? 0;
  }

  #row<Row = unknown>(sql: string, ...values: (string | number | null)[]): Row | null {
    return this.#database.query(sql).get(...values) as Row | null;
  }

  #expiry(ended: number): number | null {
    const { retention } = this.#options;
    return retention == null ? null : ended + retention;
  }

  /** Changes jobs in one transaction, a writer from its start: one that starts as a reader is refused while others write. */
  change<T>(action: () => T): T {
    if (this.#database.inTransaction) return action();
    // Another job may be next now.
    this.#mayLease = true;
    return this.#database.transaction(action).immediate();
  }
}

const full = (what: string): Problem =>
  new Problem("busy", `${what} Try again in a minute.`, { headers: { "Retry-After": "60" } });

/** The identifier is not repeated: it is the caller's text. */
const unknownJob = (): Problem => new Problem("unknown_job", "There is no job with this identifier.");
