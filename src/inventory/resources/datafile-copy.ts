import { flag, prose, reference, text } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";

export const datafileCopy = ownedResource({
  name: "datafile_copy",
  segment: "data_management/datafilecopies",
  forClients: true,
  model: "data_management.datafilecopy",
  summary: "Copies of data files on storage volumes.",
  table: "datafile_copy",
  fields: {
    name: nameField("Name of the copy.", { example: "library1_R1.fastq.gz", searchable: true }),
    description: prose("Description.", { searchable: true }),
    datafile: reference("datafile", "The file.", { nested: true }),
    storage_volume: reference("storage_volume", "The volume that the copy is on.", { nested: true }),
    uri: text("Path or address of the copy.", {
      write: "required",
      blank: false,
      maxLength: 4096,
      example: "/archive/library1_R1.fastq.gz",
    }),
    shortname: text("Short name of the copy; by default its name."),
    is_primary_copy: flag("Whether the other copies were made from this copy.", false),
  },
  rules(record) {
    if (record.shortname === "") record.shortname = record.name;
    return {};
  },
});
