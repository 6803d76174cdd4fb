import type { Content, OpenApi, Operation, Parameter, Schema } from "../platform/openapi.ts";

/** The reference of the API as Markdown, from its OpenAPI document. */

const METHODS = ["get", "post", "put", "patch", "delete"];
/** Objects nested deeper are shown by their type only. */
const MAX_DEPTH = 4;

interface Listed {
  path: string;
  method: string;
  operation: Operation;
}

/** The operations by resource; with `search`, those whose method, path, lists or summary contain every word. */
export function referenceIndex(document: OpenApi, search: string): string {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const all = listOperations(document);
  const found = all.filter((listed) => {
    const text = searchText(listed, document);
    return words.every((word) => text.includes(word));
  });
  const groups = (document["x-tagGroups"] ?? []).flatMap(({ name, tags }) => {
    const resources = tags.flatMap((tag) => describeResource(document, tag, found, words.length > 0));
    const title = `## ${name[0].toUpperCase()}${name.slice(1)}`;
    return resources.length === 0 ? [] : [paragraphs(title, ...resources)];
  });
  const head = `${found.length} of ${all.length} operations. [Show all](/docs)`;
  return paragraphs(
    words.length > 0 ? head : document.info.description,
    ...groups,
    "[OpenAPI document (JSON)](/docs/json)",
  );
}

/** One operation with its parameters, body and responses; undefined if none has this id. */
export function referenceOperation(document: OpenApi, id: string): string | undefined {
  const listed = listOperations(document).find(({ operation }) => operation.operationId === id);
  if (!listed) return undefined;
  const { method, path, operation } = listed;
  const parameters = (operation.parameters ?? []).map((parameter) => resolve(parameter, document));
  const requestBody = operation.requestBody && resolve(operation.requestBody, document);
  return paragraphs(
    "[All operations](/docs)",
    `## ${operation.summary ?? id}`,
    `\`${method.toUpperCase()} ${path}\``,
    operation.description,
    operation.security === undefined && "Requires credentials, such as a token: `Authorization: Token …`",
    parameters.length > 0 && `### Parameters\n\n${describeParameters(parameters, document)}`,
    requestBody && paragraphs("### Request body", requestBody.description),
    requestBody && describeContent(requestBody.content, document),
    "### Responses",
    ...Object.entries(operation.responses ?? {}).map(([status, response]) => {
      const { description = "", content } = resolve(response, document);
      return paragraphs(`**${status}** ${description}`, describeContent(content, document));
    }),
  );
}

const paragraphs = (...parts: readonly (string | false | undefined)[]): string =>
  parts.filter(Boolean).join("\n\n");

function listOperations({ paths }: OpenApi): Listed[] {
  return Object.entries(paths).flatMap(([path, { parameters = [], ...methods }]) =>
    METHODS.filter((method) => methods[method]).map((method) => ({
      path,
      method,
      operation: { ...methods[method], parameters: [...parameters, ...(methods[method].parameters ?? [])] },
    })),
  );
}

/** The fields that a search covers. The path of an operation of several lists begins with the parameter `list`. */
function searchText({ method, path, operation }: Listed, document: OpenApi): string {
  const lists = operation.parameters
    ?.map((parameter) => resolve(parameter, document))
    .find(({ in: place, name }) => place === "path" && name === "list");
  return [method, path, operation.summary, ...(lists?.schema?.enum ?? [])].join(" ").toLowerCase();
}

/** The operations of a resource. */
function describeResource(document: OpenApi, tag: string, found: Listed[], isOpen: boolean): string[] {
  const listed = found.filter(({ operation }) => operation.tags?.includes(tag));
  if (listed.length === 0) return [];
  const lines = listed.map(
    ({ path, method, operation }) =>
      `- \`${method.toUpperCase()}\` [\`${path}\`](/docs/operations/${operation.operationId}) ${operation.summary ?? ""}`,
  );
  const head = `<details${isOpen ? " open" : ""}><summary>${tag} <span class="count">${listed.length}</span></summary>`;
  const description = document.tags?.find(({ name }) => name === tag)?.description;
  return [paragraphs(head, description, lines.join("\n"), "</details>")];
}

