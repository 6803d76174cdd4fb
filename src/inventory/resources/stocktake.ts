import { json, prose, Shape, text, uuid } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";

/** The items found in a location during a stocktake. */
export const stocktake = ownedResource({
  name: "stocktake",
  segment: "stocktakes",
  model: "stocks.stocktake",
  summary: "Stocktakes of locations with a scanner, and their outcomes.",
  table: "stocktake",
  fields: {
    name: nameField("Name of the stocktake."),
    description: prose("Purpose of the stocktake."),
    // Not a reference: a past stocktake must not keep a location from being deleted.
    location: uuid("Id of the location.", { write: "required", idOf: "location" }),
    state: text("OPEN during scanning, APPLIED after the outcome was written.", {
      choices: ["OPEN", "APPLIED"],
      initial: "OPEN",
      blank: false,
    }),
    report: json("Outcome: counts, and the items found, misplaced, missing and unknown.", {
      shown: "extra",
      nullable: true,
      initial: null,
      shape: Shape.Unknown(),
    }),
  },
  rules(record, _given, previous) {
    const was = previous ?? { state: "OPEN", report: null };
    const same = record.report === was.report || (record.report === "null" && was.report === null);
    return {
      ...(record.state === was.state
        ? {}
        : { state: "The state changes only when a stocktake is applied or that is undone." }),
      ...(same ? {} : { report: "The report is written when a stocktake is applied." }),
      ...(previous === undefined || record.location === previous.location
        ? {}
        : { location: "The location of a stocktake cannot be changed." }),
    };
  },
});
