import { type Corpus, DEFAULTS, type Options, predict, type Stage } from "../motif/index.ts";
import { Problem } from "../problem.ts";
import { emptyCorpus, NO_CORPUS, openCorpusFile } from "./corpus.ts";
import type { JobRequest } from "./job.ts";

/** What the pool says to a worker: one job, and the file of the corpus to score it against (null: there is none). */
export interface WorkerTask {
  ticket: number;
  request: JobRequest;
  corpusPath: string | null;
  /** What differs from the defaults of the method. */
  options?: Partial<Options>;
}

/** What a worker says. `ticket` is the task's, so that words about an earlier one are not taken for this one's. */
export type WorkerReport =
  | { ticket: number; kind: "progress"; stage: Stage; fraction: number }
  | { ticket: number; kind: "finished"; prediction: string }
  /** `reason` is for the client, null where the error was not foreseen; `cause` is for the log. */
  | { ticket: number; kind: "failed"; reason: string | null; cause: string };

declare const self: Worker;

/**
 * Characters that a prediction may have as JSON. Predictions of real motifs have some ten thousand; a pattern
 * that matches everywhere in a long query repeats the query thousands of times, which neither the database nor a
 * client should have to carry.
 */
const MAX_PREDICTION = 64 * 1024 * 1024;

/** Milliseconds between two words about the same stage. */
const PROGRESS_INTERVAL = 100;

let opened: { path: string | null; corpus: Corpus } | undefined;

/** The corpus stays mapped between jobs; its pages are the operating system's and shared with the other workers. */
function corpusAt(path: string | null): Corpus {
  if (opened?.path !== path || !opened) {
    opened = { path, corpus: path === null ? emptyCorpus() : openCorpusFile(path) };
  }
  return opened.corpus;
}

function score({ ticket, request, corpusPath, options }: WorkerTask): WorkerReport {
  let lastStage: Stage | undefined;
  let lastTime = 0;
  const report = (stage: Stage, fraction: number): void => {
    const now = performance.now();
    if (stage === lastStage && now - lastTime < PROGRESS_INTERVAL) return;
    lastStage = stage;
    lastTime = now;
    say({ ticket, kind: "progress", stage, fraction });
  };
  const { query, patterns, model } = request;
  const prediction = predict(
    { query, patterns, model },
    corpusAt(corpusPath),
    { ...DEFAULTS, ...options },
    report,
  );
  if (corpusPath === null) prediction.warnings.unshift(NO_CORPUS);
  // As text: printing it is the worker's time, not that of the thread that answers requests.
  const text = JSON.stringify(prediction);
  if (text.length > MAX_PREDICTION) throw new Problem("too_large", tooLarge(text.length));
  return { ticket, kind: "finished", prediction: text };
}

function tooLarge(length: number): string {
  const [megabytes, most] = [length, MAX_PREDICTION].map((size) => Math.ceil(size / 1024 / 1024));
  return `The prediction would have ${megabytes} MB, at most ${most} are kept: the patterns match nearly everywhere. Ask for narrower ones.`;
}

function say(report: WorkerReport): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
  self.postMessage(report);
}

self.addEventListener("message", ({ data }: MessageEvent<WorkerTask>) => {
  try {
    say(score(data));
  } catch (error) {
    say({
      ticket: data.ticket,
      kind: "failed",
      reason: error instanceof Problem ? error.message : null,
      cause: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  }
});
