import type { Elysia } from "elysia";
import type { Answers } from "./respond.ts";
import {
  bytes,
  IMPORT_REPORT,
  IMPORT_STATUS,
  optionsOf as metadataOf,
  refused,
  SPREADSHEETS,
  UPLOAD_FORM,
} from "./sub-resource-description.ts";
import { content, detail, inQuery } from "./route-description.ts";
import type { ImportOptions } from "../imports/import.ts";
import { type Imports, refusalOf, type Running } from "../imports/imports.ts";
import { importTemplate } from "../imports/import-template.ts";
import { parameterProblem } from "../model/filter.ts";
import { KINDS } from "../model/field.ts";
import { parseJson } from "../model/parse-json.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { readUpload } from "./request-body.ts";
import { importJson, uploadPage } from "../imports/import-page.ts";
import { type Call, respond, ROOT } from "./response.ts";
import type { RoutedResource } from "../resources/index.ts";
import type { Store } from "../records/store.ts";
import { Problem } from "../../problem.ts";
import { unauthenticated } from "../../accounts/unauthenticated.ts";

const METHODS = "GET, POST, HEAD, OPTIONS";
const HIDDEN = { parse: "none", detail: { hide: true } } as const;

const DESCRIPTION =
  "CSV or XLSX, as the body itself or as the file of a form. The first row names the fields. A row with an id changes that " +
  "record; one without changes the record of its name (`match=none`: never), or makes a new one. All rows or none. " +
  '`dry_run=1` writes nothing and tells what would happen; `mapping={"Header": "field"}` renames headers; ' +
  "`progress=1` answers with JSON lines, the last of which is the report; `background=1` (or `Prefer: respond-async`) at " +
  "once, with the address where to look how far it is.";

/** `<segment>/import/`: GET gives a template, POST takes a file. */
export function addImport(
  app: Elysia,
  answers: Answers,
  store: Store,
  imports: Imports,
  resource: RoutedResource,
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
    const isPage = call.url.searchParams.get("format") === "api";
    if (request.method !== "POST") return isPage ? uploadPage(call, resource) : template(call);
    if (call.actor.user === null) throw unauthenticated("Authentication credentials were not provided.");
    const { progress, background, ...options } = optionsOf(call.url.searchParams);
    const { bytes } = await readUpload(request, maxBytes);
    const asked = { resource: resource.name, options, actor: call.actor, bytes };
    if (isPage || background || prefersLater(request)) {
      const status = await imports.accept(asked);
      const location = `${call.base}imports/${status.id}/`;
      if (isPage) return respond(null, 303, "", { Location: `${location}?format=api` });
      const headers = { Location: location, "Preference-Applied": "respond-async", Allow: METHODS };
      return respond(JSON.stringify(importJson(call, status)), 202, MEDIA_TYPES.json, headers);
    }
    const running = imports.run(asked);
    if (progress) {
      const about = { Allow: METHODS, Location: `${call.base}imports/${running.status.id}/` };
      return respond(progressLines(running), 200, "application/x-ndjson", about);
    }
    const report = await running.done;
    const failed = report.errors.length > 0;
    const message = failed ? refusalOf(report) : undefined;
    const status = failed && !options.dryRun ? 400 : 200;
    const body = failed ? { message, code: "invalid_request", ...report } : report;
    const headers: Record<string, string> = { Allow: METHODS };
    if (report.batch !== null) headers["Batch-Id"] = report.batch;
    return respond(JSON.stringify(body), status, MEDIA_TYPES.json, headers);
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
          inQuery("background", "1: answer at once."),
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
          202: { description: "Accepted; `Location` tells of it.", content: content(IMPORT_STATUS) },
          ...refused(400, 401, 403, 409, 413, 503),
        },
      }),
    });
  for (const segment of [resource.segment, ...(resource.aliases ?? [])])
    for (const end of ["", "/"]) app.all(`${ROOT}${segment}/import${end}`, handler, HIDDEN);
}

/** RFC 7240, section 4.1. */
const prefersLater = (request: Request): boolean =>
  /(^|[,;\s])respond-async\b/i.test(request.headers.get("prefer") ?? "");

interface Options extends ImportOptions {
  progress: boolean;
  background: boolean;
}

function optionsOf(parameters: URLSearchParams): Options {
  for (const name of parameters.keys())
    if (
      !["dry_run", "progress", "background", "match", "mapping", "format", "response_format"].includes(name)
    )
      throw parameterProblem(name, "Choices: dry_run, progress, background, match, mapping.");
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
    background: flag("background"),
    matching,
    mapping: new Map(pairs as [string, string | null][]),
  };
}

/** JSON lines: how far it is, now and then; at the end `{"report": …}` or `{"error": …}`. */
function progressLines(running: Running): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let wanted = true;
  return new ReadableStream({
    async start(sink) {
      const say = (line: object) => sink.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
      running.heard = () => {
        const {
          state: phase,
          rows,
          rows_read,
          rows_checked: checked,
          rows_written: written,
        } = running.status;
        if (!wanted || running.status.ended !== null) return;
        say(phase === "writing" ? { phase, rows, checked, written } : { phase, rows: rows_read });
      };
      try {
        const report = await running.done;
        if (wanted) say({ report });
      } catch (error) {
        const problem = Problem.from(error);
        if (wanted) say({ error: { message: problem.message, code: problem.code } });
      }
      if (wanted) sink.close();
    },
    // Whoever goes away does not call it off: a connection that broke is no word.
    cancel() {
      wanted = false;
    },
  });
}
