import { flag, integer, prose, reference, referring, text } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";
import { statusField } from "./model-type.ts";

/** MD5 in hexadecimal digits, as sequencing facilities give it. */
export const MD5 = { expression: /^[0-9a-f]{32}$/, rule: "an MD5 sum of 32 hexadecimal digits" };

export const requireNonNegative = (name: string, value: unknown): Record<string, string> =>
  Number(value) < 0 ? { [name]: "Ensure this value is greater than or equal to 0." } : {};

export const datafile = ownedResource({
  name: "datafile",
  segment: "data_management/datafiles",
  forClients: true,
  model: "data_management.datafile",
  summary: "Files of datasets, wherever their copies are.",
  table: "datafile",
  filters: { assay: "dataset__assay" },
  fields: {
    name: nameField("Name of the file.", { example: "library1_R1.fastq.gz", searchable: true }),
    description: prose("Description.", { searchable: true }),
    dataset: reference("dataset", "The dataset of the file.", { nested: true }),
    uri: text("Path or address of the file when it was registered.", { maxLength: 4096 }),
    filetype: text("Format, such as fastq."),
    type: text("Equal to filetype, under the name that LabID's client reads.", {
      column: "filetype",
      shown: "extra",
      write: "never",
      form: { omitted: true },
    }),
    mime_type: text("Media type."),
    readtype: text("Read of a sequencing file, such as read_1."),
    md5sum: text("MD5 sum.", { pattern: MD5 }),
    byte: integer("Size in bytes."),
    is_folder: flag("Whether the file is a folder.", false),
    is_managed: flag("Whether a core facility manages the file.", false),
    status: statusField("Status, such as NEW.", { initial: "NEW" }),
    copies: referring("datafile_copy", "datafile", "The copies of the file that the caller may view."),
  },
  rules: ({ byte }) => requireNonNegative("byte", byte),
});
