import { OPTIONAL_CREDENTIALS } from "../../platform/security-schemes.ts";
import { errorResponses } from "../../platform/error-responses.ts";
import { contentOf, OWNER_KEY } from "./json-operations.ts";
import { PROTEOME_FORMATS } from "../results/file-formats.ts";
import { ProteomeSchema, ProteomeSearchSchema } from "./proteome-schemas.ts";

/** The operations of proteome searches in the OpenAPI document. */

const json = (description: string, schema: object) => ({
  description,
  content: { "application/json": { schema } },
});

const SHOWN = { $id: "ProteomeSearch", ...json("The search.", ProteomeSearchSchema) };

export const PROTEOME = {
  operationId: "getProteome",
  security: OPTIONAL_CREDENTIALS,
  summary: "Get the proteins that can be searched",
  description:
    "Families (homologs, alignment, tree and disorder of a protein) are computed once, by `labd proteome build`. Searches score with them.",
  responses: { 200: json("The proteins.", ProteomeSchema), ...errorResponses(400, 404) },
};
export const START = {
  operationId: "startProteomeSearch",
  security: OPTIONAL_CREDENTIALS,
  summary: "Search all proteins for a motif",
  parameters: [OWNER_KEY],
  description:
    "Looks for a pattern or motif class in all proteins with stored families, or in those of an organism. The response is sent once the search is stored durably; a restart runs it again. Equal searches share one computation and its result, which is kept as long as there is room: another one has its result at once. Poll its address for progress and the first matches.",
  responses: {
    202: {
      ...json("The search; Location is its address.", ProteomeSearchSchema),
      headers: { Location: { description: "Address of the search.", schema: { type: "string" as const } } },
    },
    ...errorResponses(400, 404, 409, 413, 415, 503),
  },
};
export const SEARCH = {
  operationId: "getProteomeSearch",
  security: OPTIONAL_CREDENTIALS,
  summary: "Get a proteome search",
  description:
    "Progress, counts, and a page of the matches, best first: by the overall P value, of equals by z, with q-values (Benjamini and Hochberg) over all matches. The label follows q, not P. Filters leave ranks and q-values unchanged. The numbers are those of a job that scores the protein.",
  responses: { 200: SHOWN, ...errorResponses(400, 404) },
};
export const CANCEL = {
  operationId: "cancelProteomeSearch",
  security: OPTIONAL_CREDENTIALS,
  summary: "Cancel a proteome search",
  parameters: [OWNER_KEY],
  description:
    "Cancels a queued or running search of the caller. The computation goes on if others have started an equal one.",
  responses: { 200: SHOWN, ...errorResponses(400, 403, 404, 409) },
};
export const MATCHES = {
  operationId: "downloadProteomeMatches",
  security: OPTIONAL_CREDENTIALS,
  summary: "Download the matches of a proteome search",
  description: "All matches that pass the filters, as `labd proteome search` prints them.",
  responses: {
    200: {
      description: "The matches.",
      content: contentOf(PROTEOME_FORMATS),
    },
    ...errorResponses(400, 404, 409),
  },
};
