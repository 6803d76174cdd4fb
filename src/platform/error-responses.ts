import { Type } from "typebox";

/** The error responses of all operations, which the OpenAPI document shares as components. */

export const PROBLEM_SCHEMA = Type.Object(
  {
    message: Type.String({
      description: "The error, in one or two sentences.",
      examples: ["page_size: Expected a whole number."],
    }),
    detail: Type.Optional(Type.String({ description: "Text of the error, if it concerns no field." })),
    problems: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.Array(Type.Union([Type.String(), Type.Integer()]), {
            description: "Members and indexes that lead from the body to the error.",
            examples: [["patterns", 1]],
          }),
          character: Type.Optional(Type.Integer({ description: "Position in the text there, from 1." })),
          message: Type.String({ description: "The error, without its location." }),
        }),
        { description: "Each error of a scoring request with its place." },
      ),
    ),
    code: Type.Optional(
      Type.String({ description: "The kind of error, for programs.", examples: ["invalid_request"] }),
    ),
  },
  {
    $id: "Problem",
    description: "An error. Field errors are lists under the names of the fields.",
    additionalProperties: true,
  },
);

const RETRY_AFTER = {
  "Retry-After": { description: "Seconds to wait before the next attempt.", schema: Type.Integer() },
};

/** Name of the component, description and headers, by status; `default` has those that any operation may respond with. */
const RESPONSES = {
  404: ["NotFound", "The address or record does not exist, or the caller may not view it."],
  406: ["NotAcceptable", "The response is not available in an accepted format."],
  409: ["Conflict", "The request conflicts with the current state; the message says why."],
  410: ["Gone", "The job was removed some time after it ended."],
  413: ["TooLarge", "The body or the result is too large."],
  415: ["UnsupportedMediaType", "The media type of the body is not supported."],
  421: ["UnknownHost", "The Host of the request is not a name of this service."],
  422: ["KeyReused", "The Idempotency-Key was used with another request."],
  429: ["Throttled", "Too many failed sign-ins; wait.", RETRY_AFTER],
  503: ["Busy", "The server is busy or stopping; try again later.", RETRY_AFTER],
  default: [
    "Other",
    "Any other error: 400 for a parameter or field that is invalid, which the response names; 401 for credentials that are missing or not valid; 403 without permission; 405 for a method that the address does not support (`Allow` lists those that it does), 406 for a format that is not available, 408, 409 if the request conflicts with the current state, 412 if If-Match does not contain the current entity tag, 413 for a body or result that is too large, 415 for a media type that is not supported, 422 for an Idempotency-Key of another request, 429, 431, 500, 503 if the server is busy (`Retry-After` says for how many seconds), 507.",
    RETRY_AFTER,
  ],
} as const;

export type ErrorStatus = Exclude<keyof typeof RESPONSES, "default">;

/** Descriptions of these error responses, and of all others together. */
export const errorResponses = (
  ...statuses: readonly ErrorStatus[]
): Record<string, { description: string }> =>
  Object.fromEntries(
    ([...statuses, "default"] as const).map((status) => {
      const [$id, description, headers] = RESPONSES[status];
      const content = { "application/json": { schema: PROBLEM_SCHEMA } };
      return [status, { $id, description, ...(headers ? { headers } : {}), content }];
    }),
  );
