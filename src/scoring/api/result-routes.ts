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
import {
  chooseForm,
  type JointTask,
  OFFERED_FORMS,
  type PrintTask,
  type ResultFormName,
  RESULT_FORMS,
  STORED_FORMS,
} from "../results/result-format.ts";
import { SCAN_FORMS, type ScanFilter, type ScanFormName } from "../table/scan.ts";
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
        const form = query.format ?? chooseForm(request.headers.get("accept"));
        if (form === "eln") return archiveResponse(options, id, requestContext.baseUrl);
        return resultResponse(options, id, { form, match: query.match, request });
      },
      { params: JobId, query: ResultParameters, detail: operations.RESULT },
    )
    .get(
      `${API}/jobs/:id/scan`,
      ({ params: { id }, query: { format = "json", ...query } }) =>
        printed(options, id, { scan: format, filter: filterOf(query) }, scanHeaders(format, `${id}.scan`)),
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
  { form, match, request }: { form: ResultFormName; match: number | undefined; request: Request },
): Promise<Response> {
  const { contentType, extension } = RESULT_FORMS[form];
  const headers = {
    ...NO_STORE,
    "Content-Type": contentType,
    "Content-Disposition": `inline; filename="${id}.${extension}"`,
    Vary: "Accept",
  };
  const { handlers } = options;
  if (form === "json" || form === "xml") {
    const result = (await handlers.getResult(id, form)) ?? notFinished(handlers.job(id));
    const [head, tail] = STORED_FORMS[form];
    const gzip = isSentInGzip(result, request);
    if (gzip) Object.assign(headers, GZIP, { Vary: `Accept, ${GZIP.Vary}` });
    return new Response(bodyOf(result, { head, tail, gzip }), { headers });
  }
  return printed(options, id, { form, match }, headers);
}

/** The result in an archive. */
function archiveResponse(options: ResultOptions, id: string, publisher: string): Promise<Response> {
  const { submitted, started, ended } = options.handlers.job(id);
  const { query, homologs } = options.handlers.requireRequest(id);
  const url = `${publisher}/score/${id}`;
  const archive = { id, url, publisher, submitted, started, ended: ended ?? submitted, query, homologs };
  const { contentType, extension } = OFFERED_FORMS.eln;
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

const filterOf = (query: Static<typeof ScanParameters>): ScanFilter => ({
  types: query.type,
  labels: query.label,
  best: query.best,
  disordered: query.disordered,
  maxQ: query.max_q,
  domain: query.domain,
  phosphosite: query.phosphosite,
  known: query.known,
});

function scanHeaders(format: ScanFormName, name: string): HeadersInit {
  const { contentType, extension } = SCAN_FORMS[format];
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
  const task = { joint, form: format, filter: filterOf(query), source: options.featureSource() };
  return new Response(paced(await print(task)), { headers: scanHeaders(format, "scans") });
}
