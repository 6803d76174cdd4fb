import { type TObject, type TProperties, type TSchema, Type } from "typebox";
import { nullable } from "../model/schema.ts";

/** Schemas and contents that several operations share. */

export type Content = Record<string, { schema: object }>;

export const TEXT = Type.String();
export const COUNT = Type.Integer();
export const INSTANT = Type.String({ format: "date-time" });

/** An optional text. */
export const optional = (description: string) => Type.Optional(Type.String({ description }));

/** An object without other members. */
export const closed = <Properties extends TProperties>(properties: Properties): TObject<Properties> =>
  Type.Object(properties, { additionalProperties: false });

/** A body in JSON of this schema. */
export const content = (schema: object): Content => ({ "application/json": { schema } });

/** Bytes of these media types. */
export const binary = (...types: string[]): Content =>
  Object.fromEntries(types.map((type) => [type, { schema: { type: "string", format: "binary" } }]));

/** A form with a file. */
export const UPLOAD: Content = {
  "multipart/form-data": { schema: Type.Object({ file: Type.String({ format: "binary" }) }) },
};

/** The envelope of a list whose results have this schema. */
export function pageOf(results: TSchema, before: Record<string, TSchema> = {}): TObject {
  const links = { previous: nullable(TEXT), next: nullable(TEXT) };
  const counts = { current: COUNT, total: COUNT, total_pages: COUNT };
  return Type.Object({ ...before, ...links, ...counts, results: Type.Array(results) });
}

/** All results in one page. */
export const singlePage = (results: readonly unknown[]) => ({
  previous: null,
  next: null,
  current: 1,
  total: results.length,
  total_pages: 1,
  results,
});
