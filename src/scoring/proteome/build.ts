import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { type Corpus, groupQueries, METHOD, type StoredFamily } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { type Shard, shardRange } from "../batch/shard.ts";
import { resultsInOrder } from "../batch/task-results.ts";
import { type CorpusInfo, openCorpusFile } from "../corpus/corpus.ts";
import { type CarryOver, planCarryOver } from "./carry-over.ts";
import { listFamilies, removeFamilies, sweepFamilies, writeFamilies } from "./families-file.ts";
import type { CarryTask, FamiliesReport, FamiliesTask } from "./proteome-tasks.ts";
import { type ProteinSelection, selectProteins } from "./protein-selection.ts";

/** Families to compute. */
export interface BuildPlan {
  corpus: CorpusInfo;
  /** Proteins without a family, as indexes in the corpus. */
  missing: number[];
  /** Selected proteins that have one. */
  existing: number;
  /** Families of other corpora, which are taken over if they are the same. */
  carryOvers: CarryOver[];
  /** Estimates: seconds of one processor if all of those are the same, and bytes on disk. */
  seconds: number;
  bytes: number;
}

export interface BuildRequest {
  corpus: CorpusInfo;
  selection: ProteinSelection;
  shard?: Shard | undefined;
  /** Corpora whose families may be carried over. */
  others: readonly CorpusInfo[];
}

/** Proteins per file: what a kill loses at most, about a minute of work. */
const BATCH = 256;

/**
 * Processor time per residue: for the search proportional to the residues searched, and for the alignments. Measured with
 * 200 human proteins in Swiss-Prot, like the bytes; families of 100 homologs take about twice as many.
 */
const SEARCH_SECONDS = 8.4e-13;
const ALIGNMENT_SECONDS = 1.6e-4;
/** For indexing the seeds of a query. */
const CHECK_SECONDS = 2e-6;
const BYTES = 6;

/** @throws Problem not_found, invalid_request for the selection; disk_full */
export function planBuild({
  corpus,
  selection,
  shard = { shard: 1, of: 1 },
  others,
}: BuildRequest): BuildPlan {
  const opened = openCorpusFile(corpus.path);
  const selected = selectProteins(opened, selection);
  const { from, to } = shardRange(
    selected.map((index) => lengthOf(opened, index)),
    shard,
  );
  const own = selected.slice(from, to);
  const known = new Set(listFamilies(corpus).flatMap(({ proteins }) => proteins));
  const missing = own.filter((index) => !known.has(index));
  const bytes = residuesOf(opened, missing) * BYTES;
  requireSpace(corpus, bytes);
  const carryOvers = planCarryOver(corpus, missing, others);
  const carried = new Set(carryOvers.flatMap(({ proteins }) => proteins));
  const seconds =
    carryOvers.reduce((sum, one) => sum + secondsOfCheck(opened, one.proteins, one.changed), 0) +
    secondsOf(
      opened,
      missing.filter((index) => !carried.has(index)),
    );
  return { corpus, missing, existing: own.length - missing.length, carryOvers, seconds, bytes };
}

const lengthOf = (corpus: Corpus, index: number): number => corpus.offsets[index + 1] - corpus.offsets[index];
const residuesOf = (corpus: Corpus, proteins: readonly number[]): number =>
  proteins.reduce((sum, index) => sum + lengthOf(corpus, index), 0);
const secondsOf = (corpus: Corpus, proteins: readonly number[]): number =>
  residuesOf(corpus, proteins) * (SEARCH_SECONDS * corpus.residueCount + ALIGNMENT_SECONDS);
const secondsOfCheck = (corpus: Corpus, proteins: readonly number[], changed: number): number =>
  residuesOf(corpus, proteins) * (SEARCH_SECONDS * changed + CHECK_SECONDS);

function requireSpace({ path }: CorpusInfo, bytes: number): void {
  const { bavail, bsize } = statfsSync(dirname(path));
  if (bytes <= bavail * bsize) return;
  throw new Problem(
    "disk_full",
    `The families need about ${Math.ceil(bytes / 1e6)} MB; ${Math.floor((bavail * bsize) / 1e6)} MB are free in ${dirname(path)}. Free space, or select fewer proteins.`,
  );
}

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
 * Carries families over, computes the others, and stores them in files of BATCH proteins. What is stored survives a kill;
 * the next plan contains only the rest.
 */
export async function buildFamilies(
  plan: BuildPlan,
  run: TaskRunner,
  report: (progress: BuildProgress) => void = () => {},
): Promise<BuildProgress> {
  const { corpus, missing, carryOvers } = plan;
  sweepFamilies(corpus.path);
  const opened = openCorpusFile(corpus.path);
  const progress: BuildProgress = { proteins: 0, carried: 0, spent: 0, left: plan.seconds };
  const files = new FamilyFiles(corpus);
  const left = new Set(missing);
  const add = (families: readonly StoredFamily[], seconds: number): void => {
    for (const family of families) {
      files.add(family);
      left.delete(family.protein);
    }
    progress.proteins += families.length;
    progress.spent += seconds;
    progress.left -= seconds;
  };
  for (const { tasks, proteins, changed } of carryOvers) {
    const seconds = secondsOfCheck(opened, proteins, changed) / tasks.length;
    for await (const { ticket, families } of run(tasks)) {
      add(families, seconds);
      progress.carried += families.length;
      const { among, change } = tasks[ticket];
      const changedOnes = among.map((index) => change.indexes[index]).filter((index) => left.has(index));
      progress.left += secondsOf(opened, changedOnes);
      report(progress);
    }
  }
  const tasks = familiesTasks(opened, corpus.path, [...left]);
  for await (const { ticket, families } of run(tasks)) {
    add(families, secondsOf(opened, tasks[ticket].members));
    report(progress);
  }
  files.write();
  removeFamilies(corpus.path, METHOD);
  return progress;
}

function familiesTasks(corpus: Corpus, corpusPath: string, proteins: readonly number[]): FamiliesTask[] {
  const lengths = proteins.map((index) => lengthOf(corpus, index));
  return groupQueries(lengths).map((group) => ({
    ticket: 0,
    corpusPath,
    members: group.map((k) => proteins[k]),
  }));
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
