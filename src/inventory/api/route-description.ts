import type { DocumentDecoration } from "elysia";
import { PROBLEMS } from "../../problem.ts";
import { PROBLEM_SCHEMA } from "../model/schema.ts";

/** What descriptions of routes for OpenAPI are made of. */

export type Detail = DocumentDecoration;

export const detail = (value: object): Detail => ({ tags: ["inventory"], ...value }) as Detail;

/** The same for what only those who sign in may do. */
export const secured = (value: object): Detail => detail({ security: [{ token: [] }], ...value });

/** A body in JSON of this schema. */
export const content = (schema: object) => ({
  "application/json": { schema: schema as Record<string, unknown> },
});

/** Refusals of a route by their status, as `meanings` puts them into words. */
export const refusalsOf =
  (meanings: Readonly<Record<number, string>>) =>
  (...statuses: number[]) =>
    Object.fromEntries(
      statuses.map((status) => [
        status,
        {
          description: meanings[status] ?? (status === 401 ? PROBLEMS.unauthenticated.meaning : undefined),
          content: content(PROBLEM_SCHEMA),
        },
      ]),
    );

export const inPath = (name: string, description: string) => ({
  name,
  in: "path" as const,
  required: true,
  description,
  schema: { type: "string" as const },
});

export const inQuery = (name: string, description: string) => ({
  name,
  in: "query" as const,
  required: false,
  description,
  schema: { type: "string" as const },
});
