import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Icon, type IconName } from "./icon.tsx";
import { capitalized } from "../format.tsx";

export interface FieldProps {
  label: string;
  /** Advice on filling it in. */
  hint?: ComponentChildren;
  /** Messages about the value. */
  errors?: readonly string[] | undefined;
  optional?: boolean | undefined;
  /** Hides the label from sight. */
  hideLabel?: boolean | undefined;
}

/** Label, hint and errors of a control, which gets the attributes that tie them to it for screen readers. */
export function Field(props: FieldProps & { children: (attributes: { id: string }) => ComponentChildren }) {
  const { label, hint, errors = [], optional, children } = props;
  const id = useId();
  const notes = { hint, error: errors.length > 0 ? capitalized(errors.join(" ")) : undefined };
  const shown = (["hint", "error"] as const).filter((kind) => notes[kind] !== undefined);
  return (
    <div class="field">
      <label for={id} class={props.hideLabel ? "unseen" : undefined}>
        {label} {optional && <small>optional</small>}
      </label>
      {children({
        id,
        ...(shown.length > 0 ? { "aria-describedby": shown.map((kind) => `${id}-${kind}`).join(" ") } : {}),
        ...(errors.length > 0 ? { "aria-invalid": "true" } : {}),
      })}
      {shown.map((kind) => (
        <p key={kind} class={kind} id={`${id}-${kind}`}>
          {notes[kind]}
        </p>
      ))}
    </div>
  );
}

/** Attributes of `input` and `textarea`, besides the label. */
export interface TextOptions {
  type?: "text" | "password" | "search" | "email" | "number" | "date" | "url";
  name?: string | undefined;
  autocomplete?: string;
  autocapitalize?: "none";
  spellcheck?: boolean;
  inputMode?: "numeric" | "decimal" | "none";
  placeholder?: string;
  /** Id of a datalist with suggestions. */
  list?: string;
  maxLength?: number;
  min?: number | string;
  max?: number | string;
  step?: number | "any";
  required?: boolean;
  disabled?: boolean;
  autofocus?: boolean;
  /** Takes the focus when it appears. */
  focus?: boolean;
  /** Monospaced, as for sequences and patterns. */
  code?: boolean;
  /** Several lines of text. */
  rows?: number;
  onKeyDown?: (event: KeyboardEvent) => void;
  onBlur?: () => void;
}

/** One line of text, or several with `rows`. */
export function TextField(
  props: FieldProps & TextOptions & { value: string; onInput: (value: string) => void },
) {
  const { label, hint, errors, optional, hideLabel, onInput, code, focus, type = "text", ...rest } = props;
  const input = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    if (focus) input.current?.focus();
  }, []);
  const common = {
    ...(rest as object),
    ref: input,
    class: code ? "input mono" : "input",
    onInput: (event: { currentTarget: { value: string } }) => onInput(event.currentTarget.value),
  };
  return (
    <Field {...{ label, hint, errors, optional, hideLabel }}>
      {(attributes) =>
        rest.rows === undefined ? (
          <input {...common} {...attributes} type={type as "text"} />
        ) : (
          <textarea {...common} {...attributes} />
        )
      }
    </Field>
  );
}

/** Several lines of text. */
export const TextArea = (props: Parameters<typeof TextField>[0]) => <TextField rows={3} {...props} />;

export type Choices<Value extends string = string> = readonly {
  value: Value;
  name: string;
  fixed?: boolean;
}[];

/** One of a few options. */
export function SelectField<Value extends string>(
  props: FieldProps & { value: Value; choices: Choices<Value>; onChange: (value: Value) => void },
) {
  return (
    <Field {...props}>
      {(attributes) => (
        <select
          {...attributes}
          class="input"
          value={props.value}
          onChange={(event) => props.onChange(event.currentTarget.value as Value)}
        >
          {props.choices.map(({ value, name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** One of a few options, each as a card with an icon and a remark. */
export function ChoiceCards(
  props: FieldProps & {
    value: string;
    choices: readonly { value: string; name: string; remark: string; icon: IconName }[];
    onChange: (value: string) => void;
  },
) {
  const group = useId();
  const { label, value, choices, errors = [], onChange } = props;
  return (
    <fieldset class="field">
      <legend>{label}</legend>
      <div class="choice-cards">
        {choices.map((choice) => (
          <label key={choice.value} class="choice-card">
            <input
              type="radio"
              name={group}
              checked={value === choice.value}
              aria-invalid={errors.length > 0 ? "true" : undefined}
              onChange={() => onChange(choice.value)}
            />
            <Icon name={choice.icon} />
            <span>{choice.name}</span>
            <small>{choice.remark}</small>
          </label>
        ))}
      </div>
      {errors.length > 0 && <p class="error">{capitalized(errors.join(" "))}</p>}
    </fieldset>
  );
}

/** Yes or no. */
export const Checkbox = (props: {
  label: ComponentChildren;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
}) => (
  <label class="check">
    <input
      type="checkbox"
      checked={props.checked}
      disabled={props.disabled}
      onChange={({ currentTarget }) => {
        const { checked } = currentTarget;
        // It shows the new state once that is set: a change may be refused or cancelled.
        currentTarget.checked = props.checked;
        props.onChange(checked);
      }}
    />
    <span>{props.label}</span>
  </label>
);

/** Any number of options; `fixed` ones cannot be changed. */
export function Checklist(
  props: FieldProps & { value: readonly string[]; choices: Choices; onChange: (value: string[]) => void },
) {
  const { label, value, choices, errors = [], onChange } = props;
  return (
    <fieldset class="field">
      <legend>{label}</legend>
      <div class="checklist">
        {choices.map((choice) => (
          <Checkbox
            key={choice.value}
            label={choice.name}
            checked={value.includes(choice.value)}
            disabled={choice.fixed ?? false}
            onChange={(on) =>
              onChange([...value.filter((one) => one !== choice.value), ...(on ? [choice.value] : [])])
            }
          />
        ))}
      </div>
      {errors.length > 0 && <p class="error">{errors.join(" ")}</p>}
    </fieldset>
  );
}

/** A file to upload. */
export const FileField = (props: FieldProps & { accept: string; onChange: (file: File | null) => void }) => (
  <Field {...props}>
    {(attributes) => (
      <input
        {...attributes}
        type="file"
        accept={props.accept}
        // Otherwise nothing happens when a corrected file is chosen again.
        onClick={(event) => (event.currentTarget.value = "")}
        onChange={(event) => props.onChange(event.currentTarget.files?.[0] ?? null)}
      />
    )}
  </Field>
);

/** One of a few options, in a place that needs no visible label. */
export const Select = (props: {
  label: string;
  value: string;
  choices: readonly (readonly [value: string, name: string])[];
  onChange: (value: string) => void;
  small?: boolean;
}) => (
  <select
    class={props.small ? "input select-small" : "input"}
    aria-label={props.label}
    value={props.value}
    onChange={(event) => props.onChange(event.currentTarget.value)}
  >
    {props.choices.map(([value, name]) => (
      <option key={value} value={value}>
        {name}
      </option>
    ))}
  </select>
);
