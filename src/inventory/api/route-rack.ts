import { Type } from "typebox";
import { MISSING_TUBES, RACK_RESULTS, RackScan } from "../labels/rack-scan.ts";
import { readRackFile } from "../labels/rack-file.ts";
import { readCells } from "../imports/import-file.ts";
import type { Actor } from "../model/access.ts";
import { anyOf } from "../model/record-schema.ts";
import { invalidField } from "../model/parse-body.ts";
import type { Store } from "../records/store.ts";
import { DECLARED, type RoutedResource } from "../resources/index.ts";
import { readGrid } from "../resources/position.ts";
import { operation } from "../../platform/operation.ts";
import { nullable } from "../../platform/schema.ts";
import { writeBatch } from "./batch.ts";
import { type Call, findRecord, respondJson } from "./call.ts";
import { PREVIEW } from "./describe-operation.ts";
import { inList } from "./mount-operations.ts";
import { DRY_RUN, SEVERAL } from "./parameters.ts";
import { closed, TEXT } from "./schema.ts";

const LOCATION = DECLARED.get("location") as RoutedResource;
const MAX_FILE = 500_000;
/** Characters of a file of more than 384 tubes, about. */
const LARGE_FILE = 10_000;

const RACK_SCAN = closed(
  {
    file: Type.String({ maxLength: MAX_FILE, examples: ["A1,\nA2,"] }),
    missing: Type.Optional(Type.Enum([...MISSING_TUBES], { description: "keep (default) or take_out." })),
  },
  "RackScan",
);
const COMPARED = {
  rack: nullable(TEXT, { description: "Code of the rack in the file." }),
  barcode: nullable(TEXT),
  results: Type.Array(
    Type.Object({
      position: TEXT,
      code: TEXT,
      result: Type.Enum([...RACK_RESULTS]),
      record: nullable(Type.Object({ segment: TEXT, id: TEXT, name: TEXT })),
      from: TEXT,
    }),
  ),
};
const RACK = Type.Object(COMPARED, { $id: "ScannedRack" });
const CHECKED = Type.Object({ ...PREVIEW.properties, ...COMPARED }, { $id: "CheckedRack" });
export type CheckedRack = Type.Static<typeof CHECKED>;

/** Checking and filling a box with the file of a rack scanner. */
export const rackOperations = () =>
  inList(LOCATION, [
    operation("POST /api/v2/:list/:id/rack_scan/", {
      access: "signedIn",
      summary: "Check or fill a box from a rack scan",
      description: "Compares positions and codes (CSV) with the box, and moves the records.",
      parameters: [DRY_RUN, SEVERAL],
      body: RACK_SCAN,
      returns: anyOf<Type.Static<typeof RACK> | CheckedRack>("RackScanned", RACK, CHECKED),
      heavy: ({ body }) => body.file.length > LARGE_FILE,
      async run({ params, body }, call: Call) {
        const rows = await readCells(body.file);
        return writeBatch(call, body, {
          kind: "bulk_update",
          work(writer) {
            const { scanned, answer } = compareRack(
              call.store,
              findRecord(call, LOCATION, params.id),
              rows,
              call.actor,
            );
            scanned.apply(writer, body.missing ?? "keep");
            return answer;
          },
          respond: (answer) => respondJson(answer),
          preview: (answer) => answer,
        });
      },
    }),
  ]);

/** @throws Problem invalid_request */
function compareRack(store: Store, rid: number, rows: readonly string[][], actor: Actor) {
  const grid = readGrid(store.statements, rid);
  if (!grid) throw invalidField("file", "The location has no grid. Give it rows and columns first.");
  const file = readRackFile(rows, grid);
  const [{ id, barcode }] = store.reader.values(LOCATION, ["id", "barcode"], actor, [rid]);
  const scanned = new RackScan(store, { rid, id: String(id) }, actor, file);
  const answer = { rack: file.rack, barcode: (barcode as string | null) || null, results: scanned.results };
  return { scanned, answer };
}
