import type { Clock } from "../../platform/clock.ts";
import { type Database, withoutWaiting } from "../../platform/sqlite.ts";
import { transitionSql, type State } from "./job.ts";
import type { Progress } from "./pool.ts";
import type { ScoringVersion, JobStore } from "./store.ts";
import { type Offer, FairScheduler } from "./fair-scheduler.ts";

export type { Offer } from "./fair-scheduler.ts";

/** Workers on other machines, as the service sees them: who takes jobs besides the pool of this process. */
export interface Farm {
  /** Call it whenever a job was accepted, or another corpus was taken into use. */
  wake(): void;
  /** Whether the pool of this process may take jobs now. */
  poolMayWork(): boolean;
  /** How far a job is; null where no worker elsewhere has it. */
  progress(id: string): Progress | null;
  /** The job was cancelled: nobody need score it. */
  drop(id: string): void;
  close(): Promise<void>;
}

/** What such workers are given of this process. */
export interface FarmDependencies {
  jobs: FarmJobs;
  /** What a job would be scored on now. */
  scoringVersion: () => ScoringVersion;
  /** The corpus that goes with it; null where there is none. */
  corpus: () => { name: string; path: string } | null;
  /** Jobs that wait, and when the oldest was submitted. */
  backlog: () => { waiting: number; oldest: number | null };
  /** Milliseconds that a job may take. */
  timeout: number;
  /** A job may have ended. */
  settled: () => void;
  /** The pool may take jobs now. */
  wakePool: () => void;
  /** The pool need not go on with a job. */
  dropFromPool: (id: string) => void;
}

/** A job that has not ended, as who offers it needs it. */
export interface FarmJob {
  rid: number;
  id: string;
  client: string;
  state: State;
  digest: string;
  worker: string | null;
  attempts: number;
}

/** The name where that is not known any more. */
export const UNKNOWN_WORKER = "unknown";

/** A job in the hands of a worker elsewhere. */
export interface RemoteLease {
  id: string;
  /** Its name. */
  worker: string;
  /** 1 the first time that it is tried. */
  attempts: number;
}

const LEASE = transitionSql("lease");
const RELEASE = transitionSql("release");
const REMOTE = "(state = 'running' OR (state = 'queued' AND worker = ''))";

