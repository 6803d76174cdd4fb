import { escapeHtml, Html, markup } from "./html.ts";
import { capitalized } from "./words.ts";

/** The parts of an OpenAPI 3.0 document that the reference shows. */
export interface OpenApi {
  info: { title: string; version: string; description?: string };
  tags?: { name: string; description?: string }[];
  /** Parts of the program, and the resources of each. */
  "x-tagGroups"?: { name: string; tags: string[] }[];
  paths: Record<string, PathItem>;
  components?: Record<string, Record<string, object>>;
}

/** The operations of a path by method, and the parameters of all of them. */
export type PathItem = { [method: string]: Operation } & { parameters?: Parameter[] };

export interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
  example?: unknown;
}

export interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: unknown[];
  parameters?: Parameter[];
  requestBody?: Message & { required?: boolean };
  responses?: Record<string, Message>;
}

interface Message {
  $ref?: string;
  description?: string;
  content?: Content;
}

type Content = Record<string, { schema?: Schema; example?: unknown }>;

interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  const?: unknown;
  enum?: unknown[];
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

interface Listed {
  path: string;
  method: string;
  operation: Operation;
}

const METHODS = ["get", "post", "put", "patch", "delete"];
/** Nested objects deeper than this are shown by their type only. */
const MAX_DEPTH = 4;

const STYLE = `
:root { color-scheme: light dark; --bg: light-dark(#f6f8f7, #0e1312); --surface: light-dark(#fff, #151b1a);
  --line: light-dark(#e1e6e5, #29322f); --text: light-dark(#15201d, #e7eceb); --text-2: light-dark(#45524e, #b6c1be);
  --accent: light-dark(#0b6a56, #54c5a8); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--text); font: 14px/20px system-ui, sans-serif; }
header { display: flex; gap: 24px; flex-wrap: wrap; padding: 12px 24px; background: var(--surface); border-bottom: 1px solid var(--line); }
main { max-width: 960px; margin: 0 auto; padding: 24px; }
h1 { font-size: 22px; line-height: 28px; } h2 { font-size: 16px; margin: 32px 0 8px; }
a { color: var(--accent); } p, .muted { color: var(--text-2); }
code, .method { font: 13px/20px ui-monospace, Consolas, monospace; overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: 12px; background: var(--surface); border: 1px solid var(--line); border-radius: 6px; }
form { display: flex; gap: 8px; margin: 16px 0; }
input, button { font: inherit; min-height: 32px; padding: 0 12px; border: 1px solid #84908d; border-radius: 6px; background: var(--surface); color: inherit; }
input { flex: 1; }
details, .card { background: var(--surface); border: 1px solid var(--line); border-radius: 6px; margin: 8px 0; padding: 8px 12px; }
summary { cursor: pointer; font-weight: 600; }
table { width: 100%; border-collapse: collapse; } th, td { text-align: left; vertical-align: top; padding: 6px 12px 6px 0; border-top: 1px solid var(--line); }
th { font-weight: 500; } td:first-child code { overflow-wrap: normal; }
@media (max-width: 640px) { table, tbody, tr, td { display: block; } thead { display: none; } td { border: 0; padding: 0; }
  tr { border-top: 1px solid var(--line); padding: 8px 0; } }
.method { display: inline-block; width: 64px; font-weight: 600; }
ul { padding-left: 16px; } li { margin: 4px 0; }
`;

