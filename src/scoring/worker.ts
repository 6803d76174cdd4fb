import { getPriority, setPriority } from "node:os";
import {
  type Corpus,
  DEFAULTS,
  findHits,
  predict,
  predictFromAlignment,
  type Stage,
} from "../motif/index.ts";
import { Problem } from "../problem.ts";
import { emptyCorpus, NO_CORPUS, openCorpusFile } from "./corpus/corpus.ts";
import {
  carryFamilies,
  computeFamilies,
  type ExamplesReport,
  type ExamplesTask,
  findExamples,
  type MatchReport,
  type MatchTask,
  scoreFamilies,
} from "./proteome/proteome-tasks.ts";
import { type PlanReport, type PlanTask, planBuild } from "./proteome/plan.ts";
import type {
  CarryTask,
  CorpusSource,
  FamiliesReport,
  FamiliesTask,
  SearchTask,
  WorkerReport,
  WorkerTask,
} from "./jobs/worker-messages.ts";
import { printJson } from "./jobs/prediction-json.ts";

type Task = ExamplesTask | WorkerTask | SearchTask | FamiliesTask | CarryTask | MatchTask | PlanTask;
type Report = ExamplesReport | WorkerReport | FamiliesReport | MatchReport | PlanReport;

declare const self: Worker;

/** Added to the niceness of this thread, so that the one that answers requests comes first. */
const NICENESS = 5;
try {
  // On other systems it would apply to the whole process.
  if (process.platform === "linux") setPriority(Math.min(getPriority() + NICENESS, 19));
} catch {
  // A service manager or a container may forbid it.
}

/** Milliseconds between two reports of the same stage. */
const PROGRESS_INTERVAL = 100;

/**
 * Residues of a corpus above which garbage is collected before each task: the corpus counts as memory of the worker,
 * so that the engine would let as much again pile up. Not `gc(true)`: returning the freed memory to the system at once
 * interrupts the other workers.
 */
const LARGE_CORPUS = 10_000_000;

let opened: { path: string | null; corpus: Corpus } | undefined;

/** Keeps the corpus open between jobs; workers share its bytes. */
function loadCorpus({ corpusPath: path, corpusBytes }: CorpusSource): Corpus {
  if (opened?.path !== path)
    opened = { path, corpus: path === null ? emptyCorpus() : openCorpusFile(path, corpusBytes) };
  if (opened.corpus.residueCount >= LARGE_CORPUS) Bun.gc(false);
  return opened.corpus;
}

/** Reports the progress of a task. */
function reporter(ticket: number): (stage: Stage, fraction: number) => void {
  let lastStage: Stage | undefined;
  let lastTime = 0;
  return (stage, fraction) => {
    const now = performance.now();
    if (stage === lastStage && now - lastTime < PROGRESS_INTERVAL) return;
    lastStage = stage;
    lastTime = now;
    post({ ticket, kind: "progress", stage, fraction });
  };
}

function search(task: SearchTask): WorkerReport {
  const { ticket, queries, options, counter } = task;
  const report = reporter(ticket);
  const hits = findHits(queries, loadCorpus(task), { ...DEFAULTS, ...options }, counter, (fraction) =>
    report("homologs", fraction),
  );
  return { ticket, kind: "searched", hits };
}

async function score(task: WorkerTask): Promise<WorkerReport> {
  const { ticket, request, corpusPath, options, pack, hits } = task;
  const { query, patterns, model, homologs, prior, alignment: rows, knowledge, variant } = request;
  const chosen = { ...DEFAULTS, ...options, ...homologs, ...(prior !== undefined && { prior }) };
  const report = reporter(ticket);
  const prediction = rows
    ? predictFromAlignment({ rows, patterns, model, knowledge, variant }, chosen, report)
    : predict({ query, patterns, model, knowledge, variant }, loadCorpus(task), chosen, report, hits);
  if (corpusPath === null && !rows) prediction.warnings.unshift(NO_CORPUS);
  return {
    ticket,
    kind: "finished",
    // The module that prints XML is loaded by the workers of a server only.
    prediction: pack
      ? (await import("./jobs/packed-prediction.ts")).packPrediction(prediction)
      : printJson(prediction),
  };
}

function work(task: Task): Report | Promise<Report> {
  if ("counter" in task) return search(task);
  if ("plan" in task) return { ticket: task.ticket, kind: "planned", plan: planBuild(task.plan) };
  if ("change" in task) return carryFamilies(task, loadCorpus(task));
  if ("examples" in task) return findExamples(task, loadCorpus(task));
  if ("members" in task) return computeFamilies(task, loadCorpus(task));
  return "families" in task ? scoreFamilies(task, loadCorpus(task)) : score(task);
}

function post(report: Report): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
  self.postMessage(report);
}

self.addEventListener("message", async ({ data }: MessageEvent<Task>) => {
  try {
    post(await work(data));
  } catch (error) {
    post({
      ticket: data.ticket,
      kind: "failed",
      ...(error instanceof Problem ? { reason: error.message, code: error.code } : { reason: null }),
      cause: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  }
});
