import { Elysia } from "elysia";
import type { Static } from "typebox";
import { paced } from "../../platform/byte-budget.ts";
import { Problem } from "../../problem.ts";
import type { FeatureSource } from "../features/annotation.ts";
import { type Handlers, notFinished } from "../jobs/handlers.ts";
import * as operations from "./json-operations.ts";
import { JobId, JointScanParameters, ResultParameters, ScanParameters } from "./json-schemas.ts";
import { print } from "../results/print-thread.ts";
import { requestPlugin } from "../../platform/http.ts";
import { readFilters } from "../table/filters.ts";
import { MATCH_TABLES, type MatchTableName } from "../table/match-tables.ts";
import { TABLE_FORMATS } from "../table/table-formats.ts";
import type { TableView } from "../table/view.ts";
import { STORED_FORMATS } from "../results/document-formats.ts";
import {
  chooseFormat,
  isTableFormat,
  RESULT_FORMATS,
  SCAN_FORMATS,
  type ScanFormatName,
} from "../results/file-formats.ts";
import type { JointTask, PrintedFormatName, PrintTask } from "../results/result-format.ts";
import { bodyOf, GZIP, isSentInGzip } from "../jobs/stored-result.ts";

interface ResultOptions {
  handlers: Handlers;
  featureSource: () => FeatureSource;
}

export const API = "/api/scoring";
export const NO_STORE = { "Cache-Control": "no-store" };

/** What a job has found, in several forms. */
export function resultRoutes(options: ResultOptions) {
  return new Elysia({ detail: { tags: ["scoring"] } })
    .use(requestPlugin)
    .get(
      `${API}/jobs/:id/result`,
      async ({ params: { id }, query, request, requestContext }) => {
        const format = query.format ?? chooseFormat(request.headers.get("accept"));
        const view = viewOf("result", query);
        if (!isTableFormat(format)) requireNoView(view);
        if (format === "eln") return archiveResponse(options, id, requestContext.baseUrl);
        return resultResponse(options, id, { format, match: query.match, view, request });
      },
      { params: JobId, query: ResultParameters, detail: operations.RESULT },
    )
    .get(
      `${API}/jobs/:id/scan`,
      ({ params: { id }, query: { format = "json", ...query } }) =>
        printed(
          options,
          id,
          { scan: format, view: viewOf("scan", query) },
          scanHeaders(format, `${id}.scan`),
        ),
      { params: JobId, query: ScanParameters, detail: operations.SCAN },
    )
    .get(`${API}/scans`, ({ query }) => jointScanResponse(options, query), {
      query: JointScanParameters,
      detail: operations.JOINT_SCAN,
    })
    .get(
      `${API}/jobs/:id/features`,
      ({ params: { id } }) =>
        printed(options, id, { features: true }, { ...NO_STORE, "Content-Type": "application/json" }),
      { params: JobId, detail: operations.FEATURES },
    );
}

/** The result as it is stored, or else printed. */
async function resultResponse(
  options: ResultOptions,
  id: string,
  {
    format,
    match,
    view,
    request,
  }: {
    format: PrintedFormatName;
    match: number | undefined;
    view: TableView;
    request: Request;
  },
): Promise<Response> {
  const { contentType, extension } = RESULT_FORMATS[format];
  const headers = {
    ...NO_STORE,
    "Content-Type": contentType,
    "Content-Disposition": `inline; filename="${id}.${extension}"`,
    Vary: "Accept",
  };
  const { handlers } = options;
  if (format === "json" || format === "xml") {
    const result = (await handlers.getResult(id, format)) ?? notFinished(handlers.job(id));
    const [head, tail] = STORED_FORMATS[format];
    const gzip = isSentInGzip(result, request);
    if (gzip) Object.assign(headers, GZIP, { Vary: `Accept, ${GZIP.Vary}` });
    return new Response(bodyOf(result, { head, tail, gzip }), { headers });
  }
  return printed(options, id, { result: format, match, view }, headers);
}

/** The result in an archive. */
function archiveResponse(options: ResultOptions, id: string, publisher: string): Promise<Response> {
  const { submitted, started, ended } = options.handlers.job(id);
  const { query, homologs } = options.handlers.requireRequest(id);
  const url = `${publisher}/score/${id}`;
  const archive = { id, url, publisher, submitted, started, ended: ended ?? submitted, query, homologs };
  const { contentType, extension } = RESULT_FORMATS.eln;
  const headers = {
    ...NO_STORE,
    "Content-Type": contentType,
    "Content-Disposition": `attachment; filename="labd-${id}.${extension}"`,
    Vary: "Accept",
  };
  return printed(options, id, { archive }, headers);
}

/** Long results are printed in a thread. */
async function printed(
  options: ResultOptions,
  id: string,
  as: PrintTask["as"],
  headers: HeadersInit,
): Promise<Response> {
  const task = { ...(await options.handlers.getPrediction(id)), as, source: options.featureSource() };
  return new Response(paced(await print(task)), { headers });
}

/** The filters and the order in validated parameters. */
function viewOf(table: MatchTableName, query: object): TableView {
  const { order } = query as { order?: string };
  return { values: readFilters(MATCH_TABLES[table].filters, query as Record<string, unknown>), order };
}

/** @throws Problem invalid_request for a format that has all matches */
function requireNoView({ values, order }: TableView): void {
  const [name] = [...Object.keys(values), ...(order === undefined ? [] : ["order"])];
  if (name === undefined) return;
  const message = `only for tables: ${Object.keys(TABLE_FORMATS).join(", ")}.`;
  throw new Problem("invalid_request", `${name}: ${message}`, { fields: { [name]: [message] } });
}

function scanHeaders(format: ScanFormatName, name: string): HeadersInit {
  const { contentType, extension } = SCAN_FORMATS[format];
  const disposition = `inline; filename="${name}.${extension}"`;
  return { ...NO_STORE, "Content-Type": contentType, "Content-Disposition": disposition };
}

/** The matches of several jobs in one order. @throws Problem unknown_job, not_finished and others, naming the job */
async function jointScanResponse(
  options: ResultOptions,
  { format = "json", jobs, ...query }: Static<typeof JointScanParameters>,
): Promise<Response> {
  const joint: JointTask["joint"][number][] = [];
  for (const job of new Set(jobs)) {
    try {
      joint.push(await options.handlers.getPrediction(job));
    } catch (error) {
      const { code, message, headers } = Problem.from(error);
      throw new Problem(code, `jobs: ${job}: ${message}`, { headers });
    }
  }
  const task = { joint, format, view: viewOf("scan", query), source: options.featureSource() };
  return new Response(paced(await print(task)), { headers: scanHeaders(format, "scans") });
}
