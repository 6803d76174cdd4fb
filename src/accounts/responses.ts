import { type TProperties, type TSchema, type TString, Type } from "typebox";
import { type ErrorStatus, errorResponses } from "../platform/error-responses.ts";
import { EXAMPLE_ID } from "../platform/openapi-example.ts";
import { PAGE_POSITION } from "../platform/page.ts";
import { nullable, schema, textSchema } from "../platform/schema.ts";

/**
 * The documentation and response schemas of a route, for its options.
 * @param text summary, and description if there is one @param statuses of error responses
 */
export const answers = <Success extends Record<number, TSchema>>(
  text: string | { summary: string; description?: string; security?: [] },
  success: Success,
  ...statuses: ErrorStatus[]
) => ({
  detail: {
    ...(typeof text === "string" ? { summary: text } : text),
    responses: {
      ...Object.fromEntries(Object.entries(success).map(described)),
      ...errorResponses(...statuses),
    },
  },
  response: success,
});

interface Described {
  $id?: string;
  description: string;
  content?: { "application/json": { schema: object } };
}

function described([status, shape]: [string, TSchema]): [string, Described] {
  const { $id, description = "Success." } = shape as { $id?: string; description?: string };
  if (status === "204") return [status, { description }];
  const content = { "application/json": { schema: shape } };
  return [status, { ...($id === undefined ? {} : { $id }), description, content }];
}

/** The response of a route that returns nothing. */
export const NO_CONTENT = { 204: schema(Type.Void({ description: "Done." })) };

/** The schema of a response, or of a body, which refuses unknown fields. */
export const answerSchema = <P extends TProperties>(description: string, properties: P, $id?: string) =>
  schema(Type.Object(properties, { ...($id === undefined ? {} : { $id }), description }));
export const bodySchema = <P extends TProperties>(properties: P) =>
  schema(Type.Object(properties, { additionalProperties: false }));

/** Parts of a path with their descriptions; the example is an id if none is given. */
export function pathSchema<Name extends string>(
  parts: Record<Name, [description: string, example?: string]>,
) {
  const described = Object.entries<[string, string?]>(parts).map(
    ([name, [description, example = EXAMPLE_ID]]) => [
      name,
      Type.String({ description, examples: [example] }),
    ],
  );
  return textSchema(Type.Object(Object.fromEntries(described) as Record<Name, TString>));
}

/** A field of a body that may be left out or null. */
export const OptionalInput = Type.Optional(nullable(Type.String({ maxLength: 1024 })));

/** The schema of a whole list. */
export const listSchema = <Item extends TSchema>(description: string, item: Item) =>
  answerSchema(description, { ...PAGE_POSITION, results: Type.Array(item) });

/** A time in milliseconds since 1970-01-01 UTC as RFC 3339. */
export const timestamp = (time: number): string => new Date(time).toISOString();
export const timestampOrNull = (time: number | null): string | null =>
  time === null ? null : timestamp(time);
