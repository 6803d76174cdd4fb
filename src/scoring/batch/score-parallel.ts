import { groupQueries, type Options, type Prediction, type ScoringModel } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { JointSearch } from "../jobs/joint-search.ts";
import type { SearchTask, WorkerReport, WorkerTask } from "../jobs/worker-messages.ts";
import { workerAddress } from "../jobs/worker-entrypoints.ts";
import type { Question } from "./questions.ts";
import { WorkerGroup } from "../jobs/worker-group.ts";

export interface ParallelOptions {
  model: ScoringModel;
  /** File of the corpus; null without a corpus. */
  corpusPath: string | null;
  workers: number;
  options?: Partial<Options> | undefined;
  report?: ((stage: string, fraction: number) => void) | undefined;
  /** URL of the worker's module; tests replace it. */
  workerUrl?: string;
}

/** Questions per worker that may run ahead of the next result: slow ones block nobody, and few results wait in memory. */
const MAX_AHEAD = 8;

/** Questions whose homologs are searched together. */
interface Group {
  members: readonly number[];
  search: JointSearch;
}

/**
 * Scores questions on several threads. Homologs are searched for a group of questions by all threads together. Results
 * arrive in the order of the questions and do not depend on the number of workers.
 * @throws Problem if a question cannot be scored
 */
export async function* scoreParallel(
  questions: readonly Question[],
  options: ParallelOptions,
): AsyncGenerator<Prediction> {
  const run = new ParallelRun(questions, options);
  try {
    yield* run.results();
  } finally {
    run.group.terminate();
  }
}

class ParallelRun {
  readonly group: WorkerGroup<WorkerReport>;
  readonly #results: PromiseWithResolvers<Prediction>[];
  readonly #groups: Group[] = [];
  readonly #idle: Worker[];
  #next = 0;
  #delivered = 0;

  constructor(
    private readonly questions: readonly Question[],
    private readonly options: ParallelOptions,
  ) {
    this.#results = questions.map(() => Promise.withResolvers<Prediction>());
    // A result that nobody waits for any more may fail silently.
    for (const { promise } of this.#results) promise.catch(() => {});
    for (const members of groupQueries(questions.map(({ sequence }) => sequence.length))) {
      const group = { members, search: new JointSearch(members.length) };
      for (const k of members) this.#groups[k] = group;
    }
    const workers = questions.length === 0 ? 0 : options.workers;
    this.group = new WorkerGroup(workers, options.workerUrl ?? workerAddress(), {
      onReport: (worker, report) => this.#onReport(worker, report),
      onFailure: (error) => {
        for (const { reject } of this.#results) reject(error);
      },
    });
    this.#idle = [...this.group.workers];
  }

  async *results(): AsyncGenerator<Prediction> {
    for (const { promise } of this.#results) {
      this.#dispatch();
      yield await promise;
      this.#delivered++;
    }
  }

  #dispatch(): void {
    for (const worker of this.#idle.splice(0)) {
      const task = this.#nextTask(worker);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have one
      if (task) worker.postMessage(task);
      else this.#idle.push(worker);
    }
  }

  /** Scores the next question if its hits are known, else joins a search. */
  #nextTask(worker: Worker): WorkerTask | SearchTask | null {
    const { model, corpusPath, workers, options = {} } = this.options;
    const end = Math.min(this.questions.length, this.#delivered + workers * MAX_AHEAD);
    const group = this.#groups[this.#next];
    if (this.#next < end && group.search.isOver) {
      const { sequence, patterns, knowledge, variant } = this.questions[this.#next];
      const request = { identifier: "", query: sequence, model, patterns, knowledge, variant };
      const hits = group.search.take(group.members.indexOf(this.#next)) ?? undefined;
      return { ticket: this.#next++, request, corpusPath, options, hits };
    }
    const open = this.#groups.slice(this.#next, end).find(({ search }) => search.join(worker));
    if (!open) return null;
    const queries = open.members.map((k) => this.questions[k].sequence);
    return { ticket: open.members[0], queries, corpusPath, options, counter: open.search.counter };
  }

  #onReport(worker: Worker, report: WorkerReport): void {
    if (report.kind === "progress") return this.options.report?.(report.stage, report.fraction);
    if (report.kind === "searched") this.#groups[report.ticket].search.gather(report.hits);
    else if (report.kind === "finished")
      this.#results[report.ticket].resolve(JSON.parse(report.prediction as string) as Prediction);
    else {
      const { reason, cause } = report;
      this.#results[report.ticket].reject(
        reason === null ? new Error(cause) : new Problem("invalid_request", reason),
      );
    }
    this.#idle.push(worker);
    this.#dispatch();
  }
}
