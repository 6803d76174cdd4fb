import type { Prediction } from "../motif/index.ts";
import { Problem } from "../problem.ts";
import type { Clock } from "../shell/clock.ts";
import type { Database } from "../shell/sqlite.ts";
import {
  MAX_ATTEMPTS,
  MAX_INTERRUPTIONS,
  STATES,
  TRANSITIONS,
  type JobEvent,
  type JobRequest,
  type State,
} from "./job.ts";

/** A job as its owner may see it. Times are milliseconds since 1970-01-01 UTC. */
export interface JobView {
  id: string;
  state: State;
  submitted: number;
  started: number | null;
  ended: number | null;
  /** Why the job failed, in a sentence; null in every other state. */
  failure: string | null;
  /** 1 for the next job to be leased; null unless queued. */
  place: number | null;
}

/** A job in the hands of a worker. */
export interface Lease {
  rid: number;
  id: string;
  request: JobRequest;
  digest: string;
  /** 1 the first time. */
  attempts: number;
  /** Until when the worker may take. */
  deadline: number;
}

/** What a result depends on besides the request. */
export interface Basis {
  /** Content hash of the corpus. */
  corpus: string;
  /** Version of the method. */
  method: string;
}

interface Waiting {
  id: string;
  request: string;
  digest: string;
  resolve: (id: string) => void;
  reject: (error: unknown) => void;
}

interface JobRow {
  rid: number;
  id: string;
  state: State;
  submitted: number;
  started: number | null;
  ended: number | null;
  failure: string | null;
}

/** `SET` and `WHERE` of a transition: the state it leads to, and only from the state it starts in. */
function move(event: JobEvent): { set: string; where: string } {
  const { from, to } = TRANSITIONS[event];
  return { set: `state = '${to}'`, where: `state = '${from}'` };
}

const LEASE = move("lease");
const RELEASE = move("release");
const FINISH = move("finish");
const REUSE = move("reuse");
const FAIL = move("fail");

