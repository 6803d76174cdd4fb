import { Elysia } from "elysia";
import { Type } from "typebox";
import { type Corpus, readHeader } from "../../motif/index.ts";
import { readBytes } from "../../platform/body.ts";
import { paced } from "../../platform/byte-budget.ts";
import { OPTIONAL_CREDENTIALS } from "../../platform/security-schemes.ts";
import { errorResponses } from "../../platform/error-responses.ts";
import { textSchema } from "../../platform/schema.ts";
import { identify } from "../corpus/find-proteins.ts";
import type { JobModels, ModelQuery } from "../structure/job-models.ts";
import { MAX_MODEL } from "../structure/model-file.ts";
import type { Handlers } from "../jobs/handlers.ts";
import { OWNER_KEY } from "./json-operations.ts";
import { JobId } from "./json-schemas.ts";
import { JobModelSchema } from "../structure/model-schemas.ts";
import { API, NO_STORE } from "./result-routes.ts";

interface ModelOptions {
  handlers: Handlers;
  models: JobModels;
  corpus: () => Corpus;
  /** @throws Problem forbidden, unknown_job */
  requireJobOwner: (request: Request, job: string) => void;
  requireWritable: () => void;
}

const description = "Name of the file, for people.";
const NAME = Type.String({
  description,
  minLength: 1,
  maxLength: 200,
  examples: ["AF-P04637-F1-model_v4.cif.gz"],
});
const FileName = textSchema(Type.Object({ name: NAME }));
/** Parameters that are listed stand for all of the route. */
const FILE_NAME = {
  name: "name",
  in: "query" as const,
  required: true,
  description,
  schema: NAME as object,
};

const TYPES = { mmcif: "chemical/x-mmcif", pdb: "chemical/x-pdb" } as const;

const content = (description: string, schema: object, ...types: string[]) => ({
  description,
  content: Object.fromEntries(types.map((type) => [type, { schema }])),
});
const MODEL = { 200: { $id: "JobModel", ...content("The model.", JobModelSchema, "application/json") } };

const OPERATIONS = {
  show: {
    security: OPTIONAL_CREDENTIALS,
    operationId: "getStructureModel",
    summary: "Get the structure model of the query",
    description:
      "A model that was added to the job, or else one of the query's accession in the folder `models` of the server, aligned with the query.",
    responses: { ...MODEL, ...errorResponses(400, 404, 410) },
  },
  add: {
    security: OPTIONAL_CREDENTIALS,
    operationId: "addStructureModel",
    summary: "Add a structure model of the query",
    parameters: [FILE_NAME, OWNER_KEY],
    description: `mmCIF or PDB, also compressed with gzip, up to ${MAX_MODEL / 1e6} MB unpacked. It replaces an earlier one and is deleted with the job. Only the owner of the job may add one. A chain must be the query: at least 10 residues with 90 % identity.`,
    requestBody: {
      ...content("The file.", { type: "string", format: "binary" }, "application/octet-stream"),
      required: true,
    },
    responses: { ...MODEL, ...errorResponses(400, 403, 404, 410, 413, 503) },
  },
  remove: {
    security: OPTIONAL_CREDENTIALS,
    operationId: "deleteStructureModel",
    summary: "Remove the structure model that was added to the job",
    parameters: [OWNER_KEY],
    description:
      "Files in the server's folder stay, and are shown again. Only the owner of the job may remove it.",
    responses: { ...MODEL, ...errorResponses(400, 403, 404, 410) },
  },
  file: {
    security: OPTIONAL_CREDENTIALS,
    operationId: "getStructureModelFile",
    summary: "Get the file of the structure model",
    description: "The mmCIF or PDB file, unpacked.",
    responses: {
      200: content("The file.", { type: "string" }, ...Object.values(TYPES)),
      ...errorResponses(400, 404, 410),
    },
  },
};

/** The structure model of a job's query. */
export function modelRoutes(options: ModelOptions) {
  const { models, requireJobOwner, requireWritable } = options;
  const path = `${API}/jobs/:id/model` as const;
  return new Elysia({ detail: { tags: ["scoring"] } })
    .get(path, ({ params }) => models.show(queryOf(options, params.id)), {
      params: JobId,
      detail: OPERATIONS.show,
    })
    .put(
      path,
      async ({ params, query, request }) => {
        requireJobOwner(request, params.id);
        requireWritable();
        const of = queryOf(options, params.id);
        const bytes = await readBytes(request, MAX_MODEL);
        return { model: await models.add(of, query.name, bytes), problem: null };
      },
      { parse: "none", params: JobId, query: FileName, detail: OPERATIONS.add },
    )
    .delete(
      path,
      ({ params, request }) => {
        requireJobOwner(request, params.id);
        const query = queryOf(options, params.id);
        models.remove(query.job);
        return models.show(query);
      },
      { params: JobId, detail: OPERATIONS.remove },
    )
    .get(
      `${path}/file`,
      async ({ params }) => {
        const { bytes, format } = await models.file(queryOf(options, params.id));
        return new Response(paced(bytes), { headers: { ...NO_STORE, "Content-Type": TYPES[format] } });
      },
      { params: JobId, detail: OPERATIONS.file },
    );
}

/** @throws Problem unknown_job, job_expired */
function queryOf({ handlers, corpus }: ModelOptions, job: string): ModelQuery {
  const request = handlers.requireRequest(job);
  const { accession } = readHeader(request.identifier);
  const known = identify(corpus, request)?.accession;
  return { job, sequence: request.query.toUpperCase(), accessions: known ? [known, accession] : [accession] };
}
