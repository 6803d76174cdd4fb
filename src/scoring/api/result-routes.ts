import { Elysia } from "elysia";
import type { Static } from "typebox";
import { paced } from "../../platform/byte-budget.ts";
import type { Corpus } from "../../motif/index.ts";
import { identify } from "../corpus/find-proteins.ts";
import type { FeatureSource } from "../features/annotation.ts";
import { type Handlers, notFinished } from "./handlers.ts";
import * as operations from "./json-operations.ts";
import { JobId, NoParameters, ResultParameters, ScanParameters } from "./json-schemas.ts";
import { print } from "./print-thread.ts";
import {
  chooseForm,
  type PrintTask,
  type ResultFormName,
  RESULT_FORMS,
  STORED_FORMS,
} from "./result-format.ts";
import { SCAN_FORMS } from "./scan.ts";
import { bodyOf, GZIP, isSentInGzip } from "./stored-result.ts";

interface ResultOptions {
  handlers: Handlers;
  corpus: () => Corpus;
  featureSource: () => FeatureSource;
}

export const API = "/api/scoring";
export const NO_STORE = { "Cache-Control": "no-store" };

/** What a job has found, in several forms. */
export function resultRoutes(options: ResultOptions) {
  const { handlers } = options;
  return new Elysia({ detail: { tags: ["scoring"] } })
    .get(
      `${API}/jobs/:id/result`,
      async ({ params: { id }, query, request }) => {
        const form = query.format ?? chooseForm(request.headers.get("accept"));
        const response = await resultResponse(options, id, { form, match: query.match, request });
        return requireResponse(response, handlers, id);
      },
      { params: JobId, query: ResultParameters, detail: operations.RESULT },
    )
    .get(
      `${API}/jobs/:id/scan`,
      async ({ params: { id }, query }) =>
        requireResponse(await scanResponse(options, id, query), handlers, id),
      { params: JobId, query: ScanParameters, detail: operations.SCAN },
    )
    .get(
      `${API}/jobs/:id/features`,
      async ({ params: { id } }) => requireResponse(await featuresResponse(options, id), handlers, id),
      { params: JobId, query: NoParameters, detail: operations.FEATURES },
    );
}

/** The result as it is stored, or else printed; null until the job has ended. */
async function resultResponse(
  options: ResultOptions,
  id: string,
  { form, match, request }: { form: ResultFormName; match: number | undefined; request: Request },
): Promise<Response | null> {
  const { contentType, extension } = RESULT_FORMS[form];
  const headers = {
    ...NO_STORE,
    "Content-Type": contentType,
    "Content-Disposition": `inline; filename="${id}.${extension}"`,
    Vary: "Accept",
  };
  const { handlers, corpus } = options;
  if (form === "json" || form === "xml") {
    const result = handlers.getResult(id, form, identify(corpus, handlers.request(id)));
    if (!result) return null;
    const [head, tail] = STORED_FORMS[form];
    const gzip = isSentInGzip(result, request);
    if (gzip) Object.assign(headers, GZIP, { Vary: `Accept, ${GZIP.Vary}` });
    return new Response(bodyOf(result, { head, tail, gzip }), { headers });
  }
  return printed(options, id, { form, match }, headers);
}

/** Null until the job has ended. Long results are printed in a thread. */
async function printed(
  { handlers, corpus, featureSource }: ResultOptions,
  id: string,
  as: PrintTask["as"],
  headers: HeadersInit,
): Promise<Response | null> {
  const found = handlers.getPrediction(id);
  if (!found) return null;
  const protein = identify(corpus, handlers.request(id));
  return new Response(paced(await print({ ...found, protein, as, source: featureSource() })), { headers });
}

/** The matches in the order of a scan; null until the job has ended. */
async function scanResponse(
  options: ResultOptions,
  id: string,
  { format = "json", type, label, best, disordered, max_q: maxQ, ...of }: Static<typeof ScanParameters>,
): Promise<Response | null> {
  const places = { domain: of.domain, phosphosite: of.phosphosite, known: of.known };
  const filter = { types: type, labels: label, best, disordered, maxQ, ...places };
  const { contentType, extension } = SCAN_FORMS[format];
  return printed(
    options,
    id,
    { scan: format, filter },
    {
      ...NO_STORE,
      "Content-Type": contentType,
      "Content-Disposition": `inline; filename="${id}.scan.${extension}"`,
    },
  );
}

/** What is known of the query and its matches; null until the job has ended. */
const featuresResponse = (options: ResultOptions, id: string): Promise<Response | null> =>
  printed(options, id, { features: true }, { ...NO_STORE, "Content-Type": "application/json" });

/** @throws Problem not_finished */
function requireResponse(response: Response | null, handlers: Handlers, id: string): Response {
  return response ?? notFinished(handlers, id);
}
