import {
  CORPUS,
  JOB,
  MOTIF_CLASSES,
  PATTERN_PROBLEM,
  PATTERN_REPORT,
  PATTERN_REQUEST,
  PROBLEM,
  RESULT,
  type Schema,
  SUBMISSION,
} from "./json-schema.ts";
import { RESULT_FORM_NAMES, RESULT_FORMS } from "./result-format.ts";

/** What the OpenAPI document says of the JSON service, operation by operation. */

const MEANINGS: Record<number, string> = {
  400: "A value or a parameter breaks a rule; the field is named.",
  404: "No job has this identifier.",
  406: "The result cannot be had in the form that Accept wants.",
  409: "Not in this state of the job; the text says why.",
  410: "The job ended so long ago that its result was removed.",
  413: "The body is larger than one may be (setting max_message_bytes).",
  415: "The body is no JSON.",
  503: "The queue is full or the service stops; Retry-After says when to try again.",
};

const jsonContent = (schema: Schema) => ({ "application/json": { schema } });

const answer = (description: string, schema: Schema) => ({ description, content: jsonContent(schema) });

const refusals = (...statuses: number[]) =>
  Object.fromEntries(statuses.map((status) => [status, answer(MEANINGS[status], PROBLEM)]));

const body = (description: string, schema: Schema, example: object) => ({
  required: true,
  description,
  content: { "application/json": { schema, example } },
});

const ID = {
  name: "id",
  in: "path",
  required: true,
  description: "Identifier of the job.",
  schema: { type: "string" },
};

const HASH = {
  name: "id",
  in: "path",
  required: true,
  description: "SHA-256 of the corpus, 64 digits of hexadecimal.",
  schema: { type: "string" },
};

const packed = (description: string) => ({
  description,
  content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
});

const parameter = (name: string, description: string, schema: Schema) => ({
  name,
  in: "query",
  required: false,
  description,
  schema,
});

const tags = ["scoring"];

/** Schemas are plain data, which the types of OpenAPI do not recognise as such. */
type Detail = Record<string, unknown> & { summary: string };

const RESULT_CONTENT = Object.fromEntries(
  RESULT_FORM_NAMES.map((name) => [
    RESULT_FORMS[name].contentType.split(";")[0],
    { schema: name === "json" ? RESULT : { type: "string", description: RESULT_FORMS[name].sentence } },
  ]),
);

