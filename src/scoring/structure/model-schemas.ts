import { type Static, Type } from "typebox";
import { nullable, oneOf } from "../../platform/schema.ts";
import { count, fraction, list, number, object, text } from "../prediction/prediction.ts";

export const ModelSchema = object(
  {
    name: text("Name of the file."),
    source: oneOf(
      ["upload", "folder"],
      "upload: somebody added it to the job; folder: the server's folder of models has it.",
    ),
    format: oneOf(["mmcif", "pdb"], "Format of the file."),
    isPrediction: Type.Boolean({
      description: "Whether the B factors are confidences (pLDDT) of a predicted structure.",
    }),
    chain: text("The chain that is the query; may be empty in PDB files."),
    chains: list(text("Name of a chain."), "All protein chains of the file."),
    identity: fraction("Identical fraction of the aligned residues, 0 to 1."),
    residues: list(
      nullable(text("Residue number in the model, with insertion code, such as 27A.")),
      "Values per residue of the query; null where the model has no residue.",
    ),
    pLddt: nullable(
      list(
        nullable(number("pLDDT, 0 to 100.")),
        "Values per residue of the query, if the structure is predicted.",
      ),
    ),
    mismatches: list(
      text("Residue of the query, its position and the residue of the model, such as R175H."),
      "Residues that differ.",
    ),
    missing: list(
      object({ start: count("First residue, from 1."), end: count("Last residue.") }, "A stretch."),
      "Residues of the query without coordinates.",
    ),
  },
  "A structure model of the query, aligned with it.",
  "StructureModel",
);
export type StructureModel = Static<typeof ModelSchema>;

export const JobModelSchema = object(
  {
    model: nullable(ModelSchema, { description: "Null without a model." }),
    problem: nullable(text("Why a file of the server's folder cannot be used.")),
  },
  "The structure model of a job's query.",
  "JobModel",
);
export type JobModel = Static<typeof JobModelSchema>;
