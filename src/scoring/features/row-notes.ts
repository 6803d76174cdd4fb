import { type Corpus } from "../../motif/index.ts";
import { openCorpusFile } from "../corpus/corpus.ts";
import {
  domainsAt,
  featureFilesIn,
  type FeatureSource,
  instancesAt,
  type MatchNotes,
  phosphositeDistance,
  motifComparison,
  readSequence,
} from "./annotation.ts";
import { hashResidues, type FeatureFiles, type ProteinFeatures } from "./feature-files.ts";

/** Features at a match in a protein of the corpus, regardless of homologs. */
export type RowNotes = Pick<MatchNotes, "instances" | "domains" | "phosphosite">;

/** A match in a protein of the corpus. */
interface Row {
  protein: { accession: string };
  start: number;
  end: number;
}

/** Proteins that are looked up together. */
const CHUNK = 500;

/**
 * The rows with the features at each, by the present imports. Ten thousand proteins take about a second: call it in a
 * thread, or for the rows of a page.
 * @param motif name of the motif class; null for an expression
 */
export function withRowNotes<Item extends Row>(
  rows: readonly Item[],
  motif: string | null,
  source: FeatureSource,
): (Item & { notes: RowNotes | null })[] {
  const files = featureFilesIn(source.dataDirectory);
  const { corpusPath } = source;
  if (files.isEmpty || corpusPath === null) return rows.map((row) => Object.assign({}, row, { notes: null }));
  const isSame = motifComparison(motif, source.synonyms);
  const known = loadFeatures(rows, files, openCorpusFile(corpusPath));
  return rows.map((row) => {
    const features = known.get(row.protein.accession)?.features ?? [];
    const notes = {
      instances: instancesAt(features, row, isSame),
      domains: domainsAt(features, row),
      phosphosite: phosphositeDistance(features, row),
    };
    return Object.assign({}, row, { notes });
  });
}

/** The features of the rows' proteins, unless the corpus has another sequence than at the import. */
function loadFeatures(
  rows: readonly Row[],
  files: FeatureFiles,
  corpus: Corpus,
): Map<string, ProteinFeatures> {
  const accessions = [...new Set(rows.map(({ protein }) => protein.accession))];
  const found = new Map<string, ProteinFeatures>();
  for (let at = 0; at < accessions.length; at += CHUNK)
    for (const [accession, protein] of files.findByAccession(accessions.slice(at, at + CHUNK)))
      if (hashResidues(readSequence(corpus, accession) ?? "") === protein.md5) found.set(accession, protein);
  return found;
}
