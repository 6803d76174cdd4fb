import type { Clock } from "../../platform/clock.ts";
import type { BackgroundQueue } from "./background.ts";
import { type Database, withoutSync } from "../../platform/sqlite.ts";
import { transitionSql, type State } from "./job.ts";
import type { Progress } from "./pool-options.ts";
import type { ScoringVersion } from "../corpus/corpus.ts";
import type { JobStore } from "./store.ts";
import { type Offer, FairScheduler } from "./fair-scheduler.ts";

export type { Offer } from "./fair-scheduler.ts";

/** The workers on other machines. */
export interface Farm {
  /** Call it whenever a job was accepted, or another corpus was taken into use. */
  wake(): void;
  /** True if the pool of this process may take jobs now. */
  poolMayWork(): boolean;
  /** Progress of a job; null if no remote worker has it. */
  progress(id: string): Progress | null;
  /** The job was cancelled. */
  drop(id: string): void;
  close(): Promise<void>;
}

/** The parts of this process that a farm works with. */
export interface FarmDependencies {
  jobs: FarmJobs;
  /** Tasks of builds, for idle workers. */
  background: BackgroundQueue;
  /** The version that scores jobs now. */
  scoringVersion: () => ScoringVersion;
  /** Corpus of the job; null if there is none. */
  corpus: () => { name: string; hash: string; path: string } | null;
  /** Jobs that wait, and when the oldest was submitted. */
  backlog: () => { waiting: number; oldest: number | null };
  /** Milliseconds that a job may take. */
  timeout: number;
  /** A job may have ended. */
  settled: () => void;
  /** The pool may take jobs now. */
  wakePool: () => void;
  /** The pool need not continue with a job. */
  dropFromPool: (id: string) => void;
}

/** An unfinished job. */
interface FarmJob {
  rid: number;
  id: string;
  client: string;
  state: State;
  digest: string;
  /** Name of the remote worker; empty if the job is only offered, null if it is of this process. */
  worker: string | null;
  attempts: number;
}

export const UNKNOWN_WORKER = "unknown";

/** A job that a remote worker has taken. */
export interface RemoteLease {
  id: string;
  /** Name of the worker. */
  worker: string;
  /** Number of this attempt, from 1. */
  attempts: number;
}

const LEASE = transitionSql("lease");
const RELEASE = transitionSql("release");
const REMOTE = "(state = 'running' OR (state = 'queued' AND worker = ''))";

const FARM_JOB = "SELECT rid, id, client, state, digest, worker, attempts FROM job";
/** Takes a job from its worker, to be queued or offered. */
const requeueStatement = (worker: "NULL" | "''"): string =>
  `UPDATE job SET ${RELEASE.set}, worker = ${worker}, deadline = NULL, started = NULL WHERE rid = ? AND ${RELEASE.where}`;

/**
 * The jobs that remote workers may take, have taken or finish. The database is the source of truth: every message of a
 * worker or of the job queue ends in a transition of job.ts, or in none, so that finishing an ended job returns `false`.
 */
export class FarmJobs {
  readonly #scheduler: FairScheduler;

  constructor(
    private readonly database: Database,
    private readonly store: JobStore,
    private readonly clock: Clock,
  ) {
    this.#scheduler = new FairScheduler(database);
  }

  /** Reserves at most so many jobs for remote workers, fairly between clients; the pool leaves them alone. */
  offer(most: number): Offer[] {
    if (!this.#scheduler.mayOffer()) return [];
    // If a power cut undoes this, the next reconciliation with the job queue corrects it.
    return this.#inFastTransaction(() => {
      const offers: Offer[] = [];
      for (let offer; offers.length < most && (offer = this.#scheduler.offer());) offers.push(offer);
      return offers;
    });
  }

  /** Withdraws offers that no worker has taken, these or all; the jobs have their old places in the queue. */
  withdraw(ids?: readonly string[]): number {
    const one = this.database.query(
      "UPDATE job SET worker = NULL WHERE id = ? AND state = 'queued' AND worker = ''",
    );
    const all = "UPDATE job INDEXED BY job_offered SET worker = NULL WHERE state = 'queued' AND worker = ''";
    return this.store.change(() =>
      ids ? ids.reduce((sum, id) => sum + one.run(id).changes, 0) : this.database.run(all).changes,
    );
  }

  /** Jobs that are offered, or that a remote worker has. */
  remoteJobs(): FarmJob[] {
    const sql = `${FARM_JOB} INDEXED BY job_taken WHERE ${REMOTE} AND worker IS NOT NULL`;
    return this.database.query(sql).all() as FarmJob[];
  }

  /** An unfinished job; null if it has ended or is unknown. */
  find(id: string): FarmJob | null {
    const sql = `${FARM_JOB} WHERE id = ? AND state IN ('queued', 'running')`;
    return this.database.query(sql).get(id) as FarmJob | null;
  }

  /** Records that a job waits in the job queue. @returns false if it cannot */
  markOffered(id: string): boolean {
    const job = this.find(id);
    if (!job) return false;
    const sql =
      job.state === "queued"
        ? `UPDATE job SET worker = '' WHERE rid = ? AND ${LEASE.where}`
        : `${requeueStatement("''")} AND worker IS NOT NULL`;
    return this.database.query(sql).run(job.rid).changes > 0;
  }

  /** Number of jobs that remote workers have. */
  running(): number {
    const sql =
      "SELECT count(*) AS n FROM job INDEXED BY job_state WHERE state = 'running' AND worker IS NOT NULL";
    return (this.database.query(sql).get() as { n: number }).n;
  }

  /**
   * Records that remote workers have started jobs, in one transaction.
   * @returns for each whether it could be started: false if it has ended, or the pool has it
   */
  begin(taken: readonly RemoteLease[], milliseconds: number): boolean[] {
    return this.#inFastTransaction(() => taken.map((one) => this.#begin(one, milliseconds)));
  }

  /** Writes without waiting for the disk. */
  #inFastTransaction<T>(action: () => T): T {
    return withoutSync(this.database, () => this.database.transaction(action).immediate());
  }

