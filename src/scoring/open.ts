import { MESSAGE_LIMITS } from "./contract/limits.ts";
import { RECEIVE_TIMEOUT } from "../platform/body.ts";
import type { Corpus, Knowledge, PatternRequest } from "../motif/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { type Guards, WITHOUT_ACCOUNTS } from "../platform/operation.ts";
import type { Database } from "../platform/sqlite.ts";
import { getWriteLock } from "../platform/write-lock.ts";
import { Problem } from "../problem.ts";
import type { Ownership } from "../accounts/owner.ts";
import { type Handlers, type JobRunner, scoringHandlers } from "./jobs/handlers.ts";
import { type PatternInput, readPatterns } from "./corpus/patterns.ts";
import { classRoutes } from "./api/class-routes.ts";
import { jsonRoutes } from "./api/json-routes.ts";
import { batchRoutes } from "./api/batch-operations.ts";
import { proteomeRoutes } from "./api/proteome-routes.ts";
import { soapRejection, soapRoutes } from "./api/soap-routes.ts";
import {
  type NamedQuestion,
  readScannedClasses,
  readSequences,
  type ScannedClasses,
} from "./batch/questions.ts";
import { type BatchTableOptions, readBatch, readNamed } from "./batch/batch-table.ts";
import { Batches } from "./batch/batches.ts";
import {
  type AlignmentRequest,
  type BatchOptions,
  scoreAlignment,
  type Scored,
  scoreQuestions,
} from "./batch/score.ts";
import { ClassModels } from "./corpus/class-models.ts";
import { Corpora, type CorpusInfo } from "./corpus/corpus.ts";
import { MotifTables } from "./corpus/motif-tables.ts";
import { getAuditLog } from "../accounts/audit.ts";
import { featureFilesIn, type FeatureSource, withNotes } from "./features/annotation.ts";
import type { FeatureFiles } from "./features/feature-files.ts";
import { readKnowledge, searchedFeatures } from "./features/knowledge.ts";
import { ClassLearning } from "./learning/class-learning.ts";
import { type FeatureImport, importFeatures } from "./features/import.ts";
import { BackgroundQueue } from "./jobs/background.ts";
import { openSweeper } from "./jobs/expiry.ts";
import { type Farm, type FarmDependencies, FarmJobs } from "./jobs/farm-jobs.ts";
import { jobsOfProtein, recentJobs } from "./jobs/job-records.ts";
import {
  type AcceptedKnowledge,
  type EvidenceChoice,
  jobId,
  type JobRequest,
  type State,
} from "./jobs/job.ts";
import { jobTasks } from "./jobs/job-tasks.ts";
import { Pool } from "./jobs/pool.ts";
import { JobStore, type StoreOptions } from "./jobs/store.ts";
import { OwnSearches } from "./proteome/own-searches.ts";
import { makeComputations, ProteomeSearchClient } from "./api/proteome-search-client.ts";
import { ProteomeBuilds } from "./proteome/builds.ts";
import { StructureModels } from "./structure/structure-models.ts";
import { Tasks } from "../tasks/tasks.ts";
import { openWatched } from "./api/open-watched.ts";

export interface ScoringOptions {
  /** Work that takes longer than a request, opened and closed by the caller; by default the service has its own. */
  tasks?: Tasks;
  database: Database;
  clock: Clock;
  log: Log;
  /** Directory that contains `corpora/`. */
  dataDirectory: string;
  /** Scoring workers; 0 opens the service without touching the queue. */
  workers: number;
  /** Seconds that one job may take; 600 by default. */
  jobTimeoutSeconds?: number;
  /** Residues that a query may have; the longest human protein has 35,991. */
  maxQueryLength?: number;
  /** Bytes that a SOAP message may have. */
  maxMessageBytes: number;
  /** Target namespace of the SOAP service. */
  namespace: string;
  /** True if public_url is set; otherwise documents contain addresses made from the Host header. */
  hasPublicUrl?: boolean;
  /** Jobs that may wait, in all and per client. */
  maxQueued?: number;
  maxQueuedPerClient?: number;
  /** Days for which an ended job is kept; 0, the default, keeps it forever. */
  retentionDays?: number;
  /** Seconds within which a message must arrive. */
  receiveTimeoutSeconds?: number;
  /** Opens the workers on other machines. */
  farm?: ((dependencies: FarmDependencies) => Farm) | undefined;
  /** The client of a request, as a key for fair scheduling; by default all are one client. */
  identifyClient?: (request: Request) => string;
  /** Access to operations; by default everybody may use all. */
  guards?: Guards;
  /** Permission to change jobs and searches; by default their clients have it. */
  ownership?: Ownership;
  /** Guards new jobs. @throws Problem if the disk takes none */
  requireWritable?: () => void;
}

