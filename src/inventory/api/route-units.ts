import { Type } from "typebox";
import { exampleId } from "../model/example.ts";
import type { JsonObject } from "../model/field.ts";
import { invalidField } from "../model/parse-body.ts";
import { ALIVE } from "../model/condition.ts";
import { recordAnswer } from "../model/record-schema.ts";
import { mergeUnits, TERM } from "../records/merge-units.ts";
import { DECLARED, type RoutedResource } from "../resources/index.ts";
import { operation } from "../../platform/operation.ts";
import { writeBatch } from "./batch.ts";
import type { RecordWriter } from "../records/record-writer.ts";
import { type Call, findRecord, respondJson } from "./call.ts";
import { inList } from "./mount-operations.ts";
import { DRY_RUN, SEVERAL } from "./parameters.ts";
import { showRecord } from "./read-records.ts";
import { listRecordParameters } from "./route-records.ts";
import { closed, COUNT, RENDERED_CONTENT } from "./schema.ts";

const TERMS = TERM as RoutedResource;
const TARGET = closed({
  into: Type.String({ description: "Id of the unit that remains.", examples: [exampleId(TERM)] }),
});
const MAX_MERGES = 200;
const MERGES = closed({
  merges: Type.Array(
    Type.Object({ from: Type.String(), into: Type.String() }, { additionalProperties: false }),
    {
      minItems: 1,
      maxItems: MAX_MERGES,
      description: "Ids of units, and of those that remain.",
    },
  ),
});

/** Merges a unit into another. @returns the row of the other @throws Problem as `mergeUnits` */
function mergeInto({ store, actor }: Call, writer: RecordWriter, from: number, into: string): number {
  const to = store.reader.find(TERMS, into, ALIVE, actor);
  if (to === undefined) throw invalidField("into", "There is no such unit.");
  mergeUnits(store, writer, [from, to], actor);
  return to;
}

/** Merging units of the same meaning, such as ul and µL. */
export const unitOperations = () =>
  inList(TERMS, [
    operation("POST /api/v2/:list/merge/", {
      access: "signedIn",
      summary: "Merge units into others",
      description: "All or none, in one batch.",
      parameters: [DRY_RUN, SEVERAL],
      body: MERGES,
      returns: Type.Object({ merged: COUNT }, { $id: "MergedUnits" }),
      run: ({ body }, call: Call) =>
        writeBatch(call, body, {
          kind: "bulk_update",
          work(writer) {
            for (const { from, into } of body.merges)
              mergeInto(call, writer, findRecord(call, TERMS, from), into);
            return body.merges.length;
          },
          respond: (merged) => respondJson({ merged }),
        }),
    }),
    operation("POST /api/v2/:list/:id/merge/", {
      access: "signedIn",
      summary: "Merge a unit into another",
      description:
        "Records with this unit get the other one, which must mean the same, such as µL for ul; this one is deleted. Amounts stay as they are.",
      parameters: [() => listRecordParameters(TERMS), DRY_RUN, SEVERAL],
      body: TARGET,
      returns: recordAnswer(DECLARED, TERMS),
      formats: RENDERED_CONTENT,
      run: ({ params, body }, call: Call) =>
        writeBatch(call, body as unknown as JsonObject, {
          kind: "bulk_update",
          work: (writer) => mergeInto(call, writer, findRecord(call, TERMS, params.id), body.into),
          respond: (rid) => showRecord(call, TERMS, rid, 200),
        }),
    }),
  ]);
