import { Value } from "typebox/value";
import {
  computed,
  type Field,
  flag,
  type Json,
  json,
  prose,
  reference,
  Shape,
  type RenderContext,
  text,
} from "../model/field.ts";
import {
  commonFields,
  deletionFields,
  ownerFields,
  permissionsField,
  publicField,
  type ReadContext,
  type Resource,
  urlField,
} from "../model/resource.ts";
import { missingReference } from "../model/parse-body.ts";
import type { StoredRecord } from "../model/stored-record.ts";
import { TYPE_FORMS } from "./field-type-form.ts";
import { CONSTANT, MODEL_NAME } from "./model-type.ts";

/** Types of the specification, then number, date and user, which the original system also has, and flags. */
const TYPES = [
  "TEXT",
  "OBJECT",
  "JSON",
  "DMAPPANNOTATION",
  "VOCABULARYTERM",
  "NUMBERUNIT",
  "NUMBER",
  "DATE",
  "USER",
  "BOOLEAN",
] as const;
type TypeName = (typeof TYPES)[number];

/** Widgets for viewing, editing and lists where a record names none. */
const WIDGETS: Record<TypeName, readonly [view: string, edit: string, list: string]> = {
  TEXT: ["TEXT", "TEXTINPUT", "TEXT"],
  OBJECT: ["CSVLINK", "SELECT", "CSVLINK"],
  JSON: ["JSON", "JSON", "JSON"],
  DMAPPANNOTATION: ["TEXT", "TEXTINPUT", "TEXT"],
  VOCABULARYTERM: ["CVVIEW", "CVEDIT", "CSVTEXT"],
  NUMBERUNIT: ["NUMBERUNIT", "NUMBERUNIT", "NUMBERUNIT"],
  NUMBER: ["TEXT", "TEXTINPUT", "TEXT"],
  DATE: ["TEXT", "TEXTINPUT", "TEXT"],
  USER: ["TEXT", "SELECT", "TEXT"],
  BOOLEAN: ["TEXT", "CHECKBOX", "TEXT"],
};
const WIDGET_FIELDS = ["preferred_view_widget", "preferred_edit_widget", "preferred_list_widget"] as const;

const VALIDATIONS = Shape.Array(
  Shape.Object(
    {
      name: Shape.String({ minLength: 1 }),
      arguments: Shape.Array(Shape.Any()),
      error_message: Shape.String(),
    },
    { additionalProperties: false },
  ),
  { maxItems: 100 },
);
const SCALAR = Shape.Unsafe<Json>({ type: ["string", "number", "boolean"] });
const CHOICES = Shape.Array(Shape.Array(SCALAR, { minItems: 2, maxItems: 2 }), { maxItems: 1000 });
const isScalar = (item: Json) => item !== null && typeof item !== "object";
const areChoices = (value: Json) =>
  value === null || (Value.Check(CHOICES, value) && (value as Json[][]).flat().every(isScalar));

const visibility = (doc: string): Field => text(doc, { blank: false, initial: "ALWAYS", pattern: CONSTANT });
const widget = (doc: string): Field =>
  text(doc, {
    pattern: { expression: /^[A-Za-z][A-Za-z0-9_]*$/, rule: "letters, digits and _" },
  });
const property = (doc: string): Field =>
  text(doc, {
    pattern: { expression: /^[a-z_]+$/, rule: "lower case letters and _" },
  });

const address = (doc: string, from: string[], compute: NonNullable<Field["compute"]>): Field =>
  computed(doc, { from, compute, nullable: true, shape: Shape.String() });

/** Terms to choose from: of one category, or all units. */
function terms({ base }: RenderContext, category: unknown): string {
  const which = category ? `category_id=${String(category)}` : "category__kind=unit";
  return `${base}vocabularies/terms/?${which}&page_size=max&fields=id,name&response_format=flat`;
}

const choiceFields: Resource["fields"] = {
  value_choices: json("Fixed choices, as pairs of value and label.", {
    nullable: true,
    initial: null,
    check: (value) =>
      areChoices(value) ? undefined : "Expected null or a list of pairs [value, label]; at most 1000.",
    shape: CHOICES,
  }),
  choices_value: { ...property("Field of a choice that provides its value."), initial: "id" },
  choices_label: { ...property("Field of a choice that provides its label."), initial: "name" },
  choices_api: address(
    "List of choices, for types VOCABULARYTERM and OBJECT.",
    ["type", "cv_category", "choices_target", "choices_value", "choices_label"],
    (record, context) => {
      if (record.type === "VOCABULARYTERM") return terms(context, record.cv_category);
      if (record.type !== "OBJECT" || record.choices_target === "") return null;
      const [path, query] = String(record.choices_target).split("?");
      const fields = `fields=${String(record.choices_value)},${String(record.choices_label)}`;
      return `${context.base}${path}/?${query ? `${query}&` : ""}page_size=max&${fields}&response_format=flat`;
    },
  ),
  preferred_view_widget: widget("Widget for viewing; by default that of the type."),
  preferred_edit_widget: widget("Widget for editing; by default the widget of the type."),
  preferred_list_widget: widget("Widget in lists; by default that of the type."),
};

