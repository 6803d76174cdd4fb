import { Type } from "typebox";
import { Value } from "typebox/value";
import type { Imported } from "../imports/import.ts";
import {
  type ImportOptions,
  MATCHES,
  REPORT,
  ROW_DECISION,
  type RowDecision,
} from "../imports/import-report.ts";
import { DAY_ORDERS } from "../imports/read-cells.ts";
import { csvToXlsx, streamBytes, csvText } from "../imports/export-file.ts";
import { importTemplate } from "../imports/import-template.ts";
import {
  describeFirstError,
  type Imports,
  type ImportRun,
  type ImportStatus,
  STATUS,
  wasRefused,
} from "../imports/imports.ts";
import { type Json, KINDS, shownName } from "../model/field.ts";
import { findUnit } from "../model/unit.ts";
import { parameterProblem } from "../model/filter.ts";
import { parseJson } from "../../platform/parse-json.ts";
import { inQuery } from "../model/list-parameters.ts";
import { DECLARED, RESOURCES, type RoutedResource } from "../resources/index.ts";
import { readMapping } from "../resources/saved-view.ts";
import { type Call, asObject, respond, respondJson } from "./call.ts";
import { PAGE_FORMAT } from "./parameters.ts";
import { inList } from "./mount-operations.ts";
import { operation } from "../../platform/operation.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { chooseFormat } from "./render.ts";
import { readUpload } from "./request-body.ts";
import { binary, content, HTML, pageSchema, singlePage, TEXT, UPLOAD } from "./schema.ts";
import { Problem } from "../../problem.ts";

const IMPORT = Type.Object({ ...STATUS.properties, url: TEXT, list: TEXT }, { $id: "Import" });

const DESCRIPTION =
  "A row with the id of a record changes it; with `match`, so does one with its name or barcode. Others add records.";

const option = (name: string, description: string) =>
  Type.Optional(Type.String({ $id: `import_${name}`, description }));

const OPTIONS = Type.Object({
  dry_run: option("dry_run", "1: report the changes without writing them."),
  match: Type.Optional(
    Type.Enum(MATCHES, {
      $id: "match",
      description: "Match rows without an id to existing records by this value; none by default.",
    }),
  ),
  mapping: option(
    "mapping",
    "A JSON object from headers to fields, with null for columns to ignore; by default that of an own view with the same headers. In archives (.eln) also notes, or new for a new annotation type.",
  ),
  partial: option("partial", "1: import the rows without errors, and leave the others."),
  dates: Type.Optional(
    Type.Enum(DAY_ORDERS, {
      $id: "dates",
      description: "What comes first in dates such as 3/9/2026; by default as most dates of the file tell.",
    }),
  ),
  unit: option("unit", "Unit of amounts without one, such as µL; by default that of most amounts."),
  sheet: option("sheet", "Sheet of a workbook; by default the first one with several columns."),
  rows: option(
    "rows",
    'Decisions by row number: {"4": {"change": "<id>"}, "8": {"skip": true}, "21": {"cells": {"Header": "text"}}}. Also a field of a form.',
  ),
  progress: option("progress", "1: stream the progress as JSON lines."),
  background: option("background", "1: respond immediately with the URL of the import."),
  format: Type.Optional(
    Type.String({
      $id: "import_format",
      description:
        "With dry_run, instead of the report: csv, all changes of existing records; waiting-csv or waiting-xlsx, the rows with errors and the reasons.",
    }),
  ),
  response_format: Type.Optional(
    Type.String({ $id: "import_response_format", description: "Accepted as in lists; has no effect." }),
  ),
});

const TEMPLATE_FORMAT = Type.Enum(["xlsx"], { examples: ["xlsx"] });

/** Example of locations: a header and a row. */
const EXAMPLE = csvText(["label"], [{ label: "Shelf 1" }]);

/** `<segment>/import/` takes a file; `imports/<id>/` is an import that was started. */
export const importOperations = (imports: Imports) => [
  ...RESOURCES.flatMap((resource) => inList(resource, listImportOperations(resource, imports))),
  operation("GET /api/v2/imports/", {
    access: "signedIn",
    summary: "List imports",
    description:
      "Your current and recent imports, newest first. Administrators see the imports of all users.",
    returns: pageSchema(IMPORT),
    run(_, call: Call) {
      const found = imports.list(call.actor).map((status) => importJson(call, { ...status, report: null }));
      return respondJson(singlePage(found));
    },
  }),
  operation("GET /api/v2/imports/:id/", {
    access: "signedIn",
    summary: "Get an import",
    description: "Progress or result of the import.",
    parameters: [PAGE_FORMAT],
    returns: IMPORT,
    formats: HTML,
    run: ({ params }, call: Call) => show(call, imports.get(params.id, call.actor)),
  }),
  operation("DELETE /api/v2/imports/:id/", {
    access: "signedIn",
    summary: "Cancel an import",
    description: "All its writes are rolled back.",
    returns: IMPORT,
    run: async ({ params }, call: Call) => show(call, await imports.cancel(params.id, call.actor)),
  }),
  operation("OPTIONS /api/v2/imports/:id/", {
    access: "signedIn",
    summary: "Describe an import",
    hidden: true,
    run: () => respondJson({ name: "imports" }),
  }),
];

