import {
  carryOver,
  classMatchesIn,
  type ClassMatch,
  type ClassModel,
  type Corpus,
  decode,
  familyRecords,
  parsePattern,
  type PatternRequest,
  type ProteomeMatch,
  type ScoringModel,
  scoreRecord,
  type StoredFamily,
} from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { featureFilesIn } from "../features/annotation.ts";
import { readKnownFeatures, type SearchedFeatures } from "../features/knowledge.ts";
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
  prior?: number | undefined;
  classModel?: ClassModel | undefined;
  features?: FeaturesInUse | undefined;
}

export type FeaturesInUse = SearchedFeatures & { dataDirectory: string };

export interface MatchReport {
  ticket: number;
  kind: "matches";
  matches: ProteomeMatch[];
}

/** Matches of motif classes in proteins of a file of families, to learn the classes. */
export interface ExamplesTask {
  ticket: number;
  corpusPath: string;
  families: string;
  /** Patterns, each with proteins as indexes in the corpus; `lesson` is for the caller. */
  examples: { lesson: number; pattern: Pick<PatternRequest, "expression" | "dialect">; among: number[] }[];
}

export interface ExamplesReport {
  ticket: number;
  kind: "examples";
  /** For each pattern the matches, and the homologs of each protein. */
  found: { matches: ClassMatch[]; homologs: [protein: number, indexes: number[]][] }[];
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

/** @throws Problem bad_corpus if the file was altered, conflict if other features have been imported */
export function scoreFamilies(task: MatchTask, corpus: Corpus): MatchReport {
  const { ticket, families, among, model, prior, classModel, features } = task;
  const { expression, dialect } = task.pattern;
  const featuresOf = features && featureReader(features, corpus);
  const pattern = parsePattern(expression, dialect);
  const motif = { pattern, model, prior, classModel, facts: features?.facts, featuresOf };
  const records = readFamilies(families, corpus.hash);
  const matches = among.flatMap((protein) =>
    scoreRecord(records.get(protein)!.record, protein, corpus, motif),
  );
  return { ticket, kind: "matches", matches };
}

/** @throws Problem bad_corpus if the file was altered */
export function findExamples({ ticket, families, examples }: ExamplesTask, corpus: Corpus): ExamplesReport {
  const records = readFamilies(families, corpus.hash);
  const found = examples.map(({ pattern: { expression, dialect }, among }) => {
    const pattern = parsePattern(expression, dialect);
    const proteins = among.map((protein) => ({
      protein,
      ...classMatchesIn(records.get(protein)!.record, protein, corpus, pattern),
    }));
    return {
      matches: proteins.flatMap(({ matches }) => matches),
      homologs: proteins.map(({ protein, homologs }): [number, number[]] => [protein, homologs]),
    };
  });
  return { ticket, kind: "examples", found };
}

/** Reads the features of proteins that are evidence. @throws Problem conflict if they are not those of the request */
function featureReader({ dataDirectory, hash }: FeaturesInUse, corpus: Corpus) {
  const files = featureFilesIn(dataDirectory);
  if (files.hash() !== hash)
    throw new Problem(
      "conflict",
      "The imported features have changed since the search was started. Start it again.",
    );
  return (protein: number) => {
    const residues = decode(corpus.residues.subarray(corpus.offsets[protein], corpus.offsets[protein + 1]));
    return readKnownFeatures(files, residues, corpus.accession(protein));
  };
}
