import { type TProperties, Type } from "typebox";
import { nullable, schema } from "../platform/schema.ts";

const MEANINGS = {
  400: "A field is invalid; the response names it.",
  401: "Credentials are missing or invalid.",
  403: "Not allowed for this caller.",
  404: "Not found, or not visible to the caller.",
  409: "Not possible in the current state; the message says why.",
  413: "There is not enough space for the file.",
};
type Status = keyof typeof MEANINGS;

const failure = (status: Status) =>
  schema(Type.Object({ code: Type.String(), message: Type.String() }, { description: MEANINGS[status] }));

/** Schemas of error responses, for `response` of a route. */
export const errors = <S extends Status>(...statuses: S[]) =>
  Object.fromEntries(statuses.map((status) => [status, failure(status)])) as {
    [status in S]: ReturnType<typeof failure>;
  };

/**
 * The documentation and response schemas of a route, for its options.
 * @param text summary, and description if there is one @param statuses of error responses
 */
export const answers = <Success extends Record<number, unknown>, S extends Status>(
  text: string | { summary: string; description: string },
  success: Success,
  ...statuses: S[]
) => ({
  detail: typeof text === "string" ? { summary: text } : text,
  response: { ...success, ...errors(...statuses) },
});

/** The response of a route that returns nothing. */
export const NO_CONTENT = { 204: schema(Type.Void({ description: "Done." })) };

/** The schema of a response, or of a body, which refuses unknown fields. */
export const answerSchema = <P extends TProperties>(description: string, properties: P) =>
  schema(Type.Object(properties, { description }));
export const bodySchema = <P extends TProperties>(properties: P) =>
  schema(Type.Object(properties, { additionalProperties: false }));

/** A field of a body that may be left out or null. */
export const OptionalInput = Type.Optional(nullable(Type.String({ maxLength: 1024 })));

/** The schema of a whole list, and the list. */
export const listSchema = <P extends TProperties>(description: string, item: P) =>
  answerSchema(description, { total: Type.Integer(), results: Type.Array(Type.Object(item)) });
export const list = <Item>(results: Item[]) => ({ total: results.length, results });

/** A time in milliseconds since 1970-01-01 UTC as RFC 3339. */
export const timestamp = (time: number): string => new Date(time).toISOString();
export const timestampOrNull = (time: number | null): string | null =>
  time === null ? null : timestamp(time);