function show(call: Call, status: ImportStatus): Response {
  const poll: Record<string, string> = status.ended === null ? { "Retry-After": "1" } : {};
  const headers = { "Cache-Control": "no-store", ...poll };
  return respond(JSON.stringify(importJson(call, status)), 200, MEDIA_TYPES[chooseFormat(call)], headers);
}

function importJson({ base }: Call, { resource, id, ...status }: ImportStatus): { [name: string]: Json } {
  const list = DECLARED.get(resource)?.segment ?? resource;
  const urls = { id, url: `${base}imports/${id}/`, list: `${base}${list}/` };
  return { ...urls, ...status } as unknown as { [name: string]: Json };
}

const listImportOperations = (resource: RoutedResource, imports: Imports) => [
  operation("GET /api/v2/:list/import/", {
    access: "anyone",
    summary: "Get a template for importing records",
    description: "As XLSX.",
    parameters: [
      {
        $id: "format_of_template",
        ...inQuery("format", "The format of the template.", TEMPLATE_FORMAT),
      },
    ],
    formats: binary(MEDIA_TYPES.xlsx, "ImportTemplate"),
    async run(_, call: Call) {
      const bytes = await importTemplate(call.store, resource, call.actor);
      const name = `${resource.segment.replaceAll("/", "-")}-template.xlsx`;
      const headers = { "Content-Disposition": `attachment; filename="${name}"` };
      const file = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream();
      return respond(file, 200, MEDIA_TYPES.xlsx, headers);
    },
  }),
  operation("POST /api/v2/:list/import/", {
    access: "signedIn",
    summary: "Import records",
    description: DESCRIPTION,
    query: OPTIONS,
    sends: {
      "text/csv": { schema: TEXT, example: EXAMPLE },
      ...binary(MEDIA_TYPES.xlsx),
      ...UPLOAD,
    },
    returns: REPORT,
    formats: { "application/x-ndjson": { schema: TEXT }, "text/csv": { schema: TEXT } },
    alternatives: { 202: IMPORT },
    responses: {
      202: {
        $id: "Accepted",
        description: "Accepted; `Location` is the import.",
        content: content(IMPORT),
      },
    },
    run: ({ query }, call: Call) => importFile(call, imports, resource, query),
  }),
  operation("OPTIONS /api/v2/:list/import/", {
    access: "anyone",
    summary: "Describe importing records",
    hidden: true,
    run: () =>
      respondJson({
        name: `${resource.segment}/import`,
        description: DESCRIPTION,
        renders: ["application/json", "application/x-ndjson", MEDIA_TYPES.xlsx],
        parses: ["text/csv", MEDIA_TYPES.xlsx, "multipart/form-data"],
      }),
  }),
];

async function importFile(
  call: Call,
  imports: Imports,
  { name, fields }: RoutedResource,
  query: Type.Static<typeof OPTIONS>,
): Promise<Response> {
  const { actor, base, request, maxBytes } = call;
  const { bytes, fields: sent } = await readUpload(request, maxBytes);
  const options = parseOptions({ ...query, rows: query.rows ?? new Map(sent).get("rows") ?? "" });
  checkOptions(options, query, fields);
  const inBackground = parseFlag(query, "background");
  const withProgress = parseFlag(query, "progress");
  const requested = { resource: name, options, actor, bytes };
  const importUrl = ({ id }: ImportStatus): string => `${base}imports/${id}/`;
  if (inBackground || (prefersAsync(request) && !options.listsChanges && !options.listsWaiting)) {
    const status = await imports.accept(requested);
    const Location = importUrl(status);
    return respondJson(importJson(call, status), { Location, "Preference-Applied": "respond-async" }, 202);
  }
  const run = imports.run(requested);
  if (withProgress)
    return respond(streamProgress(run), 200, "application/x-ndjson", { Location: importUrl(run.status) });
  return sendReport(await run.done, options, query.format === "waiting-xlsx");
}

