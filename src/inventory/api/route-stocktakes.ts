import { Type } from "typebox";
import { csvText } from "../imports/export-file.ts";
import {
  addScans,
  applyStocktake,
  MISSING,
  readReport,
  removeScan,
  SCAN_RESULT,
  STOCKTAKE,
} from "../labels/stocktake.ts";
import type { Json } from "../model/field.ts";
import { DECLARED } from "../resources/index.ts";
import {
  type NamedLocation,
  REPORT,
  type Report,
  type ReportLine,
  RESULTS,
} from "../resources/stocktake-report.ts";
import { parameterProblem } from "../model/filter.ts";
import { withIdempotencyKey, writeBatch } from "./batch.ts";
import { type Call, findChangeable, noContent, respond, respondJson } from "./call.ts";
import { DRY_RUN, type Preview, ONCE, SEVERAL } from "./parameters.ts";
import { inList } from "./mount-operations.ts";
import { operation } from "../../platform/operation.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { showValue } from "./render.ts";
import { readableParent } from "./route-sub-resources.ts";
import { closed, TEXT } from "./schema.ts";
import { NOT_BLANK_OR_NUL } from "../../platform/schema.ts";

const MAX_CODES = 1000;

const code = Type.String({ pattern: NOT_BLANK_OR_NUL, description: "The scanned text." });
const scanned = Type.String({ ...code, examples: ["LO0000001"] });
const SCANS = closed({
  code: Type.Optional(code),
  codes: Type.Optional(Type.Array(code, { minItems: 1, maxItems: MAX_CODES, examples: [["LO0000001"]] })),
  place: Type.Optional(
    Type.Union([TEXT, Type.Null()], {
      description: "Id of the location inside the counted one in which they were scanned.",
    }),
  ),
});
const APPLY = closed({
  missing: Type.Optional(
    Type.Enum([...MISSING], {
      description:
        "Treatment of missing items. keep, the default: leave them unchanged; status: set their status to MISSING; clear: clear their location.",
    }),
  ),
});

/** Scanning, counting and applying a stocktake. The stocktakes themselves are an ordinary resource. */
export const stocktakeOperations = () =>
  inList(STOCKTAKE, [
    operation("GET /api/v2/:list/:id/count/", {
      access: "anyone",
      summary: "Get the report of a stocktake",
      description:
        "The current state of an open stocktake; the stored report of an applied one. Contains only records that the caller may view.",
      query: Type.Object({
        format: Type.Optional(Type.Enum(["json", "csv", "api"], { description: "json (default), or csv." })),
      }),
      returns: REPORT,
      formats: { "text/csv": { schema: Type.String() } },
      heavy: true,
      run({ params, query: { format } }, call: Call) {
        const { rid } = readableParent(call, STOCKTAKE, params.id);
        const report = withUniquePaths(call, readReport(call.store, rid, call.actor));
        if (format !== "csv") return showValue(call, report as unknown as Json);
        const headers = { "Content-Disposition": 'attachment; filename="stocktake.csv"' };
        return respond(printCsv(report), 200, MEDIA_TYPES.csv, headers);
      },
    }),
    operation("POST /api/v2/:list/:id/scans/", {
      access: "signedIn",
      summary: "Add scanned codes to a stocktake",
      description: `At most ${MAX_CODES} codes. A repeated code is stored once. Several devices may scan at once.`,
      parameters: [ONCE],
      body: SCANS,
      returns: Type.Object({ results: Type.Array(SCAN_RESULT) }),
      run({ params, body }, call: Call) {
        const codes = body.codes ?? (body.code === undefined ? [] : [body.code]);
        if (codes.length === 0) throw parameterProblem("codes", "This field is required.");
        const { store, actor } = call;
        return store.enqueue(() =>
          withIdempotencyKey(call, body as Json, () =>
            store.statements.writing(() => {
              const rid = findChangeable(call, STOCKTAKE, params.id);
              return respondJson({ results: addScans(store, rid, codes, body.place ?? null, actor) });
            }),
          ),
        );
      },
    }),
    operation("DELETE /api/v2/:list/:id/scans/", {
      access: "signedIn",
      summary: "Remove a scanned code from a stocktake",
      query: Type.Object({ code: scanned }),
      async run({ params, query: { code } }, call: Call) {
        const { store } = call;
        await store.enqueue(() =>
          store.statements.writing(() => removeScan(store, findChangeable(call, STOCKTAKE, params.id), code)),
        );
        return noContent();
      },
    }),
    operation("POST /api/v2/:list/:id/apply/", {
      access: "signedIn",
      summary: "Apply a stocktake",
      description:
        "Moves misplaced items to where they were found, handles missing ones as `missing` says, and stores the report, " +
        "in one batch. Items that the caller may not change stay; the report names them.",
      parameters: [DRY_RUN, SEVERAL],
      body: APPLY,
      returns: Type.Union([REPORT, Type.Unsafe<Preview>(Type.Object({ dry_run: Type.Boolean() }))]),
      heavy: true,
      run: ({ params, body }, call: Call) =>
        writeBatch(call, body, {
          kind: "bulk_update",
          work(writer) {
            const rid = findChangeable(call, STOCKTAKE, params.id);
            return applyStocktake(call.store, writer, rid, body.missing ?? "keep", call.actor);
          },
          respond: (report) => respondJson(report),
        }),
    }),
  ]);

/** The report with names of locations that the reader cannot mistake. */
function withUniquePaths({ store, actor }: Call, report: Report): Report {
  const lines = RESULTS.flatMap((result) => report[result]);
  const shown = [report.location, ...lines.flatMap(({ at, to }) => [at, to])].flatMap(
    (place) => place?.id ?? [],
  );
  const text = "SELECT rid, id FROM location WHERE id IN (SELECT value FROM json_each(?))";
  const rows = store.statements.all({ text, args: [JSON.stringify([...new Set(shown)])] });
  const paths = store.reader.uniquePaths(
    DECLARED.get("location")!,
    rows.map(({ rid }) => Number(rid)),
    actor,
  );
  const names = new Map(rows.map(({ rid, id }) => [id, paths.get(Number(rid))]));
  const named = <Place extends NamedLocation>(place: Place): Place =>
    place.name === null ? place : { ...place, name: names.get(place.id) ?? place.name };
  const results = RESULTS.map((result) => [
    result,
    report[result].map((line) => ({
      ...line,
      ...(line.at && { at: named(line.at) }),
      ...(line.to && { to: named(line.to) }),
    })),
  ]);
  return { ...report, location: named(report.location), ...Object.fromEntries(results) };
}

/** The report as a table with one row for each item. */
function printCsv(report: Report): string {
  const columns = [
    "result",
    "list",
    "id",
    "name",
    "barcode",
    "code",
    "recorded_in",
    "found_in",
    "done",
    "position",
  ];
  const empty: Record<string, Json> = Object.fromEntries(columns.map((column) => [column, null]));
  const rows = RESULTS.filter((result) => result !== "places").flatMap((result) =>
    report[result].map(({ segment, at, to, ...line }: ReportLine): Record<string, Json> => {
      const found = { recorded_in: at?.name ?? null, found_in: to?.name ?? null };
      return Object.assign({}, empty, line, found, { result, list: segment ?? null });
    }),
  );
  return csvText(columns, rows);
}