export const OPERATIONS = {
  submit: {
    tags,
    operationId: "submitScoringJob",
    summary: "Start a job",
    description:
      "The twin of RunJob. The answer is sent once the job is on the disk. Sending it again after a lost answer is harmless: equal questions share their answer.",
    requestBody: body("The query and what to look for.", SUBMISSION, {
      identifier: "E7",
      querySequence:
        "MHGDTPTLHEYMLDLQPETTDLYCYEQLNDSSEEEDEIDGPAGQAEPDRAHYNIVTFCCKCDSTLRLCVQSTHVDIRTLEDLLMGTLGIVCPICSQKP",
      patterns: ["L.C.E"],
      motifClasses: ["LIG_PCNA_PIPBox_1"],
    }),
    responses: {
      202: {
        ...answer("The job as it is now; Location has its address.", JOB),
        headers: { Location: { description: "Address of the job.", schema: { type: "string" } } },
      },
      ...refusals(400, 413, 415, 503),
    },
  },
  job: {
    tags,
    operationId: "getScoringJob",
    summary: "How a job stands",
    description: "The twin of GetStatus.",
    parameters: [ID],
    responses: { 200: answer("The job.", JOB), ...refusals(400, 404) },
  },
  cancel: {
    tags,
    operationId: "cancelScoringJob",
    summary: "Cancel a job",
    description: "It is not scored, or no further.",
    parameters: [ID],
    responses: { 200: answer("The job, cancelled.", JOB), ...refusals(400, 404, 409) },
  },
  result: {
    tags,
    operationId: "getScoringResult",
    summary: "The result of a job",
    description: "The twin of GetResult. The form is that of `format`, else what Accept prefers, else JSON.",
    parameters: [
      ID,
      parameter(
        "format",
        RESULT_FORM_NAMES.map((name) => `\`${name}\`: ${RESULT_FORMS[name].sentence}`).join(" "),
        { type: "string", enum: [...RESULT_FORM_NAMES] },
      ),
      parameter(
        "match",
        "For stockholm and fasta: the alignment of this match alone, from 1 over all patterns.",
        {
          type: "integer",
          minimum: 1,
        },
      ),
    ],
    responses: {
      200: { description: "The prediction.", content: RESULT_CONTENT },
      ...refusals(400, 404, 406, 409, 410),
    },
  },
  events: {
    tags,
    operationId: "watchScoringJob",
    summary: "News of a job as server-sent events",
    description:
      "Each event has the whole job as its data. It is a `state` where the state has changed, else a `progress`; the stream begins with the job as it is and ends with its final state. A client that comes back sends `Last-Event-ID` and is told only what is new.",
    parameters: [
      ID,
      {
        name: "Last-Event-ID",
        in: "header",
        required: false,
        description: "Identifier of the last event that was received.",
        schema: { type: "string" },
      },
    ],
    responses: {
      200: {
        description: "The stream.",
        content: { "text/event-stream": { schema: { type: "string", description: "Events." } } },
      },
      204: { description: "The client has the final state already: there will be no more." },
      ...refusals(400, 404, 503),
    },
  },
  motifClasses: {
    tags,
    operationId: "listMotifClasses",
    summary: "Motif classes",
    parameters: [
      parameter(
        "query",
        "Only classes whose name, alias, expression or description contains every word of it, ignoring case.",
        { type: "string" },
      ),
    ],
    responses: { 200: answer("The classes.", MOTIF_CLASSES), ...refusals(400) },
  },
  pattern: {
    tags,
    operationId: "checkPattern",
    summary: "Check an expression",
    requestBody: body("The expression.", PATTERN_REQUEST, { pattern: "[ST]P..[KR]" }),
    responses: {
      200: answer("What it means.", PATTERN_REPORT),
      400: answer("It has no meaning; `position` is the character where it is wrong.", PATTERN_PROBLEM),
      ...refusals(413, 415),
    },
  },
  corpus: {
    tags,
    operationId: "getCorpus",
    summary: "The corpus in use",
    responses: {
      200: answer("The corpus.", CORPUS),
      ...refusals(400),
      404: answer("There is none.", PROBLEM),
    },
  },
  corpusFile: {
    tags,
    operationId: "downloadCorpus",
    summary: "A corpus as a file",
    description:
      "For other machines that are to score the same; for those who are signed in. `ETag` is the hash. `Range` gives a part, so that who was cut off goes on. `labd corpus pull` and workers use it, and check what came.",
    parameters: [HASH],
    responses: {
      200: packed("All of it."),
      206: packed("The part that Range names."),
      304: { description: "If-None-Match names it: it never changes." },
      ...refusals(400),
      401: answer("Not signed in.", PROBLEM),
      404: answer("No corpus has this hash.", PROBLEM),
      416: { description: "Range begins behind its end." },
    },
  },
  calibration: {
    tags,
    operationId: "downloadCalibration",
    summary: "The calibration of a corpus as a file",
    description:
      "For those who are signed in. `ETag` is its hash, which results name behind the method's version.",
    parameters: [HASH],
    responses: {
      200: { description: "It.", content: { "text/plain": { schema: { type: "string" } } } },
      304: { description: "If-None-Match names it." },
      ...refusals(400),
      401: answer("Not signed in.", PROBLEM),
      404: answer("No corpus has this hash, or it has no calibration of its own.", PROBLEM),
    },
  },
} as const satisfies Record<string, Detail>;
