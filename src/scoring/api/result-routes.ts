import type { Static } from "typebox";
import { paced } from "../../platform/byte-budget.ts";
import { Problem } from "../../problem.ts";
import type { FeatureSource } from "../features/annotation.ts";
import { type Handlers, throwNotFinished } from "../jobs/handlers.ts";
import { describeContent } from "./openapi-parts.ts";
import { JointScanParameters, ResultParameters, ScanParameters, uuid } from "./json-schemas.ts";
import { print } from "../results/print-thread.ts";
import { NO_STORE } from "../../platform/json-response.ts";
import { operation } from "../../platform/operation.ts";
import { FeaturesSchema } from "../features/feature-schemas.ts";
import { ResultSchema } from "../prediction/prediction.ts";
import { JointScanSchema } from "../results/joint-scan.ts";
import { ScanSchema } from "../results/scan.ts";
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
import { readResult } from "./read-result.ts";
import { makeBody, GZIP, isSentInGzip } from "../jobs/stored-result.ts";

/** Dependencies of the operations of results. */
interface ResultDependencies {
  handlers: Handlers;
  featureSource: () => FeatureSource;
}

export const API = "/api/scoring";

const ofJob = {
  access: "public",
  params: { id: uuid("Identifier of the job.") },
  errors: [404, 409, 410, 503],
} as const;

/** The result of a job, in several forms. */
export const resultOperations = [
  operation("GET /api/scoring/jobs/:id/result", {
    ...ofJob,
    operationId: "getScoringResult",
    summary: "Get the result of a job",
    description: "Like GetResult. `format` selects the format, otherwise Accept; the default is JSON.",
    query: ResultParameters,
    returns: ResultSchema,
    formats: describeContent(RESULT_FORMATS, true),
    errors: [404, 406, 409, 410, 503],
    async run({ params: { id }, query, request, context }, parts: ResultDependencies) {
      const format = query.format ?? chooseFormat(request.headers.get("accept"));
      const view = parseView("result", query);
      if (!isTableFormat(format)) requireNoView(view);
      if (format === "eln") return archiveResponse(parts, id, context.baseUrl);
      return resultResponse(parts, id, { format, match: query.match, view, request });
    },
  }),
  operation("GET /api/scoring/jobs/:id/scan", {
    ...ofJob,
    operationId: "getScoringScan",
    summary: "Get the matches of a job in the order of a scan",
    description:
      "All matches of all motifs, by verdict, then by z, with q-values (Benjamini and Hochberg) over all matches of the job. Verdicts do not depend on q. Filters leave the q-values unchanged.",
    query: ScanParameters,
    returns: ScanSchema,
    formats: describeContent(SCAN_FORMATS, true),
    run: ({ params: { id }, query: { format = "json", ...query } }, parts: ResultDependencies) =>
      printed(parts, id, { scan: format, view: parseView("scan", query) }, scanHeaders(format, `${id}.scan`)),
  }),
  operation("GET /api/scoring/scans", {
    access: "public",
    operationId: "getJointScan",
    summary: "Get the matches of several jobs in one order",
    description:
      "The matches of scans of several proteins by verdict, then by z, with q-values over all of them together. Filters as for one scan.",
    query: JointScanParameters,
    returns: JointScanSchema,
    formats: describeContent(SCAN_FORMATS, true),
    errors: [404, 409, 410, 503],
    run: ({ query }, parts: ResultDependencies) => jointScanResponse(parts, query),
  }),
  operation("GET /api/scoring/jobs/:id/features", {
    ...ofJob,
    operationId: "getScoringFeatures",
    summary: "Get what is known about the query of a job and its matches",
    description:
      "Imported features of the protein with the query's sequence, and for each match the known instances, also those at the same place of aligned homologs. Scores do not depend on them. Empty if nothing is imported.",
    returns: FeaturesSchema,
    errors: [404, 409, 410, 503],
    run: ({ params: { id } }, parts: ResultDependencies) =>
      printed(parts, id, { features: true }, { ...NO_STORE, "Content-Type": "application/json" }),
  }),
];

/** The stored result, or else a printed one. */
async function resultResponse(
  options: ResultDependencies,
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
  if ((format === "json" && match === undefined) || format === "xml") {
    const result = (await readResult(options, id, format)) ?? throwNotFinished(handlers.job(id));
    const [head, tail] = STORED_FORMATS[format];
    const gzip = isSentInGzip(result, request);
    if (gzip) Object.assign(headers, GZIP, { Vary: `Accept, ${GZIP.Vary}` });
    return new Response(makeBody(result, { head, tail, gzip }), { headers });
  }
  return printed(options, id, { result: format, match, view }, headers);
}

/** The result in an archive. */
function archiveResponse(options: ResultDependencies, id: string, publisher: string): Promise<Response> {
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
  options: ResultDependencies,
  id: string,
  as: PrintTask["as"],
  headers: HeadersInit,
): Promise<Response> {
  const task = { ...(await options.handlers.getPrediction(id)), as, source: options.featureSource() };
  return new Response(paced(await print(task)), { headers });
}

/** The filters and the order in validated parameters. */
function parseView(table: MatchTableName, query: object): TableView {
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
  options: ResultDependencies,
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
  const task = { joint, format, view: parseView("scan", query), source: options.featureSource() };
  return new Response(paced(await print(task)), { headers: scanHeaders(format, "scans") });
}
