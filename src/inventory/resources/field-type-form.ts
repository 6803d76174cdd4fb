import type { FieldForm } from "../model/field.ts";
import { LISTS_IN_WORDS, MODELS_IN_WORDS } from "./model-type.ts";

const only = (required: boolean, ...values: string[]): NonNullable<FieldForm["when"]> => ({
  field: "type",
  values,
  ...(required && { required: true }),
});

const SHOWN: FieldForm["words"] = {
  ALWAYS: ["Always"],
  OPTIONAL: ["When chosen"],
  NEVER: ["Never"],
};

/** The form of an annotation type or a custom property type: the name, the kind of value and its options. */
export const TYPE_FORMS: Readonly<Record<string, FieldForm>> = {
  label: { label: "Name", hint: "Shown on forms and as a column, such as Host species." },
  name: { label: "Name in the API", derivedFrom: "label" },
  type: {
    label: "Kind of value",
    cards: true,
    words: {
      TEXT: ["Text", "free, or fixed choices"],
      NUMBER: ["Number", "without a unit"],
      NUMBERUNIT: ["Amount", "a number with a unit"],
      VOCABULARYTERM: ["Choice", "from a choice list"],
      DATE: ["Date", "a day"],
      BOOLEAN: ["Yes or no", "a check box"],
      OBJECT: ["Link", "to another record"],
      USER: ["Person", "with an account"],
      JSON: ["Data", "JSON"],
      DMAPPANNOTATION: ["Data of LabID", "for its client"],
    },
    seldom: ["DMAPPANNOTATION"],
  },
  value_choices: {
    label: "Choices",
    hint: "One choice per line; empty for free text. For a value that differs from its label, write rabbit = Rabbit (New Zealand).",
    lines: "pairs",
    when: only(false, "TEXT"),
  },
  cv_category: {
    label: "Choice list",
    hint: "The terms that people can choose.",
    when: only(true, "VOCABULARYTERM"),
  },
  unit_category: {
    label: "Units",
    hint: "The list of units, such as volumes; empty allows all units.",
    when: only(false, "NUMBERUNIT"),
  },
  choices_target: {
    label: "Links to",
    hint: "Filter of the records that people can choose; empty for all records.",
    words: LISTS_IN_WORDS,
    when: only(false, "OBJECT"),
  },
  model_name: {
    label: "Used for",
    hint: "Types of records that have this field; none chosen means all.",
    words: MODELS_IN_WORDS,
  },
  model_type: {
    label: "Only of the type",
    hint: "Type of record, such as Antibody; empty applies to all types.",
    when: { field: "model_name", values: ["stocks.consumable", "stocks.specimen"] },
  },
  mandatory: {
    label: "Required",
    hint: "Records cannot be saved without it. Existing records stay as they are.",
  },
  description: { advanced: true, shownIn: "head" },
  help_text: { advanced: true, hint: "Shown below the input." },
  default: { label: "Default value", advanced: true, hint: "Value of new records; empty for none." },
  has_default: { omitted: true },
  multiple: { label: "Several values", advanced: true, hint: "A record may have more than one value." },
  searchable: { label: "Searchable", advanced: true, hint: "Search and filters find the values." },
  sortable: { label: "Sortable", advanced: true, hint: "Lists can be sorted by this field." },
  readonly: { label: "Read-only", advanced: true, hint: "Only administrators may set values." },
  list_visibility: {
    label: "In lists",
    advanced: true,
    hint: "When lists show the field as a column.",
    words: SHOWN,
  },
  visibility: { label: "On pages of records", advanced: true, words: SHOWN },
  edit_visibility: { label: "In forms", advanced: true, words: SHOWN },
  mandatory_owned_by: {
    label: "Required only for groups",
    advanced: true,
    hint: "Names of groups whose records require a value, one on each line.",
    lines: "texts",
  },
  field_meta: { label: "Shared meaning", advanced: true },
  // For clients of LabID, which set them in requests.
  ...Object.fromEntries(
    ["is_protocol_parameter", "choice_label", "validations", "autocomplete", "choices_value", "choices_label"]
      .concat("preferred_view_widget", "preferred_edit_widget", "preferred_list_widget")
      .concat("choices_api", "unit_choices_api")
      .map((name) => [name, { omitted: true }]),
  ),
};
