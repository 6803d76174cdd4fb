import type { TSchema } from "typebox";
import { OPTIONAL_CREDENTIALS } from "../../platform/security-schemes.ts";
import { errorResponses } from "../../platform/error-responses.ts";
import { ComparisonSchema } from "../results/comparison.ts";
import { ResultSchema } from "../prediction/prediction.ts";
import {
  CorpusSchema,
  JobId,
  JobSchema,
  MotifClassesSchema,
  PatternProblemSchema,
  PatternSchema,
  ProteinsSchema,
} from "./json-schemas.ts";
import { ScanSchema } from "../results/scan.ts";
import { JointScanSchema } from "../results/joint-scan.ts";
import { FeaturesSchema } from "../features/feature-schemas.ts";
import type { FileFormat } from "../table/table-formats.ts";
import { RESULT_FORMATS, SCAN_FORMATS } from "../results/file-formats.ts";

/** The operations of the JSON service in the OpenAPI document; parameters and bodies come from the schemas of the routes. */

const content = (description: string, type: string, schema: object) => ({
  description,
  content: { [type]: { schema } },
});
const json = (description: string, schema: TSchema) => content(description, "application/json", schema);
const file = (description: string) =>
  content(description, "application/octet-stream", { type: "string", format: "binary" });
/** The content of a file in each format, JSON with its schema. */
export const contentOf = (formats: Readonly<Record<string, FileFormat>>, jsonSchema?: TSchema) =>
  Object.fromEntries(
    Object.entries(formats).map(([name, { contentType, sentence }]) => [
      contentType.split(";")[0],
      {
        schema: (name === "json" && jsonSchema) || { type: "string" as const, description: sentence },
      } as { schema: object },
    ]),
  );
const string = (description: string) => ({ description, schema: { type: "string" } as const });

