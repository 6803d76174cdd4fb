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
import { type Call, findRecord } from "./call.ts";
import { inList } from "./mount-operations.ts";
import { DRY_RUN, SEVERAL } from "./parameters.ts";
import { showRecord } from "./read-records.ts";
import { listRecordParameters } from "./route-records.ts";
import { closed, RENDERED_CONTENT } from "./schema.ts";

const TERMS = TERM as RoutedResource;
const TARGET = closed({
  into: Type.String({ description: "Id of the unit that remains.", examples: [exampleId(TERM)] }),
});

/** Merging units of the same meaning, such as ul and µL. */
export const unitOperations = () =>
  inList(TERMS, [
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
          work(writer) {
            const from = findRecord(call, TERMS, params.id);
            const into = call.store.reader.find(TERMS, body.into, ALIVE, call.actor);
            if (into === undefined) throw invalidField("into", "There is no such unit.");
            mergeUnits(call.store, writer, [from, into], call.actor);
            return into;
          },
          respond: (rid) => showRecord(call, TERMS, rid, 200),
        }),
    }),
  ]);
