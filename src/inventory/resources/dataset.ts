import { flag, list, prose, reference, referring, text } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";

export const dataset = ownedResource({
  name: "dataset",
  segment: "data_management/datasets",
  forClients: true,
  model: "data_management.dataset",
  summary: "Datasets: files that belong together, with the samples and the assay that they come from.",
  table: "dataset",
  fields: {
    name: nameField("Name of the dataset.", { example: "Lane 1, library 1", searchable: true }),
    description: prose("Description.", { searchable: true }),
    dataset_type: text("Kind of data, such as fastq; generic by default.", { initial: "generic" }),
    qc: text("Outcome of the quality control."),
    is_raw: flag("Whether the data are measured, not derived.", false),
    is_managed: flag("Whether a core facility manages the data.", false),
    assay: reference("assay", "The assay that produced the data.", { nested: true }),
    studies: list("study", "The studies that the dataset belongs to."),
    samples: list("sample", "The samples that were measured."),
    collections: list("dataset_collection", "The collections that the dataset belongs to."),
    datafiles: referring("datafile", "dataset", "The files of the dataset that the caller may view."),
  },
});
