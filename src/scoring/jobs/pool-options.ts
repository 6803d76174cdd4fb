import type { Stage } from "../../motif/index.ts";
import type { Log } from "../../platform/log.ts";
import type { ScoringVersion } from "../corpus/corpus.ts";
import type { IdleWork } from "./background.ts";
import type { Lease } from "./fair-scheduler.ts";

/** Progress of a running job. */
export interface Progress {
  stage: "start" | Stage;
  /** Progress of the stage, 0 to 1. */
  fraction: number;
}

/** The queue of this process, or of several machines. */
export interface JobSource {
  /** The next job, for at most so many milliseconds; null if none waits. */
  lease(milliseconds: number): Lease | null;
  /** May return a promise, to be written together with other results. */
  finish(lease: Lease, version: ScoringVersion, prediction: Uint8Array<ArrayBuffer>): unknown;
  fail(rid: number, reason: string): unknown;
  retry(rid: number, attempts: number, reason: string): unknown;
  release(rid: number, counted: boolean): unknown;
}

/** The corpus for jobs that start now. */
export interface CorpusInUse {
  active(): { path: string; sequences: number } | null;
  scoringVersion(): ScoringVersion;
}

export interface PoolOptions {
  store: JobSource;
  corpora: CorpusInUse;
  log: Log;
  /** Workers, each with one job at a time; 0 leaves the queue alone. */
  size: number;
  /** Milliseconds that a job may take, unless its lease says otherwise. */
  timeout: number;
  /** Bytes of memory per worker; by default all share half of the memory of the process. */
  workerMemory?: number;
  /** Address of the worker's module. */
  workerUrl?: string;
  /** Milliseconds until a failed write is tried again. */
  retryInterval?: number;
  /** A promise if another writer holds the database, such as an import. */
  waitUntilWritable?: () => Promise<void> | undefined;
  /** Called when a job starts, reaches another stage, or may have ended. */
  changed?: () => void;
  /** Work of workers while there is no job for them. */
  background?: IdleWork;
  /** Sequences from which on idle workers help to search the corpus. */
  minSharedSequences?: number;
}
