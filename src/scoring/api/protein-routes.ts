import { type Corpus, encode, predictDisorder } from "../../motif/index.ts";
import type { Ownership } from "../../accounts/owner.ts";
import { timestamp, timestampOrNull } from "../../platform/clock.ts";
import { operation } from "../../platform/operation.ts";
import type { Corpora } from "../corpus/corpus.ts";
import { findProteins, requireSequence, summarize } from "../corpus/find-proteins.ts";
import { featureFilesIn, type FeatureSource, findQueryFeatures } from "../features/annotation.ts";
import type { JobsOfProtein } from "../jobs/job-records.ts";
import { patternName } from "../table/match-row.ts";
import { ProteinDetailsSchema, ProteinParameters, ProteinsSchema } from "./protein-schemas.ts";

/** Dependencies of the operations of proteins. */
interface ProteinParts {
  corpora: Corpora;
  corpus: () => Corpus;
  featureSource: () => FeatureSource;
  ownership: Ownership;
  jobsOfProtein: JobsOfProtein;
}

/** Results of a protein that are listed, and motifs of each that are named. */
const [MAX_RESULTS, MAX_MOTIFS] = [50, 3];

/** Proteins of the corpus in use. */
export const proteinOperations = [
  operation("GET /api/scoring/proteins", {
    access: "public",
    operationId: "findProteins",
    summary: "Find proteins by name, gene or species",
    description:
      "Proteins of the corpus in use that every word applies to, such as `TP53`, `P53_HUMAN`, `cellular tumor antigen` or `BRCA1 mouse`. Exact identifiers and genes come first, then their beginnings, then words of names; among equals the most studied species.",
    query: ProteinParameters,
    returns: ProteinsSchema,
    run: ({ query: { query, limit = 10 } }, { corpus }: ProteinParts) => findProteins(corpus(), query, limit),
  }),
  operation("GET /api/scoring/proteins/:accession", {
    access: "public",
    operationId: "getProtein",
    summary: "Get a protein of the corpus",
    description:
      "Its names, sequence, predicted disorder and imported features, and the results of the caller that are still kept.",
    params: { accession: ["Accession in the corpus in use.", "P04637"] },
    returns: ProteinDetailsSchema,
    errors: [404],
    run({ params: { accession }, request }, parts: ProteinParts) {
      const corpus = parts.corpus();
      const { index, sequence } = requireSequence(corpus, accession);
      const { disorder, order } = predictDisorder(encode(sequence));
      const files = featureFilesIn(parts.featureSource().dataDirectory);
      const { features } = findQueryFeatures(files, sequence, accession);
      const { name, hash, sequences, residues: total } = parts.corpora.active()!;
      return {
        protein: summarize(corpus, index),
        corpus: { name, hash, sequences, residues: total },
        sequence,
        disorder: Array.from(disorder, twoDecimals),
        order: Array.from(order, twoDecimals),
        features,
        ...listResults(parts, sequence, request),
      };
    },
  }),
];

const twoDecimals = (value: number): number => Math.round(100 * value) / 100;

/** The newest results of the caller. */
function listResults({ ownership, jobsOfProtein }: ProteinParts, sequence: string, request: Request) {
  const jobs = ownership
    .identify(request)
    .keys.flatMap((owner) => jobsOfProtein({ sequence, owner, limit: MAX_RESULTS + 1 }))
    .toSorted((a, b) => b.submitted - a.submitted);
  const seen = new Set<number | null>();
  const results = jobs.slice(0, MAX_RESULTS).map(({ id, state, request: asked, result, ...times }) => {
    const isRepeated = result !== null && seen.has(result);
    seen.add(result);
    return {
      id,
      state,
      submitted: timestamp(times.submitted),
      expires: timestampOrNull(times.expires),
      motifs: asked.patterns.slice(0, MAX_MOTIFS).map(patternName),
      motifCount: asked.patterns.length,
      variant: asked.variant ?? null,
      hasOwnAlignment: asked.alignment !== undefined,
      isRepeated,
    };
  });
  return { results, more: jobs.length > MAX_RESULTS };
}
