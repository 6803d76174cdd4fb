import { Problem } from "../problem.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { DIRECT, type PublicUrlOptions } from "../platform/origin.ts";
import type { Database } from "../platform/sqlite.ts";
import { writeLockOf } from "../platform/write-lock.ts";
import { readBatch } from "./batch/batch-table.ts";
import type { MessageLimits } from "./contract/limits.ts";
import { Corpora } from "./corpus/corpus.ts";
import { type Farm, FarmJobs, type FarmDependencies } from "./jobs/farm-jobs.ts";
import { openSweeper } from "./jobs/expiry.ts";
import { scoringHandlers, type JobRunner } from "./api/handlers.ts";
import { jobId, type State } from "./jobs/job.ts";
import { type JobRecord, recentJobs } from "./jobs/job-records.ts";
import { jsonAnswers } from "./api/json-answers.ts";
import { MotifTables } from "./corpus/motif-tables.ts";
import { Pool, type WorkerStatus } from "./jobs/pool.ts";
import { jsonRoutes } from "./api/route-json.ts";
import { scoringRoutes } from "./api/route.ts";
import { type AlignmentRequest, scoreAlignment } from "./batch/score-alignment.ts";
import {
  type Answering,
  type NamedQuestion,
  readSequences,
  type Scored,
  scoreQuestions,
  type ScoreRequest,
  scoreSequences,
} from "./batch/score.ts";
import { JobStore, type JobView } from "./jobs/store.ts";

export type { Homolog, HomologAtMatch, MatchScore, PatternScores, Prediction } from "../motif/index.ts";
export { calibrateCorpus } from "./corpus/calibration.ts";
export {
  calibrationFileText,
  calibrationPath,
  readCalibration,
  readCalibrationText,
} from "./corpus/calibration-file.ts";
export {
  Corpora,
  type CorpusInfo,
  corpusPath,
  type CorpusSource,
  emptyCorpus,
  openCorpusFile,
  verifyCorpusFile,
} from "./corpus/corpus.ts";
export { writeDurably } from "./corpus/durable-file.ts";
export { decompressed } from "./corpus/fasta-stream.ts";
export {
  type Farm,
  type FarmDependencies,
  type FarmJobs,
  type Offer,
  type RemoteLease,
  UNKNOWN_WORKER,
} from "./jobs/farm-jobs.ts";
export { packPrediction } from "./jobs/packed-prediction.ts";
export { type JobSource, Pool, type Progress } from "./jobs/pool.ts";
export type { Lease } from "./jobs/fair-scheduler.ts";
export type { ScoringVersion } from "./jobs/store.ts";
export { jobCompletions, type JobCompletions } from "./jobs/job-completions.ts";
export type { MotifClass, MotifClasses } from "./corpus/motif-classes.ts";
export type { ImportedTable, MotifTables } from "./corpus/motif-tables.ts";
export { PRINTERS, type PrinterName } from "./api/result-printer.ts";
export { type JobRequest, MAX_ATTEMPTS, MAX_INTERRUPTIONS, type State, STATES } from "./jobs/job.ts";
export { ENDPOINT } from "./api/route.ts";
export type { NamedQuestion, Scored, ScoreRequest } from "./batch/score.ts";
export {
  beginningOf,
  type Run,
  type Shard,
  type ShardBeginning,
  type ShardEnd,
  shardRange,
} from "./batch/shard.ts";

