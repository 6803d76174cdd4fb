import { compareCorpora, type Corpus, residuesIn } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { type CorpusInfo, openCorpusFile } from "../corpus/corpus.ts";
import { type FamiliesFile, listFamilies } from "../corpus/families-file.ts";
import type { CarryTask } from "../jobs/worker-messages.ts";

/** Families of another corpus, such as an earlier release, that may be the same in this one. */
export interface CarryOver {
  /** Name of that corpus. */
  from: string;
  tasks: CarryTask[];
  /** Indexes of the proteins in this corpus. */
  proteins: number[];
  /** Residues of the proteins that only one of the corpora has: each query is compared with them. */
  changed: number;
}

/** If more of the corpus has changed, checking families takes about as long as computing them. */
const MAX_CHANGE = 0.5;

/**
 * Finds the wanted families in other corpora, the last one first.
 * @param wanted indexes in the corpus
 */
export function planCarryOver(
  corpus: CorpusInfo,
  wanted: readonly number[],
  others: readonly CorpusInfo[],
): CarryOver[] {
  const left = new Set(wanted);
  const opened = openCorpusFile(corpus.path);
  return others.toReversed().flatMap((former) => {
    const isCandidate = former.hash !== corpus.hash && left.size > 0;
    return (isCandidate && findCarryOver(former, opened, corpus.path, left)) || [];
  });
}

/** Takes the proteins that it finds from `left`; null if there are none. */
function findCarryOver(
  former: CorpusInfo,
  corpus: Corpus,
  corpusPath: string,
  left: Set<number>,
): CarryOver | null {
  const files = usableFamilies(former);
  if (files.length === 0) return null;
  const opened = openCorpusFile(former.path);
  const change = compareCorpora(opened, corpus);
  const changed = residuesIn(corpus, change.added) + residuesIn(opened, change.removed);
  if (changed > MAX_CHANGE * corpus.residueCount) return null;
  const proteins: number[] = [];
  const tasks = files.flatMap(({ path: families, proteins: indexes }): CarryTask[] => {
    const among = indexes.filter((index) => left.delete(change.indexes[index]));
    for (const index of among) proteins.push(change.indexes[index]);
    return among.length === 0 ? [] : [{ ticket: 0, corpusPath, former, change, families, among }];
  });
  return proteins.length === 0 ? null : { from: former.name, tasks, proteins, changed };
}

/** Families; empty for a corpus with damaged files: only searches fail then. */
function usableFamilies(corpus: CorpusInfo): FamiliesFile[] {
  try {
    return listFamilies(corpus);
  } catch (error) {
    if (error instanceof Problem) return [];
    throw error;
  }
}
