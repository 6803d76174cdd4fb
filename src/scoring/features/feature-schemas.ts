import { Type } from "typebox";
import { nullable, oneOf } from "../../platform/schema.ts";
import { count, list, object, text } from "../prediction/prediction.ts";
import { type Feature, FEATURE_GROUP_NAMES, type FeatureGroup } from "./feature.ts";
import { type Flag, FLAGS } from "./feature-files.ts";

export const FeatureSchema = object(
  {
    group: oneOf<FeatureGroup>(FEATURE_GROUP_NAMES, "Its group."),
    type: text("Type of feature in the words of the source, such as `Modified residue`."),
    start: count("First residue, from 1."),
    end: count("Last residue."),
    name: text("Name or description; for an ELM instance its motif class."),
    id: text("Identifier in the source; may be empty."),
    source: text("Database or program."),
    logic: Type.Optional(text("Logic of an ELM instance, such as `true positive` or `false positive`.")),
    structures: Type.Optional(list(text("An entry of the PDB."), "Structures of an ELM instance.")),
  } satisfies Record<keyof Feature, object>,
  "A feature of a protein, from an imported file.",
  "Feature",
);

export const NotesSchema = object(
  {
    instances: list(
      FeatureSchema,
      "Known instances of the motif that overlap the match by half of the shorter.",
    ),
    homologs: list(
      object(
        {
          accession: text("The homolog."),
          organism: nullable(text("Organism of the protein, if known.")),
          id: text("Identifier of the instance."),
          start: count("First residue in the homolog."),
          end: count("Last residue in the homolog."),
          logic: text("Logic of the instance in ELM's words, such as `true positive`."),
        },
        "An instance in a homolog.",
      ),
      "Known instances of the motif in homologs, at the same columns of the alignment.",
    ),
    domains: list(text("Name of a domain."), "Domains that contain at least half of the match."),
    phosphosite: nullable(
      count("Residues to the nearest phosphosite, 0 inside the match; null without one."),
    ),
    sentence: nullable(text("The instances in words.")),
  },
  "Features at a match.",
  "MatchNotes",
);

export const FeaturesSchema = object(
  {
    protein: nullable(text("Accession of the protein with these features; null without one.")),
    features: list(FeatureSchema, "Features in the order of the imported files."),
    flagged: object(
      Object.fromEntries(
        (Object.keys(FLAGS) as Flag[]).map((flag) => [
          flag,
          Type.Optional(count(`Features that ${FLAGS[flag]}.`)),
        ]),
      ),
      "Numbers of features that are not listed, by reason.",
    ),
    notes: list(NotesSchema, "Notes per match, in the order of the match numbers."),
  },
  "Features of a query and its matches.",
  "KnownFeatures",
);
