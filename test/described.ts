import { Compile } from "typebox/compile";

/** Holds answers against what the OpenAPI document says of them. */

export interface Operation {
  operationId: string;
  parameters?: { name: string; in: string; required?: boolean; schema?: { type?: string } }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}
export interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
}

/** As JSON Schema: `nullable` of OpenAPI 3.0 is a union with null; `required` may be missing, but nothing else may be there. */
function strictly(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strictly);
  if (schema === null || typeof schema !== "object") return schema;
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, strictly(value)]),
  );
  // Keywords that annotate, and formats that the document names for people.
  for (const key of ["readOnly", "example", "format"]) if (typeof rest[key] !== "object") delete rest[key];
  return nullable === true ? { anyOf: [rest, { type: "null" }] } : rest;
}

const checks = new Map<string, ReturnType<typeof Compile>>();
/** What the document says against this answer; nothing, as it should be. */
export function complaints(
  operation: Operation,
  method: string,
  path: string,
  answer: { status: number; headers: Headers; text: string },
): string[] {
  const where = `${method} ${path} ${answer.status}`;
  const described = operation.responses[answer.status];
  const type = (answer.headers.get("content-type") ?? "").split(";")[0];
  const content = described?.content?.[type] ?? described?.content?.["*/*"];
  if (answer.status >= 500) return [`${where}: ${answer.text.slice(0, 300)}`];
  if (!described) return [`${where}: not described. ${answer.text.slice(0, 300)}`];
  if (answer.text === "") return described.content ? [`${where}: has no body, but is described to`] : [];
  if (!content) return [`${where}: a body of type ${type} is not described`];
  if (type !== "application/json") return [];
  const check = checks.get(where) ?? Compile(strictly(content.schema) as never);
  checks.set(where, check);
  return [...check.Errors(JSON.parse(answer.text) as never)].map(
    ({ instancePath, message }) => `${where}: ${instancePath} ${message}`,
  );
}
