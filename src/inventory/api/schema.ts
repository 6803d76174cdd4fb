import { type TObject, type TProperties, Type } from "typebox";
import type { Content } from "../../platform/operation.ts";
import { nullable } from "../../platform/schema.ts";
import { MEDIA_TYPES } from "./negotiation.ts";

export { pageSchema } from "../model/record-schema.ts";
export { singlePage } from "../../platform/page.ts";

/** Schemas and contents that several operations share. */

export const TEXT = Type.String();
export const COUNT = Type.Integer();
export const BOOLEAN = Type.Boolean();
export const INSTANT = Type.String({ format: "date-time" });

/** Members of every change. */
/** Id of a record or of a change of it. */
export const WRITE_ID = Type.Union([TEXT, COUNT]);
const VALUES = Type.Record(TEXT, Type.Unknown());
export const WRITE = {
  resource: TEXT,
  id: nullable(WRITE_ID, { description: "null in the preview of a creation." }),
  of: nullable(
    Type.Object(
      { resource: TEXT, id: nullable(WRITE_ID) },
      { description: "The parent; null for a record." },
    ),
  ),
  op: Type.Enum(["create", "update", "delete", "restore"]),
  version: COUNT,
  before: nullable(VALUES, { description: "Previous values of changed fields; null for a new record." }),
  after: nullable(VALUES, { description: "New values of changed fields; all values of a new record." }),
};

/** An optional text. */
export const optional = (description: string, ...examples: string[]) =>
  Type.Optional(Type.String({ description, ...(examples.length > 0 ? { examples } : {}) }));

/** An object without other members. */
export const closed = <Properties extends TProperties>(
  properties: Properties,
  $id?: string,
): TObject<Properties> => Type.Object(properties, { additionalProperties: false, ...($id ? { $id } : {}) });

/** A body in JSON of this schema. */
export const content = <Schema extends object>(schema: Schema) => ({ "application/json": { schema } });

/** Bytes of these media types. @param $id name of the component, for a file that several operations return */
export const binary = (types: string | readonly string[], $id?: string): Content => {
  const schema = { ...($id === undefined ? {} : { $id }), type: "string", format: "binary" };
  return Object.fromEntries([types].flat().map((type) => [type, { schema }]));
};

/** A form with a file. */
export const UPLOAD: Content = {
  "multipart/form-data": {
    schema: Type.Object({ file: Type.String({ format: "binary" }) }, { $id: "Upload" }),
  },
};

/** An answer that may be a page for browsers, too. */
export const HTML: Content = { "text/html": { schema: TEXT } };

/** The formats of records besides JSON. */
export const RENDERED_CONTENT: Content = {
  ...HTML,
  // Without schemas, which OpenAPI 3.1 does not need: there are many responses.
  "text/csv": {},
  [MEDIA_TYPES.xlsx]: {},
  [MEDIA_TYPES.eln]: {},
};
