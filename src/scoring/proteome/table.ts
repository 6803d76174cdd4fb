import { type ProteomeMatch, rankByP, type RankedMatch } from "../../motif/index.ts";
import { openCorpusFile } from "../corpus/corpus.ts";
import { type ProteinSummary, summarize } from "../corpus/find-proteins.ts";
import { type ProteomeRequest, searchFamilies } from "./search.ts";

/** A match among all matches of a search. */
export interface ProteomeRow extends Omit<ProteomeMatch, "protein">, Pick<RankedMatch, "q" | "label"> {
  protein: ProteinSummary;
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
 * @param report called with numbers of proteins: searched so far, and in all
 * @throws Problem not_found, invalid_request, bad_corpus
 */
export async function searchProteome(
  request: ProteomeRequest,
  report: (searched: number, total: number) => void = () => {},
): Promise<ProteomeTable> {
  const matches: ProteomeMatch[] = [];
  let [searched, missing] = [0, 0];
  for await (const part of searchFamilies(request)) {
    for (const match of part.matches) matches.push(match);
    ({ searched, missing } = part);
    report(searched, part.total);
  }
  // Files may have been computed in any order.
  matches.sort((a, b) => a.protein - b.protein || a.start - b.start);
  const corpus = openCorpusFile(request.corpus.path);
  const proteins = new Map<number, ProteinSummary>();
  const rows = rankByP(matches, (match) => match).map((row): ProteomeRow => {
    const protein = proteins.get(row.protein) ?? summarize(corpus, row.protein);
    proteins.set(row.protein, protein);
    return Object.assign(row, { protein });
  });
  return { searched, missing, matching: proteins.size, rows };
}
