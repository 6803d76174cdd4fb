import { useId } from "preact/hooks";
import type { FieldForm } from "../../inventory/model/field.ts";
import {
  Checkbox,
  Checklist,
  ChoiceCards,
  type FieldProps,
  SelectField,
  TextArea,
  TextField,
} from "../components/field.tsx";
import type { IconName } from "../components/icon.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { call } from "../request.ts";
import {
  type FieldInfo,
  inWords,
  isConstant,
  type Reference,
  formatChoice,
  formatConstant,
} from "./declaration.ts";
import { Picker } from "./picker.tsx";

/** Longer texts get several lines. */
const LINE = 1000;

/** One field of a form, made from its declaration; see `formatInput` and `parseInput` for the value. */
export function ValueInput(props: {
  segment: string;
  name: string;
  field: FieldInfo;
  value: string;
  /** Name of the record that a reference points to, if known. */
  referenceName?: string | undefined;
  label?: string;
  hint?: string;
  hideLabel?: boolean;
  errors?: readonly string[] | undefined;
  /** `name`: of a record that was chosen. */
  onChange: (value: string, name?: string) => void;
}) {
  const { segment, name, field, value, onChange } = props;
  const errors = props.errors?.map((message) => inWords(message, field));
  const { kind, choices, form } = field;
  const hint = props.hint ?? findHint(field);
  const optional = field.write !== "required";
  const labelled = {
    label: props.label ?? field.label,
    errors,
    optional,
    hideLabel: props.hideLabel,
    ...(hint === "" ? {} : { hint }),
  };
  if (hasOwnInput(field))
    return <AnnotationInput {...labelled} field={field} value={value} onInput={onChange} />;
  if (field.reference)
    return (
      <Picker
        {...labelled}
        to={field.places ? { ...field.reference, filter: USABLE_RECORDS } : field.reference}
        value={value}
        name={props.referenceName}
        onChoose={onChange}
        creates
      />
    );
  if (kind === "flag") return <FlagInput {...labelled} on={value === "true"} onChange={onChange} />;
  if (form?.cards)
    return <ChoiceCards {...labelled} value={value} choices={listCards(form, value)} onChange={onChange} />;
  if (choices || form?.words)
    return <OptionsInput {...labelled} field={field} value={value} onChange={onChange} />;
  return (
    <TextInput {...labelled} segment={segment} name={name} field={field} value={value} onInput={onChange} />
  );
}

/** Records that others may be put into. */
export const USABLE_RECORDS = { can_use: "true" };

const FlagInput = (props: FieldProps & { on: boolean; onChange: (value: string) => void }) => (
  <div class="field">
    <Checkbox label={props.label} checked={props.on} onChange={(on) => props.onChange(String(on))} />
    {props.hint && <p class="hint">{props.hint}</p>}
    {props.errors && <p class="error">{props.errors.join(" ")}</p>}
  </div>
);

/** Any of the values that a list may have; `value` has each on a line. */
const SeveralInput = (
  props: FieldProps & {
    words: NonNullable<FieldForm["words"]>;
    value: string;
    onChange: (value: string) => void;
  },
) => (
  <Checklist
    {...props}
    value={props.value.split("\n").filter(Boolean)}
    choices={Object.entries(props.words).map(([value, [name]]) => ({ value, name }))}
    onChange={(chosen) => props.onChange(chosen.toSorted().join("\n"))}
  />
);

/** A choice among the values that a field can have, or usually has, or of several for a list. */
function OptionsInput(
  props: FieldProps & { field: FieldInfo; value: string; onChange: (value: string) => void },
) {
  const { field, value, optional } = props;
  const { words, lines } = field.form ?? {};
  if (words && lines) return <SeveralInput {...props} words={words} />;
  const options = field.choices ?? Object.keys(words ?? {});
  const empty = optional || value === "" ? [""] : [];
  const other = value === "" || options.includes(value) ? [] : [value];
  return (
    <SelectField
      {...props}
      choices={[...empty, ...other, ...options].map((choice) => ({
        value: choice,
        name: choice === "" ? "–" : formatChoice(choice, field),
      }))}
    />
  );
}

/** Hint below an input. */
function findHint(field: FieldInfo): string {
  const { form, rule, help_text } = field;
  const described =
    rule && !isConstant(field) ? `${help_text} Expected: ${rule}.` : inWords(help_text, field);
  const text = form?.hint ?? described;
  // "Barcode." and "Name of the project." say no more than the label.
  const isRepeated =
    text.toLowerCase().startsWith(field.label.toLowerCase()) &&
    /^( of (the|an?) [a-z ]+)?\.$/.test(text.slice(field.label.length));
  return isRepeated ? "" : text;
}

