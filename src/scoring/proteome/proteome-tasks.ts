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
import { readFamilies } from "./families-file.ts";

/** Families of proteins to compute. */
export interface FamiliesTask {
  ticket: number;
  corpusPath: string;
  /** Indexes in the corpus. */
  members: number[];
}

/** Families of a file of another corpus to carry over. */
export interface CarryTask {
  ticket: number;
  corpusPath: string;
  former: Pick<CorpusInfo, "path" | "hash">;
  change: CorpusChange;
  families: string;
  /** Indexes in the former corpus. */
  among: number[];
}

/** Families of the corpus; of a CarryTask those that are unchanged. */
export interface FamiliesReport {
  ticket: number;
  kind: "families";
  families: StoredFamily[];
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

export function computeFamilies({ ticket, members }: FamiliesTask, corpus: Corpus): FamiliesReport {
  return { ticket, kind: "families", families: [...familyRecords(corpus, members)] };
}

/** Nothing is carried over from files that were altered. */
export function carryFamilies(task: CarryTask, corpus: Corpus): FamiliesReport {
  const { ticket, former, change, among } = task;
  try {
    const known = readFamilies(task.families, former.hash);
    const families = among.map((protein) => known.get(protein)!);
    const carried = carryOver(families, openCorpusFile(former.path), corpus, change);
    return { ticket, kind: "families", families: [...carried] };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { ticket, kind: "families", families: [] };
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
