import { type Ownership, requireOwner } from "../../accounts/owner.ts";
import { NO_STORE } from "../../platform/json-response.ts";
import { operation } from "../../platform/operation.ts";
import { Type } from "typebox";
import { type Corpus, readHeader } from "../../motif/index.ts";
import { readBytes } from "../../platform/body.ts";
import { paced } from "../../platform/byte-budget.ts";
import { identify, requireSequence } from "../corpus/find-proteins.ts";
import type { StructureModels, ModelQuery } from "../structure/structure-models.ts";
import { MAX_MODEL } from "../structure/model-file.ts";
import type { Handlers } from "../jobs/handlers.ts";
import type { JobsOfProtein } from "../jobs/job-records.ts";
import { Problem } from "../../problem.ts";
import { FILE, OWNER_KEY } from "./openapi-parts.ts";
import { uuid } from "./json-schemas.ts";
import { JobModelSchema } from "../structure/model-schemas.ts";

/** Dependencies of the operations of structure models. */
interface ModelParts {
  handlers: Handlers;
  models: StructureModels;
  corpus: () => Corpus;
  ownership: Ownership;
  identifyClient: (request: Request) => string;
  jobsOfProtein: JobsOfProtein;
  requireWritable: () => void;
}

const FileName = Type.Object({
  name: Type.String({
    description: "Name of the file, for people.",
    minLength: 1,
    maxLength: 200,
    examples: ["AF-P04637-F1-model_v4.cif.gz"],
  }),
});

const TYPES = { mmcif: "chemical/x-mmcif", pdb: "chemical/x-pdb" } as const;

const modelAccess = {
  access: "public",
  params: { id: uuid("Identifier of the job.") },
  returns: JobModelSchema,
} as const;

const ofProtein = {
  access: "public",
  params: { accession: ["Accession in the corpus in use.", "P04637"] },
  returns: JobModelSchema,
} as const;

const FILES = Object.fromEntries(Object.values(TYPES).map((type) => [type, { schema: { type: "string" } }]));

/** The structure models of proteins, also by a job that scored one. */
export const modelOperations = [
  operation("GET /api/scoring/jobs/:id/model", {
    ...modelAccess,
    operationId: "getStructureModel",
    summary: "Get the structure model of the query",
    description:
      "A model that the owner of the job has added to the protein, or else one of the query's accession in the folder `models` of the server, aligned with the query.",
    errors: [404, 410],
    run: ({ params }, parts: ModelParts) => parts.models.show(readQuery(parts, params.id)),
  }),
  operation("PUT /api/scoring/jobs/:id/model", {
    ...modelAccess,
    access: "anyone",
    operationId: "addStructureModel",
    summary: "Add a structure model of the query",
    description: `mmCIF or PDB, also compressed with gzip, up to ${MAX_MODEL / 1e6} MB unpacked. It belongs to the protein: all jobs of the owner with this sequence have it, also later ones, and it replaces an earlier one. Without an account it is deleted with the last of them. Only the owner of the job may add one. A chain must be the query: at least 10 residues with 90 % identity.`,
    query: FileName,
    parameters: [OWNER_KEY],
    sends: FILE,
    errors: [404, 410, 413, 503],
    run({ params, query, request }, parts: ModelParts) {
      requireJobOwner(parts, request, params.id);
      return addModel(parts, readQuery(parts, params.id), query.name, request);
    },
  }),
  operation("DELETE /api/scoring/jobs/:id/model", {
    ...modelAccess,
    access: "anyone",
    operationId: "deleteStructureModel",
    summary: "Remove the structure model that was added to the query",
    description:
      "Files in the server's folder stay, and are shown again. Only the owner of the job may remove it.",
    parameters: [OWNER_KEY],
    errors: [404, 410],
    run({ params, request }, parts: ModelParts) {
      requireJobOwner(parts, request, params.id);
      return removeModel(parts, readQuery(parts, params.id));
    },
  }),
  operation("GET /api/scoring/jobs/:id/model/file", {
    access: "public",
    params: modelAccess.params,
    operationId: "getStructureModelFile",
    summary: "Get the file of the structure model",
    description: "The mmCIF or PDB file, unpacked.",
    formats: FILES,
    errors: [404, 410],
    run: ({ params }, parts: ModelParts) => modelFile(parts, readQuery(parts, params.id)),
  }),
  operation("GET /api/scoring/proteins/:accession/model", {
    ...ofProtein,
    operationId: "getModelOfProtein",
    summary: "Get the structure model of a protein",
    description: "The caller's, or else that of the server's folder.",
    errors: [404],
    run: ({ params, request }, parts: ModelParts) =>
      parts.models.show(readProtein(parts, params.accession, request)),
  }),
  operation("PUT /api/scoring/proteins/:accession/model", {
    ...ofProtein,
    access: "anyone",
    operationId: "addModelOfProtein",
    summary: "Add a structure model of a protein",
    description: "As to a job. Without an account, only if the caller has a result of the protein.",
    query: FileName,
    parameters: [OWNER_KEY],
    sends: FILE,
    errors: [404, 413, 503],
    run({ params, query, request }, parts: ModelParts) {
      const of = readProtein(parts, params.accession, request);
      return addModel(parts, { ...of, owners: [requireKeeper(parts, of)] }, query.name, request);
    },
  }),
  operation("DELETE /api/scoring/proteins/:accession/model", {
    ...ofProtein,
    access: "anyone",
    operationId: "deleteModelOfProtein",
    summary: "Remove the caller's structure model of a protein",
    parameters: [OWNER_KEY],
    errors: [404],
    run: ({ params, request }, parts: ModelParts) =>
      removeModel(parts, readProtein(parts, params.accession, request)),
  }),
  operation("GET /api/scoring/proteins/:accession/model/file", {
    access: "public",
    params: ofProtein.params,
    operationId: "getModelFileOfProtein",
    summary: "Get the file of the structure model of a protein",
    formats: FILES,
    errors: [404],
    run: ({ params, request }, parts: ModelParts) =>
      modelFile(parts, readProtein(parts, params.accession, request)),
  }),
];

