import { Compile } from "typebox/compile";

/** Holds answers against what the OpenAPI document says of them. */

export interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security?: object[];
  parameters: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { description: string; content?: Record<string, Media> }>;
}
export interface Parameter {
  name: string;
  in: string;
  description: string;
  required?: boolean;
  schema: Schema & { type?: string; enum?: string[] };
  example?: unknown;
}
export interface Media {
  schema: Schema;
  example?: unknown;
}
export interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  required?: string[];
}

export type Paths = Record<string, Record<string, Operation>>;

/** The operations of an OpenAPI document by path and method, with components in place of references to them. */
export function listOperations(document: unknown): Paths {
  const { components, paths } = document as { components: object; paths: Paths };
  const inline = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(inline);
    if (part === null || typeof part !== "object") return part;
    const { $ref } = part as { $ref?: string };
    if (typeof $ref === "string") {
      const [section, name] = $ref.split("/").slice(2);
      return inline((components as Record<string, Record<string, unknown>>)[section][name]);
    }
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, inline(value)]));
  };
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => {
      const { parameters: shared = [], ...methods } = inline(item) as Record<string, Operation> & {
        parameters?: Parameter[];
      };
      for (const operation of Object.values(methods))
        operation.parameters = [...shared, ...(operation.parameters ?? [])];
      return [path, methods];
    }),
  );
}

/** All properties of an object, those of its parts included. */
export const listProperties = ({ properties = {}, allOf = [] }: Schema): Record<string, Schema> =>
  Object.assign({}, ...allOf.map(listProperties), properties) as Record<string, Schema>;

/** Schema of the form that an answer has without parameters: the first of several. */
export const defaultForm = (schema: Schema): Schema => (schema.anyOf ? defaultForm(schema.anyOf[0]) : schema);

const checks = new WeakMap<Schema, ReturnType<typeof Compile>>();

/** Lists the violations of a schema by a value. */
export function findErrors(schema: Schema, value: unknown): string[] {
  const check = checks.get(schema) ?? Compile(schema as never);
  checks.set(schema, check);
  return [...check.Errors(value as never)].map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Lists the violations of the document by this answer. */
export function complaints(
  operation: Operation,
  method: string,
  path: string,
  answer: { status: number; headers: Headers; text: string },
): string[] {
  const where = `${method} ${path} ${answer.status}`;
  const isOther = answer.status >= 400;
  const described = operation.responses[answer.status] ?? (isOther ? operation.responses.default : undefined);
  const type = (answer.headers.get("content-type") ?? "").split(";")[0];
  const content = described?.content?.[type] ?? described?.content?.["*/*"];
  if (answer.status >= 500) return [`${where}: ${answer.text.slice(0, 300)}`];
  if (!described) return [`${where}: not described. ${answer.text.slice(0, 300)}`];
  if (answer.text === "") return described.content ? [`${where}: has no body, but is described to`] : [];
  if (!content) return [`${where}: a body of type ${type} is not described`];
  if (type !== "application/json") return [];
  return findErrors(content.schema, JSON.parse(answer.text)).map((error) => `${where}: ${error}`);
}

/** The request that the examples of an operation make. */
export function exampleCall(path: string, { parameters, requestBody }: Operation) {
  const query = new URLSearchParams();
  let address = path;
  for (const { name, in: place, example } of parameters) {
    if (place === "path") address = address.replace(`{${name}}`, encodeURIComponent(String(example)));
    else if (example !== undefined && place === "query") query.append(name, [example].flat().join());
  }
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  return {
    address: query.size > 0 ? `${address}?${query.toString()}` : address,
    ...(type === undefined ? {} : makeBody(type, media!)),
  };
}

function makeBody(type: string, { example }: Media): { body: string | FormData; type?: string } {
  if (type === "multipart/form-data") {
    const body = new FormData();
    body.append("file", new File(["a,b\n"], "a.csv"));
    return { body };
  }
  return { type, body: typeof example === "string" ? example : JSON.stringify(example) };
}

/** Errors in the examples of an operation, by its own schemas. */
export function exampleErrors({ parameters, requestBody, responses }: Operation): string[] {
  const messages = [...Object.values(responses), ...(requestBody ? [requestBody] : [])];
  const media = messages.flatMap(({ content = {} }) => Object.values(content));
  return [...parameters, ...media]
    .filter(({ example }) => example !== undefined)
    .flatMap(({ schema, example }) => findErrors(schema, example));
}

/** True if the required parameters and the JSON body of an operation have examples, so that it can be called by them. */
export function hasExample({ parameters, requestBody }: Operation): boolean {
  const body = Object.entries(requestBody?.content ?? {}).filter(([type]) => type === "application/json");
  const needed = [...parameters.filter(({ required }) => required), ...body.map(([, media]) => media)];
  return needed.every(({ example }) => example !== undefined);
}
