import { Type } from "typebox";
import { scan } from "../labels/scan.ts";
import { RESOURCES } from "../resources/index.ts";
import { respondJson } from "./call.ts";
import { type Api } from "./operation-plugin.ts";
import { content, COUNT, TEXT } from "./schema.ts";

const RESULT = Type.Object({ segment: TEXT, id: TEXT, name: TEXT, by: Type.Enum(["id", "barcode"]) });

export function addScan(api: Api): void {
  api.add("GET", "scan/", {
    summary: "Look up a scanned code",
    description:
      "Returns the records with this barcode. If there are none, returns the record with this id, with an id that begins " +
      "with at least 8 of these digits (hyphens are optional), or named by the URL on a label.",
    query: Type.Object({
      code: Type.String({ maxLength: 1000, pattern: "\\S", description: "The scanned text." }),
    }),
    returns: content(Type.Object({ code: TEXT, total: COUNT, results: Type.Array(RESULT) })),
    run({ call: { actor, store }, query: { code } }) {
      const found = scan(store.reader, RESOURCES, code, actor);
      const results = found.map(({ resource: { segment }, id, name, by }) => ({ segment, id, name, by }));
      return respondJson({ code: code.trim(), total: results.length, results });
    },
  });
}
