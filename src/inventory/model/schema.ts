import { type TProperties, type TSchema, Type } from "typebox";
import { PAGE_POSITION } from "../../platform/page.ts";
import { nullable } from "../../platform/schema.ts";
import { exampleOfField } from "./example.ts";
import { annotationName, isSearchable, valueField } from "./annotation-type.ts";
import {
  type AnnotationType,
  COMMON,
  fieldAt,
  isGuarded,
  type Resource,
  type Resources,
  shownFields,
  findTarget,
} from "./resource.ts";
import { type Field, isComparable, isObject, type Json, type JsonObject } from "./field.ts";
import { searchFilters } from "./filter.ts";
import { isProperty, LIST_PARAMETERS, type Shape } from "./listing.ts";
import { LOOKUPS, OPERATORS } from "./operator.ts";
import { capitalized, sentence } from "../../platform/words.ts";
/** JSON schemas and parameters of the declarations for OpenAPI 3.1, and the answer to OPTIONS. */

const PROPERTY_NOTE = "An object with the name of the property, its value and the category `property`.";

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
  const examples = [exampleOfField(resources, resource, name)];
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
  const $id = SHARED.has(name) ? { $id: schemaName({ name }) } : {};
  return { ...value, ...$id, description, ...access, examples } as TSchema;
}

/** Fields that are the same in all resources: one component each. */
const SHARED = new Set(["created_by", "modified_by", "owner", "owned_by", "public"]);

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
function perResource<Part>(make: (resources: Resources, resource: Resource) => Part) {
  const made = new WeakMap<Resource, Part>();
  return (resources: Resources, resource: Resource): Part => {
    let part = made.get(resource);
    if (part === undefined) made.set(resource, (part = make(resources, resource)));
    return part;
  };
}

/** A record in JSON. Its fields depend on the list; OPTIONS of the list describes them. */
export interface JsonRecord {
  id: string;
  [field: string]: unknown;
}

/** Fields in a body. */
export interface SentFields {
  [field: string]: Json | undefined;
}

/** A record as answers show it. */
export const recordSchema = perResource((resources, resource) => {
  const properties = shownFields(resource).map((name) => [name, valueSchema(resources, resource, name)]);
  return Type.Unsafe<JsonRecord>(
    Type.Object(Object.fromEntries(properties) as TProperties, {
      $id: schemaName(resource),
      description: sentence(makeNouns(resource).one),
    }),
  );
});

/** A body that changes a record. */
export const changesSchema = perResource((resources, resource) => {
  const properties = Object.entries(resource.fields)
    .filter(([, field]) => field.write !== "never")
    .map(([name]) => [name, Type.Optional(valueSchema(resources, resource, name, "plain"))]);
  const [shown] = requiredFields(resource);
  return Type.Unsafe<SentFields>(
    Type.Object(Object.fromEntries(properties) as TProperties, {
      $id: `${schemaName(resource)}Changes`,
      description: "The fields to change.",
      examples: [{ [shown]: exampleOfField(resources, resource, shown) }],
    }),
  );
});

const requiredFields = ({ fields }: Resource): string[] =>
  Object.keys(fields).filter((name) => fields[name].write === "required");

/** A body that creates a record. */
export function creationSchema(resources: Resources, resource: Resource) {
  const required = requiredFields(resource);
  const example = required.map((name) => [name, exampleOfField(resources, resource, name)]);
  return Type.Unsafe<SentFields>({
    $id: `New${schemaName(resource)}`,
    allOf: [changesSchema(resources, resource)],
    required,
    examples: [Object.fromEntries(example)],
  });
}

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

/** A page of a list of records in JSON. */
export interface RecordPage<Row = JsonRecord> {
  previous: string | null;
  next: string | null;
  current: number;
  total: number;
  total_pages: number;
  results: Row[];
}

/** A list of records. */
export const listSchema = (resources: Resources, resource: Resource) =>
  Type.Unsafe<RecordPage>({
    ...pageSchema(recordSchema(resources, resource)),
    description: `A page of ${makeNouns(resource).many}.`,
  });

