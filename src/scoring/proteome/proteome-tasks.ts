import {
  carryOver,
  type Corpus,
  familyRecords,
  parsePattern,
  type PatternRequest,
  type ProteomeMatch,
  type ScoringModel,
  scoreRecord,
  type StoredFamily,
} from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { openCorpusFile } from "../corpus/corpus.ts";
import type { CarryTask, FamiliesReport, FamiliesTask, Stop } from "../jobs/worker-messages.ts";
import { readFamilies } from "../corpus/families-file.ts";

/** Proteins of a file of families to score. */
export interface MatchTask {
  ticket: number;
  corpusPath: string;
  families: string;
  /** Indexes in the corpus. */
  among: number[];
  pattern: PatternRequest;
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

/** @param find calls `check` at intervals */
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
