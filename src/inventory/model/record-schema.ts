import { type TProperties, type TSchema, Type } from "typebox";
import { makeExample } from "../../platform/openapi-example.ts";
import { PAGE_POSITION } from "../../platform/page.ts";
import { sentence } from "../../platform/words.ts";
import { isProperty } from "./listing.ts";
import { COMMON, isGuarded, type Resource, type Resources, shownFields } from "./resource.ts";
import { makeNouns, perResource, schemaName, valueSchema } from "./schema.ts";

/**
 * JSON schemas of the records in answers. Records have the forms that `fields` and `response_format` choose; static types
 * are those of the form without these parameters.
 */

/** A record in JSON. Its fields depend on the list; OPTIONS of the list describes them. */
export interface JsonRecord {
  id: string;
  [field: string]: unknown;
}

/** A page of a list of records in JSON. */
export interface RecordPage<Row = JsonRecord> {
  previous: string | null;
  next: string | null;
  current: number;
  total: number;
  total_pages: number;
  results: Row[];
}

/** One of several schemas, of which the first describes the usual value. */
export const anyOf = <Value>($id: string | undefined, ...schemas: readonly [TSchema, ...TSchema[]]) =>
  Type.Unsafe<Value>({ ...($id === undefined ? {} : { $id }), anyOf: schemas });

/** Schema of a field's value in an answer: without the limits of bodies. */
function shownSchema(resources: Resources, resource: Resource, name: string): TSchema {
  const schema = valueSchema(resources, resource, name);
  const keywords = Object.entries(schema).filter(
    ([key]) => !["maxLength", "pattern", "readOnly"].includes(key),
  );
  return "$id" in schema ? schema : (Object.fromEntries(keywords) as unknown as TSchema);
}

/** True for a point in time, which only the flat form shows as a plain value. */
const isInstant = (resource: Resource, name: string): boolean => isProperty(resource.fields[name], "spec");

/** Some fields of a record, also the hidden ones. Members with `__` are values of other records and annotations. */
const partSchema = perResource((resources, resource) => {
  const names = Object.keys(resource.fields).filter((name) => resource.fields[name].shown !== "internal");
  const describe = (some: readonly string[]): TProperties =>
    Object.fromEntries(
      some.map((name) => {
        const shown = shownSchema(resources, resource, name);
        const value = isInstant(resource, name)
          ? anyOf(`${schemaName({ name })}Value`, shown, valueSchema(resources, resource, name, "flat"))
          : shown;
        return [name, Type.Optional(value)];
      }),
    );
  const isUsual = isGuarded(resource) && resource.fields.id.kind === "uuid";
  const common = isUsual ? names.filter((name) => COMMON.has(name) && name !== "id").toSorted() : [];
  const own = names.filter((name) => !common.includes(name));
  return Type.Object(describe(own), {
    $id: `Partial${schemaName(resource)}`,
    description: "Named fields, or flat form.",
    ...(common.length > 0 ? { allOf: [Type.Object(describe(common), { $id: "PartialRecord" })] } : {}),
    // Not additionalProperties: many generators of clients leave out patterns of names, and would refuse the members.
    propertyNames: { anyOf: [{ enum: names }, { pattern: "__" }] },
  });
});

/** A record with all shown fields. */
const recordSchema = perResource((resources, resource) => {
  const names = shownFields(resource);
  const shown = names.map((name) => [name, valueSchema(resources, resource, name)] as const);
  const points = shown.filter(([name]) => isInstant(resource, name));
  return Type.Unsafe<JsonRecord>({
    $id: schemaName(resource),
    description: sentence(makeNouns(resource).one),
    allOf: [partSchema(resources, resource)],
    ...(points.length === 0 ? {} : { properties: Object.fromEntries(points) }),
    required: names,
    example: makeExample(Type.Object(Object.fromEntries(shown))),
  });
});

/** A record with `response_format=nested`. Values of other records are plain. */
const NESTED_RECORD = Type.Unsafe<JsonRecord>({
  $id: "NestedRecord",
  description: "The form of `response_format=nested`.",
  type: "object",
  minProperties: 1,
  additionalProperties: Type.Unsafe({
    $id: "NestedProperty",
    description: "A property or an annotation. Values of other records, with `__` in their names, are plain.",
    anyOf: [
      Type.Object({
        name: Type.String(),
        value: Type.Unknown(),
        category: Type.Enum(["property", "annotation"]),
      }),
      { type: ["string", "number", "boolean", "null", "array"] },
    ],
  }),
});

const wrapped = (results: TSchema): TSchema => Type.Object({ results });

/** One record. With `response_format=flat`, it is in `results`. */
export const recordAnswer = perResource((resources, resource) => {
  const part = partSchema(resources, resource);
  const $id = `${schemaName(resource)}Answer`;
  return anyOf<JsonRecord>($id, recordSchema(resources, resource), part, NESTED_RECORD, wrapped(part));
});

/** A record of a list. */
const resultSchema = perResource((resources, resource) => {
  const record = recordSchema(resources, resource);
  return anyOf<JsonRecord>(
    `${schemaName(resource)}Result`,
    record,
    partSchema(resources, resource),
    NESTED_RECORD,
  );
});

/** Several records that are not a page of a list. With `response_format=flat`, they are in `results`. */
export const recordsAnswer = perResource((resources, resource) => {
  const $id = `${schemaName(resource)}Records`;
  const bare = Type.Array(resultSchema(resources, resource));
  return anyOf<JsonRecord[]>($id, bare, wrapped(Type.Array(partSchema(resources, resource))));
});

/** The envelope of a list whose results have this schema. */
export function pageSchema<Row extends TSchema, Before extends TProperties = Record<never, never>>(
  results: Row,
  before: Before = {} as Before,
  $id?: string,
) {
  const name = (results as { $id?: string }).$id;
  const named = $id ?? (name && `${name}List`);
  const properties = { ...before, ...PAGE_POSITION, results: Type.Array(results) };
  const description = "A page of the list.";
  return Type.Object(properties, named === undefined ? { description } : { $id: named, description });
}

const POSITION = Type.Object(PAGE_POSITION, { $id: "PagePosition", description: "A page of a list." });

/** A page of records. */
export const listSchema = perResource((resources: Resources, resource: Resource) =>
  Type.Unsafe<RecordPage>({
    $id: `${schemaName(resource)}List`,
    description: `A page of ${makeNouns(resource).many}.`,
    type: "object",
    allOf: [POSITION],
    properties: { results: Type.Array(resultSchema(resources, resource)) },
    required: ["results"],
  }),
);
