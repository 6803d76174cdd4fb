import { Type } from "typebox";
import { PAGE_POSITION } from "../../platform/page.ts";
import { nullable } from "../../platform/schema.ts";
import {
  AppliedClassModelSchema,
  count,
  list,
  ModelGainSchema,
  number,
  object,
  ProteinSchema,
  text,
} from "../prediction/prediction.ts";
import { FeatureSchema } from "../features/feature-schemas.ts";
import { MEANING } from "./json-schemas.ts";

const MotifClassFields = {
  name: text("Name, for motifClasses of a submission."),
  title: text("Name for people; may be empty."),
  aliases: list(text("A name."), "Other names of the class."),
  type: nullable(text("Type, as in ELM's names: CLV, DEG, DOC, LIG, MOD or TRG.")),
  ...MEANING,
  description: text("Binding partner or function."),
  citation: text("Publication."),
  model: Type.Optional(AppliedClassModelSchema),
};

const NamedMotifSchema = object(MotifClassFields, "A named motif.", "NamedMotif");

export const MotifClassesSchema = object(
  { ...PAGE_POSITION, results: list(NamedMotifSchema, "Motif classes in the order of the table.") },
  "Motif classes.",
);

export const MotifClassSchema = object(
  {
    motifClass: NamedMotifSchema,
    positions: nullable(
      list(
        text("Such as [^P]{2,3} or a dot."),
        "Parts of the pattern; null if it has alternatives of several residues.",
      ),
    ),
    expected: number("Matches in random proteins as large as the corpus in use."),
    compartments: list(text("inside or outside"), "The side of the membrane, if known."),
    phosphorylated: nullable(
      text("Residues to be phosphorylated, with their position in the match, if known."),
    ),
    instances: count("Known instances in the corpus in use."),
    results: list(
      object(
        {
          protein: ProteinSchema,
          before: text("Residues before."),
          text: text("Residues."),
          after: text("Residues after."),
          feature: FeatureSchema,
        },
        "A known instance.",
      ),
      "The first 300 instances.",
    ),
    similar: list(NamedMotifSchema, "Classes with the same name for people."),
  },
  "A motif class with its known instances.",
  "MotifClass",
);

/** A class model as the API shows it. */
export const ClassModelSchema = object(
  {
    motifClass: text("Name of the class."),
    expression: text("The regular expression."),
    hash: text("Identifies the model."),
    method: text("Version of the method."),
    corpus: text("SHA-256 of the corpus."),
    instances: count("Instances."),
    families: count("Their protein families."),
    randomMatches: count("Random matches with which they were compared."),
    windows: list(
      text("Residues of an instance, - for none."),
      "Aligned instances, with six residues on each side.",
    ),
    weights: Type.Record(Type.String(), Type.Number(), { description: "Weight of each contribution." }),
    gain: ModelGainSchema,
  },
  "A model of a motif class.",
);

export const MotifClassParameters = Type.Object({
  query: Type.Optional(
    text(
      "Only classes whose name, title, alias, expression or description contains every word, ignoring case.",
    ),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: "Most results; all by default." })),
});