const MACHINE_NAME = text("Machine name.", {
  write: "required",
  blank: false,
  folded: "name_fold",
  searchable: true,
});

/** The fields of both; `own` stand before the owners. */
const typeFields = (segment: string, own: Record<string, Field>): Resource["fields"] => ({
  url: urlField(segment, "api"),
  ...commonFields(),
  name: { ...MACHINE_NAME, example: segment === "annotationtypes" ? "lot_number" : "clone" },
  choice_label: text("Label in selections; by default the label."),
  description: prose("Purpose; may be empty.", { folded: "description_fold", searchable: true }),
  public: publicField({ shown: "always" }),
  permissions: permissionsField({ shown: "always" }),
  unit_choices_api: address(
    "List of units to choose from, for type NUMBERUNIT.",
    ["type", "unit_category"],
    ({ type, unit_category }, context) => (type === "NUMBERUNIT" ? terms(context, unit_category) : null),
  ),
  type: text("Kind of value.", { write: "required", blank: false, choices: TYPES }),
  label: text("Label; by default the name."),
  help_text: prose("Help text for forms; may be empty."),
  default: text("Default value; empty if has_default is false.", {
    column: "default_value",
    maxLength: 10_000,
  }),
  has_default: flag("Whether there is a default value.", false),
  multiple: flag("Whether several values are allowed.", false),
  is_protocol_parameter: flag("Whether the type is a parameter of a protocol.", false),
  autocomplete: text("Source of completions while typing; may be empty."),
  searchable: flag("Whether values can be searched; by default false for NUMBERUNIT.", true),
  readonly: flag("Whether values are read-only.", false),
  sortable: flag("Whether lists can be sorted by this annotation.", true),
  cv_category: reference("category", "Category of the terms, for type VOCABULARYTERM."),
  mandatory: flag("Whether a value is required.", false),
  validations: json("Rules for values; contains `required` if and only if mandatory is true.", {
    initial: "[]",
    check: (value) =>
      Value.Check(VALIDATIONS, value)
        ? undefined
        : "Expected a list of objects with name (string), arguments (list) and error_message (string); at most 100.",
    shape: VALIDATIONS,
  }),
  visibility: visibility("When the property is visible."),
  edit_visibility: visibility("When the property is visible in forms."),
  list_visibility: visibility("When the property is visible in lists."),
  ...choiceFields,
  field_meta: reference("field_meta", "Meaning that it shares with other types.", {
    nullable: false,
    initial: 1,
  }),
  ...own,
  ...ownerFields({ shown: "always" }),
  unit_category: reference("category", "Category of the units, for type NUMBERUNIT; by default, all units.", {
    shown: "extra",
  }),
  mandatory_owned_by: json("Names of the groups whose records require a value.", {
    shown: "extra",
    initial: "[]",
    dependent: true,
    check: (value) =>
      Array.isArray(value) && value.length <= 100 && value.every((name) => typeof name === "string")
        ? undefined
        : "Expected a list of at most 100 group names.",
    shape: Shape.Array(Shape.String()),
  }),
  choices_target: text("List of choices for type OBJECT: a segment such as equipment.", {
    shown: "extra",
    pattern: {
      expression: /^[a-z_]+(\/[a-z_]+)*(\?type=[A-Z][A-Z0-9_]*)?$/,
      rule: "the segment of a list, such as equipment or stocks/consumables?type=ANTIBODY",
    },
  }),
  ...deletionFields(),
});

const modelName = (options: Partial<Field>) =>
  text("Model of the annotated records, such as stocks.specimen.", {
    pattern: MODEL_NAME,
    example: "stocks.consumable",
    ...options,
  });
const modelType = (options: Partial<Field>) =>
  text("Type of the annotated records, such as ANTIBODY or OTHER.", {
    pattern: CONSTANT,
    example: "ANTIBODY",
    ...options,
  });

const FORM_ORDER = Object.keys(TYPE_FORMS);
const withForms = (fields: Resource["fields"]): Resource["fields"] =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) =>
      name in TYPE_FORMS
        ? [name, { ...field, form: { ...TYPE_FORMS[name], order: FORM_ORDER.indexOf(name) } }]
        : [name, field],
    ),
  );

