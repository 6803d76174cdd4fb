import { type Ownership, requireOwner } from "../../accounts/owner.ts";
import { NO_STORE } from "../../platform/json-response.ts";
import { operation } from "../../platform/operation.ts";
import { Type } from "typebox";
import { type Corpus, readHeader } from "../../motif/index.ts";
import { readBytes } from "../../platform/body.ts";
import { paced } from "../../platform/byte-budget.ts";
import { identify } from "../corpus/find-proteins.ts";
import type { JobModels, ModelQuery } from "../structure/job-models.ts";
import { MAX_MODEL } from "../structure/model-file.ts";
import type { Handlers } from "../jobs/handlers.ts";
import { FILE, OWNER_KEY } from "./openapi-parts.ts";
import { uuid } from "./json-schemas.ts";
import { JobModelSchema } from "../structure/model-schemas.ts";

/** Dependencies of the operations of structure models. */
interface ModelParts {
  handlers: Handlers;
  models: JobModels;
  corpus: () => Corpus;
  ownership: Ownership;
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

/** The structure model of a job's query. */
export const modelOperations = [
  operation("GET /api/scoring/jobs/:id/model", {
    ...modelAccess,
    operationId: "getStructureModel",
    summary: "Get the structure model of the query",
    description:
      "A model that was added to the job, or else one of the query's accession in the folder `models` of the server, aligned with the query.",
    errors: [400, 404, 410],
    run: ({ params }, parts: ModelParts) => parts.models.show(readQuery(parts, params.id)),
  }),
  operation("PUT /api/scoring/jobs/:id/model", {
    ...modelAccess,
    access: "anyone",
    operationId: "addStructureModel",
    summary: "Add a structure model of the query",
    description: `mmCIF or PDB, also compressed with gzip, up to ${MAX_MODEL / 1e6} MB unpacked. It replaces an earlier one and is deleted with the job. Only the owner of the job may add one. A chain must be the query: at least 10 residues with 90 % identity.`,
    query: FileName,
    parameters: [OWNER_KEY],
    sends: FILE,
    errors: [403, 404, 410, 413, 503],
    async run({ params, query, request }, parts: ModelParts) {
      requireJobOwner(parts, request, params.id);
      parts.requireWritable();
      const of = readQuery(parts, params.id);
      const bytes = await readBytes(request, MAX_MODEL);
      return { model: await parts.models.add(of, query.name, bytes), problem: null };
    },
  }),
  operation("DELETE /api/scoring/jobs/:id/model", {
    ...modelAccess,
    access: "anyone",
    operationId: "deleteStructureModel",
    summary: "Remove the structure model that was added to the job",
    description:
      "Files in the server's folder stay, and are shown again. Only the owner of the job may remove it.",
    parameters: [OWNER_KEY],
    errors: [400, 403, 404, 410],
    run({ params, request }, parts: ModelParts) {
      requireJobOwner(parts, request, params.id);
      const query = readQuery(parts, params.id);
      parts.models.remove(query.job);
      return parts.models.show(query);
    },
  }),
  operation("GET /api/scoring/jobs/:id/model/file", {
    access: "public",
    params: modelAccess.params,
    operationId: "getStructureModelFile",
    summary: "Get the file of the structure model",
    description: "The mmCIF or PDB file, unpacked.",
    formats: Object.fromEntries(Object.values(TYPES).map((type) => [type, { schema: { type: "string" } }])),
    errors: [400, 404, 410],
    async run({ params }, parts: ModelParts) {
      const { bytes, format } = await parts.models.file(readQuery(parts, params.id));
      return new Response(paced(bytes), { headers: { ...NO_STORE, "Content-Type": TYPES[format] } });
    },
  }),
];

/** @throws Problem forbidden, unknown_job */
const requireJobOwner = ({ handlers, ownership }: ModelParts, request: Request, id: string): void =>
  requireOwner(ownership.identify(request), handlers.readOwner(id), "job");

/** @throws Problem unknown_job, job_expired */
function readQuery({ handlers, corpus }: ModelParts, job: string): ModelQuery {
  const request = handlers.requireRequest(job);
  const { accession } = readHeader(request.identifier);
  const known = identify(corpus, request)?.accession;
  return { job, sequence: request.query.toUpperCase(), accessions: known ? [known, accession] : [accession] };
}
