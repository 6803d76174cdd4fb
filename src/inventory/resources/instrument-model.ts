import { prose, text } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";

/** Names that LabID's client knows. */
export const TECHNOLOGIES = [
  "sequencing",
  "light microscopy",
  "electron microscopy",
  "proteomics",
  "flow cytometry",
  "metabolomics",
  "other",
  "NA",
];

export const instrumentModel = ownedResource({
  name: "instrument_model",
  segment: "stocks/instrumentmodels",
  forClients: true,
  model: "stocks.instrumentmodel",
  summary: "Models of instruments, such as sequencers.",
  table: "instrument_model",
  fields: {
    name: nameField("Name of the model.", { example: "NextSeq 2000" }),
    description: prose("Description."),
    technology: text("Technology of the instruments.", {
      choices: TECHNOLOGIES,
      initial: "other",
      blank: false,
    }),
    platform: text("Platform of the instruments, such as ILLUMINA.", { initial: "OTHER", blank: false }),
  },
});