/** The conservation scoring service, open. */
export type Scoring = Awaited<ReturnType<typeof openScoring>>;

/** Opens the service: requeues the jobs that a stopped process left running, and starts the workers. */
export async function openScoring(options: ScoringOptions) {
  const { database, clock, requireWritable, maxQueryLength = 40_000 } = options;
  const corpora = new Corpora(options.dataDirectory, database, clock);
  const classes = new MotifTables(database, clock);
  const features = featureFilesIn(options.dataDirectory);
  features.adoptFinished(getAuditLog(database, clock));
  const featureSource = (): FeatureSource => ({
    dataDirectory: options.dataDirectory,
    corpusPath: corpora.active()?.path ?? null,
    synonyms: classes.synonyms(),
  });
  const classModels = new ClassModels(database);
  const learning = new ClassLearning({ files: features, corpora, classes, models: classModels, clock });
  const knowledge = openKnowledge({ corpora, classes, features, classModels });
  const store = openStore(options, corpora, knowledge.forJob);
  let notifyWatchers = (): void => {};
  const workers = openWorkers(options, { corpora, store, changed: () => notifyWatchers() });
  const { pool, runner, builds } = workers;
  const corpus = (): Corpus => corpora.opened();
  const reading = { classes, maxQueryLength };
  const handlers = scoringHandlers({ store, runner, corpus, requireWritable });
  const common = { corpora, corpus, store, runner, handlers, classModels, knowledge };
  const http = openRoutes(options, { ...common, ...workers, ...reading, featureSource });
  ({ notifyWatchers } = http);
  // Commands open the service without workers, and answer no requests.
  if (options.workers > 0) http.open();
  return {
    /** The routes below `/soap/` and `/api/scoring/`. */
    routes: http.routes,
    /** The SOAP fault for a message that reaches no operation. */
    reject: http.reject,
    corpora,
    classes,
    /** Features of proteins from imported files. */
    features,
    /** Knowledge beside the sequences, for scores without jobs. */
    knowledge,
    /** The source of the features, for the search of a proteome. */
    featureSource,
    /** Predictions with the features at their matches. */
    annotator(used = corpora.active()) {
      const source = { ...featureSource(), corpusPath: used?.path ?? null };
      return ({ accession, protein, provenance, prediction }: Scored) =>
        withNotes({ identifier: accession, protein, provenance, prediction }, source);
    },
    /** Imports features of proteins of the corpus in use. @throws Problem invalid_request, not_found without a corpus */
    importFeatures: async (request: Omit<FeatureImport, "corpus">) =>
      importFeatures({ ...request, corpus: requireCorpus(corpora) }, { files: features, database, clock }),
    /** Removes an imported file of features, and the class models until they are learned again. @throws Problem not_found */
    removeFeatures(name: string) {
      features.remove(name, database, clock);
      learning.retire();
    },
    /** Models of motif classes in use, and how they were learned. */
    classModels,
    learning,
    /** Number of jobs by state. */
    counts: () => store.counts(),
    /** Submission time of the job that has waited longest, in milliseconds since 1970-01-01 UTC; null if none waits. */
    oldestQueued: () => store.oldestQueued(),
    /** Number of workers, of busy ones, and the memory limit of the process in bytes. */
    workers: () => pool.capacity(),
    /** The newest jobs, of one state or of all. */
    recentJobs: (limit: number, state?: State) => recentJobs(database, limit, state),
    workerStatuses: () => pool.workerStatuses(),
    /** Scores watched queries again if another corpus is in use; the service also looks every few seconds. */
    rerunWatched: () => http.watched.advance(),
    /** Computations of families on idle workers. */
    builds,
    /** Cancels a job of any client. @throws Problem unknown_job, conflict */
    cancel: (job: string) => runner.cancel(job),
    /** Name of the corpus in use; null if there is none. */
    corpusName: () => corpora.active()?.name ?? null,
    /** Scores on an alignment from the user, without a job. */
    scoreAlignment: (request: AlignmentRequest, choice: EvidenceChoice = {}) =>
      scoreAlignment(
        { ...request, evidence: choice, knowledge: (query) => knowledge.find({ ...query, ...choice }) },
        reading,
      ),
    /** Reads patterns and names of classes. @throws Problem invalid_pattern, unknown_motif_class */
    readPatterns: (input: PatternInput) => readPatterns(input, classes),
    /** Reads FASTA and patterns, and validates them before any work is done. */
    readSequences: (request: PatternInput & { fasta: string | Uint8Array }) =>
      readSequences(request, reading),
    /** Reads motif classes to scan for. */
    readScannedClasses: (scanned: ScannedClasses) => readScannedClasses(scanned, reading),
    /** Reads a table of proteins and patterns, or a list of proteins, likewise. */
    readBatch: (table: string | Uint8Array, how?: BatchTableOptions, used?: CorpusInfo | null) =>
      readBatch(table, corpora.open(used ?? undefined), reading, how),
    /** Reads proteins that are named in arguments. @throws Problem invalid_request with near misses */
    readNamed: (names: readonly string[], patterns: PatternRequest[], used?: CorpusInfo | null) =>
      readNamed(names, corpora.open(used ?? undefined), reading, patterns),
    /** Scores them in order, on threads of their own. */
    scoreQuestions: (questions: readonly NamedQuestion[], how: BatchOptions) =>
      scoreQuestions(questions, how, corpora),
    /** Ends the event streams, which would keep a stopping server waiting, and opens no others. */
    closeStreams: () => http.close(),
    /** Stops the workers and requeues their jobs. The database stays open. */
    async close(): Promise<void> {
      http.close();
      http.watched.close();
      await workers.close();
      features.close();
    },
  };
}