/** The header of requests of owners who have no account. */
export const OWNER_KEY = {
  name: "Owner-Key",
  in: "header" as const,
  required: false,
  ...string(
    "A secret of the client, 20 to 255 printable ASCII characters. Without an account, whoever sends the one with which a job or search was started may change it. Browsers have a cookie instead.",
  ),
};
export const SUBMIT = {
  operationId: "submitScoringJob",
  security: OPTIONAL_CREDENTIALS,
  summary: "Start a job",
  description:
    "Like RunJob. The response is sent once the job is stored durably. Sending it again after a lost response is harmless: identical requests of one client share their computation, and with the same `Idempotency-Key` the response is the same job.",
  parameters: [
    OWNER_KEY,
    {
      name: "Idempotency-Key",
      in: "header" as const,
      required: false,
      ...string(
        "A key chosen by the client, 1 to 255 printable ASCII characters: valid as long as the job is kept.",
      ),
    },
  ],
  responses: {
    202: {
      ...json("The job; Location is its address.", JobSchema),
      headers: { Location: string("Address of the job.") },
    },
    ...errorResponses(400, 413, 415, 422, 503),
  },
};
export const JOB = {
  operationId: "getScoringJob",
  security: OPTIONAL_CREDENTIALS,
  summary: "Get a job",
  description: "Like GetStatus.",
  responses: { 200: json("The job.", JobSchema), ...errorResponses(400, 404) },
};
export const CANCEL = {
  operationId: "cancelScoringJob",
  security: OPTIONAL_CREDENTIALS,
  summary: "Cancel a job",
  description:
    "Cancels a queued or running job. Only its owner may do that: the account that started it, or whoever sends the cookie or the Owner-Key with which it was started.",
  parameters: [OWNER_KEY],
  responses: { 200: json("The cancelled job.", JobSchema), ...errorResponses(400, 403, 404, 409) },
};
export const RESULT = {
  operationId: "getScoringResult",
  security: OPTIONAL_CREDENTIALS,
  summary: "Get the result of a job",
  description:
    "Like GetResult. The format is that of `format`, otherwise the one that Accept prefers, otherwise JSON.",
  responses: {
    200: {
      description: "The prediction.",
      content: contentOf(RESULT_FORMATS, ResultSchema),
    },
    ...errorResponses(400, 404, 406, 409, 410, 503),
  },
};
export const SCAN = {
  operationId: "getScoringScan",
  security: OPTIONAL_CREDENTIALS,
  summary: "Get the matches of a job in the order of a scan",
  description:
    "All matches of all motifs, best first: by the overall P value, of equals by z, with q-values (Benjamini and Hochberg) over all matches of the job. The label follows q, not P. Filters leave the q-values unchanged.",
  responses: {
    200: {
      description: "The matches.",
      content: contentOf(SCAN_FORMATS, ScanSchema),
    },
    ...errorResponses(400, 404, 409, 410, 503),
  },
};
export const FEATURES = {
  operationId: "getScoringFeatures",
  security: OPTIONAL_CREDENTIALS,
  summary: "Get what is known about the query of a job and its matches",
  description:
    "Imported features of the protein with the query's sequence, and for each match the known instances, also those at the same place of aligned homologs. Scores do not depend on them. Empty if nothing is imported.",
  responses: {
    200: json("The features.", FeaturesSchema),
    ...errorResponses(400, 404, 409, 410, 503),
  },
};
export const JOINT_SCAN = {
  operationId: "getJointScan",
  security: OPTIONAL_CREDENTIALS,
  summary: "Get the matches of several jobs in one order",
  description:
    "The matches of scans of several proteins, best first, with q-values over all of them together. Filters as for one scan.",
  responses: {
    200: {
      description: "The matches; tables have the same columns as of one scan.",
      content: contentOf(SCAN_FORMATS, JointScanSchema),
    },
    ...errorResponses(400, 404, 409, 410, 503),
  },
};
export const COMPARISON = {
  operationId: "compareScoringResults",
  security: OPTIONAL_CREDENTIALS,
  summary: "Compare two results of one protein",
  description:
    "Match by match: both verdicts, P values, scores and numbers of homologs, and the homologs that only one result has. The results may be from different corpora, or from different choices of homologs.",
  responses: {
    200: json("The comparison.", ComparisonSchema),
    ...errorResponses(400, 404, 409, 410, 503),
  },
};
export const EVENTS = {
  operationId: "watchScoringJob",
  security: OPTIONAL_CREDENTIALS,
  summary: "Watch a job by server-sent events",
  description:
    "The data of each event is the whole job. The event is `state` if the state has changed, otherwise `progress`. The stream begins with the current state and ends with the final one. A client that reconnects sends `Last-Event-ID` and receives only what is new.",
  // Instead of the ones that the route's schemas would give.
  parameters: [
    {
      name: "id",
      in: "path" as const,
      required: true,
      description: "Identifier of the job.",
      schema: JobId.properties.id as object,
    },
    {
      name: "Last-Event-ID",
      in: "header" as const,
      required: false,
      ...string("Identifier of the last event received."),
    },
  ],
  responses: {
    200: content("The stream.", "text/event-stream", { type: "string", description: "Events." }),
    204: { description: "The client has received the final state; there are no more events." },
    ...errorResponses(400, 404, 503),
  },
};
export const MOTIF_CLASSES = {
  operationId: "listMotifClasses",
  security: OPTIONAL_CREDENTIALS,
  summary: "List motif classes",
  responses: { 200: json("The classes.", MotifClassesSchema), ...errorResponses(400) },
};
export const PATTERN = {
  operationId: "checkPattern",
  summary: "Check an expression",
  security: OPTIONAL_CREDENTIALS,
  responses: {
    200: json("Its meaning.", PatternSchema),
    400: json("The expression is invalid; `position` is the position of the error.", PatternProblemSchema),
    ...errorResponses(413, 415),
  },
};
export const CORPUS = {
  operationId: "getCorpus",
  security: OPTIONAL_CREDENTIALS,
  summary: "Get the corpus in use",
  responses: {
    200: json("The corpus.", CorpusSchema),
    ...errorResponses(400, 404),
  },
};
export const PROTEINS = {
  operationId: "findProteins",
  security: OPTIONAL_CREDENTIALS,
  summary: "Find proteins by name, gene or species",
  description:
    "Proteins of the corpus in use that every word applies to, such as `TP53`, `P53_HUMAN`, `cellular tumor antigen` or `BRCA1 mouse`. Exact identifiers and genes come first, then their beginnings, then words of names; among equals the most studied species.",
  responses: { 200: json("The proteins.", ProteinsSchema), ...errorResponses(400) },
};
export const CORPUS_FILE = {
  operationId: "downloadCorpus",
  summary: "Download a corpus",
  description:
    "For signed-in users only, so that other machines can score with the same corpus. `ETag` is the hash; `Range` resumes an interrupted download. `labd corpus pull` and workers use it, and verify the file.",
  responses: {
    200: file("The whole file."),
    206: file("The requested range."),
    304: { description: "If-None-Match contains the hash of the corpus, which never changes." },
    ...errorResponses(400, 401, 404),
    416: { description: "Range begins after the end of the file." },
  },
};
export const CALIBRATION = {
  operationId: "downloadCalibration",
  summary: "Download the calibration of a corpus",
  description:
    "For signed-in users only. `ETag` is its hash, which results contain after the version of the method.",
  responses: {
    200: content("The calibration.", "text/plain", { type: "string" }),
    304: { description: "If-None-Match contains its hash." },
    ...errorResponses(400, 401, 404),
  },
};
