import { type Static, type TProperties, type TSchema, type TUnsafe, Type } from "typebox";
import { type Field, isComparable, type Json } from "./field.ts";
import { searchFilters } from "./filter.ts";
import { isProperty, LIST_PARAMETERS, type Shape } from "./listing.ts";
import { LOOKUPS, OPERATORS } from "./operator.ts";
import { fieldAt, isGuarded, type Resource, type Resources, shownFields, targetOf } from "./resource.ts";

/** JSON schemas and parameters of the declarations for OpenAPI 3.0, and the answer to OPTIONS. */

const PROPERTY_NOTE = "An object with the name of the property, its value and the category `property`.";

/** Schema of a field's value in a record. OpenAPI 3.0 has `nullable` where JSON Schema has the type null. */
export function valueSchema(
  resources: Resources,
  name: string,
  field: Field,
  shape: Shape = "spec",
): TSchema {
  const plain = plainSchema(resources, field);
  const written = {
    ...plain,
    description: field.doc,
    ...(field.nullable ? { nullable: true } : {}),
    ...(field.write === "never" ? { readOnly: true } : {}),
  };
  if (isProperty(field, shape)) {
    const inner = Type.Object({
      name: Type.String({ enum: [name] }),
      value: { ...plain, ...(field.nullable ? { nullable: true } : {}) } as TSchema,
      category: Type.String({ enum: ["property"] }),
    });
    return { ...inner, description: `${field.doc} ${PROPERTY_NOTE}`, readOnly: true } as TSchema;
  }
  if (field.wrapped && shape !== "plain")
    return { ...Type.Object({ value: plain }), description: field.doc } as TSchema;
  return written as TSchema;
}

const formatOf = ({ day }: Field): string => (day ? "date" : "date-time");