/** The corpus whose proteins may have features. @throws Problem not_found */
function requireCorpus(corpora: Corpora): Corpus {
  if (corpora.active()) return corpora.open();
  const text = "There is no corpus whose proteins could have features. Add one first.";
  throw new Problem("not_found", text);
}

/** Knowledge beside the sequences: features of proteins, and models of motif classes. */
function openKnowledge({
  corpora,
  classes,
  features,
  classModels,
}: {
  corpora: Corpora;
  classes: MotifTables;
  features: FeatureFiles;
  classModels: ClassModels;
}) {
  const forJob = (request: Omit<JobRequest, "model">): AcceptedKnowledge => ({
    knowledge: request.ignoreFeatures ? undefined : readKnowledge(request, features, classes),
    classModels: request.ignoreClassModels
      ? undefined
      : classModels.choose(request.patterns, corpora.scoringVersion().corpus),
  });
  const find = (request: Omit<JobRequest, "model">): Knowledge | undefined => {
    const { knowledge, classModels: hashes } = forJob(request);
    const models = classModels.load(hashes);
    return models ? { ...knowledge, classModels: models } : knowledge;
  };
  return {
    /** The knowledge that a job keeps. */
    forJob,
    /** The knowledge for a score without a job; undefined without any. */
    find,
    /** Queries with their knowledge. */
    addTo: (questions: readonly NamedQuestion[], choice: EvidenceChoice): NamedQuestion[] =>
      questions.map((question) => {
        const { name, sequence, patterns } = question;
        const query = { identifier: name, query: sequence.toUpperCase(), patterns, ...choice };
        return { ...question, knowledge: find(query) };
      }),
    /** The features for a search of a proteome, and the model of the pattern's class; undefined without any. */
    forProteome: (pattern: PatternRequest, choice: EvidenceChoice, corpus: string) => ({
      features: searchedFeatures(pattern, choice, { files: features, classes }),
      classModel: choice.ignoreClassModels ? undefined : classModels.forPattern(pattern, corpus),
    }),
  };
}

function openStore(
  options: ScoringOptions,
  corpora: Corpora,
  knowledge: NonNullable<StoreOptions["knowledge"]>,
): JobStore {
  const { database, clock } = options;
  return new JobStore({
    database,
    clock,
    scoringVersion: () => corpora.scoringVersion(),
    knowledge,
    newId: () => jobId(clock.now(), clock.newId()),
    maxQueued: options.maxQueued ?? 10_000,
    maxQueuedPerClient: options.maxQueuedPerClient ?? 5000,
    retention: retentionTime(options),
  });
}

/** Milliseconds for which ended jobs and batches are kept; null keeps them forever. */
const retentionTime = ({ retentionDays = 0 }: ScoringOptions): number | null =>
  retentionDays === 0 ? null : retentionDays * 86_400_000;

interface WorkerDependencies {
  corpora: Corpora;
  store: JobStore;
  /** A job has changed. */
  changed: () => void;
}

