import { ALIVE, and, compare } from "../model/condition.ts";
import { exampleId } from "../model/example.ts";
import { missingReference } from "../model/parse-body.ts";
import { selectVisible } from "../model/plan.ts";
import { location } from "./location.ts";
import { type Json, json, prose, text, uuid } from "../model/field.ts";
import { nameField, ownedResource, type ReadContext } from "../model/resource.ts";
import type { StoredRecord } from "../model/stored-record.ts";
import { judgeReport, REPORT, type Report } from "./stocktake-report.ts";

/** The items found in a location during a stocktake. */
/** The error of a stocktake of a location that does not exist or that the caller may not view. */
function findMissingLocation(
  { location }: StoredRecord,
  { query, resources, actor }: ReadContext,
): string | undefined {
  const named = and(compare(["id"], "==", location), ALIVE);
  const found = query.get(selectVisible({ resources, actor }, resources.get("location")!, "1", named));
  return found === null
    ? missingReference({ field: "location", by: "id", value: String(location) })
    : undefined;
}

export const stocktake = ownedResource({
  name: "stocktake",
  segment: "stocktakes",
  model: "stocks.stocktake",
  summary: "Stocktakes of locations with a scanner, and their outcomes.",
  table: "stocktake",
  fields: {
    name: nameField("Name of the stocktake.", { example: "Freezers 2026" }),
    description: prose("Purpose of the stocktake."),
    // Not a reference: a past stocktake must not keep a location from being deleted.
    location: uuid("Id of the location.", {
      write: "required",
      dependent: true,
      example: exampleId(location),
      form: { hint: "The location that is counted.", idsOf: "location" },
    }),
    state: text("OPEN during scanning, APPLIED after the outcome was written.", {
      choices: ["OPEN", "APPLIED"],
      initial: "OPEN",
      blank: false,
    }),
    report: json(
      "Outcome: counts, and the items found, misplaced, missing and unknown that the caller may view.",
      {
        dependsOnCaller: true,
        shown: "extra",
        nullable: true,
        initial: null,
        shape: REPORT,
      },
    ),
  },
  rules(record, _given, previous, context) {
    const was = previous ?? { state: "OPEN", report: null };
    // Only `apply` writes it; a caller who sends an answer back may have got a part of it.
    record.report = was.report;
    return {
      ...(record.state === was.state
        ? {}
        : { state: "The state changes only when a stocktake is applied, or its application is undone." }),
      ...(previous === undefined || record.location === previous.location
        ? {}
        : {
            location:
              findMissingLocation(record, context) ?? "The location of a stocktake cannot be changed.",
          }),
    };
  },
  check(record, _previous, context) {
    // The location may be deleted later, unlike one that is referred to.
    const missing = Number(record.rid) > 0 ? undefined : findMissingLocation(record, context);
    return missing === undefined ? {} : { location: missing };
  },
  printValue: (name, value, context) =>
    name === "report" && value !== null ? (judgeReport(value as unknown as Report, context) as Json) : value,
});
