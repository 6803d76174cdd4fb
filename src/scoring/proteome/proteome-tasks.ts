import {
  type Corpus,
  familyRecords,
  parsePattern,
  type ProteomeMatch,
  type ScoringModel,
  scoreRecord,
} from "../../motif/index.ts";
import type { JobPattern } from "../jobs/job.ts";
import { readFamilies } from "./families-file.ts";

/** Families of proteins to compute. */
export interface FamiliesTask {
  ticket: number;
  corpusPath: string;
  /** Indexes in the corpus. */
  members: number[];
}

export interface FamiliesReport {
  ticket: number;
  kind: "families";
  /** The record of each member. */
  records: Uint8Array[];
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
  return { ticket, kind: "families", records: [...familyRecords(corpus, members)] };
}

/** @throws Problem bad_corpus if the file was altered */
export function scoreFamilies(task: MatchTask, corpus: Corpus): MatchReport {
  const { ticket, families, among, model } = task;
  const { expression, dialect } = task.pattern;
  const motif = { pattern: parsePattern(expression, dialect), model };
  const records = readFamilies(families, corpus.hash);
  const matches = among.flatMap((protein) => scoreRecord(records.get(protein)!, protein, corpus, motif));
  return { ticket, kind: "matches", matches };
}