export interface Parameter {
  /** Name of the component, if operations share it. */
  $id?: string;
  name: string;
  in: "query" | "header" | "path";
  required: boolean;
  description: string;
  schema: TSchema;
  style?: string;
  explode?: boolean;
}

/** An optional parameter in the query. */
export const inQuery = (name: string, description: string, schema: TSchema = Type.String()): Parameter => ({
  name,
  in: "query",
  required: false,
  description,
  schema,
});

/** A parameter that every list knows. */
export const listParameter = (name: string): Parameter => {
  const { doc, schema } = LIST_PARAMETERS[name];
  return { $id: name, ...inQuery(name, doc, schema) };
};

/** The parameters of a list. */
export const listParameters = perResource<readonly Parameter[]>((resources, resource) => {
  const search = searchFilters(resource);
  const taken = new Set([...Object.keys(LIST_PARAMETERS), ...search.map(({ name }) => name)]);
  const fields = Object.entries(resource.fields).filter(
    ([name, { kind, listOf }]) =>
      !taken.has(name) && (listOf !== undefined || (kind !== "json" && fieldAt(resources, resource, [name]))),
  );
  const isShared = (name: string): boolean =>
    COMMON.has(name) && isGuarded(resource) && !(name === "id" && resource.fields.id.kind !== "uuid");
  const own = (name: string, doc: string, schema?: TSchema): Parameter => ({
    $id: isShared(name) ? `filter_${name}` : `${resource.name}.${name}`,
    ...inQuery(name, doc, schema),
  });
  return [
    ...Object.keys(LIST_PARAMETERS).map(listParameter),
    ...search.map(({ name, doc }) => own(name, doc)),
    ...fields.map(([name, field]) => own(name, filterDoc(resources, field), filterSchema(field))),
    ...Object.entries(resource.filters ?? {})
      .filter(([name]) => !taken.has(name) && !Object.hasOwn(resource.fields, name))
      .map(([name, path]) => own(name, `Another name of \`${path}\`.`)),
    OTHER_FILTERS,
  ];
});

/** Values that the exact filter of a field compares with. */
function filterSchema({ kind, listOf }: Field): TSchema {
  if (kind === "reference" || kind === "uuid" || listOf !== undefined) return Type.Array(Type.String());
  if (kind === "flag") return Type.Boolean();
  if (kind === "integer") return Type.Integer();
  return kind === "number" ? Type.Number() : Type.String();
}

/** The description of the exact filter of a field. */
export function filterDoc(resources: Resources, field: Field): string {
  const several = "several are ORed.";
  if (field.kind === "uuid") return `Equals; ${several} ${field.doc}`;
  const to = field.to ?? field.listOf;
  if (to === undefined) return `Equals. ${field.doc}`;
  const far = resources.get(to)!;
  const absent = field.nullable ? " `null` finds records without one." : "";
  return `Equals, by id or ${far.key}; ${several}${absent} ${field.doc}`;
}

/** The suffixes that every filter on one field may have. */
const LOOKUP_NOTE = `Every field filter may span references (\`<reference>__<field>\`) and end in a lookup: ${[
  ...LOOKUPS,
]
  .map(([lookup, name]) => `\`__${lookup}\` ${OPERATORS[name].sentence}`)
  .join(
    "; ",
  )}; \`__in\` equals one of the values, separated by commas; \`__isnull\` true or false. \`<model>_id\`, such as \`project_id\`, follows references to a record of the model. \`annotations__<type>\`, with the name or the id of an annotation type or custom property type, filters by annotations in the same way; bodies and counts of values name annotations so, too.`;

/** Filters whose names are made of fields and lookups. */
export const OTHER_FILTERS: Parameter = {
  $id: "other_filters",
  ...inQuery("other_filters", LOOKUP_NOTE, Type.Object({}, { additionalProperties: Type.String() })),
  style: "form",
  explode: true,
};

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

/** The name of a field or a list as people read it. */
export const makeLabel = (name: string): string =>
  name === "id" ? "ID" : capitalized(name.replaceAll("_", " "));

