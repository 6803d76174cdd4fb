import { useEffect, useId, useState } from "preact/hooks";
import { Checkbox, SelectField, TextArea, TextField } from "../components/field.tsx";
import { get } from "../request.ts";
import { api, type FieldInfo } from "./declaration.ts";
import { Picker } from "./picker.tsx";

/** Prose is longer than this. */
const LINE = 1000;

/** One field of a form, as its declaration asks. The value is what a body takes, as text. */
export function ValueInput(props: {
  segment: string;
  name: string;
  field: FieldInfo;
  value: string;
  /** Of what a reference refers to, where it is known. */
  shownName?: string | undefined;
  label?: string;
  hint?: string;
  errors?: readonly string[] | undefined;
  onChange: (value: string) => void;
}) {
  const { segment, name, field, value, onChange, errors } = props;
  const label = props.label ?? field.label;
  const optional = field.write !== "required";
  const hint = props.hint ?? hintOf(field);
  const about = { label, errors, optional, ...(hint === "" ? {} : { hint }) };
  const proposals = useProposals(segment, name, field);
  const listId = useId();
  if (field.reference)
    return (
      <Picker {...about} to={field.reference} value={value} name={props.shownName} onChoose={onChange} />
    );
  if (field.kind === "flag")
    return (
      <div class="field">
        <Checkbox
          label={
            <>
              <strong>{label}</strong> <span class="muted">{hint}</span>
            </>
          }
          checked={value === "true"}
          onChange={(on) => onChange(String(on))}
        />
        {errors && errors.length > 0 && <p class="error">{errors.join(" ")}</p>}
      </div>
    );
  if (field.choices)
    return (
      <SelectField
        {...about}
        value={value}
        choices={[
          ...(optional || value === "" ? [{ value: "", name: "–" }] : []),
          ...field.choices.map((choice) => ({ value: choice, name: choice })),
        ]}
        onChange={onChange}
      />
    );
  if (field.kind === "json" || (field.max_length ?? 0) > LINE)
    return (
      <TextArea
        {...about}
        rows={field.kind === "json" ? 4 : 3}
        code={field.kind === "json"}
        value={value}
        onInput={onChange}
      />
    );
  const isNumber = field.kind === "integer" || field.kind === "number";
  return (
    <>
      <TextField
        {...about}
        value={value}
        onInput={onChange}
        autocomplete="off"
        list={listId}
        {...(isNumber ? { inputMode: "decimal" as const } : {})}
        {...(field.max_length === null ? {} : { maxLength: field.max_length })}
      />
      <datalist id={listId}>
        {proposals.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </>
  );
}

const hintOf = ({ help_text, rule }: FieldInfo): string =>
  rule ? `${help_text} Of the form: ${rule}.` : help_text;

/** Values that a field of few values has in other records. */
function useProposals(segment: string, name: string, field: FieldInfo): string[] {
  const [found, set] = useState<string[]>([]);
  const few = field.kind === "text" && field.rule !== null && field.choices === null;
  useEffect(() => {
    if (!few) return;
    valuesOf(segment, name).then(set, () => {});
  }, [segment, name, few]);
  return found;
}

const asked = new Map<string, Promise<string[]>>();

/** The values that a field has in the records of a list, the most frequent first. */
export function valuesOf(segment: string, name: string): Promise<string[]> {
  const key = `${segment} ${name}`;
  let values = asked.get(key);
  if (!values) {
    values = get<{ results: { value: unknown }[] }>(api(segment, "values/"), { field: name }).then(
      ({ results }) => results.map(({ value }) => String(value ?? "")).filter((value) => value !== ""),
    );
    asked.set(key, values);
  }
  return values;
}

/** A value of a form as a body takes it. @throws SyntaxError for JSON that is none */
export function bodyValue(value: string, field: FieldInfo): unknown {
  if (field.kind === "flag") return value === "true";
  if (value === "" && field.nullable) return null;
  if (field.kind === "json") return JSON.parse(value);
  return value;
}
