import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface About {
  label: string;
  /** What to put in, below the label. */
  hint?: ComponentChildren;
  /** What is wrong with it. */
  errors?: readonly string[] | undefined;
  optional?: boolean;
}

/** Name, hint and errors around a control, tied to it for screen readers. */
function Field(props: About & { id: string; children: ComponentChildren }) {
  const { id, label, hint, errors = [], optional } = props;
  return (
    <div class="field">
      <label for={id}>
        {label} {optional && <small>optional</small>}
      </label>
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {props.children}
      {errors.length > 0 && (
        <p class="error" id={`${id}-error`}>
          {capital(errors.join(" "))}
        </p>
      )}
    </div>
  );
}

/** The server names the field before what is wrong; here the field stands above. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function described(
  id: string,
  { hint, errors = [] }: About,
): { "aria-describedby"?: string; "aria-invalid"?: "true" } {
  const by = [hint !== undefined && `${id}-hint`, errors.length > 0 && `${id}-error`].filter(Boolean);
  return {
    ...(by.length > 0 ? { "aria-describedby": by.join(" ") } : {}),
    ...(errors.length > 0 ? { "aria-invalid": "true" } : {}),
  };
}

/** What fields of text have in common with `input` and `textarea`. */
interface Text extends About {
  value: string;
  onInput: (value: string) => void;
  name?: string;
  autocomplete?:
    "username" | "current-password" | "new-password" | "one-time-code" | "email" | "name" | "off";
  autocapitalize?: "none";
  spellcheck?: boolean;
  required?: boolean;
  disabled?: boolean;
  autofocus?: boolean;
  placeholder?: string;
  maxLength?: number;
  /** Set in the type of sequences and patterns. */
  code?: boolean;
  onKeyDown?: (event: KeyboardEvent) => void;
  onBlur?: () => void;
}

/** One line of text. */
export function TextField(
  props: Text & {
    type?: "text" | "password" | "search" | "email" | "number" | "date" | "url";
    inputMode?: "numeric" | "decimal" | "none";
    /** Id of a datalist with proposals. */
    list?: string;
    min?: number | string;
    max?: number | string;
    step?: number | "any";
  },
) {
  const { label, hint, errors, optional = false, onInput, code, type = "text", ...rest } = props;
  const id = useId();
  return (
    <Field {...{ id, label, hint, errors, optional }}>
      <input
        {...(rest as object)}
        {...described(id, props)}
        type={type as "text"}
        id={id}
        class={code ? "code" : undefined}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </Field>
  );
}

/** Several lines of text. */
export function TextArea(props: Text & { rows?: number }) {
  const { label, hint, errors, optional = false, onInput, code, ...rest } = props;
  const id = useId();
  return (
    <Field {...{ id, label, hint, errors, optional }}>
      <textarea
        {...(rest as object)}
        {...described(id, props)}
        id={id}
        class={code ? "code" : undefined}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </Field>
  );
}

/** One of some choices. */
export function SelectField<Value extends string>(
  props: About & {
    value: Value;
    choices: readonly { value: Value; name: string }[];
    onChange: (value: Value) => void;
  },
) {
  const { label, hint, errors, optional = false, value, choices, onChange } = props;
  const id = useId();
  return (
    <Field {...{ id, label, hint, errors, optional }}>
      <select
        {...(described(id, props) as object)}
        id={id}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value as Value)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.name}
          </option>
        ))}
      </select>
    </Field>
  );
}

/** Yes or no. */
export function Checkbox(props: {
  label: ComponentChildren;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
}) {
  return (
    <label class="checkbox">
      <input
        type="checkbox"
        checked={props.checked}
        disabled={props.disabled}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      <span>{props.label}</span>
    </label>
  );
}
