import { flag, prose, text } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";
import { modelType, sameAsModelType } from "./model-type.ts";

export const storageVolume = ownedResource({
  name: "storage_volume",
  segment: "data_management/storagevolume",
  aliases: ["data_management/storagevolumes"],
  forClients: true,
  model: "data_management.storagevolume",
  summary: "Volumes with copies of data files: file servers, object stores, tape libraries.",
  table: "storage_volume",
  fields: {
    name: nameField("Name of the volume.", { example: "Tier 1" }),
    description: prose("Description."),
    model_type: modelType("Kind of volume, such as POSIX or S3."),
    type: sameAsModelType(),
    uri: text("Path or address of the volume.", { maxLength: 4096 }),
    is_archive: flag("Whether the volume keeps archives only.", false),
  },
});
