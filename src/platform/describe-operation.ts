import type { TObject, TSchema } from "typebox";
import { type ErrorStatus, errorResponses } from "./error-responses.ts";
import { EXAMPLE_ID } from "./openapi-example.ts";
import { bodyOf, type Content, type OperationAbout, type PathPart } from "./operation.ts";
import { OPTIONAL_CREDENTIALS } from "./security-schemes.ts";

/** The OpenAPI description of an operation. @param tag group of the operation */
export function describeOperation(key: string, about: OperationAbout, tag: string): object {
  const { summary, description, operationId, query, params = {}, headers = [], responses } = about;
  const sends = sentBy(about);
  return {
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(operationId === undefined ? {} : { operationId }),
    ...securityOf(about),
    parameters: [
      ...Object.entries(params).map(([name, part]) => pathParameter(name, part)),
      ...queryParameters(query),
      ...headers,
    ],
    ...(sends ? { requestBody: { ...nameOf(sends), required: isBodyRequired(about), content: sends } } : {}),
    responses: { ...success(about), ...responses, ...errorResponses(...errorsOf(key, about)) },
  };
}

const json = (schema: object): Content => ({ "application/json": { schema } });

function sentBy(about: OperationAbout): Content | undefined {
  const body = bodyOf(about);
  return about.sends ?? (body && json(body));
}

/** The body of the confirmation alone may be left out. */
const isBodyRequired = ({ body, sends }: OperationAbout): boolean =>
  body !== undefined || sends !== undefined;

function securityOf({ access }: OperationAbout): object {
  if (access === "withoutCredentials") return { security: [] };
  return access === "public" || access === "anyone" ? { security: OPTIONAL_CREDENTIALS } : {};
}

function pathParameter(name: string, part: PathPart): object {
  const parameter = { name, in: "path", required: true };
  if (typeof part === "string" || Array.isArray(part)) {
    const [description, example = EXAMPLE_ID] = [part].flat() as string[];
    return { ...parameter, description, schema: { type: "string", examples: [example] } };
  }
  const { description, ...schema } = part as TSchema & { description?: string };
  return { ...parameter, description, schema };
}

/** Parameters of a query schema; those with an `$id` become components. */
export const queryParameters = (query: TObject | undefined): object[] =>
  Object.entries(query?.properties ?? {}).map(([name, property]) => {
    const { $id, description = "", ...schema } = property as TSchema & { $id?: string; description?: string };
    const required = query?.required?.includes(name) ?? false;
    const parameter = { name, in: "query", required, description, schema };
    return $id === undefined ? parameter : Object.assign(parameter, { $id });
  });

/** The name of the component for a body or a response: that of its schema. */
function nameOf(content: Content): { $id?: string } {
  const { $id } = (Object.values(content)[0]?.schema ?? {}) as { $id?: string };
  return $id === undefined ? {} : { $id };
}

function success({ returns, formats, status, answerHeaders, alternatives = {} }: OperationAbout) {
  const others = Object.entries(alternatives).map(([other, shape]) => [other, response(json(shape))]);
  if (!returns && !formats) return { 204: { description: "Done." }, ...Object.fromEntries(others) };
  const declared = response({ ...(returns ? json(returns) : {}), ...formats });
  const headers = answerHeaders === undefined ? {} : { headers: answerHeaders };
  return { [status ?? 200]: { ...declared, ...headers }, ...Object.fromEntries(others) };
}

/** A response; one in JSON alone has the name of its schema. */
function response(content: Content): object {
  const schema = (content["application/json"]?.schema ?? {}) as { description?: string };
  const isOnly = Object.keys(content).length === 1;
  return { ...(isOnly ? nameOf(content) : {}), description: schema.description ?? "Success.", content };
}

/** 400 where something is validated, 401 and 403 where access is. */
function errorsOf(key: string, about: OperationAbout): ErrorStatus[] {
  const { access, query, errors = [] } = about;
  const validates = query !== undefined || sentBy(about) !== undefined;
  const isSignedIn = access === "signedIn" || access === "enrolling" || access === "administrator";
  const isForbidden = access === "administrator" || (isSignedIn && !key.startsWith("GET "));
  const found = new Set<ErrorStatus>(errors);
  if (validates) found.add(400);
  if (isSignedIn) found.add(401);
  if (isForbidden) found.add(403);
  return [...found].toSorted((a, b) => a - b);
}
