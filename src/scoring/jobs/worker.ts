import { getPriority, setPriority } from "node:os";
import {
  type Corpus,
  DEFAULTS,
  type Draw,
  drawMatches,
  findHits,
  type Hit,
  type Options,
  parsePattern,
  predict,
  type Stage,
} from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { calibrationStamp } from "../corpus/calibration-file.ts";
import { emptyCorpus, NO_CORPUS, openCorpusFile } from "../corpus/corpus.ts";
import type { JobPattern, JobRequest } from "./job.ts";

/** What the pool says to a worker: one job, and the file of the corpus to score it against (null: there is none). */
export interface WorkerTask {
  ticket: number;
  request: JobRequest;
  corpusPath: string | null;
  /** What differs from the defaults of the method. */
  options?: Partial<Options>;
  /** The query's hits, where they were found already. */
  hits?: Hit[] | undefined;
}

/** Queries whose hits are to be found by all workers that get the same counter, each in its parts of the corpus. */
export interface SearchTask {
  ticket: number;
  queries: string[];
  corpusPath: string | null;
  options?: Partial<Options> | undefined;
  /** A zero in shared memory. */
  counter: Int32Array;
}

/** Proteins of the corpus in which random matches of the patterns are to be drawn. */
export interface DrawTask {
  ticket: number;
  proteins: number[];
  patterns: JobPattern[];
  seed: number;
  corpusPath: string;
}

/** What a worker says. `ticket` is the task's, so that words about an earlier one are not taken for this one's. */
export type WorkerReport =
  | { ticket: number; kind: "progress"; stage: Stage; fraction: number }
  | { ticket: number; kind: "finished"; prediction: string }
  /** For each query of a search the hits in this worker's parts of the corpus. */
  | { ticket: number; kind: "searched"; hits: Hit[][] }
  /** `reason` is for the client, null where the error was not foreseen; `cause` is for the log. */
  | { ticket: number; kind: "failed"; reason: string | null; cause: string };

/** What it says to a DrawTask: for each protein its random matches. */
export type DrawReport =
  { ticket: number; kind: "drawn"; drawn: Draw[][] } | Extract<WorkerReport, { kind: "failed" }>;

declare const self: Worker;

/**
 * How much a worker stands back, from 0 to 19, where the processors do not suffice for all: the thread that answers
 * requests, and takes jobs, comes first.
 */
const NICENESS = 5;
standBack();

function standBack(): void {
  // Of a thread on Linux; elsewhere it would be the whole process'.
  if (process.platform !== "linux") return;
  try {
    // On top of what the service was started with.
    setPriority(Math.min(getPriority() + NICENESS, 19));
  } catch {
    // A service manager or a container may forbid the call: then all threads count alike.
  }
}

/**
 * Characters that a prediction may have as JSON. Predictions of real motifs have some ten thousand; a pattern
 * that matches everywhere in a long query repeats the query thousands of times, which neither the database nor a
 * client should have to carry.
 */
const MAX_PREDICTION = 64 * 1024 * 1024;

/** Milliseconds between two words about the same stage. */
const PROGRESS_INTERVAL = 100;

/**
 * Residues of a corpus from which on the garbage of the last task is collected before the next. A mapped file counts as
 * the worker's own memory, and as much as that again may pile up before the engine collects by itself: 200 MB in each
 * worker with half a million proteins.
 */
const LARGE = 10_000_000;

let opened: { path: string | null; stamp: string; corpus: Corpus } | undefined;

/** The corpus stays mapped between jobs; its pages are the operating system's and shared with the other workers. */
function corpusAt(path: string | null): Corpus {
  const stamp = path === null ? "" : calibrationStamp(path);
  if (!opened || opened.path !== path || opened.stamp !== stamp) {
    opened = { path, stamp, corpus: path === null ? emptyCorpus() : openCorpusFile(path) };
  }
  if (opened.corpus.residueCount >= LARGE) Bun.gc(true);
  return opened.corpus;
}

/** Says how far a task is: every stage, and within one not too often. */
function reporter(ticket: number): (stage: Stage, fraction: number) => void {
  let lastStage: Stage | undefined;
  let lastTime = 0;
  return (stage, fraction) => {
    const now = performance.now();
    if (stage === lastStage && now - lastTime < PROGRESS_INTERVAL) return;
    lastStage = stage;
    lastTime = now;
    say({ ticket, kind: "progress", stage, fraction });
  };
}

function search({ ticket, queries, corpusPath, options, counter }: SearchTask): WorkerReport {
  const report = reporter(ticket);
  const hits = findHits(queries, corpusAt(corpusPath), { ...DEFAULTS, ...options }, counter, (fraction) =>
    report("homologs", fraction),
  );
  return { ticket, kind: "searched", hits };
}

function score({ ticket, request, corpusPath, options, hits }: WorkerTask): WorkerReport {
  const { query, patterns, model } = request;
  const prediction = predict(
    { query, patterns, model },
    corpusAt(corpusPath),
    { ...DEFAULTS, ...options },
    reporter(ticket),
    hits,
  );
  if (corpusPath === null) prediction.warnings.unshift(NO_CORPUS);
  // As text: printing it is the worker's time, not that of the thread that answers requests.
  const text = JSON.stringify(prediction);
  if (text.length > MAX_PREDICTION) throw new Problem("too_large", tooLarge(text.length));
  return { ticket, kind: "finished", prediction: text };
}

function draw({ ticket, proteins, patterns, seed, corpusPath }: DrawTask): DrawReport {
  const read = patterns.map(({ expression, dialect }) => parsePattern(expression, dialect));
  return { ticket, kind: "drawn", drawn: drawMatches(corpusAt(corpusPath), proteins, read, seed) };
}

function tooLarge(length: number): string {
  const [megabytes, most] = [length, MAX_PREDICTION].map((size) => Math.ceil(size / 1024 / 1024));
  return `The prediction would have ${megabytes} MB, at most ${most} are kept: the patterns match nearly everywhere. Ask for narrower ones.`;
}

function say(report: WorkerReport | DrawReport): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
  self.postMessage(report);
}

self.addEventListener("message", ({ data }: MessageEvent<WorkerTask | SearchTask | DrawTask>) => {
  try {
    say("counter" in data ? search(data) : "proteins" in data ? draw(data) : score(data));
  } catch (error) {
    say({
      ticket: data.ticket,
      kind: "failed",
      reason: error instanceof Problem ? error.message : null,
      cause: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  }
});