/** Jobs and results in SQLite. One process writes: it holds the lock of the data directory. */
export class JobStore {
  #waiting: Waiting[] = [];
  #closed = false;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    /** Jobs that may wait; one more is refused. */
    private readonly maxQueued: number,
    /** What a job would be scored on now: results on the same are shared. */
    private readonly basis: () => Basis,
  ) {}

  /**
   * Accepts a job and gives its identifier, once its row is on the disk. Jobs that arrive while the event loop is
   * busy share one transaction and thus one fsync, each is answered only after it. What was asked before is
   * finished at once.
   * @throws Problem busy where the queue is full or the disk takes no more
   */
  insert(request: JobRequest): Promise<string> {
    if (this.#closed) {
      return Promise.reject(
        new Problem("busy", "The service is stopping; submit the job again in a minute."),
      );
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        id: this.clock.newId(),
        request: JSON.stringify(request),
        digest: digestOf(request),
        resolve,
        reject,
      });
      if (this.#waiting.length === 1) setImmediate(() => this.flush());
    });
  }

  /** Writes the jobs that wait for it; `insert` calls it by itself. */
  flush(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length === 0) return;
    let accepted: Waiting[];
    try {
      accepted = this.database.transaction(() => {
        const room = Math.max(0, this.maxQueued - this.queued());
        const statement = this.database.query(
          "INSERT INTO job (id, state, request, digest, submitted) VALUES (?, 'queued', ?, ?, ?)",
        );
        const now = this.clock.now();
        const taken = batch.slice(0, room);
        const basis = this.basis();
        for (const { id, request, digest } of taken) {
          const { lastInsertRowid } = statement.run(id, request, digest, now);
          this.#reuse("rid = ?", Number(lastInsertRowid), digest, basis);
        }
        return taken;
      })();
    } catch (error) {
      const problem = new Problem("busy", "The job could not be stored; try again later.", { cause: error });
      for (const { reject } of batch) reject(problem);
      return;
    }
    for (const { id, resolve } of accepted) resolve(id);
    for (const { reject } of batch.slice(accepted.length)) {
      reject(
        new Problem("busy", `The queue is full: ${this.maxQueued} jobs wait. Try again in a minute.`, {
          headers: { "Retry-After": "60" },
        }),
      );
    }
  }

  /** Writes what waits and accepts no more jobs. The database stays open: it is not ours. */
  close(): void {
    this.#closed = true;
    this.flush();
  }

  /** Takes the oldest queued job for a worker, for at most `milliseconds`; null where none waits. */
  lease(milliseconds: number): Lease | null {
    const now = this.clock.now();
    const row = this.database
      .query(
        `UPDATE job SET ${LEASE.set}, attempts = attempts + 1, started = ?, deadline = ?
         WHERE rid = (SELECT rid FROM job WHERE ${LEASE.where} ORDER BY rid LIMIT 1)
         RETURNING rid, id, request, digest, attempts, deadline`,
      )
      .get(now, now + milliseconds) as (Omit<Lease, "request"> & { request: string }) | null;
    return row && { ...row, request: JSON.parse(row.request) as JobRequest };
  }

  /**
   * Stores a prediction (JSON text), finishes its job, and with it those that ask the same and still wait.
   * @returns false where the job is not running any more
   */
  finish({ rid, digest }: Pick<Lease, "rid" | "digest">, basis: Basis, prediction: string): boolean {
    const now = this.clock.now();
    return this.database.transaction(() => {
      const isRunning = this.database.query(`SELECT 1 FROM job WHERE rid = ? AND ${FINISH.where}`).get(rid);
      if (!isRunning) return false;
      // The method is deterministic: where another job was quicker, what it stored is the same.
      this.database
        .query(
          `INSERT INTO result (digest, corpus, method, prediction, computed) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT DO NOTHING`,
        )
        .run(digest, basis.corpus, basis.method, prediction, now);
      this.database
        .query(
          `UPDATE job SET ${FINISH.set}, deadline = NULL, ended = ?,
             result = (SELECT rid FROM result WHERE digest = ? AND corpus = ? AND method = ?)
           WHERE rid = ? AND ${FINISH.where}`,
        )
        .run(now, digest, basis.corpus, basis.method, rid);
      // Those that wait are scored on what is in use now, which may have changed while this one ran.
      this.#reuse("digest = ?", digest, digest, this.basis());
      return true;
    })();
  }

  /** Finishes the queued jobs of a condition with the stored result of this digest, where there is one. */
  #reuse(condition: "rid = ?" | "digest = ?", value: number | string, digest: string, basis: Basis): void {
    const result = this.database
      .query("SELECT rid FROM result WHERE digest = ? AND corpus = ? AND method = ?")
      .get(digest, basis.corpus, basis.method) as { rid: number } | null;
    if (!result) return;
    const now = this.clock.now();
    this.database
      .query(
        `UPDATE job SET ${REUSE.set}, started = ?, ended = ?, result = ? WHERE ${REUSE.where} AND ${condition}`,
      )
      .run(now, now, result.rid, value);
  }

  /** Ends a running job without a result; false where it is not running any more. */
  fail(rid: number, reason: string): boolean {
    const { changes } = this.database
      .query(
        `UPDATE job SET ${FAIL.set}, deadline = NULL, ended = ?, failure = ? WHERE rid = ? AND ${FAIL.where}`,
      )
      .run(this.clock.now(), reason, rid);
    return changes > 0;
  }

  /**
   * Gives a running job back to the queue, in its old place. `counted` says whether the attempt was the job's own
   * (its worker died) or ended from outside (the service stops): only the former may use up its attempts.
   */
  release(rid: number, counted: boolean): boolean {
    const { changes } = this.database
      .query(
        `UPDATE job SET ${RELEASE.set}, deadline = NULL, started = NULL, attempts = attempts - ?
         WHERE rid = ? AND ${RELEASE.where}`,
      )
      .run(counted ? 0 : 1, rid);
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

  /** At start, before any worker: no job can be running, so every one that claims to be was cut off by the end of the process. */
  recover(): { requeued: number; failed: number } {
    const abandoned = this.database.query(
      `UPDATE job SET interruptions = interruptions + 1 WHERE ${RELEASE.where} RETURNING rid, interruptions`,
    );
    return this.database.transaction(() => {
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
    })();
  }

  /** @throws Problem unknown_job */
  get(id: string): JobView {
    const { rid, ...job } = this.#row(id);
    return { ...job, place: job.state === "queued" ? this.#place(rid) : null };
  }

  /** The prediction of a finished job; null in every other state. @throws Problem unknown_job */
  prediction(id: string): Prediction | null {
    const row = this.database
      .query("SELECT r.prediction FROM job j LEFT JOIN result r ON r.rid = j.result WHERE j.id = ?")
      .get(id) as { prediction: string | null } | null;
    if (!row) throw unknownJob();
    return row.prediction === null ? null : (JSON.parse(row.prediction) as Prediction);
  }

  /** What the job was asked. @throws Problem unknown_job */
  request(id: string): JobRequest {
    const row = this.database.query("SELECT request FROM job WHERE id = ?").get(id) as {
      request: string;
    } | null;
    if (!row) throw unknownJob();
    return JSON.parse(row.request) as JobRequest;
  }

  /** Number of jobs by state. */
  counts(): Record<State, number> {
    const rows = this.database.query("SELECT state, count(*) AS n FROM job GROUP BY state").all() as {
      state: State;
      n: number;
    }[];
    const found = new Map(rows.map(({ state, n }) => [state, n]));
    return Object.fromEntries(STATES.map((state) => [state, found.get(state) ?? 0])) as Record<State, number>;
  }

  /** Number of jobs that wait. */
  queued(): number {
    const row = this.database.query(`SELECT count(*) AS n FROM job WHERE ${LEASE.where}`).get();
    return (row as { n: number }).n;
  }

  #row(id: string): JobRow {
    const row = this.database
      .query("SELECT rid, id, state, submitted, started, ended, failure FROM job WHERE id = ?")
      .get(id) as JobRow | null;
    if (!row) throw unknownJob();
    return row;
  }

  #place(rid: number): number {
    const { n } = this.database
      .query(`SELECT count(*) AS n FROM job WHERE ${LEASE.where} AND rid <= ?`)
      .get(rid) as { n: number };
    return n;
  }
}

/** The identifier is not repeated: it is the caller's text, and may be anything. */
function unknownJob(): Problem {
  return new Problem(
    "unknown_job",
    "There is no job with this identifier. RunJob returns identifiers of jobs.",
  );
}

/** SHA-256 over what the prediction depends on; the client's identifier is no part of it. */
export function digestOf({ query, model, patterns }: JobRequest): string {
  const canonical = JSON.stringify([
    query,
    model,
    patterns.map(({ expression, name, dialect }) => [expression, name, dialect]),
  ]);
  return new Bun.CryptoHasher("sha256").update(canonical).digest("hex");
}