export interface ScoringOptions {
  database: Database;
  clock: Clock;
  log: Log;
  /** Holds `corpora/`. */
  dataDirectory: string;
  /** Scoring workers; 0 opens the service without touching the queue. */
  workers: number;
  /** Seconds that one job may take. */
  jobTimeoutSeconds: number;
  /** Residues that a query may have; the longest human protein has 35,991. */
  maxQueryLength?: number;
  /** Bytes that a SOAP message may have. */
  maxMessageBytes: number;
  /** Target namespace of the SOAP service. */
  namespace: string;
  /** How clients reach the service; by default as their requests say. */
  reach?: PublicUrlOptions;
  /** Jobs that may wait at a time, and jobs of one client. */
  maxQueued?: number;
  maxQueuedPerClient?: number;
  /** Days that an ended job is kept; 0, the default here, keeps it for ever. */
  retentionDays?: number;
  /** Megabytes that each worker may have; by default, or 0, all share half of the machine's. */
  workerMemory?: number;
  /** Seconds that a message may take to arrive. */
  receiveTimeoutSeconds?: number;
  /** What a message may hold besides its bytes. */
  messageLimits?: Partial<MessageLimits>;
  /** Opens the workers on other machines; by default there are none. */
  farm?: ((dependencies: FarmDependencies) => Farm) | undefined;
  /** Who asks, as a key by which clients take turns; by default all are one client. */
  clientOf?: (request: Request) => string;
  /** Refuses who is not signed in, for what is not for everybody; by default nobody is. @throws Problem unauthenticated */
  requireUser?: (request: Request) => void;
}

/** The conservation scoring service, open. */
export interface Scoring {
  /** The addresses below `/soap/` and `/api/scoring/`. */
  routes: ReturnType<typeof scoringRoutes>;
  corpora: Corpora;
  classes: MotifTables;
  /** Number of jobs by state. */
  counts(): Record<State, number>;
  /** When the job that waits longest was submitted, in milliseconds since 1970-01-01 UTC; null where none waits. */
  oldestQueued(): number | null;
  /** Workers, those that have a job, and the bytes of the process from which on a job is ended. */
  workers(): { size: number; busy: number; memoryLimit: number };
  /** The newest jobs, of one state or of all. */
  recentJobs(limit: number, state?: State): JobRecord[];
  /** What each worker does. */
  workerStatuses(): WorkerStatus[];
  /** Calls a job off, whoever submitted it. @throws Problem unknown_job, conflict */
  cancel(job: string): JobView;
  /** Name of the corpus in use; null where there is none. */
  corpusName(): string | null;
  /** Scores at once, on this thread, without a job. */
  scoreNow(request: ScoreRequest): Generator<Scored>;
  /** The same on an alignment that the user brings. */
  scoreAlignment(request: AlignmentRequest): Scored;
  /** What FASTA asks for some patterns, and what the pairs of a table ask; checked before any work is done. */
  readSequences(request: Parameters<typeof readSequences>[0]): NamedQuestion[];
  readBatch(table: string | Uint8Array): NamedQuestion[];
  /** Answers them in their order, on threads of their own. */
  scoreQuestions(questions: readonly NamedQuestion[], how: Answering): AsyncGenerator<Scored>;
  /** Ends the streams of events, which would keep a server that stops waiting; no others are opened. */
  closeStreams(): void;
  /** Stops the workers; their jobs go back to the queue. The database stays open. */
  close(): Promise<void>;
}

