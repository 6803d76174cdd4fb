import { Type } from "typebox";
import { forbidden } from "../records/rights.ts";
import { addSample, type InventorySample, requireEmpty } from "../records/sample.ts";
import { writeBatch } from "./batch.ts";
import { type Call, respondJson } from "./call.ts";
import { DRY_RUN } from "./parameters.ts";
import { operation } from "../../platform/operation.ts";
import { COUNT } from "./schema.ts";

/** Loading the sample data into an empty inventory, to try labd with. */
export const sampleOperation = (loadSample: () => Promise<InventorySample>) =>
  operation("POST /api/v2/sample/", {
    access: "signedIn",
    summary: "Load sample data",
    description:
      "Adds rooms, freezers, boxes and reagents to an empty inventory, in one batch, which undo removes. Administrators only.",
    parameters: [DRY_RUN],
    status: 201,
    errors: [409],
    returns: Type.Object({ added: COUNT }, { $id: "LoadedSample" }),
    async run(_, call: Call) {
      const sample = await loadSample();
      return writeBatch(call, null, {
        kind: "sample",
        work(writer) {
          if (!call.actor.superuser) throw forbidden();
          requireEmpty(call.store);
          return addSample(call.store, writer, sample, { actor: call.actor, restores: true });
        },
        respond: (added) => respondJson({ added }, {}, 201),
      });
    },
  });