async function addModel(
  { models, requireWritable, identifyClient }: ModelParts,
  of: ModelQuery,
  name: string,
  request: Request,
) {
  requireWritable();
  const file = await readBytes(request, MAX_MODEL);
  return { model: await models.add(of, { name, file, client: identifyClient(request) }), problem: null };
}

function removeModel({ models }: ModelParts, of: ModelQuery) {
  models.remove(of);
  return models.show(of);
}

async function modelFile({ models }: ModelParts, of: ModelQuery): Promise<Response> {
  const { bytes, format } = await models.file(of);
  return new Response(paced(bytes), { headers: { ...NO_STORE, "Content-Type": TYPES[format] } });
}

/** @throws Problem forbidden, unknown_job */
const requireJobOwner = ({ handlers, ownership }: ModelParts, request: Request, id: string): void =>
  requireOwner(ownership.identify(request), handlers.readOwner(id), "job");

/** @throws Problem unknown_job, job_expired */
function readQuery({ handlers, corpus }: ModelParts, job: string): ModelQuery {
  const request = handlers.requireRequest(job);
  const { accession } = readHeader(request.identifier);
  const known = identify(corpus, request)?.accession;
  const accessions = known ? [known, accession] : [accession];
  return { owners: [handlers.readOwner(job)], sequence: request.query.toUpperCase(), accessions };
}

/** @throws Problem not_found */
const readProtein = ({ corpus, ownership }: ModelParts, accession: string, request: Request): ModelQuery => ({
  owners: ownership.identify(request).keys,
  sequence: requireSequence(corpus(), accession).sequence,
  accessions: [accession],
});

/** The key of the caller that keeps a model: the account's, or one with a job of the protein. @throws Problem forbidden */
function requireKeeper({ jobsOfProtein }: ModelParts, { owners, sequence }: ModelQuery): string {
  const isKeeper = (owner: string): boolean =>
    owner.startsWith("user ") || jobsOfProtein({ owner, sequence, limit: 1 }).length > 0;
  const keeper = owners.find(isKeeper);
  if (keeper !== undefined) return keeper;
  const text =
    "Sign in, or score the protein first: without an account, a model is kept as long as your results.";
  throw new Problem("forbidden", text);
}
