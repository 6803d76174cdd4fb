import { flag, prose, referring } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";

export const datasetCollection = ownedResource({
  name: "dataset_collection",
  segment: "data_management/datasetcollections",
  forClients: true,
  model: "data_management.datasetcollection",
  summary: "Collections of datasets, such as the datasets of one assay.",
  table: "dataset_collection",
  fields: {
    name: nameField("Name of the collection.", { example: "Raw data of lane 1" }),
    description: prose("Description."),
    is_raw: flag("Whether the datasets contain measured data, not derived data.", false),
    datasets: referring("dataset", "collections", "The datasets of the collection that the caller may view."),
  },
});
