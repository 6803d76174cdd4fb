import { flag, instant, prose, reference, text } from "../model/field.ts";
import {
  commonFields,
  deletionFields,
  ownerFields,
  permissionsField,
  publicField,
  type Resource,
} from "../model/resource.ts";
import { CONSTANT } from "./model-type.ts";

export const experiment: Resource = {
  name: "experiment",
  segment: "assays/experiments",
  aliases: ["experiments"],
  model: "assays.experiment",
  summary: "What was done, or will be, for a question.",
  table: "experiment",
  key: "name",
  shownAs: "id",
  nameFields: ["name"],
  descriptionFields: ["description"],
  defaultOrder: ["name"],
  fields: {
    ...commonFields(),
    name: text("Name of the experiment.", { write: "required", blank: false, folded: "name_fold" }),
    description: prose("What it is for."),
    status: text("How far it is, such as RUNNING.", { pattern: CONSTANT }),
    project: reference("project", "The project that it is part of."),
    is_frozen: flag("Whether nothing of it is to be changed any more.", false),
    start_date: instant("When it began.", { write: "optional", nullable: true, initial: null }),
    completed_date: instant("When it was done.", { write: "optional", nullable: true, initial: null }),
    public: publicField({ shown: "always" }),
    permissions: permissionsField({ shown: "extra" }),
    ...ownerFields({ shown: "always" }),
    ...deletionFields(),
  },
  rules(record) {
    const ordered =
      record.start_date === null ||
      record.completed_date === null ||
      Number(record.start_date) <= Number(record.completed_date);
    return ordered ? {} : { completed_date: "It is before start_date." };
  },
};