type Declared = Pick<Resource, "name" | "summary" | "model" | "where"> & { segment: string };

const typeResource = (declared: Declared, options: Partial<Field>): Resource => ({
  table: "field_type",
  key: "name",
  shownAs: "id",
  nameFields: ["name"],
  descriptionFields: ["description"],
  defaultOrder: ["name"],
  ...declared,
  fields: withForms(
    typeFields(declared.segment, { model_name: modelName(options), model_type: modelType(options) }),
  ),
  rules: typeRules,
});

/** Its model fields are known to filters but not shown. */
export const annotationType = typeResource(
  {
    name: "annotation_type",
    segment: "annotationtypes",
    model: "core.annotationtype",
    summary: "Fields that people fill in on records, such as species or storage temperature.",
    where: { kind: "annotation" },
  },
  { shown: "extra" },
);

export const customPropertyType = typeResource(
  {
    name: "custom_property_type",
    segment: "custompropertytypes",
    model: "core.custompropertytype",
    summary: "Fields of records of one type, such as enzymes.",
    where: { kind: "customproperty" },
  },
  { write: "required", blank: false },
);

/** The rules on write. They complete what a body leaves out. */
function typeRules(
  record: StoredRecord,
  given: ReadonlySet<string>,
  previous: Readonly<StoredRecord> | undefined,
  context: ReadContext,
): Record<string, string> {
  const wrong: Record<string, string> = {};
  const isNew = previous?.type !== record.type;
  if (record.label === "") record.label = record.name;
  if (record.choice_label === "") record.choice_label = record.label;
  setWidgets(record, given, isNew);

  const isAmount = record.type === "NUMBERUNIT";
  if (isNew && isAmount && !given.has("searchable")) record.searchable = 0;
  if (!isAmount) record.unit_category = null;
  if (record.type !== "VOCABULARYTERM") record.cv_category = null;

  if (!given.has("has_default") && given.has("default")) record.has_default = record.default === "" ? 0 : 1;
  if (record.has_default === 0) record.default = "";
  else if (record.default === "") wrong.default = "This field may not be blank if has_default is true.";
  setRequired(record);
  return {
    ...wrong,
    ...checkCategories(record, previous, context),
    ...(given.has("mandatory_owned_by") ? resolveGroups(record, context) : {}),
  };
}

/** A choice needs a vocabulary, and the units of an amount are units. */
function checkCategories(
  { type, cv_category, unit_category }: StoredRecord,
  previous: Readonly<StoredRecord> | undefined,
  { query }: ReadContext,
): Record<string, string> {
  if (type === "VOCABULARYTERM" && cv_category === null)
    return { cv_category: "This field is required if type is VOCABULARYTERM." };
  if (unit_category === null || unit_category === previous?.unit_category) return {};
  const text = "SELECT 1 FROM cv_category WHERE rid = ? AND kind = 'unit'";
  const isUnit = query.get({ text, args: [unit_category] }) !== null;
  return isUnit ? {} : { unit_category: "Expected a category whose kind is unit." };
}

/** Puts names of groups, each once, in place of names and ids. Returns an error for one that does not exist. */
function resolveGroups(record: StoredRecord, { query }: ReadContext): Record<string, string> {
  const field = "mandatory_owned_by";
  const names = new Set<string>();
  for (const typed of JSON.parse(String(record[field])) as string[]) {
    const text = "SELECT name FROM user_group WHERE name = ?1 OR id = ?1";
    const group = query.get({ text, args: [typed.trim()] });
    if (!group) return { [field]: missingReference({ field, by: "name", value: typed }) };
    names.add(String(group.name));
  }
  record[field] = JSON.stringify([...names]);
  return {};
}

function setWidgets(record: StoredRecord, given: ReadonlySet<string>, isNew: boolean): void {
  const type = record.type as TypeName;
  for (const [i, name] of WIDGET_FIELDS.entries())
    if (type === "NUMBERUNIT" || record[name] === "" || (isNew && !given.has(name)))
      record[name] = WIDGETS[type]?.[i] ?? "TEXT";
}

/** `validations` has an entry `required` if and only if `mandatory` is true. */
function setRequired(record: StoredRecord): void {
  const validations = JSON.parse(String(record.validations)) as { name: string }[];
  const others = validations.filter(({ name }) => name !== "required");
  const required = validations.find(({ name }) => name === "required") ?? {
    name: "required",
    arguments: [],
    error_message: `${String(record.label)} is required.`,
  };
  record.validations = JSON.stringify(record.mandatory === 1 ? [required, ...others] : others);
}
