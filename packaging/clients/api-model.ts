/** The record types of the inventory and the columns of matches, as the clients describe them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ZipEntry } from "../../src/platform/zip-file.ts";
import { MATCH_TABLES, type MatchTable } from "../../src/scoring/table/match-tables.ts";
import type { OpenApi, Parameter, Schema } from "../../src/platform/openapi.ts";

export type FieldType = "text" | "number" | "integer" | "boolean" | "date" | "time" | "reference" | "object";

export interface Field {
  name: string;
  type: FieldType;
  description: string;
  /** Allowed values, if the document lists them. */
  choices: readonly string[];
  /** Shown unless `fields` is given. */
  isShown: boolean;
  isWritable: boolean;
  isRequired: boolean;
  isFilter: boolean;
  /** The field of the target that names it, such as `label`, for references by id. */
  target: string | undefined;
}

/** A list of records. */
export interface RecordType {
  /** Name of the function or member in the clients: `consumables`. */
  name: string;
  /** Path below `/api/v2/`: `stocks/consumables`. */
  path: string;
  /** Noun with an article: `a consumable`. */
  one: string;
  description: string;
  fields: readonly Field[];
  /** Parameters of the list that are not filters by field. */
  parameters: readonly { name: string; description: string }[];
  /** True if a creation that was repeated with the same Idempotency-Key counts once. */
  isRepeatable: boolean;
}

export interface MatchColumn {
  name: string;
  type: "text" | "number" | "count" | "boolean";
  description: string;
  unit: string | undefined;
}

export interface ApiModel {
  version: string;
  recordTypes: readonly RecordType[];
  /** Columns of tables of matches by table: `result`, `scan`, `proteome` and `batch`. */
  columns: Readonly<Record<string, readonly MatchColumn[]>>;
}

const PREFIX = "/api/v2/";

/** @param document the part `inventory` of the OpenAPI document */
export function readModel(document: OpenApi, version: string): ApiModel {
  const recordTypes = Object.keys(document.paths)
    .filter((path) => document.paths[path].post && `${path}/search` in document.paths)
    .map((path) => readRecordType(document, path));
  const columns = Object.fromEntries(
    Object.values(MATCH_TABLES).map((table) => [table.name, readColumns(table)]),
  );
  return { version, recordTypes, columns };
}

const readColumns = ({ columns, heads }: MatchTable): MatchColumn[] =>
  columns
    .filter(({ replacedBy }) => replacedBy === undefined)
    .map(({ name, type, description, unit }) => ({
      name: heads[name] ?? name,
      type: type === "text" || type === "boolean" || type === "count" ? type : "number",
      description,
      unit: unit === "" ? undefined : unit,
    }));

function readRecordType(document: OpenApi, path: string): RecordType {
  const item = document.paths[path];
  const parameters = [...(item.parameters ?? []), ...(item.get.parameters ?? [])].map((parameter) =>
    resolve(parameter, document),
  );
  const created = resolve(item.post.requestBody!, document);
  const changes = flatten(created.content!["application/json"].schema!, document);
  const record = recordSchema(document, path);
  const shown = new Set(record.required);
  const filters = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  // Those that records show, in their order, then the others.
  const fields = [...new Set([...shown, ...Object.keys(record.properties)])].map((name) =>
    readField(name, resolve(record.properties[name], document), {
      isShown: shown.has(name),
      isWritable: name in changes.properties,
      isRequired: changes.required.has(name),
      filter: filters.get(name),
    }),
  );
  const names = new Set(fields.map(({ name }) => name));
  return {
    name: path.split("/").at(-1)!,
    path: path.slice(PREFIX.length),
    one: (item.post.summary ?? "").replace(/^\w+ /, ""),
    description: document.tags?.find(({ name }) => item.post.tags?.includes(name))?.description ?? "",
    fields,
    parameters: parameters
      .filter(({ name, in: place }) => place === "query" && !names.has(name) && !NOT_FOR_CALLERS.has(name))
      .map(({ name, description = "" }) => ({ name, description })),
    isRepeatable: (item.post.parameters ?? []).some(
      (parameter) => resolve(parameter, document).name === "Idempotency-Key",
    ),
  };
}

