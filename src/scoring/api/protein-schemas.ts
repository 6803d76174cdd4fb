import { Type } from "typebox";
import { nullable } from "../../platform/schema.ts";
import { FeaturesSchema } from "../features/feature-schemas.ts";
import {
  CorpusSchema,
  count,
  fraction,
  list,
  object,
  ProteinSchema,
  text,
} from "../prediction/prediction.ts";
import { instant, JobSchema, uuid } from "./json-schemas.ts";

/** Maximum number of proteins of one search. */
export const MAX_PROTEINS = 100;

export const ProteinsSchema = object(
  {
    total: count("Number of proteins found."),
    results: list(ProteinSchema, "Best first."),
    near: list(ProteinSchema, "If none is found: near misses."),
    searched: count("Proteins of the corpus."),
  },
  "Proteins of the corpus in use.",
);

/** A protein with what is known about it. */
export const ProteinDetailsSchema = object(
  {
    protein: ProteinSchema,
    corpus: CorpusSchema,
    sequence: text("Its residues."),
    disorder: list(fraction("Disorder."), "Predicted disorder per residue."),
    order: list(fraction("Order."), "Predicted pLDDT / 100 per residue."),
    features: FeaturesSchema.properties.features,
    results: list(
      object(
        {
          id: uuid("The job."),
          state: JobSchema.properties.state,
          submitted: instant("When it was accepted."),
          expires: nullable(instant("When its result is removed; null for never, and before its end.")),
          motifs: list(text("A motif."), "The first of its motifs."),
          motifCount: count("Its motifs."),
          variant: JobSchema.properties.variant,
          hasOwnAlignment: JobSchema.properties.hasOwnAlignment,
          isRepeated: Type.Boolean({ description: "Whether a newer job has the same result." }),
        },
        "A job that scored the protein.",
      ),
      "The caller's jobs, the newest first.",
    ),
    more: Type.Boolean({ description: "Whether there are older jobs." }),
  },
  "A protein with what is known about it.",
);

export const ProteinParameters = Type.Object({
  query: text(
    "Words that must all apply to a protein: accession, entry name, gene, word of its name, or species (scientific or English name, mnemonic, taxon), or the beginning of one.",
    { maxLength: 200, examples: ["BRCA1 mouse"] },
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_PROTEINS, default: 10, description: "Most results." }),
  ),
});
