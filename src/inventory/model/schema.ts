import { type TProperties, type TSchema, Type } from "typebox";
import { nullable } from "../../platform/schema.ts";
import { makeFieldExample } from "./example.ts";
import { COMMON, type Resource, type Resources, findTarget } from "./resource.ts";
import type { Field, Json } from "./field.ts";
import { isProperty, type Shape } from "./listing.ts";

/** JSON schemas of the declarations for OpenAPI 3.1. */

const PROPERTY_NOTE = "As `{name, value, category}`.";

/** Schema of a field's value in a record. */
export function valueSchema(
  resources: Resources,
  resource: Resource,
  name: string,
  shape: Shape = "spec",
): TSchema {
  const field = resource.fields[name];
  const plain = field.nested && shape !== "plain" ? NESTED : plainSchema(resources, field);
  const value = field.nullable ? nullable(plain) : plain;
  const description = field.doc;
  const access = field.write === "never" ? { readOnly: true } : {};
  const examples = [makeFieldExample(resources, resource, name)];
  if (isProperty(field, shape)) {
    const property = Type.Object({
      name: Type.Enum([name]),
      value: { ...value, examples } as TSchema,
      category: Type.Enum(["property"]),
    });
    const $id = `${schemaName({ name })}Property`;
    return { ...property, $id, description: `${description} ${PROPERTY_NOTE}`, readOnly: true } as TSchema;
  }
  if (field.wrapped && shape !== "plain") {
    const shown = examples[0] === null ? plain : ({ ...plain, examples } as TSchema);
    const object = Type.Object({ value: shown });
    return { ...(field.nullable ? nullable(object) : object), description } as TSchema;
  }
  const $id = SHARED_FIELDS.has(name) ? { $id: schemaName({ name }) } : {};
  return { ...value, ...$id, description, ...access, examples } as TSchema;
}

/** Fields that are the same in all resources: one component each. */
const SHARED_FIELDS = new Set([
  "created_by",
  "modified_by",
  "owner",
  "owned_by",
  "public",
  "permissions",
  "deleted_by",
  "version",
]);

/** A referenced record as a small object. */
const NESTED = Type.Object(
  {
    id: Type.String(),
    name: nullable(Type.String(), { description: "null if the caller may not view the record." }),
    deleted: Type.Boolean(),
    model_name: Type.String(),
    app_name: Type.String(),
    model_type: nullable(Type.String()),
  },
  { $id: "Reference" },
);

const dateFormat = ({ day }: Field): string => (day ? "date" : "date-time");

function plainSchema(resources: Resources, field: Field): TSchema {
  switch (field.kind) {
    case "flag":
      return Type.Boolean();
    case "integer":
      return Type.Integer();
    case "number":
      return Type.Number();
    case "instant":
      return Type.String({ format: dateFormat(field) });
    case "uuid":
      return Type.String({ format: "uuid" });
    case "json":
    case "computed":
      return field.shape!;
    case "reference": {
      const far = findTarget(resources, field);
      return plainSchema(resources, far.fields[far.shownAs === "key" ? far.key : "id"]);
    }
    case "text":
      return Type.String({
        ...(field.maxLength === undefined ? {} : { maxLength: field.maxLength }),
        ...(field.choices ? { enum: [...field.choices] } : {}),
        ...(field.pattern && !field.blank ? { pattern: field.pattern.expression.source } : {}),
      });
  }
}

/** `AnnotationType`, the name of the schema of its records. */
export const schemaName = ({ name }: { name: string }): string =>
  name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** A resource in sentences: one of its records, and several. */
export function makeNouns({ name }: { name: string }): { one: string; many: string } {
  const noun = name.replaceAll("_", " ");
  if (noun === "equipment") return { one: "a piece of equipment", many: noun };
  const ending = /[^aeiou]y$/.test(noun) ? "ies" : noun.endsWith("s") ? "es" : "s";
  const many = ending === "ies" ? noun.slice(0, -1) + ending : noun + ending;
  return { one: `${/^[aeio]/.test(noun) ? "an" : "a"} ${noun}`, many };
}

/** A part of the reference for each resource, made once. */
export function perResource<Part>(make: (resources: Resources, resource: Resource) => Part) {
  const made = new WeakMap<Resource, Part>();
  return (resources: Resources, resource: Resource): Part => {
    let part = made.get(resource);
    if (part === undefined) made.set(resource, (part = make(resources, resource)));
    return part;
  };
}

/** Fields in a body. */
export interface SentFields {
  [field: string]: Json | undefined;
}

const isWritten = ({ write, shown }: Field): boolean => write !== "never" && shown !== "internal";

/** A body that changes a record. */
export const changesSchema = perResource((resources, resource) => {
  const describe = (names: readonly string[]): TProperties =>
    Object.fromEntries(
      names.map((name) => [name, Type.Optional(valueSchema(resources, resource, name, "plain"))]),
    );
  const names = Object.keys(resource.fields).filter((name) => isWritten(resource.fields[name]));
  const shared = names.filter((name) => COMMON.has(name)).toSorted();
  const [shown] = requiredFields(resource);
  return Type.Unsafe<SentFields>(
    Type.Object(describe(names.filter((name) => !shared.includes(name))), {
      $id: `${schemaName(resource)}Changes`,
      description: "The fields to change.",
      ...(shared.length > 0 ? { allOf: [Type.Object(describe(shared), { $id: "AccessChanges" })] } : {}),
      examples: [{ [shown]: makeFieldExample(resources, resource, shown) }],
    }),
  );
});

const requiredFields = ({ fields }: Resource): string[] =>
  Object.keys(fields).filter((name) => fields[name].write === "required");

/** A body that creates a record. */
export function creationSchema(resources: Resources, resource: Resource) {
  const required = requiredFields(resource);
  const example = required.map((name) => [name, makeFieldExample(resources, resource, name)]);
  return Type.Unsafe<SentFields>({
    $id: `New${schemaName(resource)}`,
    allOf: [changesSchema(resources, resource)],
    required,
    examples: [Object.fromEntries(example)],
  });
}
