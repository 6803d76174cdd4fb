import { Type } from "typebox";
import { scan } from "../labels/scan.ts";
import { RESOURCES } from "../resources/index.ts";
import { respondJson } from "./call.ts";
import { type Api, content } from "./operation-plugin.ts";

export function addScan(api: Api): void {
  api.add("GET", "scan/", {
    summary: "Look up a scanned code",
    description:
      "Returns the records with this barcode. If there are none, returns the record with this id, with an id that begins " +
      "with at least 8 of these digits (hyphens are optional), or named by the URL on a label.",
    query: Type.Object({
      code: Type.String({ maxLength: 1000, pattern: "\\S", description: "The scanned text." }),
    }),
    returns: content(
      Type.Object({
        code: Type.String(),
        total: Type.Integer(),
        results: Type.Array(
          Type.Object({
            segment: Type.String(),
            id: Type.String(),
            name: Type.String(),
            by: Type.Enum(["id", "barcode"]),
          }),
        ),
      }),
    ),
    run({ call: { actor, store }, query: { code } }) {
      const results = scan(store.reader, RESOURCES, code, actor).map(({ resource, id, name, by }) => ({
        segment: resource.segment,
        id,
        name,
        by,
      }));
      return respondJson({ code: code.trim(), total: results.length, results });
    },
  });
}
