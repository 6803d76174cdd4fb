import type { Hit, Options, Prediction, ScoringModel } from "../motif/index.ts";
import { Problem } from "../problem.ts";
import type { JobPattern } from "./job.ts";
import { workerAddress } from "./worker-entrypoints.ts";
import type { SearchTask, WorkerReport, WorkerTask } from "./worker.ts";

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
/** Questions, and their residues, that share a pass over the corpus: more save little, and the first answer waits. */
const GROUP = 16;
const GROUP_RESIDUES = 16_384;

/** Questions from the first up to the end (exclusive), whose hits are found together. */
interface Group {
  first: number;
  end: number;
  counter: Int32Array;
  /** Those that have taken part, and how many of them are not through. */
  searchers: Set<Worker>;
  searching: number;
  /** Nothing is left to begin with: one of them has found so. */
  exhausted: boolean;
  hits: Hit[][];
}

function groupsOf(questions: readonly Question[]): Group[] {
  const groups: Group[] = [];
  let residues = 0;
  for (const [k, { sequence }] of questions.entries()) {
    const last = groups.at(-1);
    residues += sequence.length;
    if (last && k - last.first < GROUP && residues <= GROUP_RESIDUES) {
      last.end = k + 1;
      last.hits.push([]);
      continue;
    }
    residues = sequence.length;
    const counter = new Int32Array(new SharedArrayBuffer(4));
    groups.push({
      first: k,
      end: k + 1,
      counter,
      searchers: new Set(),
      searching: 0,
      exhausted: false,
      hits: [[]],
    });
  }
  return groups;
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
  const groups = groupsOf(questions);
  const groupOf = groups.flatMap((group) => Array.from({ length: group.end - group.first }, () => group));
  let next = 0;
  let wanted = 0;
  /** What a worker can do now: score the next question where its hits are there, else help to find some. */
  const taskFor = (worker: Worker): WorkerTask | SearchTask | null => {
    const end = Math.min(questions.length, wanted + workers * AHEAD);
    const group = groupOf[next];
    if (next < end && group.exhausted && group.searching === 0) {
      const { sequence, patterns } = questions[next];
      const request = { identifier: "", query: sequence, model, patterns };
      const hits = group.hits[next - group.first];
      group.hits[next - group.first] = [];
      return { ticket: next++, request, corpusPath, options, hits };
    }
    const open = groups.find(
      ({ first, exhausted, searchers }) => first < end && !exhausted && !searchers.has(worker),
    );
    if (!open) return null;
    open.searchers.add(worker);
    open.searching++;
    const queries = questions.slice(open.first, open.end).map(({ sequence }) => sequence);
    return { ticket: open.first, queries, corpusPath, options, counter: open.counter };
  };
  const dispatch = (): void => {
    for (const worker of idle.splice(0)) {
      const task = taskFor(worker);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
      if (task) worker.postMessage(task);
      else idle.push(worker);
    }
  };
  const gather = (group: Group, hits: Hit[][]): void => {
    group.exhausted = true;
    group.searching--;
    for (const [k, own] of hits.entries()) group.hits[k] = group.hits[k].concat(own);
  };
  const fail = (error: unknown): void => {
    for (const { reject } of answers) reject(error);
  };
  const hear = (worker: Worker, said: WorkerReport): void => {
    if (said.kind === "progress") return report?.(said.stage, said.fraction);
    if (said.kind === "searched") gather(groupOf[said.ticket], said.hits);
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
