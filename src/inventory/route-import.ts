import type { DocumentDecoration, Elysia } from "elysia";
import type { Answers } from "./answer.ts";
import {
  bytes,
  IMPORT_REPORT,
  inQuery,
  optionsOf as metadataOf,
  refused,
  SPREADSHEETS,
  UPLOAD_FORM,
} from "./attached-description.ts";
import { type Matching, runImport } from "./import.ts";
import { readTable } from "./import-file.ts";
import { importTemplate } from "./import-template.ts";
import { parameterProblem } from "./model/filter.ts";
import { KINDS } from "./model/field.ts";
import { parseJson } from "./model/json-text.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { readUpload } from "./request-body.ts";
import { type Call, respond, ROOT } from "./response.ts";
import type { Routed } from "./resources/index.ts";
import type { Store } from "./store.ts";
import { Problem } from "../problem.ts";
import { unauthenticated } from "../shell/auth.ts";

const METHODS = "GET, POST, HEAD, OPTIONS";
const HIDDEN = { parse: "none", detail: { hide: true } } as const;

const DESCRIPTION =
  "CSV or XLSX, as the body itself or as the file of a form. The first row names the fields. A row with an id changes that " +
  "record; one without changes the record of its name (`match=none`: never), or makes a new one. All rows or none. " +
  '`dry_run=1` writes nothing and tells what would happen; `mapping={"Header": "field"}` renames headers; ' +
  "`progress=1` answers with JSON lines, the last of which is the report.";

/** `<segment>/import/`: GET gives a template, POST takes a file. */
export function addImport(
  app: Elysia,
  answers: Answers,
  store: Store,
  resource: Routed,
  maxBytes: number,
): void {
  const metadata = metadataOf(
    `${resource.segment}/import`,
    DESCRIPTION,
    ["text/csv", MEDIA_TYPES.xlsx, "multipart/form-data"],
    {},
    ["application/json", "application/x-ndjson", MEDIA_TYPES.xlsx],
  );
  const handler = async ({ request }: { request: Request }): Promise<Response> => {
    const call = answers.begin(request, METHODS);
    if (request.method === "OPTIONS") return respond(metadata, 200, MEDIA_TYPES.json, { Allow: METHODS });
    if (request.method !== "POST") return template(call);
    if (call.actor.user === null) throw unauthenticated("Authentication credentials were not provided.");
    const options = optionsOf(call.url.searchParams);
    const { bytes } = await readUpload(request, maxBytes);
    const work = async (report: (rows: number) => void) => {
      const table = await readTable(bytes, report);
      return runImport(store, resource, table, options, call.actor);
    };
    if (!options.progress) {
      const report = await work(() => {});
      const failed = report.errors.length > 0;
      const message = failed ? refusal(report.errors[0]) : undefined;
      const status = failed && !options.dryRun ? 400 : 200;
      const body = failed ? { message, code: "invalid_request", ...report } : report;
      const headers: Record<string, string> = { Allow: METHODS };
      if (report.batch !== null) headers["Batch-Id"] = report.batch;
      return respond(JSON.stringify(body), status, MEDIA_TYPES.json, headers);
    }
    return respond(progress(work), 200, "application/x-ndjson", { Allow: METHODS });
  };

  const template = async (call: Call): Promise<Response> => {
    const bytes = await importTemplate(store, resource, call.actor);
    const name = `${resource.segment.replaceAll("/", "-")}-template.xlsx`;
    return respond(new Blob([bytes as Uint8Array<ArrayBuffer>]).stream(), 200, MEDIA_TYPES.xlsx, {
      Allow: METHODS,
      "Content-Disposition": `attachment; filename="${name}"`,
    });
  };

  const path = `${ROOT}${resource.segment}/import/`;
  const detail = (value: object) => ({ tags: ["inventory"], ...value }) as DocumentDecoration;
  app
    .get(path, handler, {
      detail: detail({
        summary: `Template for an import: ${resource.segment}`,
        responses: {
          200: { description: "XLSX with drop-downs.", content: bytes(MEDIA_TYPES.xlsx) },
          ...refused(401),
        },
      }),
    })
    .post(path, handler, {
      parse: "none",
      detail: detail({
        summary: `Import a file: ${resource.segment}`,
        description: DESCRIPTION,
        security: [{ token: [] }],
        parameters: [
          inQuery("dry_run", "1: change nothing, and tell what would happen."),
          inQuery("match", "name (default) or none: how a row without an id finds its record."),
          inQuery("mapping", "A JSON object from headers to fields, null to leave a column out."),
          inQuery("progress", "1: answer with JSON lines."),
        ],
        requestBody: { required: true, content: { ...SPREADSHEETS, ...UPLOAD_FORM } },
        responses: {
          200: {
            description: "What was done, or would be; as JSON lines with `progress=1`.",
            content: {
              "application/json": { schema: IMPORT_REPORT as Record<string, unknown> },
              "application/x-ndjson": { schema: { type: "string" } },
            },
          },
          ...refused(400, 401, 403, 413),
        },
      }),
    });
  for (const segment of [resource.segment, ...(resource.aliases ?? [])])
    for (const end of ["", "/"]) app.all(`${ROOT}${segment}/import${end}`, handler, HIDDEN);
}

const refusal = ({ row, column, message }: { row: number; column: string | null; message: string }): string =>
  `Row ${row}${column === null ? "" : `, ${column}`}: ${message}`;

interface Options {
  dryRun: boolean;
  progress: boolean;
  matching: Matching;
  mapping: Map<string, string | null>;
}

function optionsOf(parameters: URLSearchParams): Options {
  for (const name of parameters.keys())
    if (!["dry_run", "progress", "match", "mapping", "format", "response_format"].includes(name))
      throw parameterProblem(name, "Choices: dry_run, progress, match, mapping.");
  const flag = (name: string): boolean => {
    const value = KINDS.flag.parse(parameters.get(name) ?? "false");
    if (value === undefined) throw parameterProblem(name, `Expected ${KINDS.flag.expected}.`);
    return value === 1;
  };
  const matching = parameters.get("match") ?? "name";
  if (matching !== "name" && matching !== "none") throw parameterProblem("match", "Choices: name, none.");
  const typed = parseJson(parameters.get("mapping") || "{}", "no JSON object");
  const isObject = typed !== null && typeof typed === "object" && !Array.isArray(typed);
  const pairs = isObject ? Object.entries(typed) : [];
  if (!isObject || pairs.some(([, value]) => value !== null && typeof value !== "string"))
    throw parameterProblem("mapping", 'Expected an object such as {"Header": "field", "Other": null}.');
  return {
    dryRun: flag("dry_run"),
    progress: flag("progress"),
    matching,
    mapping: new Map(pairs as [string, string | null][]),
  };
}

/** JSON lines: how far the reading is, then `{"report": …}` or `{"error": …}`. */
function progress(work: (report: (rows: number) => void) => Promise<object>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async start(controller) {
      const say = (line: object) => controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
      try {
        const report = await work((rows) => say({ phase: "reading", rows }));
        say({ report });
      } catch (error) {
        const problem = Problem.from(error);
        say({ error: { message: problem.message, code: problem.code } });
      }
      controller.close();
    },
  });
}