/** Answers with the report or, on request, with all changes. */
async function sendReport(
  { report, table }: Imported,
  { dryRun, listsChanges, listsWaiting }: ImportOptions,
  asWorkbook: boolean,
): Promise<Response> {
  if (listsWaiting && table.length > 0 && asWorkbook)
    return respond(await csvToXlsx(streamTable(table)), 200, MEDIA_TYPES.xlsx);
  if ((listsChanges && report.errors.length === 0) || (listsWaiting && table.length > 0))
    return respond(streamTable(table), 200, MEDIA_TYPES.csv);
  const headers: Record<string, string> = report.batch === null ? {} : { "Batch-Id": report.batch };
  if (!wasRefused(report)) return respondJson(report, headers);
  const body = { message: describeFirstError(report), code: "invalid_request", ...report };
  return respondJson(body, headers, dryRun && !listsChanges ? 200 : 400);
}

/** @throws Problem invalid_request for options that do not go together */
function checkOptions(
  { dryRun, listsChanges, listsWaiting, matching, unit }: ImportOptions,
  query: Type.Static<typeof OPTIONS>,
  fields: RoutedResource["fields"],
): void {
  if (matching === "barcode" && !("barcode" in fields))
    throw parameterProblem("match", "Records of this list have no barcode. Choices: none, name.");
  if (unit !== undefined && !findUnit(unit))
    throw parameterProblem("unit", `${shownName(unit)} is not a unit. Choices: such as µL, mL, mg or µM.`);
  if (query.format !== undefined && !listsChanges && !listsWaiting)
    throw parameterProblem("format", "Choices: csv, waiting-csv, waiting-xlsx.");
  if (query.format === undefined) return;
  if (!dryRun) throw parameterProblem("format", "csv lists the changes of a dry run: add dry_run=1.");
  if (parseFlag(query, "background") || parseFlag(query, "progress"))
    throw parameterProblem("format", "csv cannot be combined with background or progress.");
}

function streamTable(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  function* bytes(): Generator<Uint8Array<ArrayBuffer>> {
    for (const piece of pieces)
      yield Bun.zstdDecompressSync(piece as Uint8Array<ArrayBuffer>) as Uint8Array<ArrayBuffer>;
  }
  return streamBytes(bytes());
}

/** RFC 7240, section 4.1. */
const prefersAsync = (request: Request): boolean =>
  /(^|[,;\s])respond-async\b/i.test(request.headers.get("prefer") ?? "");

function parseFlag(
  query: Type.Static<typeof OPTIONS>,
  name: "dry_run" | "progress" | "background" | "partial",
): boolean {
  const value = KINDS.flag.parse(query[name] ?? "false");
  if (value === undefined) throw parameterProblem(name, `Expected ${KINDS.flag.expected}.`);
  return value === 1;
}

function parseOptions(query: Type.Static<typeof OPTIONS>): ImportOptions {
  const mapping = query.mapping ? readMapping(query.mapping) : undefined;
  if (query.mapping && !mapping)
    throw parameterProblem("mapping", 'Expected an object such as {"Header": "field", "Other": null}.');
  return {
    dryRun: parseFlag(query, "dry_run"),
    listsChanges: query.format === "csv",
    listsWaiting: query.format?.startsWith("waiting-") ?? false,
    partial: parseFlag(query, "partial"),
    dates: query.dates,
    unit: query.unit || undefined,
    sheet: query.sheet || undefined,
    rows: parseRows(query.rows),
    matching: query.match ?? "none",
    mapping,
  };
}

/** @throws Problem invalid_request */
function parseRows(text: string | undefined): ImportOptions["rows"] {
  const rows = Object.entries(asObject(parseJson(text || "{}", "Expected a JSON object.")) ?? {});
  const isValid = rows.every(([row, decision]) => /^\d+$/.test(row) && Value.Check(ROW_DECISION, decision));
  if (!isValid)
    throw parameterProblem("rows", 'Expected an object such as {"21": {"cells": {"Header": "text"}}}.');
  return new Map(rows.map(([row, decision]) => [Number(row), decision as RowDecision]));
}

/** JSON lines: the progress from time to time; at the end `{"report": …}` or `{"error": …}`. */
function streamProgress(run: ImportRun): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let isOpen = true;
  return new ReadableStream({
    async start(sink) {
      const send = (line: object): void => {
        if (isOpen) sink.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
      };
      run.onChange = () => {
        const { state: phase, rows, rows_checked: checked, rows_written: written, ...status } = run.status;
        if (status.ended !== null) return;
        send(phase === "writing" ? { phase, rows, checked, written } : { phase, rows: status.rows_read });
      };
      try {
        const { report } = await run.done;
        send({ report });
      } catch (error) {
        const { message, code } = Problem.from(error);
        send({ error: { message, code } });
      }
      if (isOpen) sink.close();
    },
    // A lost connection does not cancel the import.
    cancel() {
      isOpen = false;
    },
  });
}
