import type { Prediction } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { writeLockOf } from "../../platform/write-lock.ts";
import type { Clock } from "../../platform/clock.ts";
import { type Database, withoutWaiting } from "../../platform/sqlite.ts";
import { GroupCommit } from "./group-commit.ts";
import {
  digestOf,
  type JobRequest,
  MAX_ATTEMPTS,
  MAX_INTERRUPTIONS,
  transitionSql,
  type State,
  STATES,
  TRANSITIONS,
} from "./job.ts";
import { packPrediction, resultOf, type StoredPrediction, storeResult, textOf } from "./packed-prediction.ts";
import { type Lease, FairScheduler } from "./fair-scheduler.ts";

/** A job as its owner may see it. Times are milliseconds since 1970-01-01 UTC. */
export interface JobView {
  id: string;
  state: State;
  submitted: number;
  started: number | null;
  ended: number | null;
  /** When an ended job becomes `expired`; null before its end, and where it is kept for ever. */
  expires: number | null;
  /** Why a failed, cancelled or expired job has no prediction, in a sentence; null in every other state. */
  failure: string | null;
  /** 1 for the next job to be leased, as far as can be told now: clients take turns. Null unless queued. */
  place: number | null;
}

/** What a result depends on besides the request. */
export interface ScoringVersion {
  /** Content hash of the corpus. */
  corpus: string;
  /** Version of the method. */
  method: string;
}

export interface StoreOptions {
  database: Database;
  clock: Clock;
  /** What a job would be scored on now: results on the same are shared. */
  scoringVersion: () => ScoringVersion;
  /** Jobs that may wait; one more is refused. */
  maxQueued?: number;
  /** Jobs of one client that may wait. */
  maxQueuedPerClient?: number;
  /** Milliseconds that an ended job is kept; null keeps it for ever. */
  retention?: number | null;
  /** Makes identifiers of jobs; by default the clock's. */
  newId?: () => string;
}

interface Submitted {
  kind: "submitted";
  id: string;
  client: string;
  request: string;
  digest: string;
}

interface HandedIn {
  kind: "handed in";
  lease: Pick<Lease, "rid" | "digest">;
  scoringVersion: ScoringVersion;
  prediction: string;
}

interface JobRow {
  rid: number;
  id: string;
  state: State;
  client: string;
  submitted: number;
  started: number | null;
  ended: number | null;
  expires: number | null;
  failure: string | null;
}

const QUEUED = transitionSql("lease").where;
const RELEASE = transitionSql("release");
const FINISH = transitionSql("finish");
const REUSE = transitionSql("reuse");
const FAIL = transitionSql("fail");
const INHERIT = transitionSql("inherit");
const CANCEL = transitionSql("cancel");
const UNFINISHED = "state IN ('queued', 'running')";
/**
 * Jobs that wait, by a partial index. The second term says nothing new, but SQLite does not see by itself that who waits
 * is unfinished, and would look at every job that waits instead of at those with the same question.
 */
const WAITS = `${QUEUED} AND ${UNFINISHED}`;
const INSERT_QUEUED = `INSERT INTO job (state, id, client, request, digest, submitted, twin) VALUES ('queued', ?, ?, ?, ?, ?,
  EXISTS (SELECT 1 FROM job WHERE digest = ? AND client = ? AND ${UNFINISHED}))`;
