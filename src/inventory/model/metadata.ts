import { annotationName, isSearchable, valueField } from "./annotation-type.ts";
import { type Field, type FieldForm, isComparable, type Json, type JsonObject } from "./field.ts";
import { LOOKUPS, OPERATORS } from "./operator.ts";
import { type AnnotationType, findTarget, isGuarded, type Resource, type Resources } from "./resource.ts";
import { capitalized } from "../../platform/words.ts";

/** The answer to OPTIONS of a list: pages make tables, forms and filters from it. */

export interface FieldInfo extends Pick<Field, "write" | "nullable" | "shown"> {
  kind: Field["kind"] | "date";
  label: string;
  help_text: string;
  /** True if a text may be empty. */
  blank?: boolean;
  max_length: number | null;
  choices: readonly string[] | null;
  /** The rule for a text, in words. */
  rule: string | null;
  reference: Reference | null;
  /** True if the reference puts the record into another, which takes the right to use that one. */
  places?: true;
  lookups: readonly string[];
  sortable: boolean;
  /** Only clients of LabID need it: forms leave it out. */
  for_clients: boolean;
  /** Its part of the form. */
  form?: FieldForm | null;
  /** A flag's value in new records. */
  initial?: boolean | null;
  /** Type of an annotation. */
  annotation?: AnnotationInfo;
}

export interface AnnotationInfo {
  /** Id of the annotation type. */
  id: string;
  /** For a custom property: the type of its records, such as ANTIBODY. */
  model_type: string;
  /** Kind of value, such as NUMBERUNIT. */
  type: string;
  multiple: boolean;
  /** True if records of the list have values of it. */
  used: boolean;
  list_visibility: string;
  /** The list of units of an amount. */
  units: Reference | null;
}

/** The list with the choices of a reference. */
export interface Reference {
  segment: string;
  filter?: Readonly<Record<string, string>>;
  /** Field with their name. */
  key: string;
  /** Form of references in records: id and name, the name, or an id alone, which no path crosses. */
  printed: "id" | "key" | "plain id";
}

/** A list as OPTIONS describes it. */
export interface ListDescription {
  /** Segment of the list. */
  name: string;
  description: string;
  /** Application and model, such as stocks.location. */
  model: string;
  /** Field that names a record. */
  key: string;
  ordering: readonly string[];
  /** True if records have owners and permissions. */
  guarded: boolean;
  fields: Readonly<Record<string, FieldInfo>>;
  /** Annotations by their names in requests, such as `annotations__genotype`. */
  annotations: Readonly<Record<string, FieldInfo>>;
  /** Meanings of lookups, such as `gt`. */
  operators: Readonly<Record<string, string>>;
  renders: readonly string[];
  parses: readonly string[];
  /** Fields by the methods that the caller may use, in the form of Django REST framework. */
  actions?: Readonly<Record<string, JsonObject>>;
}

/** Names of the types in the metadata of Django REST framework. */
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

/** The readable name of a field or list. */
export const makeLabel = (name: string): string =>
  name === "id" ? "ID" : capitalized(name.replaceAll("_", " "));

const describeForm = (name: string, { form, kind, initial }: Field) => ({
  label: form?.label ?? makeLabel(name),
  form: form ?? null,
  initial: kind === "flag" ? initial === 1 : null,
});

/** The list of choices of a reference, their name there, and how records contain it; no path crosses a plain id. */
function describeReference(resources: Resources, field: Field): Reference | null {
  const far =
    field.kind === "reference" ? findTarget(resources, field) : resources.get(field.form?.idsOf ?? "");
  if (!far) return null;
  const printed = field.kind === "reference" ? far.shownAs : "plain id";
  return { segment: far.segment ?? `${far.name}s`, key: far.key, printed };
}

/** One field for the forms, tables and filter editors of the pages. */
function describeField(resources: Resources, name: string, field: Field): FieldInfo {
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
function describeAnnotation(resources: Resources, type: AnnotationType): FieldInfo {
  const field = resources.annotationValue!.fields[valueField(resources, type)];
  const { reference, lookups, sortable, ...described } = describeField(resources, type.name, field);
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
    reference: reference
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
const describeAction = (name: string, field: Field): JsonObject => ({
  type: field.choices ? "choice" : field.day ? "date" : METADATA_TYPES[field.kind],
  required: field.write === "required",
  read_only: field.write === "never",
  label: makeLabel(name),
  help_text: field.doc,
  ...(field.maxLength === undefined ? {} : { max_length: field.maxLength }),
  ...(field.choices ? { choices: field.choices.map((value) => ({ value, display_name: value })) } : {}),
});

/** The answer to OPTIONS. `methods`: those by which the caller may write. */
export function describeList(
  resources: Resources,
  resource: Resource,
  methods: readonly string[],
): ListDescription {
  const fields = <Described>(
    describe: (name: string, field: Field) => Described,
  ): Record<string, Described> =>
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