const CARD_ICONS: Readonly<Record<string, IconName>> = {
  TEXT: "type",
  NUMBER: "hash",
  NUMBERUNIT: "ruler",
  VOCABULARYTERM: "list",
  DATE: "calendar",
  BOOLEAN: "toggle-left",
  OBJECT: "link",
  USER: "user",
};

const listCards = ({ words = {}, seldom = [] }: FieldForm, chosen: string) =>
  Object.entries(words)
    .filter(([value]) => value === chosen || !seldom.includes(value))
    .map(([value, [name, remark = ""]]) => ({
      value,
      name,
      remark,
      icon: CARD_ICONS[value] ?? ("braces" as const),
    }));

/** True if values of an annotation have another input than those of a field. */
const hasOwnInput = ({ annotation, kind }: FieldInfo): boolean =>
  annotation !== undefined && (annotation.multiple || annotation.type === "NUMBERUNIT" || kind === "flag");

function AnnotationInput({ field, ...input }: Parameters<typeof TextField>[0] & { field: FieldInfo }) {
  if (field.annotation?.multiple) return <TextArea {...input} hint="One value per line." rows={3} />;
  if (field.annotation?.units) return <AmountInput {...input} units={field.annotation.units} />;
  const { value, onInput, ...labelled } = input;
  const choices = [
    { value: "", name: "–" },
    { value: "true", name: "yes" },
    { value: "false", name: "no" },
  ];
  return <SelectField {...labelled} value={value} choices={choices} onChange={onInput} />;
}

/** A number and the name of its unit, as one text such as `5 milligram`. */
function AmountInput({ units, ...input }: Parameters<typeof TextField>[0] & { units: Reference }) {
  const { value, onInput } = input;
  const at = value.includes(" ") ? value.indexOf(" ") : value.length;
  const [amount, unit] = [value.slice(0, at), value.slice(at + 1)];
  const enter = (number: string, name: string): void => onInput(name === "" ? number : `${number} ${name}`);
  return (
    <div class="field-pair">
      <TextField
        {...input}
        inputMode="decimal"
        autocomplete="off"
        value={amount}
        onInput={(typed) => enter(typed.replaceAll(" ", ""), unit)}
      />
      <Picker
        label="Unit"
        hideLabel={input.hideLabel}
        to={units}
        value={unit}
        name={unit}
        onChoose={(_, name) => enter(amount, name)}
      />
    </div>
  );
}

type TextInputProps = Parameters<typeof TextField>[0] & { segment: string; name: string; field: FieldInfo };

function TextInput({ segment, name, field, ...text }: TextInputProps) {
  const { kind, max_length } = field;
  if (kind === "json" || (max_length ?? 0) > LINE)
    return <TextArea {...text} rows={3} code={kind === "json" && !field.form?.lines} />;
  const isNumber = kind === "integer" || kind === "number";
  const input = {
    ...text,
    autocomplete: "off" as const,
    ...(isNumber ? { inputMode: "decimal" as const } : {}),
    ...(kind === "date" ? { type: "date" as const } : {}),
    ...(max_length === null ? {} : { maxLength: max_length }),
  };
  return isConstant(field) ? (
    <Suggesting segment={segment} name={name} input={input} />
  ) : (
    <TextField {...input} />
  );
}

/** A text field that suggests the values of other records. */
function Suggesting(props: { segment: string; name: string; input: Parameters<typeof TextField>[0] }) {
  const id = useId();
  return (
    <>
      <TextField {...props.input} list={id} />
      <Suggestions id={id} segment={props.segment} name={props.name} />
    </>
  );
}

export function Suggestions({ id, segment, name }: { id: string; segment: string; name: string }) {
  const { value: values } = useLoaded(`${segment} ${name}`, () => readValues(segment, name));
  return (
    <datalist id={id}>
      {values?.map(({ value }) => (
        <option key={value} value={/^[A-Z][A-Z0-9_ ]*$/.test(value) ? formatConstant(value) : value} />
      ))}
    </datalist>
  );
}

/** A value of a field, its name, and how many records have it. */
export interface FieldCount {
  value: string;
  label: string | null;
  total: number;
}

/** The values of a field in the records that a query finds, the most frequent first. */
export const readValues = async (
  segment: string,
  field: string,
  query: Record<string, readonly string[]> = {},
): Promise<FieldCount[]> => {
  const { results } = await call("GET /api/v2/:list/values/", {
    params: { list: segment },
    query: { ...query, field },
  });
  // Values of flags are booleans.
  return results
    .filter(({ value }) => value !== null && value !== "")
    .map(({ value, label, total }) => ({
      value: String(value),
      label: label === null ? null : String(label),
      total,
    }));
};