  #begin({ id, worker, attempts }: RemoteLease, milliseconds: number): boolean {
    const now = this.clock.now();
    const values = [worker, attempts, now, now + milliseconds, id];
    const rest = "worker = ?, attempts = ?, started = ?, deadline = ? WHERE id = ?";
    const begun = this.database
      .query(`UPDATE job SET ${LEASE.set}, ${rest} AND ${LEASE.where}`)
      .run(...values);
    if (begun.changes > 0) return true;
    // A worker had it before.
    const again = this.database.query(`UPDATE job SET ${rest} AND ${RELEASE.where} AND worker IS NOT NULL`);
    return again.run(...values).changes > 0;
  }

  /**
   * Returns an offered or started job to the queue of this process; the attempt is not counted.
   * @returns false if it has ended, or is the pool's
   */
  release(id: string): boolean {
    const job = this.find(id);
    if (!job || job.worker === null) return false;
    if (job.state === "queued") return this.withdraw([id]) > 0;
    return this.store.change(() => this.database.query(requeueStatement("NULL")).run(job.rid).changes > 0);
  }

  /** Releases jobs of remote workers whose deadline passed so many milliseconds ago. */
  releaseOverdue(milliseconds: number): number {
    const overdue = this.database
      .query(
        `SELECT id FROM job INDEXED BY job_taken WHERE ${REMOTE} AND state = 'running' AND worker IS NOT NULL AND deadline < ?`,
      )
      .all(this.clock.now() - milliseconds) as { id: string }[];
    return overdue.filter(({ id }) => this.release(id)).length;
  }

  /**
   * Stores predictions (JSON text, or packed) in one transaction.
   * @param onPoolJob called for each job that the pool of this process had
   * @returns for each whether it ended its job: false if that had ended already, or is unknown
   */
  finish(
    handed: readonly (RemoteLease & {
      prediction: string | Uint8Array<ArrayBuffer>;
      scoringVersion: ScoringVersion;
    })[],
    onPoolJob: (id: string) => void = () => {},
  ): boolean[] {
    if (handed.length === 0) return [];
    const pools: string[] = [];
    const ends = this.store.change(() =>
      handed.map((taken) => {
        const job = this.#taken(taken);
        if (job?.worker === null && job.state === "running") pools.push(job.id);
        return job !== null && this.store.finish(job, taken.scoringVersion, taken.prediction);
      }),
    );
    for (const id of pools) onPoolJob(id);
    return ends;
  }

  /** Ends a job without a result. @returns false if it had ended already, or is unknown */
  fail(taken: RemoteLease, reason: string): boolean {
    return this.store.change(() => {
      const job = this.#taken(taken);
      return job !== null && this.store.fail(job.rid, reason);
    });
  }

  /** The job, after recording its worker, whose start may not have been reported. */
  #taken(taken: RemoteLease): FarmJob | null {
    const job = this.find(taken.id);
    if (job?.state === "queued") this.#begin(taken, 0);
    else if (
      job &&
      job.worker !== null &&
      taken.worker !== UNKNOWN_WORKER &&
      (job.worker !== taken.worker || job.attempts !== taken.attempts)
    ) {
      this.database
        .query("UPDATE job SET worker = ?, attempts = ? WHERE rid = ?")
        .run(taken.worker, taken.attempts, job.rid);
    }
    return job;
  }
}