/** Two steps of a job's life in one: queued and, by `reuse`, finished. */
const INSERT_FINISHED = `INSERT INTO job (state, id, client, request, digest, submitted, started, ended, expires, result)
  VALUES ('${TRANSITIONS.reuse.to}', ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INHERITED = "A job with the same question, whose answer this one waited for, failed: ";

/** Jobs and results in SQLite. One process writes: it holds the lock of the data directory. */
export class JobStore {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #scoringVersion: () => ScoringVersion;
  readonly #maxQueued: number;
  readonly #maxQueuedPerClient: number;
  readonly #retention: number | null;
  readonly #newId: () => string;
  readonly #scheduler: FairScheduler;
  readonly #changes: GroupCommit<Submitted | HandedIn, string>;
  /** Whether a lease may find something: false once one has found nothing, until a job is queued or another ends. */
  #mayLease = true;
  /** Whether what a former process left is still to be put back: the disk was full when this one began. */
  #mustRecover = false;

  constructor(options: StoreOptions) {
    this.#database = options.database;
    this.#clock = options.clock;
    this.#scoringVersion = options.scoringVersion;
    this.#maxQueued = options.maxQueued ?? Infinity;
    this.#maxQueuedPerClient = options.maxQueuedPerClient ?? Infinity;
    this.#retention = options.retention ?? null;
    this.#newId = options.newId ?? (() => this.#clock.newId());
    this.#scheduler = new FairScheduler(options.database);
    this.#changes = new GroupCommit(
      (changes) => this.#write(changes),
      () => writeLockOf(options.database).free(),
    );
  }

  /**
   * Accepts a job of a client and gives its identifier, once its row is on the disk. Jobs that arrive while the event
   * loop is busy share one transaction and thus one fsync, each is answered only after it. What was asked before is
   * finished at once; what the same client has asked already and waits for is a twin that shares the answer.
   * @throws Problem busy where the queue is full or the disk takes no more
   */
  insert(request: JobRequest, client = ""): Promise<string> {
    return this.#changes.add({
      kind: "submitted",
      id: this.#newId(),
      client,
      request: JSON.stringify(request),
      digest: digestOf(request),
    });
  }

  /**
   * Finishes a job as `finish` does, together with all that is submitted and handed in meanwhile: one transaction and
   * one fsync for them. It is finished when the promise is kept; where the disk refuses, hand it in again.
   */
  async finishInGroup(
    lease: Pick<Lease, "rid" | "digest">,
    scoringVersion: ScoringVersion,
    prediction: string,
  ): Promise<void> {
    if (this.#changes.isClosed) return void this.finish(lease, scoringVersion, prediction);
    try {
      await this.#changes.add({ kind: "handed in", lease, scoringVersion, prediction });
    } catch (error) {
      // Not in the words for who submits.
      throw (error as Problem).cause ?? error;
    }
  }

  /** Writes the jobs that wait for it; `insert` and `handIn` call it by themselves. */
  flush(): void {
    this.#changes.flush();
  }

  /** Writes what waits and accepts no more jobs. The database stays open: it is not ours. */
  close(): void {
    this.#changes.close();
  }

  /** Ends come first: who asks the same at that moment has the answer at once. */
  #write(changes: readonly (Submitted | HandedIn)[]): (string | Problem)[] {
    const database = this.#database;
    const insertQueued = database.query(INSERT_QUEUED);
    const insertFinished = database.query(INSERT_FINISHED);
    let mayLease = this.#mayLease;
    const write = database.transaction(() => {
      const ends = changes.filter((change) => change.kind === "handed in");
      for (const { lease, scoringVersion, prediction } of ends)
        this.finish(lease, scoringVersion, prediction);
      mayLease ||= ends.length > 0;
      const now = this.#clock.now();
      const expiry = this.#expiry(now);
      const scoringVersion = this.#scoringVersion();
      const results = new Map<string, number | null>();
      let waiting = this.queued();
      const ofClient = new Map<string, number>();
      return changes.map((change): string | Problem => {
        if (change.kind === "handed in") return "";
        const { id, client, request, digest } = change;
        let result = results.get(digest);
        if (result === undefined) {
          result = resultOf(this.#database, digest, scoringVersion);
          results.set(digest, result);
        }
        if (result !== null) {
          insertFinished.run(id, client, request, digest, now, now, now, expiry, result);
          return id;
        }
        const own = ofClient.get(client) ?? this.#queuedOf(client);
        if (waiting >= this.#maxQueued) return full(`The queue is full: ${waiting} jobs wait.`);
        if (own >= this.#maxQueuedPerClient) {
          return full(`${own} jobs of this client wait, which is as many as one may have.`);
        }
        insertQueued.run(id, client, request, digest, now, digest, client);
        mayLease = true;
        waiting++;
        ofClient.set(client, own + 1);
        return id;
      });
    });
    const answers = write.immediate();
    this.#mayLease = mayLease;
    return answers;
  }

  /** Takes the job whose turn it is for a worker, for at most `milliseconds`; null where none can start now. */
  lease(milliseconds: number): Lease | null {
    if (this.#mustRecover) this.recover();
    if (!this.#mayLease) return null;
    const now = this.#clock.now();
    // Where a power cut takes the lease back the job waits, as it does after every start.
    const lease = withoutWaiting(this.#database, () => this.#scheduler.lease(now, now + milliseconds));
    this.#mayLease = lease !== null;
    return lease;
  }

  /**
   * Stores a prediction (JSON text, or packed), finishes its job, and with it those that ask the same and still wait.
   * @returns false where the job is not running any more
   */
  finish(
    { rid, digest }: Pick<Lease, "rid" | "digest">,
    scoringVersion: ScoringVersion,
    prediction: string | Uint8Array<ArrayBuffer>,
  ): boolean {
    const now = this.#clock.now();
    const packed = typeof prediction === "string" ? packPrediction(prediction) : prediction;
    return this.#inTransaction(() => {
      const running = this.#database
        .query(`SELECT client FROM job WHERE rid = ? AND ${FINISH.where}`)
        .get(rid);
      if (!running) return false;
      // The method is deterministic: where another job was quicker, what it stored is the same.
      const stored = storeResult(this.#database, digest, scoringVersion, packed, now);
      this.#database
        .query(
          `UPDATE job SET ${FINISH.set}, deadline = NULL, ended = ?, expires = ?, result = ? WHERE rid = ? AND ${FINISH.where}`,
        )
        .run(now, this.#expiry(now), stored ?? resultOf(this.#database, digest, scoringVersion), rid);
      if (!this.#waitsFor(digest)) return true;
      // Those that wait are scored on what is in use now, which may have changed while this one ran.
      const result = resultOf(this.#database, digest, this.#scoringVersion());
      if (result === null) this.#promote(digest, (running as { client: string }).client);
      else {
        this.#database
          .query(
            `UPDATE job SET ${REUSE.set}, twin = 0, started = ?, ended = ?, expires = ?, result = ?
             WHERE digest = ? AND ${WAITS}`,
          )
          .run(now, now, this.#expiry(now), result, digest);
      }
      return true;
    });
  }

  /**
   * Ends a running job without a result, and with it those that ask the same and still wait: they share the
   * computation, and with it what becomes of it.
   * @returns false where the job is not running any more
   */
  fail(rid: number, reason: string): boolean {
    const now = this.#clock.now();
    return this.#inTransaction(() => {
      const failed = this.#database
        .query(
          `UPDATE job SET ${FAIL.set}, deadline = NULL, ended = ?, expires = ?, failure = ?
           WHERE rid = ? AND ${FAIL.where} RETURNING digest`,
        )
        .get(now, this.#expiry(now), reason, rid) as { digest: string } | null;
      if (!failed) return false;
      this.#database
        .query(
          `UPDATE job SET ${INHERIT.set}, twin = 0, ended = ?, expires = ?, failure = ?
           WHERE digest = ? AND ${WAITS}`,
        )
        .run(now, this.#expiry(now), INHERITED + reason, failed.digest);
      return true;
    });
  }

  /**
   * Calls a job off, whether it waits or runs; its twins go on. Calling off what is cancelled already changes nothing.
   * @throws Problem unknown_job, conflict where it has ended otherwise
   */
  cancel(id: string): JobView {
    const now = this.#clock.now();
    this.#inTransaction(() => {
      const cancelled = this.#database
        .query(
          `UPDATE job SET ${CANCEL.set}, twin = 0, deadline = NULL, ended = ?, expires = ?, failure = ?
           WHERE id = ? AND ${CANCEL.where} RETURNING digest, client`,
        )
        .get(now, this.#expiry(now), "The job was cancelled.", id) as {
        digest: string;
        client: string;
      } | null;
      if (cancelled) this.#promote(cancelled.digest, cancelled.client);
    });
    const job = this.get(id);
    if (job.state !== "cancelled") {
      throw new Problem("conflict", `The job is ${job.state}; only one that waits or runs can be cancelled.`);
    }
    return job;
  }

  /** Lets the oldest twin take a turn of its own, unless another job of the client with this question is ahead of it. */
  #promote(digest: string, client: string): void {
    this.#database
      .query(
        `UPDATE job SET twin = 0 WHERE rid = (SELECT min(rid) FROM job WHERE digest = ?1 AND client = ?2 AND ${WAITS})
         AND NOT EXISTS (SELECT 1 FROM job WHERE digest = ?1 AND client = ?2 AND ${UNFINISHED} AND twin = 0)`,
      )
      .run(digest, client);
  }

  /**
   * Gives a running job back to the queue, in its old place. `counted` says whether the attempt was the job's own
   * (its worker died) or ended from outside (the service stops): only the former may use up its attempts.
   */
  release(rid: number, counted: boolean): boolean {
    const { changes } = this.#database
      .query(
        `UPDATE job SET ${RELEASE.set}, worker = NULL, deadline = NULL, started = NULL, attempts = attempts - ?
         WHERE rid = ? AND ${RELEASE.where}`,
      )
      .run(counted ? 0 : 1, rid);
    this.#mayLease = true;
    return changes > 0;
  }

  /**
   * Releases a job whose worker died, or fails it where it has had all its attempts.
   * @returns the state it is in now
   */
  retry(rid: number, attempts: number, reason: string): State {
    if (attempts < MAX_ATTEMPTS) {
      this.release(rid, true);
      return "queued";
    }
    this.fail(rid, reason);
    return "failed";
  }

  /**
   * At start, before any worker: no job of this process can be running, so every one that claims to be was cut off by its
   * end. Those of workers elsewhere go on; without a farm they are ours again. Where it throws, nothing is leased before
   * it was done.
   */
  recover(hasFarm = false): { requeued: number; failed: number } {
    this.#mustRecover = true;
    const abandoned = this.#database.query(
      `UPDATE job SET interruptions = interruptions + 1 WHERE ${RELEASE.where} AND worker IS NULL RETURNING rid, interruptions`,
    );
    const recovered = this.#inTransaction(() => {
      if (!hasFarm) {
        this.#database.run(
          `UPDATE job SET ${RELEASE.set}, worker = NULL, deadline = NULL, started = NULL WHERE ${RELEASE.where} AND worker IS NOT NULL`,
        );
        this.#database.run("UPDATE job SET worker = NULL WHERE state = 'queued' AND worker = ''");
      }
      const states = (abandoned.all() as { rid: number; interruptions: number }[]).map(
        ({ rid, interruptions }) => {
          if (interruptions < MAX_INTERRUPTIONS) {
            this.release(rid, false);
            return "queued";
          }
          this.fail(rid, `The service ended ${interruptions} times while it scored this job.`);
          return "failed";
        },
      );
      const requeued = states.filter((state) => state === "queued").length;
      return { requeued, failed: states.length - requeued };
    });
    // Only now is it on the disk.
    this.#mustRecover = false;
    return recovered;
  }

  /** @throws Problem unknown_job */
  get(id: string): JobView {
    const row = this.#database
      .query(
        "SELECT rid, id, state, client, submitted, started, ended, expires, failure FROM job WHERE id = ?",
      )
      .get(id) as JobRow | null;
    if (!row) throw unknownJob();
    // Written out: clients poll this, and a rest of a row is slow to make.
    return {
      id: row.id,
      state: row.state,
      submitted: row.submitted,
      started: row.started,
      ended: row.ended,
      expires: row.expires,
      failure: row.failure,
      place: row.state === "queued" ? this.#scheduler.place(row.rid, row.client) : null,
    };
  }

  /** The prediction of a finished job; null in every other state. @throws Problem unknown_job */
  prediction(id: string): Prediction | null {
    const row = this.#database
      .query("SELECT r.prediction, r.packed FROM job j LEFT JOIN result r ON r.rid = j.result WHERE j.id = ?")
      .get(id) as StoredPrediction | null;
    if (!row) throw unknownJob();
    const text = textOf(row);
    return text === null ? null : (JSON.parse(text) as Prediction);
  }

  /** What the job was asked; null once it has expired. @throws Problem unknown_job */
  request(id: string): JobRequest | null {
    const row = this.#database.query("SELECT request FROM job WHERE id = ?").get(id) as {
      request: string | null;
    } | null;
    if (!row) throw unknownJob();
    return row.request === null ? null : (JSON.parse(row.request) as JobRequest);
  }

  /** Number of jobs by state. */
  counts(): Record<State, number> {
    const rows = this.#database.query("SELECT state, count(*) AS n FROM job GROUP BY state").all() as {
      state: State;
      n: number;
    }[];
    const found = new Map(rows.map(({ state, n }) => [state, n]));
    return Object.fromEntries(STATES.map((state) => [state, found.get(state) ?? 0])) as Record<State, number>;
  }

  /** When the job that waits longest was submitted; null where none waits. */
  oldestQueued(): number | null {
    const row = this.#database
      .query("SELECT submitted FROM job WHERE state = 'queued' ORDER BY rid LIMIT 1")
      .get() as { submitted: number } | null;
    return row?.submitted ?? null;
  }

  /** Number of jobs that wait. */
  queued(): number {
    const row = this.#database.query("SELECT coalesce(sum(waiting), 0) AS n FROM queue").get();
    return (row as { n: number }).n;
  }

  #queuedOf(client: string): number {
    const row = this.#database.query("SELECT waiting FROM queue WHERE client = ?").get(client);
    return (row as { waiting: number } | null)?.waiting ?? 0;
  }

  /** Whether somebody else waits for the answer to this question. */
  #waitsFor(digest: string): boolean {
    return (
      this.#database.query(`SELECT 1 FROM job WHERE digest = ? AND ${WAITS} LIMIT 1`).get(digest) !== null
    );
  }

  #expiry(ended: number): number | null {
    return this.#retention === null ? null : ended + this.#retention;
  }

  /** Runs what changes jobs in other ways, in one transaction. */
  change<T>(action: () => T): T {
    return this.#inTransaction(action);
  }

  /** From the beginning as a writer: one that begins as a reader is refused where another process writes meanwhile. */
  #inTransaction<T>(action: () => T): T {
    if (this.#database.inTransaction) return action();
    // Whatever it did, another job may have its turn now.
    this.#mayLease = true;
    return this.#database.transaction(action).immediate();
  }
}

function full(what: string): Problem {
  return new Problem("busy", `${what} Try again in a minute.`, { headers: { "Retry-After": "60" } });
}

/** The identifier is not repeated: it is the caller's text, and may be anything. */
function unknownJob(): Problem {
  return new Problem(
    "unknown_job",
    "There is no job with this identifier. RunJob returns identifiers of jobs.",
  );
}
