import {
  carryOver,
  type Corpus,
  type CorpusChange,
  familyRecords,
  parsePattern,
  type ProteomeMatch,
  type ScoringModel,
  scoreRecord,
  type StoredFamily,
} from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { type CorpusInfo, openCorpusFile } from "../corpus/corpus.ts";
import type { JobPattern } from "../jobs/job.ts";
import { readFamilies } from "../corpus/families-file.ts";

/** Families of proteins to compute. */
export interface FamiliesTask {
  ticket: number;
  corpusPath: string;
  /** Indexes in the corpus. */
  members: number[];
  stop?: Stop;
}

/** Another thread sets it to 1, in shared memory, to interrupt the task. */
type Stop = Int32Array;

/** Families of a file of another corpus to carry over. */
export interface CarryTask {
  ticket: number;
  corpusPath: string;
  former: Pick<CorpusInfo, "path" | "hash">;
  change: CorpusChange;
  families: string;
  /** Indexes in the former corpus. */
  among: number[];
  stop?: Stop;
}

/** Families of the corpus in the order of the members; of a CarryTask those that are unchanged. */
export interface FamiliesReport {
  ticket: number;
  kind: "families";
  families: StoredFamily[];
  /** Whether some members are left. */
  isInterrupted?: boolean;
}

/** Proteins of a file of families to score. */
export interface MatchTask {
  ticket: number;
  corpusPath: string;
  families: string;
  /** Indexes in the corpus. */
  among: number[];
  pattern: JobPattern;
  model: ScoringModel;
}

export interface MatchReport {
  ticket: number;
  kind: "matches";
  matches: ProteomeMatch[];
}

export function computeFamilies({ ticket, members, stop }: FamiliesTask, corpus: Corpus): FamiliesReport {
  return collect(ticket, stop, (check) => familyRecords(corpus, members, check));
}

/** Nothing is carried over from files that were altered. */
export function carryFamilies(task: CarryTask, corpus: Corpus): FamiliesReport {
  const { ticket, former, change, among, stop } = task;
  try {
    const known = readFamilies(task.families, former.hash);
    const families = among.map((protein) => known.get(protein)!);
    const opened = openCorpusFile(former.path);
    return collect(ticket, stop, (check) => carryOver(families, opened, corpus, change, check));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { ticket, kind: "families", families: [] };
  }
}

class Interruption extends Error {}

/** @param find calls `check` now and then */
function collect(
  ticket: number,
  stop: Stop | undefined,
  find: (check: () => void) => Iterable<StoredFamily>,
): FamiliesReport {
  const families: StoredFamily[] = [];
  const check = (): void => {
    if (stop && Atomics.load(stop, 0) === 1) throw new Interruption();
  };
  try {
    for (const family of find(check)) families.push(family);
    return { ticket, kind: "families", families };
  } catch (error) {
    if (!(error instanceof Interruption)) throw error;
    return { ticket, kind: "families", families, isInterrupted: true };
  }
}

/** @throws Problem bad_corpus if the file was altered */
export function scoreFamilies(task: MatchTask, corpus: Corpus): MatchReport {
  const { ticket, families, among, model } = task;
  const { expression, dialect } = task.pattern;
  const motif = { pattern: parsePattern(expression, dialect), model };
  const records = readFamilies(families, corpus.hash);
  const matches = among.flatMap((protein) =>
    scoreRecord(records.get(protein)!.record, protein, corpus, motif),
  );
  return { ticket, kind: "matches", matches };
}