/** Opens the service: what a stopped process left running is queued again, and workers begin. */
export async function openScoring(options: ScoringOptions): Promise<Scoring> {
  const { database, clock, log, dataDirectory, workerMemory = 0, retentionDays = 0 } = options;
  const { maxQueryLength = 40_000 } = options;
  const corpora = new Corpora(dataDirectory, database, clock);
  const store = new JobStore({
    database,
    clock,
    scoringVersion: () => corpora.scoringVersion(),
    newId: () => jobId(clock.now(), clock.newId()),
    maxQueued: options.maxQueued ?? 10_000,
    maxQueuedPerClient: options.maxQueuedPerClient ?? 5000,
    retention: retentionDays === 0 ? null : retentionDays * 86_400_000,
  });
  const classes = new MotifTables(database, clock);
  let told = (): void => {};
  let farm: Farm | undefined;
  const pool = new Pool({
    store: {
      lease: (milliseconds) => (farm?.poolMayWork() === false ? null : store.lease(milliseconds)),
      finish: (lease, scoringVersion, prediction) => store.finishInGroup(lease, scoringVersion, prediction),
      fail: (rid, reason) => store.fail(rid, reason),
      retry: (rid, attempts, reason) => store.retry(rid, attempts, reason),
      release: (rid, counted) => store.release(rid, counted),
    },
    corpora,
    log,
    size: options.workers,
    timeout: options.jobTimeoutSeconds * 1000,
    changed: () => told(),
    turn: () => writeLockOf(database).free(),
    ...(workerMemory === 0 ? {} : { workerMemory: workerMemory * 1024 * 1024 }),
  });
  let sweeper: { close(): void } | undefined;
  if (options.workers > 0) {
    try {
      const recovered = store.recover(options.farm !== undefined);
      if (recovered.requeued + recovered.failed > 0) log.info("jobs recovered", recovered);
    } catch (error) {
      // On a full disk results are read all the same; the pool goes on when there is room.
      if (options.farm || Problem.from(error).code !== "disk_full") throw error;
      log.problem("jobs not recovered", { cause: (error as Error).message });
    }
    farm = options.farm?.({
      jobs: new FarmJobs(database, store, clock),
      scoringVersion: () => corpora.scoringVersion(),
      corpus: () => corpora.active(),
      backlog: () => ({ waiting: store.queued(), oldest: store.oldestQueued() }),
      timeout: options.jobTimeoutSeconds * 1000,
      settled: () => told(),
      wakePool: () => pool.wake(),
      dropFromPool: (id) => pool.drop(id),
    });
    pool.wake();
    sweeper = openSweeper({ database, clock, log });
  }
  const runner: JobRunner = {
    wake() {
      pool.wake();
      farm?.wake();
    },
    progress: (id) => pool.progress(id) ?? farm?.progress(id) ?? null,
    cancel(id) {
      const job = store.cancel(id);
      pool.drop(id);
      farm?.drop(id);
      return job;
    },
  };
  const handlers = scoringHandlers({ store, runner, classes, maxQueryLength });
  const reach = options.reach ?? DIRECT;
  const clientOf = options.clientOf ?? (() => "");
  const answers = jsonAnswers({
    handlers,
    job: (id) => store.get(id),
    request: (id) => store.request(id),
    progress: (id) => runner.progress(id),
    corpora,
    classes,
    clientOf,
    requireUser: options.requireUser ?? (() => {}),
    maxQueryLength,
    maxMessageBytes: options.maxMessageBytes,
    reach,
  });
  told = () => answers.notifyWatchers();
  const soapRoutes = scoringRoutes({
    handlers,
    log,
    classes,
    namespace: options.namespace,
    limits: { ...options.messageLimits, bytes: options.maxMessageBytes },
    receiveTimeout: (options.receiveTimeoutSeconds ?? 120) * 1000,
    clientOf,
    reach,
  });
  return {
    routes: soapRoutes.use(jsonRoutes(answers)) as typeof soapRoutes,
    corpora,
    classes,
    counts: () => store.counts(),
    oldestQueued: () => store.oldestQueued(),
    workers: () => pool.capacity(),
    recentJobs: (limit, state) => recentJobs(database, limit, state),
    workerStatuses: () => pool.workerStatuses(),
    cancel: (job) => runner.cancel(job),
    corpusName: () => corpora.active()?.name ?? null,
    scoreNow: (request) => scoreSequences(request, { corpora, classes, maxQueryLength }),
    scoreAlignment: (request) => scoreAlignment(request, { classes, maxQueryLength }),
    readSequences: (request) => readSequences(request, { classes, maxQueryLength }),
    readBatch: (table) => readBatch(table, corpora.openActive(), { classes, maxQueryLength }),
    scoreQuestions: (questions, how) => scoreQuestions(questions, how, corpora),
    closeStreams: () => answers.close(),
    async close() {
      answers.close();
      sweeper?.close();
      store.close();
      await farm?.close();
      pool.close();
    },
  };
}
