import { content, inQuery, refusalsOf } from "./route-description.ts";
import type { Json } from "../model/field.ts";
import { labelOf } from "../model/schema.ts";
import { DECLARED } from "../resources/index.ts";
import { membersOf, type SubResource } from "../resources/sub-resource.ts";
import { MEDIA_TYPES } from "./negotiation.ts";

/** Schemas of sub-resources, files and imports, for OpenAPI 3.0 and for OPTIONS. */

/** Answers by status, as OpenAPI describes them. */
type Responses = Record<number, object>;

const text = { type: "string" };
const nullableText = { type: "string", nullable: true };
const instant = { type: "string", format: "date-time" };
const flag = { type: "boolean" };
const count = { type: "integer" };
const FILE = { type: "string", format: "binary" };

export const object = (properties: Record<string, object>, required = Object.keys(properties)) => ({
  type: "object",
  required,
  properties,
});

export const STAMPS = {
  created: instant,
  created_by: text,
  modified: instant,
  modified_by: text,
  deleted: flag,
  deleted_date: { ...instant, nullable: true },
  deleted_by: nullableText,
  version: { ...count, description: "How often it was written." },
};

/** One record of a sub-resource as answers show it. */
export const shownSchema = (sub: SubResource): object => {
  const members = Object.entries(membersOf(DECLARED, sub));
  return object({
    id: text,
    ...Object.fromEntries(members.map(([name, { schema, doc }]) => [name, { ...schema, description: doc }])),
    ...STAMPS,
  });
};

/** The body that makes a record of a sub-resource, or changes it. */
export const sentSchema = (sub: SubResource, change: boolean): object => {
  const members = writable(sub).filter(([, { fixed }]) => !change || !fixed);
  const properties = members.map(([name, { schema, doc }]) => [name, { ...schema, description: doc }]);
  const required = members.filter(([, { write }]) => write === "required").map(([name]) => name);
  return {
    type: "object",
    ...(required.length > 0 ? { required } : {}),
    properties: Object.fromEntries(properties) as object,
  };
};

const writable = (sub: SubResource) =>
  Object.entries(membersOf(DECLARED, sub)).filter(([, { write }]) => write !== "never");

/** A file of a record, as lists show it. */
export const FILE_SCHEMA = object({
  id: text,
  name: text,
  media_type: text,
  size: count,
  sha256: text,
  ...STAMPS,
  url: text,
});

/** What an import tells. */
export const IMPORT_REPORT = object(
  {
    dry_run: flag,
    rows: count,
    created: count,
    updated: count,
    unchanged: count,
    locations_made: count,
    columns: { type: "array", items: object({ header: text, field: nullableText }) },
    errors: { type: "array", items: object({ row: count, column: nullableText, message: text }) },
    more_errors: flag,
    batch: nullableText,
    message: text,
    code: text,
  },
  ["dry_run", "rows", "created", "updated", "unchanged", "locations_made", "columns", "errors", "batch"],
);

/** How far an import is, or what it came to. */
export const IMPORT_STATUS = object(
  {
    id: text,
    url: text,
    list: text,
    user: nullableText,
    dry_run: flag,
    state: {
      type: "string",
      enum: ["waiting", "reading", "writing", "finished", "refused", "failed", "cancelled"],
    },
    rows: { ...count, nullable: true },
    rows_read: count,
    rows_checked: count,
    rows_written: count,
    created: instant,
    ended: { ...instant, nullable: true },
    message: nullableText,
    report: { ...IMPORT_REPORT, nullable: true },
  },
  [],
);

const MEANINGS: Record<number, string> = {
  400: "A value or a parameter breaks a rule; the field is named.",
  403: "The caller may view the record, but not change it.",
  404: "No such record, or none that the caller may view.",
  409: "It has ended already, or it would come out otherwise than confirmed.",
  412: "It is not in the version that If-Match names.",
  413: "The body is too large.",
  415: "The body is no JSON.",
  422: "The Idempotency-Key was used with another request.",
  503: "Too much is under way; try again later.",
};

/** Refusals of these statuses. */
export const refused = refusalsOf(MEANINGS);

/** An answer in JSON. */
export const answered = (status: 200 | 201, description: string, schema: object): Responses => ({
  [status]: { description, content: content(schema) },
});

/** Bytes of one of these types. */
export const bytes = (...types: string[]) =>
  Object.fromEntries(types.map((type) => [type, { schema: FILE as Record<string, unknown> }]));

/** A form with a file. */
export const UPLOAD_FORM = {
  "multipart/form-data": { schema: object({ file: FILE }) as Record<string, unknown> },
};

export const SPREADSHEETS = bytes("text/csv", MEDIA_TYPES.xlsx);

/** Parameters of lists of parts. */
export const SUB_RESOURCE_PARAMETERS = [
  inQuery("deleted", "true: those that are deleted; all: both; false, the default: those that live."),
  inQuery("as_of", "A time, or the id of a batch: what was then, as far as the record may be viewed today."),
];

/** The answer to OPTIONS, in the words of Django REST framework. `actions`: fields by method, for those who may write. */
export const optionsOf = (
  name: string,
  description: string,
  takes: readonly string[],
  actions: Record<string, Json> = {},
  gives: readonly string[] = ["application/json"],
): string =>
  JSON.stringify({
    name,
    description,
    renders: [...gives],
    parses: [...takes],
    ...(Object.keys(actions).length > 0 ? { actions } : {}),
  });

/** The fields of such an action. */
export const fieldsOf = (sub: SubResource): Json =>
  Object.fromEntries(
    writable(sub).map(([name, { schema, doc, write }]) => [
      name,
      {
        type: "type" in schema ? String(schema.type) : name === "value" ? "field" : "string",
        required: write === "required",
        read_only: false,
        label: labelOf(name),
        help_text: doc,
      },
    ]),
  );