/**
 * The jobs that workers elsewhere may take, have taken and hand in, in SQLite: what is true of a job stands here, and
 * whatever they, or the queue between, say of it ends in a transition of job.ts, or in none. So whoever finishes
 * a job that has ended already finds that out by `false`.
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

  /** Sets at most so many jobs aside for workers elsewhere, in turns between clients; until they are withdrawn the pool leaves them alone. */
  offer(most: number): Offer[] {
    if (!this.#scheduler.mayOffer()) return [];
    // Where a power cut takes this back, the next look at the queue between puts it right.
    return withoutWaiting(this.database, () =>
      this.database
        .transaction(() => {
          const offers: Offer[] = [];
          for (let offer; offers.length < most && (offer = this.#scheduler.offer());) offers.push(offer);
          return offers;
        })
        .immediate(),
    );
  }

  /** Takes offers back that no worker has taken: these, or all. They have their old places in the queue. */
  withdraw(ids?: readonly string[]): number {
    const one = this.database.query(
      "UPDATE job SET worker = NULL WHERE id = ? AND state = 'queued' AND worker = ''",
    );
    const withdrawn = this.store.change(() =>
      ids
        ? ids.reduce((sum, id) => sum + one.run(id).changes, 0)
        : this.database.run(
            "UPDATE job INDEXED BY job_offered SET worker = NULL WHERE state = 'queued' AND worker = ''",
          ).changes,
    );
    return withdrawn;
  }

  /** Jobs that are offered, or that a worker elsewhere has. */
  remoteJobs(): FarmJob[] {
    return this.database
      .query(
        `SELECT rid, id, client, state, digest, worker, attempts FROM job INDEXED BY job_taken WHERE ${REMOTE} AND worker IS NOT NULL`,
      )
      .all() as FarmJob[];
  }

  /** A job that has not ended; null where it has, or is unknown. */
  find(id: string): FarmJob | null {
    return this.database
      .query(
        `SELECT rid, id, client, state, digest, worker, attempts FROM job WHERE id = ? AND state IN ('queued', 'running')`,
      )
      .get(id) as FarmJob | null;
  }

  /** Notes that a job of ours is in the queue between, where it waits. @returns false where it does not wait */
  markOffered(id: string): boolean {
    const job = this.find(id);
    if (!job) return false;
    const { changes } =
      job.state === "queued"
        ? this.database.query(`UPDATE job SET worker = '' WHERE rid = ? AND ${LEASE.where}`).run(job.rid)
        : this.database
            .query(
              `UPDATE job SET ${RELEASE.set}, worker = '', deadline = NULL, started = NULL WHERE rid = ? AND ${RELEASE.where} AND worker IS NOT NULL`,
            )
            .run(job.rid);
    return changes > 0;
  }

  /** How many jobs workers elsewhere have. */
  running(): number {
    const row = this.database
      .query(
        "SELECT count(*) AS n FROM job INDEXED BY job_state WHERE state = 'running' AND worker IS NOT NULL",
      )
      .get();
    return (row as { n: number }).n;
  }

  /**
   * Workers elsewhere have begun with jobs, all noted in one transaction.
   * @returns for each false where it has ended, or the pool has it
   */
  begin(taken: readonly RemoteLease[], milliseconds: number): boolean[] {
    return withoutWaiting(this.database, () =>
      this.database.transaction(() => taken.map((one) => this.#begin(one, milliseconds))).immediate(),
    );
  }

  #begin({ id, worker, attempts }: RemoteLease, milliseconds: number): boolean {
    const now = this.clock.now();
    const [values, rest] = [
      [worker, attempts, now, now + milliseconds, id] as const,
      "worker = ?, attempts = ?, started = ?, deadline = ? WHERE id = ?",
    ];
    const begun = this.database
      .query(`UPDATE job SET ${LEASE.set}, ${rest} AND ${LEASE.where}`)
      .run(...values);
    if (begun.changes > 0) return true;
    // Another worker had it before, or the same.
    const again = this.database.query(`UPDATE job SET ${rest} AND ${RELEASE.where} AND worker IS NOT NULL`);
    return again.run(...values).changes > 0;
  }

  /**
   * Gives a job that was offered or begun back to the queue of this process; the attempt is not counted.
   * @returns false where it has ended, or is the pool's
   */
  release(id: string): boolean {
    const job = this.find(id);
    if (!job || job.worker === null) return false;
    if (job.state === "queued") return this.withdraw([id]) > 0;
    return this.store.change(() => {
      const { changes } = this.database
        .query(
          `UPDATE job SET ${RELEASE.set}, worker = NULL, deadline = NULL, started = NULL WHERE rid = ? AND ${RELEASE.where}`,
        )
        .run(job.rid);
      return changes > 0;
    });
  }

  /** Releases jobs that workers elsewhere began with and whose deadline was passed so many milliseconds ago. */
  releaseOverdue(milliseconds: number): number {
    const overdue = this.database
      .query(
        `SELECT id FROM job INDEXED BY job_taken WHERE ${REMOTE} AND state = 'running' AND worker IS NOT NULL AND deadline < ?`,
      )
      .all(this.clock.now() - milliseconds) as { id: string }[];
    return overdue.filter(({ id }) => this.release(id)).length;
  }

  /**
   * Stores predictions (JSON text, or packed) that were handed in, all in one transaction.
   * @param wasPools told of each whose job the pool of this process had
   * @returns for each whether it ended its job: false where that had ended already, or is unknown
   */
  finish(
    handed: readonly (RemoteLease & {
      prediction: string | Uint8Array<ArrayBuffer>;
      scoringVersion: ScoringVersion;
    })[],
    wasPools: (id: string) => void = () => {},
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
    for (const id of pools) wasPools(id);
    return ends;
  }

  /** Ends a job without a result. @returns false where it had ended already, or is unknown */
  fail(taken: RemoteLease, reason: string): boolean {
    return this.store.change(() => {
      const job = this.#taken(taken);
      return job !== null && this.store.fail(job.rid, reason);
    });
  }

  /** The job with who has it: that it was begun, or by whom, may not have been told. */
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
