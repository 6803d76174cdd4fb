import { type TSchema, type TString, Type } from "typebox";
import { type ErrorStatus, errorResponses } from "../platform/error-responses.ts";
import { EXAMPLE_ID } from "../platform/openapi-example.ts";
import { schema, textSchema } from "../platform/schema.ts";

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
