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

type Keywords = { [keyword: string]: unknown };

/** As JSON Schema: `nullable` of OpenAPI 3.0 is a union with null. @param change what else becomes of each schema in it */
export function withNull(schema: unknown, change: (rest: Keywords) => void = () => {}): unknown {
  if (Array.isArray(schema)) return schema.map((one) => withNull(one, change));
  if (schema === null || typeof schema !== "object") return schema;
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, withNull(value, change)]),
  ) as Keywords;
  change(rest);
  return nullable === true ? { anyOf: [rest, { type: "null" }] } : rest;
}

/** Without the keywords that annotate, and the formats that the document names for people. */
function unannotated(rest: Keywords): void {
  for (const key of ["readOnly", "example", "format"]) if (typeof rest[key] !== "object") delete rest[key];
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
  const check = checks.get(where) ?? Compile(withNull(content.schema, unannotated) as never);
  checks.set(where, check);
  return [...check.Errors(JSON.parse(answer.text) as never)].map(
    ({ instancePath, message }) => `${where}: ${instancePath} ${message}`,
  );
}