/** Parameters that the clients set themselves. */
const NOT_FOR_CALLERS = new Set([
  "format",
  "response_format",
  "page",
  "page_size",
  "strict",
  "explain",
  "other_filters",
]);

interface FieldUse extends Pick<Field, "isShown" | "isWritable" | "isRequired"> {
  filter: Parameter | undefined;
}

function readField(name: string, schema: Schema, { filter, ...use }: FieldUse): Field {
  const forms = [schema, ...(schema.anyOf ?? [])];
  const has = (format: string): boolean =>
    forms.some((form) => (form as { format?: string }).format === format);
  const types = new Set(forms.flatMap(({ type = [] }) => type));
  const target = /by id or (\w+)/.exec(filter?.description ?? "")?.[1];
  const readType = (): FieldType => {
    // They are objects with name, value and category in some forms of records.
    if (["created", "modified", "due_back"].includes(name) || has("date-time")) return "time";
    if (has("date")) return "date";
    if (target !== undefined) return "reference";
    const scalar = (["integer", "number", "boolean"] as const).find((one) => types.has(one));
    return scalar ?? (types.has("object") || types.has("array") ? "object" : "text");
  };
  return {
    ...use,
    name,
    type: readType(),
    description: schema.description ?? "",
    choices: (forms.find((form) => form.enum)?.enum ?? []).filter((one) => typeof one === "string"),
    isFilter: filter !== undefined,
    target: has("uuid") ? target : undefined,
  };
}

/** The schema of a record in the answer to its creation, with all properties. */
function recordSchema(
  document: OpenApi,
  path: string,
): { properties: Record<string, Schema>; required: Set<string> } {
  const { responses = {} } = Object.entries(document.paths).find(([other]) =>
    new RegExp(`^${path}/\\{\\w+\\}$`).test(other),
  )![1].get;
  const answer = resolve(responses["200"], document).content!["application/json"].schema!;
  return flatten(answer, document);
}

/** The properties of an object, of the first of several forms, and of all its parts. */
function flatten(
  given: Schema,
  document: OpenApi,
): { properties: Record<string, Schema>; required: Set<string> } {
  const schema = resolve(given, document);
  const first = (schema.anyOf ?? schema.oneOf)?.slice(0, 1) ?? [];
  const parts = [...(schema.allOf ?? []), ...first].map((part) => flatten(part, document));
  return {
    properties: Object.assign({}, ...parts.map(({ properties }) => properties), schema.properties),
    required: new Set([...(schema.required ?? []), ...parts.flatMap(({ required }) => Array.from(required))]),
  };
}

/** A part of the document, or the component to which it refers, whose description it may replace. */
function resolve<Part extends { $ref?: string }>(part: Part, document: OpenApi): Part {
  const { $ref, ...own } = part;
  if ($ref === undefined) return part;
  const [section, name] = $ref.split("/").slice(2);
  return { ...resolve(document.components![section][name] as Part, document), ...own } as Part;
}

/** Fields of tables: those that records show, with the names of records that they refer to by id. */
export const shownFields = ({ fields }: RecordType): string[] =>
  fields
    .filter(({ isShown }) => isShown)
    .flatMap(({ name, target }) => (target === undefined ? [name] : [name, `${name}__${target}`]));

/** Files of archives have one date, the earliest of ZIP files, so that equal sources give equal bytes. */
export const RELEASED = new Date("1980-01-01T00:00:00Z");

export const toEntry = (name: string, content: string): ZipEntry => ({ name, bytes: Buffer.from(content) });

/** The files below a folder, with their paths there. */
export const listFiles = (folder: string): ZipEntry[] =>
  [...new Bun.Glob("**/*").scanSync(folder)]
    .filter((path) => !path.includes("__pycache__"))
    .map((path) => ({ name: path.replaceAll("\\", "/"), bytes: readFileSync(join(folder, path)) }));