function plainSchema(resources: Resources, field: Field): TSchema {
  switch (field.kind) {
    case "flag":
      return Type.Boolean();
    case "integer":
      return Type.Integer();
    case "number":
      return Type.Number();
    case "instant":
      return Type.String({ format: formatOf(field) });
    case "uuid":
      return Type.String({ format: "uuid" });
    case "json":
    case "computed":
      return field.shape!;
    case "reference": {
      const far = targetOf(resources, field);
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

/** A record as answers show it. */
export function recordSchema(resources: Resources, resource: Resource): TSchema {
  const shown = shownFields(resource);
  const properties = Object.fromEntries(
    shown.map((name) => [name, valueSchema(resources, name, resource.fields[name])]),
  );
  return Type.Object(properties as TProperties, { description: resource.summary });
}

/** A body that creates or changes a record. */
export function bodySchema(resources: Resources, resource: Resource, partial: boolean): TSchema {
  const writable = Object.entries(resource.fields).filter(([, field]) => field.write !== "never");
  const properties = writable.map(([name, field]) => {
    const schema = valueSchema(resources, name, field, "plain");
    return [name, partial || field.write !== "required" ? Type.Optional(schema) : schema];
  });
  return Type.Object(Object.fromEntries(properties) as TProperties, { description: resource.summary });
}

/** The envelope of a list. */
export function listSchema(resources: Resources, resource: Resource): TSchema {
  return Type.Object({
    previous: link("URL of the previous page; null on the first."),
    next: link("URL of the next page; null on the last."),
    current: Type.Integer({ description: "Number of this page, from 1." }),
    total: Type.Integer({ description: "Number of matching records." }),
    total_pages: Type.Integer({ description: "Number of pages." }),
    results: Type.Array(recordSchema(resources, resource)),
  });
}

/** The body of every error. */
export const PROBLEM_SCHEMA = Type.Object(
  {
    message: Type.String({ description: "The error, in one or two sentences." }),
    detail: Type.Optional(Type.String({ description: "The same error, if it concerns no field." })),
    code: Type.Optional(Type.String({ description: "The kind of error, for programs." })),
  },
  {
    description: "An error. Field errors are lists under the names of the fields.",
    additionalProperties: true,
  },
);

export interface Parameter {
  name: string;
  in: "query";
  required: false;
  description: string;
  schema: TSchema;
}

/** The parameters of a list, except spans and lookups, which are described in words. */
export function listParameters(resources: Resources, resource: Resource): Parameter[] {
  const search = searchFilters(resource);
  const taken = new Set([...Object.keys(LIST_PARAMETERS), ...search.map(({ name }) => name)]);
  const fields = Object.entries(resource.fields).filter(
    ([name, field]) => fieldAt(resources, resource, [name]) && !taken.has(name) && field.kind !== "json",
  );
  return [
    ...Object.entries(LIST_PARAMETERS).map(([name, doc]) => parameter(name, doc, Type.String())),
    ...search.map(({ name, doc }) => parameter(name, doc, Type.String())),
    ...fields.map(([name, field]) => parameter(name, filterDoc(resources, field), Type.String())),
  ];
}

const parameter = (name: string, description: string, schema: TSchema): Parameter => ({
  name,
  in: "query",
  required: false,
  description,
  schema,
});

/** The description of the exact filter of a field. */
export function filterDoc(resources: Resources, field: Field): string {
  const several = "several, separated by commas or repeated, are ORed.";
  if (field.kind === "uuid") return `Equals; ${several} ${field.doc}`;
  if (field.kind !== "reference") return `Equals. ${field.doc}`;
  const far = targetOf(resources, field);
  const absent = field.nullable ? " `null` finds records without one." : "";
  return `Equals, by id or ${far.key}; ${several}${absent} ${field.doc}`;
}

/** The suffixes that every filter on one field may have. */
export const LOOKUP_NOTE = `Every field filter may span references (\`<reference>__<field>\`) and end in a lookup: ${[
  ...LOOKUPS,
]
  .map(([lookup, name]) => `\`__${lookup}\` ${OPERATORS[name].sentence}`)
  .join("; ")}; \`__in\` equals one of the values, separated by commas; \`__isnull\` true or false.`;

/** Types as the metadata of Django REST framework calls them. */
const METADATA_TYPES: Record<Field["kind"], string> = {
  text: "string",
  flag: "boolean",
  integer: "integer",
  number: "float",
  instant: "datetime",
  uuid: "string",
  json: "field",
  reference: "field",
  computed: "field",
};

/** A field's name as people read it. */
export const labelOf = (name: string): string =>
  name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");

/** One field for the forms, tables and filter editors of the pages. */
function describeField(resources: Resources, name: string, field: Field): Json {
  const far = field.kind === "reference" ? targetOf(resources, field) : undefined;
  const compared = far ? "text" : field.kind;
  const lookups = [...LOOKUPS].filter(([, operator]) =>
    (OPERATORS[operator].kinds as readonly string[]).includes(compared),
  );
  return {
    kind: field.day ? "date" : field.kind,
    label: labelOf(name),
    help_text: field.doc,
    shown: field.shown,
    write: field.write,
    nullable: field.nullable,
    blank: field.blank ?? true,
    max_length: field.maxLength ?? null,
    choices: field.choices ? [...field.choices] : null,
    rule: field.pattern?.rule ?? null,
    // The list of choices of a reference, and their name there.
    reference: far ? { segment: far.segment ?? `${far.name}s`, key: far.key, printed: far.shownAs } : null,
    lookups: isComparable(field) ? [...lookups.map(([lookup]) => lookup), "in", "isnull"] : [],
    sortable: isComparable(field) && field.kind !== "json",
  };
}

/** One field as the metadata of Django REST framework describe it. */
const describeAction = (name: string, field: Field): Json => ({
  type: field.choices ? "choice" : field.day ? "date" : METADATA_TYPES[field.kind],
  required: field.write === "required",
  read_only: field.write === "never",
  label: labelOf(name),
  help_text: field.doc,
  ...(field.maxLength === undefined ? {} : { max_length: field.maxLength }),
  ...(field.choices ? { choices: field.choices.map((value) => ({ value, display_name: value })) } : {}),
});

/** The answer to OPTIONS. `methods`: those by which the caller may write. */
export function metadata(resources: Resources, resource: Resource, methods: readonly string[]): Json {
  const fields = (describe: (name: string, field: Field) => Json): Json =>
    Object.fromEntries(
      Object.entries(resource.fields)
        .filter(([, { shown }]) => shown !== "internal")
        .map(([name, field]) => [name, describe(name, field)]),
    );
  const actions = Object.fromEntries(methods.map((method) => [method, fields(describeAction)]));
  return {
    name: resource.segment ?? resource.name,
    description: resource.summary,
    renders: [
      "application/json",
      "text/html",
      "text/csv",
      "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ],
    parses: ["application/json"],
    model: resource.model,
    key: resource.key,
    ordering: [...resource.defaultOrder],
    guarded: isGuarded(resource),
    operators: Object.fromEntries([...LOOKUPS].map(([lookup, name]) => [lookup, OPERATORS[name].sentence])),
    fields: fields((name, field) => describeField(resources, name, field)),
    ...(methods.length === 0 ? {} : { actions }),
  };
}

const link = (description: string) => ({ ...Type.String({ description }), nullable: true }) as TSchema;

/** A schema that also accepts null, as OpenAPI 3.0 writes it. */
export const nullable = <Schema extends TSchema>(schema: Schema): TUnsafe<Static<Schema> | null> =>
  ({ ...schema, nullable: true }) as unknown as TUnsafe<Static<Schema> | null>;
