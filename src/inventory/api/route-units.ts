import { Type } from "typebox";
import { invalidField } from "../model/parse-body.ts";
import { ALIVE } from "../model/condition.ts";
import { mergeUnits, TERM } from "../records/merge-units.ts";
import type { RoutedResource } from "../resources/index.ts";
import { operation } from "../../platform/operation.ts";
import { writeBatch } from "./batch.ts";
import { type Call, findRecord, respondJson } from "./call.ts";
import { inList } from "./mount-operations.ts";
import { DRY_RUN, SEVERAL } from "./parameters.ts";
import { closed, COUNT } from "./schema.ts";

const TERMS = TERM as RoutedResource;
const MAX_MERGES = 200;
const MERGES = closed({
  merges: Type.Array(
    Type.Object({ from: Type.String(), into: Type.String() }, { additionalProperties: false }),
    { minItems: 1, maxItems: MAX_MERGES, description: "Ids of units, and of those that remain." },
  ),
});

/** Merging units of the same meaning, such as ul and µL. */
export const unitOperations = () =>
  inList(TERMS, [
    operation("POST /api/v2/:list/merge/", {
      access: "signedIn",
      summary: "Merge units into others",
      description:
        "Records with a unit get another one, which must mean the same, such as µL for ul; the first is deleted. Amounts stay as they are. All or none, in one batch.",
      parameters: [DRY_RUN, SEVERAL],
      body: MERGES,
      returns: Type.Object({ merged: COUNT }, { $id: "MergedUnits" }),
      // Millions of records may have a unit.
      heavy: true,
      run: ({ body }, call: Call) =>
        writeBatch(call, body, {
          kind: "bulk_update",
          work(writer) {
            for (const { from, into } of body.merges) {
              const unit = findRecord(call, TERMS, from);
              const other = call.store.reader.find(TERMS, into, ALIVE, call.actor);
              if (other === undefined) throw invalidField("into", "There is no such unit.");
              mergeUnits(call.store, writer, [unit, other], call.actor);
            }
            return body.merges.length;
          },
          respond: (merged) => respondJson({ merged }),
        }),
    }),
  ]);