/** Opens the pool of this process and, if configured, the farm. */
function openWorkers(options: ScoringOptions, { corpora, store, ...of }: WorkerDependencies) {
  const { database, clock, log } = options;
  const timeout = (options.jobTimeoutSeconds ?? 600) * 1000;
  let farm: Farm | undefined;
  const background = new BackgroundQueue();
  const tasks = options.tasks ?? new Tasks(options);
  let batches: Batches | undefined;
  const changed = (): void => {
    of.changed();
    batches?.jobChanged();
    tasks.changed();
  };
  const builds = new ProteomeBuilds({ tasks, log, corpora, background });
  const pool = new Pool({
    store: {
      lease: (milliseconds) => (farm?.poolMayWork() === false ? null : store.lease(milliseconds)),
      finish: (lease, version, prediction) => store.finishInGroup(lease, version, prediction),
      fail: (rid, reason) => store.fail(rid, reason),
      retry: (rid, attempts, reason) => store.retry(rid, attempts, reason),
      release: (rid, counted) => store.release(rid, counted),
    },
    corpora,
    log,
    size: options.workers,
    timeout,
    changed,
    background,
    waitUntilWritable: () => getWriteLock(database).free(),
  });
  background.wake = () => {
    pool.wake();
    farm?.wake();
  };
  let sweeper: { close(): void } | undefined;
  if (options.workers > 0) {
    recoverJobs(options, store);
    farm = options.farm?.({
      jobs: new FarmJobs(database, store, clock),
      background,
      scoringVersion: () => corpora.scoringVersion(),
      corpus: () => corpora.active(),
      backlog: () => ({ waiting: store.queued(), oldest: store.oldestQueued() }),
      timeout,
      settled: changed,
      wakePool: () => pool.wake(),
      dropFromPool: (id) => pool.drop(id),
    });
    pool.wake();
    builds.open();
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
  batches = new Batches({ database, log, tasks, store, runner, retention: retentionTime(options) });
  if (options.workers > 0) {
    batches.open();
  }
  const close = async (): Promise<void> => {
    sweeper?.close();
    builds.close();
    if (!options.tasks) await tasks.close();
    store.close();
    await farm?.close();
    pool.close();
  };
  return { pool, runner, builds, batches, tasks, close };
}

function recoverJobs({ farm, log }: ScoringOptions, store: JobStore): void {
  try {
    const recovered = store.recover(farm !== undefined);
    if (recovered.requeued + recovered.failed > 0) log.info("jobs recovered", recovered);
  } catch (error) {
    // On a full disk, or with a damaged database, results can still be read; the pool continues once there is room.
    if (farm || !Problem.refusesWrites(error)) throw error;
    log.problem("jobs not recovered", { cause: (error as Error).message });
  }
}

function openRoutes(
  options: ScoringOptions,
  services: {
    corpora: Corpora;
    corpus: () => Corpus;
    classes: MotifTables;
    classModels: ClassModels;
    store: JobStore;
    runner: JobRunner;
    handlers: Handlers;
    tasks: Tasks;
    batches: Batches;
    builds: ProteomeBuilds;
    maxQueryLength: number;
    featureSource: () => FeatureSource;
    knowledge: ReturnType<typeof openKnowledge>;
  },
) {
  const { log, namespace, maxMessageBytes, identifyClient = () => "" } = options;
  const {
    receiveTimeoutSeconds = RECEIVE_TIMEOUT,
    guards = WITHOUT_ACCOUNTS,
    hasPublicUrl = false,
    requireWritable = () => {},
    ownership = {
      identify: (request: Request) => ({ keys: [identifyClient(request)], isAdministrator: false }),
      claim: () => ({ key: null, headers: {} }),
    },
  } = options;
  services.tasks.addSource(jobTasks(options.database, services.handlers));
  const client = new ProteomeSearchClient(options);
  const own = new OwnSearches(services.tasks, makeComputations(client));
  const { clock } = options;
  const parts = { ...services, client, own, clock, identifyClient, requireWritable, ownership };
  const json = jsonRoutes({
    ...parts,
    models: new StructureModels(options.database, clock, options.dataDirectory),
    jobsOfProtein: jobsOfProtein(options.database),
    guards,
  });
  const soap = {
    ...parts,
    log,
    namespace,
    limits: { ...MESSAGE_LIMITS, bytes: maxMessageBytes },
    receiveTimeout: receiveTimeoutSeconds * 1000,
    guards,
    hasPublicUrl,
  };
  const watched = openWatched(
    { ...options, identifyClient, guards },
    { ...services, openCorpus: services.corpus },
  );
  return {
    routes: soapRoutes(soap)
      .use(json.routes)
      .use(classRoutes(parts, guards))
      .use(proteomeRoutes(parts, guards))
      .use(batchRoutes(parts, guards))
      .use(watched.routes),
    reject: soapRejection(soap),
    watched,
    notifyWatchers() {
      json.notifyWatchers();
      watched.jobChanged();
    },
    open() {
      json.openNames();
      client.open((id) => own.isAbandoned(id));
      if (!options.tasks) services.tasks.open();
    },
    close() {
      client.close();
      json.close();
    },
  };
}
