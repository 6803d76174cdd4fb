import { groupQueries, FAMILY_METHOD, type StoredFamily } from "../../motif/index.ts";
import { resultsInOrder } from "../jobs/task-results.ts";
import type { CorpusInfo } from "../corpus/corpus.ts";
import type { CarryOver } from "./carry-over.ts";
import { removeFamilies, sweepFamilies, writeFamilies } from "../corpus/families-file.ts";
import { type BuildPlan, estimateSeconds, estimateCheckSeconds } from "./plan.ts";
import type { CarryTask, FamiliesReport, FamiliesTask } from "../jobs/worker-messages.ts";

/** Proteins per file: what a kill loses at most, about a minute of work. */
const BATCH = 256;

/** Runs tasks on workers; reports arrive in the order of the tasks. */
export type TaskRunner = (tasks: (FamiliesTask | CarryTask)[]) => AsyncIterable<FamiliesReport>;

/** Threads for a command, which end with its tasks. */
export const onThreads =
  (workers: number): TaskRunner =>
  (tasks) =>
    resultsInOrder<FamiliesReport>(tasks, workers);

/** State of a build. */
export interface BuildProgress {
  /** Families stored or to be stored soon, and how many of them were carried over. */
  proteins: number;
  carried: number;
  /** Estimated seconds of one processor: spent, and left. */
  spent: number;
  left: number;
}

/**
 * Carries families over, computes the others, and stores them in files of BATCH proteins. Stored families survive a
 * kill; the next plan contains only the rest.
 */
export async function buildFamilies(
  plan: BuildPlan,
  run: TaskRunner,
  report: (progress: BuildProgress) => void = () => {},
): Promise<BuildProgress> {
  sweepFamilies(plan.corpus.path);
  const build = new FamilyBuild(plan, run, report);
  try {
    for (const one of plan.carryOvers) await build.carryOver(one);
    await build.computeRemaining();
  } finally {
    build.files.write();
  }
  removeFamilies(plan.corpus.path, FAMILY_METHOD);
  return build.progress;
}

class FamilyBuild {
  readonly files: FamilyFiles;
  readonly progress: BuildProgress;
  /** Lengths of the proteins that are left. */
  readonly #left: Map<number, number>;

  constructor(
    private readonly plan: BuildPlan,
    private readonly run: TaskRunner,
    private readonly report: (progress: BuildProgress) => void,
  ) {
    const { corpus, missing, lengths, seconds } = plan;
    this.files = new FamilyFiles(corpus);
    this.progress = { proteins: 0, carried: 0, spent: 0, left: seconds };
    this.#left = new Map(missing.map((index, i) => [index, lengths[i]]));
  }

  async carryOver({ tasks, proteins, changed }: CarryOver): Promise<void> {
    const seconds = estimateCheckSeconds(this.#listLengths(proteins), changed) / tasks.length;
    for await (const { ticket, families } of this.run(tasks)) {
      const { among, change } = tasks[ticket];
      this.progress.carried += families.length;
      this.#store(families);
      const again = among.map((index) => change.indexes[index]).filter((index) => this.#left.has(index));
      this.progress.left += estimateSeconds(this.#listLengths(again), this.plan.corpus);
      this.#advance(seconds);
    }
  }

  async computeRemaining(): Promise<void> {
    const { corpus } = this.plan;
    const [proteins, lengths] = [[...this.#left.keys()], [...this.#left.values()]];
    const tasks = groupQueries(lengths).map((group): FamiliesTask => ({
      ticket: 0,
      corpusPath: corpus.path,
      members: group.map((k) => proteins[k]),
    }));
    for await (const { ticket, families } of this.run(tasks)) {
      const seconds = estimateSeconds(this.#listLengths(tasks[ticket].members), corpus);
      this.#store(families);
      this.#advance(seconds);
    }
  }

  #listLengths(proteins: readonly number[]): number[] {
    return proteins.map((index) => this.#left.get(index)!);
  }

  #store(families: readonly StoredFamily[]): void {
    for (const family of families) {
      this.files.add(family);
      this.#left.delete(family.protein);
    }
    this.progress.proteins += families.length;
  }

  #advance(seconds: number): void {
    this.progress.spent += seconds;
    this.progress.left = Math.max(0, this.progress.left - seconds);
    this.report(this.progress);
  }
}

/** Collects families and writes them in files of BATCH. */
class FamilyFiles {
  #families: StoredFamily[] = [];

  constructor(private readonly corpus: CorpusInfo) {}

  add(family: StoredFamily): void {
    this.#families.push(family);
    if (this.#families.length === BATCH) this.write();
  }

  write(): void {
    if (this.#families.length > 0) writeFamilies(this.corpus, this.#families);
    this.#families = [];
  }
}
