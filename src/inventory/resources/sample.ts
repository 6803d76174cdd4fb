import { list, prose, reference, text } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";
import { barcodeField, modelType, sameAsModelType, statusField } from "./model-type.ts";

export const sample = ownedResource({
  name: "sample",
  segment: "stocks/samples",
  forClients: true,
  model: "stocks.sample",
  summary: "Samples for assays, such as sequencing libraries.",
  table: "sample",
  fields: {
    name: nameField("Name of the sample.", { example: "Library 1", searchable: true }),
    description: prose("Description.", { searchable: true }),
    model_type: modelType("Kind of sample, such as GENERICSAMPLE or SEQUENCINGLIBRARY."),
    type: sameAsModelType(),
    status: statusField("Status, such as AVAILABLE."),
    sample_type: text("Material, such as genomic DNA."),
    application: text("Application, such as RNA-seq."),
    provider_sample_name: text("Name of the sample at its provider."),
    provider_sample_id: text("Id of the sample at its provider."),
    barcode: barcodeField("Barcode; for a sequencing library, the index sequence."),
    specimen: reference("specimen", "The specimen that the sample was taken from."),
    parents: list("sample", "The samples that it was made of."),
    location: reference("location", "Storage location.", {
      places: true,
      form: { shownIn: "location" },
    }),
  },
});
