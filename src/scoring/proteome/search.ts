import type { ClassModel, PatternRequest, ProteomeMatch, ScoringModel } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { resultsInOrder } from "../jobs/task-results.ts";
import type { CorpusInfo } from "../corpus/corpus.ts";
import { listFamilies } from "../corpus/families-file.ts";
import { openedCorpus } from "../corpus/corpus.ts";
import type { FeaturesInUse, MatchReport, MatchTask } from "./proteome-tasks.ts";
import { type ProteinSelection, selectProteins } from "./protein-selection.ts";

export interface ProteomeRequest {
  corpus: Pick<CorpusInfo, "name" | "hash" | "path">;
  pattern: PatternRequest;
  model: ScoringModel;
  prior?: number | undefined;
  /** Proteins to search, of those that have families. */
  selection: ProteinSelection;
  /** Imported features that are evidence, and the data directory that has them; absent without any. */
  features?: FeaturesInUse | undefined;
  /** Model of the pattern's class; absent without one. */
  classModel?: ClassModel | undefined;
  /** Threads; the result does not depend on their number. */
  workers: number;
}

/** Part of a search: matches in no particular order, and the numbers of proteins searched so far and in all. */
export interface ProteomePart {
  matches: ProteomeMatch[];
  searched: number;
  total: number;
  /** Selected proteins that have no family. */
  missing: number;
}

/** Proteins of the first task; each later one has twice as many, or its whole file. So the first matches come soon. */
const FIRST_PROTEINS = 16;

/**
 * Searches the proteins with families for a pattern, in parts. Leaving the loop ends the threads.
 * @throws Problem not_found without families; bad_corpus if a file was altered
 */
export async function* searchFamilies(request: ProteomeRequest): AsyncGenerator<ProteomePart> {
  const { corpus, pattern, model, prior, selection, features, classModel, workers } = request;
  const motif = { pattern, model, prior, classModel, features };
  const left = new Set(selectProteins(openedCorpus(corpus.path), selection));
  const tasks: MatchTask[] = [];
  let size = FIRST_PROTEINS;
  for (const { path: families, proteins } of listFamilies(corpus)) {
    // Two builds at a time may have computed the same family.
    const selected = proteins.filter((protein) => left.delete(protein));
    for (let at = 0; at < selected.length; at += size, size *= 2) {
      const among = selected.slice(at, at + size);
      tasks.push({ ticket: 0, corpusPath: corpus.path, families, among, ...motif });
    }
  }
  if (tasks.length === 0)
    throw new Problem(
      "not_found",
      `corpus ${corpus.name}: no selected protein has a family. Run labd proteome build first.`,
    );
  const total = tasks.reduce((sum, { among }) => sum + among.length, 0);
  let searched = 0;
  for await (const { ticket, matches } of resultsInOrder<MatchReport>(tasks, workers)) {
    searched += tasks[ticket].among.length;
    yield { matches, searched, total, missing: left.size };
  }
}