function describeParameters(parameters: readonly Parameter[], document: OpenApi): string {
  const rows = parameters.map(({ name, required, in: place, schema = {}, description = "" }) =>
    [`\`${name}\`${required ? " (required)" : ""}`, place, describeType(schema, document), description]
      .map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " "))
      .join(" | "),
  );
  return ["| Name | In | Type | Description |", "|---|---|---|---|", ...rows.map((row) => `| ${row} |`)].join(
    "\n",
  );
}

const describeContent = (content: Content = {}, document: OpenApi): string =>
  paragraphs(
    ...Object.entries(content).map(([type, { schema = {}, example: given }]) => {
      const example = given ?? findExample(schema, document);
      const text = typeof example === "string" ? example : JSON.stringify(example, null, 2);
      return paragraphs(
        `\`${type}\``,
        describeFields(schema, document, 0),
        text !== undefined && `\`\`\`\`\n${text}\n\`\`\`\``,
      );
    }),
  );

/** A form of an answer: its description, and otherwise its type. */
const describeForm = (form: Schema, document: OpenApi): string =>
  resolve(form, document).description ?? describeType(form, document);

/** The example of a schema, or of the first of its forms. */
function findExample(given: Schema, document: OpenApi): unknown {
  const { example, anyOf: [first] = [] } = resolve(given, document);
  return example ?? (first && findExample(first, document));
}

/** The properties of an object, of the objects in a list, or of the first of several forms, as nested lists. */
function describeFields(given: Schema, document: OpenApi, depth: number): string {
  const schema = resolve(given, document);
  const [first, ...others] = (schema.anyOf ?? []).filter(({ type }) => type !== "null");
  if (first && depth === 0 && others.length > 0)
    return paragraphs(
      describeFields(first, document, depth),
      ...others.map((form) => `or ${describeForm(form, document)}`),
    );
  const properties = listProperties(schema.items ? resolve(schema.items, document) : schema, document);
  if (properties.length === 0 || depth > MAX_DEPTH) return depth === 0 ? describeType(schema, document) : "";
  return properties
    .map(({ name, schema: property, isRequired }) => {
      const type = `${describeType(property, document)}${isRequired ? ", required" : ""}`;
      const description = property.description?.replaceAll("\n", " ") ?? "";
      const line = `${"  ".repeat(depth)}- \`${name}\` *${type}* ${description}`.trimEnd();
      return [line, describeFields(property, document, depth + 1)].filter(Boolean).join("\n");
    })
    .join("\n");
}

interface Property {
  name: string;
  schema: Schema;
  isRequired: boolean;
}

function listProperties(schema: Schema, document: OpenApi): Property[] {
  const own = Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    schema: property,
    isRequired: false,
  }));
  const parts = (schema.allOf ?? []).flatMap((part) => listProperties(resolve(part, document), document));
  return [...parts, ...own].map(({ name, schema: property, isRequired }) => ({
    name,
    schema: property,
    isRequired: isRequired || schema.required?.includes(name) === true,
  }));
}

function describeType(given: Schema, document: OpenApi): string {
  const schema = resolve(given, document);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) {
    const types = alternatives.map((one) => one.enum?.join(" or ") ?? describeType(one, document));
    return [...new Set(types)].join(" or ");
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum)
    return schema.enum.length === 1 ? String(schema.enum[0]) : `one of ${schema.enum.join(", ")}`;
  return schema.type === "array"
    ? `list of ${describeType(schema.items ?? {}, document)}`
    : [schema.type ?? "object"].flat().join(" or ");
}

/** A part of the document, or the component to which it refers. */
function resolve<Part extends { $ref?: string }>(part: Part, { components = {} }: OpenApi): Part {
  const [section, name] = part.$ref?.split("/").slice(2) ?? [];
  return name === undefined ? part : (components[section][name] as Part);
}
