import type { TObject, TSchema } from "typebox";
import { errorResponses } from "./error-responses.ts";
import { EXAMPLE_ID } from "./openapi-example.ts";
import {
  findBodySchema,
  type Content,
  type OperationAbout,
  type PathPart,
  resolveDeferred,
} from "./operation.ts";
import { OPTIONAL_CREDENTIALS } from "./security-schemes.ts";

/** The OpenAPI description of an operation. @param tag group of the operation */
export function describeOperation(about: OperationAbout, tag: string): object {
  const { summary, description, operationId, query, params = {}, errors = [], responses } = about;
  const sends = requestContent(about);
  return {
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(operationId === undefined ? {} : { operationId }),
    ...describeSecurity(about),
    parameters: uniqueByName([
      ...Object.entries(params).map(([name, part]) => pathParameter(name, part)),
      ...queryParameters(query),
      ...((about.parameters ?? []).flatMap(resolveDeferred) as Named[]),
    ]),
    ...(sends
      ? { requestBody: { ...componentName(sends), required: isBodyRequired(about), content: sends } }
      : {}),
    responses: { ...success(about), ...errorResponses(...errors), ...responses },
  };
}

interface Named {
  name: string;
  [more: string]: unknown;
}

/** The last of several parameters with the same name. */
const uniqueByName = (parameters: Named[]): Named[] => [
  ...new Map(parameters.map((parameter) => [parameter.name, parameter])).values(),
];

const json = (schema: object): Content => ({ "application/json": { schema } });

function requestContent(about: OperationAbout): Content | undefined {
  const body = findBodySchema(about);
  return about.sends ? resolveDeferred(about.sends) : body && json(body);
}

/** The body of the confirmation alone may be left out. */
const isBodyRequired = ({ body, sends }: OperationAbout): boolean =>
  body !== undefined || sends !== undefined;

function describeSecurity({ access }: OperationAbout): object {
  if (access === "withoutCredentials") return { security: [] };
  return access === "public" || access === "anyone" ? { security: OPTIONAL_CREDENTIALS } : {};
}

function pathParameter(name: string, part: PathPart): Named {
  const parameter = { name, in: "path", required: true };
  if (typeof part === "string" || Array.isArray(part)) {
    const [description, example = EXAMPLE_ID] = [part].flat() as string[];
    return { ...parameter, description, schema: { type: "string", examples: [example] } };
  }
  return { ...parameter, ...described(part as TSchema) };
}

const queryParameters = (query: TObject | undefined): Named[] =>
  Object.entries(query?.properties ?? {}).map(([name, property]) => {
    const required = query?.required?.includes(name) ?? false;
    return Object.assign({ name, in: "query", required }, described(property as TSchema));
  });

/** A parameter with the description of its schema; with the `$id` of the schema it becomes a component. */
function described(property: TSchema): object {
  const { $id, description = "", ...schema } = property as TSchema & { $id?: string; description?: string };
  return { ...($id === undefined ? {} : { $id }), description, schema };
}

/** The name of the component for a body or a response: that of its schema; of one that is also a page, another name. */
function componentName(content: Content): { $id?: string } {
  const { $id } = (Object.values(content)[0]?.schema ?? {}) as { $id?: string };
  if ($id === undefined) return {};
  return { $id: "text/html" in content && !("text/csv" in content) ? `${$id}Page` : $id };
}

const DONE = { $id: "Done", description: "Success; there is nothing to return." };

function success({ formats, status, answerHeaders, alternatives = {}, ...about }: OperationAbout) {
  const returns = about.returns && resolveDeferred(about.returns);
  const others = Object.entries(alternatives).map(([other, shape]) => [other, response(json(shape))]);
  if (!returns && !formats) return { 204: DONE, ...Object.fromEntries(others) };
  const declared = response({ ...(returns ? json(returns) : {}), ...formats });
  // The component of the schema's name has no headers.
  const { $id: _, ...unnamed } = declared;
  const answer = answerHeaders === undefined ? declared : { ...unnamed, headers: answerHeaders };
  return { [status ?? 200]: answer, ...Object.fromEntries(others) };
}

function response(content: Content): { $id?: string; description: string; content: Content } {
  const description = findDescription(content["application/json"]?.schema ?? {}) ?? "Success.";
  return { ...componentName(content), description, content };
}

interface Described {
  description?: string;
  anyOf?: Described[];
}

/** The description of a schema; without one, that of its first form. */
const findDescription = ({ description, anyOf: [first] = [] }: Described): string | undefined =>
  description ?? (first && findDescription(first));
