import { Type } from "typebox";
import { forbidden } from "../records/record-writer.ts";
import { addSample, type InventorySample, requireEmpty } from "../records/sample.ts";
import { writeBatch } from "./batch.ts";
import { respondJson } from "./call.ts";
import type { Api } from "./api.ts";
import { content, COUNT } from "./schema.ts";

/** Loading the sample data into an empty inventory, to try labd with. */
export function addSampleData(api: Api, sample: InventorySample) {
  return [
    api.add("POST", "sample/", {
      summary: "Load sample data",
      description:
        "Adds rooms, freezers, boxes and reagents to an empty inventory, in one batch, which undo removes. Administrators only.",
      accepts: ["dryRun"],
      signedIn: true,
      status: 201,
      errors: [403, 409],
      returns: content(Type.Object({ added: COUNT }, { $id: "LoadedSample" })),
      run: ({ call }) =>
        writeBatch(call, null, {
          kind: "sample",
          work(writer) {
            if (!call.actor.superuser) throw forbidden();
            requireEmpty(call.store);
            return addSample(call.store, writer, sample, { actor: call.actor, restores: true });
          },
          respond: (added) => respondJson({ added }, {}, 201),
        }),
    }),
  ];
}
