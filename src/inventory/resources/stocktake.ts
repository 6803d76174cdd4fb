import { json, prose, Shape, text, uuid } from "../model/field.ts";
import {
  commonFields,
  deletionFields,
  ownerFields,
  permissionsField,
  publicField,
  type Resource,
} from "../model/resource.ts";

/** What was found in a location when somebody looked. */
export const stocktake: Resource = {
  name: "stocktake",
  segment: "stocktakes",
  model: "stocks.stocktake",
  summary: "Locations that were looked through with a scanner, and what came of it.",
  table: "stocktake",
  key: "name",
  shownAs: "id",
  nameFields: ["name"],
  descriptionFields: ["description"],
  defaultOrder: ["name"],
  fields: {
    ...commonFields(),
    name: text("Name of the stocktake.", { write: "required", blank: false, folded: "name_fold" }),
    description: prose("What it was for."),
    // No reference: that it was counted once must not keep a location from being deleted.
    location: uuid("Id of the location.", { write: "required", idOf: "location" }),
    state: text("OPEN while it is scanned, APPLIED once its outcome was written.", {
      choices: ["OPEN", "APPLIED"],
      initial: "OPEN",
      blank: false,
    }),
    report: json("What it came to: counts, and what was found, misplaced, missing, unknown.", {
      shown: "extra",
      nullable: true,
      initial: null,
      shape: Shape.Unknown(),
    }),
    public: publicField({ shown: "always" }),
    permissions: permissionsField({ shown: "extra" }),
    ...ownerFields({ shown: "always" }),
    ...deletionFields(),
  },
  rules(record, _given, previous) {
    const was = previous ?? { state: "OPEN", report: null };
    const same = record.report === was.report || (record.report === "null" && was.report === null);
    return {
      ...(record.state === was.state
        ? {}
        : { state: "Only applying a stocktake, and undoing that, changes it." }),
      ...(same ? {} : { report: "Only applying a stocktake writes it." }),
      ...(previous === undefined || record.location === previous.location
        ? {}
        : { location: "What was scanned belongs to the location that it began with." }),
    };
  },
};