const describeForm = (name: string, { form, kind, initial }: Field): JsonObject => ({
  label: form?.label ?? makeLabel(name),
  form: (form as Json | undefined) ?? null,
  initial: kind === "flag" ? initial === 1 : null,
});

/** The list of choices of a reference, their name there, and how records contain it; no path crosses a plain id. */
function describeReference(resources: Resources, field: Field): Json {
  const far =
    field.kind === "reference" ? findTarget(resources, field) : resources.get(field.form?.idsOf ?? "");
  if (!far) return null;
  const printed = field.kind === "reference" ? far.shownAs : "plain id";
  return { segment: far.segment ?? `${far.name}s`, key: far.key, printed };
}

/** One field for the forms, tables and filter editors of the pages. */
function describeField(resources: Resources, name: string, field: Field): Json {
  const far = field.kind === "reference" ? findTarget(resources, field) : undefined;
  const compared = far ? "text" : field.kind;
  const lookups = [...LOOKUPS].filter(([, operator]) =>
    (OPERATORS[operator].kinds as readonly string[]).includes(compared),
  );
  return {
    kind: field.day ? "date" : field.kind,
    ...describeForm(name, field),
    help_text: field.doc,
    shown: field.shown,
    write: field.write,
    nullable: field.nullable,
    blank: field.blank ?? true,
    max_length: field.maxLength ?? null,
    choices: field.choices ? [...field.choices] : null,
    rule: field.pattern?.rule ?? null,
    reference: describeReference(resources, field),
    ...(field.places ? { places: true } : {}),
    lookups: isComparable(field) ? [...lookups.map(([lookup]) => lookup), "in", "isnull"] : [],
    sortable: isComparable(field) && field.kind !== "json",
    for_clients: field.forClients ?? false,
  };
}

/** An annotation type in the same form, with what only annotations have. */
function describeAnnotation(resources: Resources, type: AnnotationType): Json {
  const field = resources.annotationValue!.fields[valueField(resources, type)];
  const { reference, lookups, sortable, ...described } = describeField(
    resources,
    type.name,
    field,
  ) as JsonObject;
  const category = type.type === "NUMBERUNIT" ? type.unit_category : type.cv_category;
  const terms = category === null ? { category__kind: "unit" } : { category_id: category };
  const choices =
    type.value_choices === null
      ? undefined
      : (JSON.parse(type.value_choices) as Json[][]).map((pair) => pair.map(String));
  const [, kind] = /\?type=(\w+)$/.exec(type.choices_target) ?? [];
  return {
    ...described,
    label: type.label || type.name,
    help_text: type.help_text,
    shown: "extra",
    write: type.readonly ? "never" : "optional",
    nullable: true,
    choices: choices ? choices.map(([value]) => value) : null,
    form: choices ? { words: Object.fromEntries(choices.map(([value, label]) => [value, [label]])) } : null,
    reference: isObject(reference)
      ? { ...reference, filter: field.to === "term" ? terms : kind ? { type: kind } : {} }
      : null,
    lookups: isSearchable(type) ? lookups : [],
    sortable: type.sortable && sortable,
    annotation: {
      id: type.id,
      type: type.type,
      multiple: type.multiple,
      used: type.used,
      list_visibility: type.list_visibility,
      model_type: type.model_type,
      // The list of units of an amount.
      units:
        type.type === "NUMBERUNIT"
          ? { segment: "vocabularies/terms", key: "name", printed: "id", filter: terms }
          : null,
    },
  };
}

/** One field as the metadata of Django REST framework describe it. */
const describeAction = (name: string, field: Field): Json => ({
  type: field.choices ? "choice" : field.day ? "date" : METADATA_TYPES[field.kind],
  required: field.write === "required",
  read_only: field.write === "never",
  label: makeLabel(name),
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
    annotations: Object.fromEntries(
      (resource.annotations?.offered() ?? []).map((type) => [
        annotationName(type),
        describeAnnotation(resources, type),
      ]),
    ),
    operators: Object.fromEntries([...LOOKUPS].map(([lookup, name]) => [lookup, OPERATORS[name].sentence])),
    fields: fields((name, field) => describeField(resources, name, field)),
    ...(methods.length === 0 ? {} : { actions }),
  };
}
