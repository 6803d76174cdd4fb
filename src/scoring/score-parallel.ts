import type { Options, Prediction, ScoringModel } from "../motif/index.ts";
import { Problem } from "../problem.ts";
import type { JobPattern } from "./job.ts";
import { workerAddress } from "./worker-entrypoints.ts";
import type { WorkerReport, WorkerTask } from "./worker.ts";

/** One query to be scored for several patterns. */
export interface Question {
  sequence: string;
  patterns: JobPattern[];
}

export interface ParallelOptions {
  model: ScoringModel;
  /** File of the corpus; null where there is none. */
  corpusPath: string | null;
  workers: number;
  /** What differs from the defaults of the method. */
  options?: Partial<Options> | undefined;
  /** Told that work on a question goes on. */
  report?: (stage: string, fraction: number) => void;
  /** Address of the worker's module; tests put others in its place. */
  workerUrl?: string;
}

/** Questions ahead of the one that is waited for, per worker: enough that a slow one holds nobody up, and few answers wait in memory. */
const AHEAD = 8;

/**
 * Answers questions on several threads, by the worker that scores jobs. The answers come in the order of the questions,
 * each as soon as it and those before it are there, and are the same whatever the number of workers.
 * @throws Problem where a question cannot be answered
 */
export async function* scoreParallel(
  questions: readonly Question[],
  { model, corpusPath, workers, options = {}, report, workerUrl = workerAddress() }: ParallelOptions,
): AsyncGenerator<Prediction> {
  const answers = questions.map(() => Promise.withResolvers<Prediction>());
  // An answer that nobody waits for any more may fail in silence.
  for (const { promise } of answers) promise.catch(() => {});
  const idle: Worker[] = [];
  const seats: Worker[] = [];
  let next = 0;
  let wanted = 0;
  const dispatch = (): void => {
    while (idle.length > 0 && next < questions.length && next < wanted + workers * AHEAD) {
      const { sequence, patterns } = questions[next];
      const request = { identifier: "", query: sequence, model, patterns };
      const task: WorkerTask = { ticket: next++, request, corpusPath, options };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
      idle.pop()!.postMessage(task);
    }
  };
  const fail = (error: unknown): void => {
    for (const { reject } of answers) reject(error);
  };
  const hear = (worker: Worker, said: WorkerReport): void => {
    if (said.kind === "progress") return report?.(said.stage, said.fraction);
    if (said.kind === "finished") answers[said.ticket].resolve(JSON.parse(said.prediction) as Prediction);
    else if (said.reason !== null) answers[said.ticket].reject(new Problem("invalid_request", said.reason));
    else answers[said.ticket].reject(new Error(said.cause));
    idle.push(worker);
    dispatch();
  };
  const ended = (): void => fail(new Error("a worker ended before its work did"));
  try {
    for (let i = 0; i < Math.min(workers, questions.length); i++) {
      const worker = new Worker(workerUrl);
      worker.addEventListener("message", ({ data }: MessageEvent<WorkerReport>) => hear(worker, data));
      worker.addEventListener("error", (event) => {
        event.preventDefault();
        fail(new Error(event.message));
      });
      worker.addEventListener("close", ended);
      seats.push(worker);
      idle.push(worker);
    }
    for (const { promise } of answers) {
      dispatch();
      yield await promise;
      wanted++;
    }
  } finally {
    for (const worker of seats) {
      worker.removeEventListener("close", ended);
      worker.terminate();
    }
  }
}
