import { groupQueries, type Options, type Prediction, type ScoringModel } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import type { JobPattern } from "../jobs/job.ts";
import { JointSearch } from "../jobs/joint-search.ts";
import { workerAddress } from "../jobs/worker-entrypoints.ts";
import type { SearchTask, WorkerReport, WorkerTask } from "../jobs/worker.ts";

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
/** Questions whose hits are found together. */
interface Group {
  /** Numbers of the questions. */
  members: readonly number[];
  search: JointSearch;
}

/** For each question its group; each group begins to be searched when its first question is near. */
function groupsOf(questions: readonly Question[]): Group[] {
  const groupOf: Group[] = [];
  for (const members of groupQueries(questions.map(({ sequence }) => sequence.length))) {
    const group = { members, search: new JointSearch(members.length) };
    for (const k of members) groupOf[k] = group;
  }
  return groupOf;
}

/**
 * Answers questions on several threads, by the worker that scores jobs. Hits are found for a group of questions at
 * once, by all threads together, so that one question alone has all of them too. The answers come in the order of the questions,
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
  const groupOf = groupsOf(questions);
  let next = 0;
  let wanted = 0;
  /** What a worker can do now: score the next question where its hits are there, else help to find some. */
  const taskFor = (worker: Worker): WorkerTask | SearchTask | null => {
    const end = Math.min(questions.length, wanted + workers * AHEAD);
    const group = groupOf[next];
    if (next < end && group.search.isOver) {
      const { sequence, patterns } = questions[next];
      const request = { identifier: "", query: sequence, model, patterns };
      const hits = group.search.take(group.members.indexOf(next)) ?? undefined;
      return { ticket: next++, request, corpusPath, options, hits };
    }
    const open = groupOf.slice(next, end).find(({ search }) => search.join(worker));
    if (!open) return null;
    const queries = open.members.map((k) => questions[k].sequence);
    return { ticket: open.members[0], queries, corpusPath, options, counter: open.search.counter };
  };
  const dispatch = (): void => {
    for (const worker of idle.splice(0)) {
      const task = taskFor(worker);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
      if (task) worker.postMessage(task);
      else idle.push(worker);
    }
  };
  const fail = (error: unknown): void => {
    for (const { reject } of answers) reject(error);
  };
  const hear = (worker: Worker, said: WorkerReport): void => {
    if (said.kind === "progress") return report?.(said.stage, said.fraction);
    if (said.kind === "searched") groupOf[said.ticket].search.gather(said.hits);
    else if (said.kind === "finished")
      answers[said.ticket].resolve(JSON.parse(said.prediction) as Prediction);
    else if (said.reason !== null) answers[said.ticket].reject(new Problem("invalid_request", said.reason));
    else answers[said.ticket].reject(new Error(said.cause));
    idle.push(worker);
    dispatch();
  };
  const ended = (): void => fail(new Error("a worker ended before its work did"));
  try {
    for (let i = 0; i < (questions.length === 0 ? 0 : workers); i++) {
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