/** The list of operations by resource; with `search`, those whose method, path, lists or summary contain every word. */
export function indexPage(document: OpenApi, search: string, base: string): Response {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = ({ method, path, operation }: Listed): boolean => {
    const lists = operation.parameters?.map((parameter) => resolve(parameter, document)).find(isList);
    const text = [method, path, operation.summary, ...(lists?.schema?.enum ?? [])].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const all = operationsOf(document);
  const found = all.filter(matches);
  const body = markup`
<h1>API reference</h1>
${words.length === 0 ? prose(document.info.description ?? "") : undefined}
<form action="${base}/docs" role="search"><input name="q" type="search" aria-label="Search operations" placeholder="Search ${all.length} operations" value="${search}"><button>Search</button></form>
${words.length > 0 && markup`<p role="status">${found.length} of ${all.length} operations. <a href="${base}/docs">Show all</a></p>`}
${(document["x-tagGroups"] ?? []).map(({ name, tags }) => {
  const resources = tags.map((tag) => resource(document, found, tag, base, words.length > 0));
  const isShown = resources.some(({ text }) => text !== "");
  return isShown ? markup`<h2>${capitalized(name)}</h2>${resources}` : new Html("");
})}
<p><a href="${base}/docs/json">OpenAPI document (JSON)</a></p>`;
  return page("API reference", body, base);
}

/** One operation with its parameters, body and responses; undefined where no operation has this id. */
export function operationPage(document: OpenApi, id: string, base: string): Response | undefined {
  const listed = operationsOf(document).find(({ operation }) => operation.operationId === id);
  if (!listed) return undefined;
  const { method, path, operation } = listed;
  const { responses = {}, security } = operation;
  const parameters = (operation.parameters ?? []).map((parameter) => resolve(parameter, document));
  const requestBody = operation.requestBody && resolve(operation.requestBody, document);
  const body = markup`
<p><a href="${base}/docs">All operations</a></p>
<h1>${operation.summary ?? id}</h1>
<pre><code>${method.toUpperCase()} ${path}</code></pre>
${prose(operation.description ?? "")}
${security ? undefined : markup`<p>Requires credentials, such as a token: <code>Authorization: Token …</code></p>`}
${
  parameters.length > 0 &&
  markup`<h2>Parameters</h2><table><thead><tr><th>Name<th>In<th>Type<th>Description</tr></thead><tbody>
${parameters.map(
  (parameter) =>
    markup`<tr><td><code>${parameter.name}</code>${parameter.required && " (required)"}<td>${parameter.in}<td>${typeOf(parameter.schema ?? {}, document)}<td>${inline(parameter.description ?? "")}</tr>`,
)}</tbody></table>`
}
${requestBody && markup`<h2>Request body</h2>${prose(requestBody.description ?? "")}${contents(requestBody.content, document)}`}
<h2>Responses</h2>
${Object.entries(responses).map(([status, response]) => {
  const { description = "", content } = resolve(response, document);
  return markup`<div class="card"><strong>${status}</strong> ${inline(description)}${contents(content, document)}</div>`;
})}`;
  return page(operation.summary ?? id, body, base);
}

/** Whether it is the list that the path of an operation of several lists begins with. */
const isList = ({ in: place, name }: Parameter): boolean => place === "path" && name === "list";

function operationsOf({ paths }: OpenApi): Listed[] {
  return Object.entries(paths).flatMap(([path, { parameters = [], ...methods }]) =>
    METHODS.filter((method) => methods[method]).map((method) => ({
      path,
      method,
      operation: { ...methods[method], parameters: [...parameters, ...(methods[method].parameters ?? [])] },
    })),
  );
}

/** The operations of a resource. */
function resource(document: OpenApi, found: Listed[], tag: string, base: string, isOpen: boolean): Html {
  const listed = found.filter(({ operation }) => operation.tags?.includes(tag));
  if (listed.length === 0) return new Html("");
  const description = document.tags?.find(({ name }) => name === tag)?.description ?? "";
  return markup`<details${isOpen && new Html(" open")}><summary>${tag} <span class="muted">${listed.length}</span></summary>
${prose(description)}
${listed.map(
  ({ path, method, operation }) =>
    markup`<div><span class="method">${method.toUpperCase()}</span> <a href="${base}/docs/operations/${operation.operationId}"><code>${path}</code></a> ${operation.summary ?? ""}</div>`,
)}</details>`;
}

const contents = (content: Content = {}, document: OpenApi): Html[] =>
  Object.entries(content).map(
    ([type, { schema = {}, example }]) =>
      markup`<p class="muted">${type}</p>${fields(schema, document, 0)}${example !== undefined && markup`<pre><code>${typeof example === "string" ? example : JSON.stringify(example, null, 2)}</code></pre>`}`,
  );

/** The properties of an object, or of the objects in a list, as nested lists. */
function fields(given: Schema, document: OpenApi, depth: number): Html {
  const schema = resolve(given, document);
  const properties = propertiesOf(schema.items ? resolve(schema.items, document) : schema, document);
  if (properties.length === 0 || depth > MAX_DEPTH)
    return depth === 0 ? markup`<p>${typeOf(schema, document)}</p>` : new Html("");
  return markup`<ul>${properties.map(
    ({ name, schema: property, isRequired }) =>
      markup`<li><code>${name}</code> <span class="muted">${typeOf(property, document)}${isRequired && ", required"}</span> ${inline(property.description ?? "")}${fields(property, document, depth + 1)}</li>`,
  )}</ul>`;
}

interface Property {
  name: string;
  schema: Schema;
  isRequired: boolean;
}

function propertiesOf(schema: Schema, document: OpenApi): Property[] {
  const own = Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    schema: property,
    isRequired: false,
  }));
  const parts = (schema.allOf ?? []).flatMap((part) => propertiesOf(resolve(part, document), document));
  return [...parts, ...own].map(({ name, schema: property, isRequired }) => ({
    name,
    schema: property,
    isRequired: isRequired || schema.required?.includes(name) === true,
  }));
}

function typeOf(given: Schema, document: OpenApi): string {
  const schema = resolve(given, document);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) {
    const types = alternatives.map((one) => one.enum?.join(" or ") ?? typeOf(one, document));
    return [...new Set(types)].join(" or ");
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum)
    return schema.enum.length === 1 ? String(schema.enum[0]) : `one of ${schema.enum.join(", ")}`;
  return schema.type === "array"
    ? `list of ${typeOf(schema.items ?? {}, document)}`
    : [schema.type ?? "object"].flat().join(" or ");
}

/** A part of the document, or the component to which it refers. */
function resolve<Part extends { $ref?: string }>(part: Part, { components = {} }: OpenApi): Part {
  const [section, name] = part.$ref?.split("/").slice(2) ?? [];
  return name === undefined ? part : (components[section][name] as Part);
}

/** Paragraphs of Markdown with code, bold text and links. */
const prose = (text: string): Html =>
  new Html(
    text
      .split(/\n\n+/)
      .filter(Boolean)
      .map((paragraph) => `<p>${inline(paragraph).text}</p>`)
      .join(""),
  );

const inline = (text: string): Html =>
  new Html(
    escapeHtml(text)
      .replace(/`([^`]+)`/g, "<code>$1</code>")
      .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")
      .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, '<a href="$2">$1</a>'),
  );

function page(title: string, body: Html, base: string): Response {
  const html = markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – labd</title><link rel="icon" href="${base}/assets/icon.svg"><style>${new Html(STYLE)}</style></head>
<body><header><a href="${base}/">labd</a><a href="${base}/score">Score a motif</a><a href="${base}/inventory">Inventory</a></header>
<main>${body}</main></body></html>`;
  return new Response(html.text, {
    headers: { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache" },
  });
}
