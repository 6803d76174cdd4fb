import { compareZ, type ProteomeMatch, type RankedMatch, rankRows } from "../../motif/index.ts";
import type { ProteinObject } from "../prediction/prediction.ts";
import { summarize } from "../corpus/find-proteins.ts";
import type { RowNotes } from "../features/row-notes.ts";

import { patternName } from "../table/match-row.ts";
import { openedCorpus } from "../corpus/corpus.ts";
import { type ProteomePart, type ProteomeRequest, searchFamilies } from "./search.ts";

/** A match among all matches of a search. */
export interface ProteomeRow extends Omit<ProteomeMatch, "protein">, Pick<RankedMatch, "rank" | "q" | "qIs"> {
  protein: ProteinObject;
  /** Name of the motif class, or the expression. */
  motif: string;
  /** Features at the match; added by `withRowNotes`. */
  notes?: RowNotes | null;
}

export interface ProteomeTable {
  /** Proteins searched, and selected proteins that have no family. */
  searched: number;
  missing: number;
  /** Proteins with a match. */
  matching: number;
  /** Best first, as in a scan; q-values are over all of them. */
  rows: ProteomeRow[];
}

/**
 * All matches of a pattern in the proteins with families.
 * @param report called after each part
 * @throws Problem not_found, invalid_request, bad_corpus
 */
export async function searchProteome(
  request: ProteomeRequest,
  report: (part: ProteomePart) => void = () => {},
): Promise<ProteomeTable> {
  const matches: ProteomeMatch[] = [];
  let last: ProteomePart | undefined;
  for await (const part of searchFamilies(request)) {
    for (const match of part.matches) matches.push(match);
    report((last = part));
  }
  return makeTable(request, matches, last!);
}

/** A table of the matches found so far, in any order. */
export function makeTable(
  { corpus: { path }, pattern }: { corpus: { path: string }; pattern: ProteomeRequest["pattern"] },
  matches: readonly ProteomeMatch[],
  { searched, missing }: Pick<ProteomeTable, "searched" | "missing">,
): ProteomeTable {
  // Files may have been computed in any order.
  const inOrder = matches.toSorted((a, b) => a.protein - b.protein || a.start - b.start);
  const corpus = openedCorpus(path);
  const proteins = new Map<number, ProteinObject>();
  const motif = patternName(pattern);
  const rows = rankRows(inOrder, (match) => match, compareZ).map((row): ProteomeRow => {
    const protein = proteins.get(row.protein) ?? summarize(corpus, row.protein);
    proteins.set(row.protein, protein);
    return Object.assign(row, { protein, motif });
  });
  return { searched, missing, matching: proteins.size, rows };
}
