import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

interface Labelled {
  label: string;
  /** How to fill it in. */
  hint?: ComponentChildren;
  /** What is wrong with the value. */
  errors?: readonly string[] | undefined;
  optional?: boolean;
}

/** Label, hint and errors around a control, tied to it for screen readers. */
function Field(props: Labelled & { id: string; children: ComponentChildren }) {
  const { id, label, hint, errors = [], optional } = props;
  return (
    <div class="field">
      <label for={id}>
        {label} {optional && <small>optional</small>}
      </label>
      {props.children}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {errors.length > 0 && (
        <p class="error" id={`${id}-error`}>
          {capital(errors.join(" "))}
        </p>
      )}
    </div>
  );
}

/** The server starts a message with the name of the field, which the label shows already. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function described(id: string, { hint, errors = [] }: Labelled) {
  const by = [hint !== undefined && `${id}-hint`, errors.length > 0 && `${id}-error`].filter(Boolean);
  return {
    id,
    ...(by.length > 0 ? { "aria-describedby": by.join(" ") } : {}),
    ...(errors.length > 0 ? { "aria-invalid": "true" as const } : {}),
  };
}

export type Autocomplete =
  "username" | "current-password" | "new-password" | "one-time-code" | "email" | "name" | "off";

interface TextProps extends Labelled {
  value: string;
  onInput: (value: string) => void;
  name?: string | undefined;
  autocomplete?: Autocomplete | undefined;
  autocapitalize?: "none";
  spellcheck?: boolean;
  required?: boolean;
  disabled?: boolean;
  autofocus?: boolean;
  placeholder?: string;
  maxLength?: number;
  /** Monospaced, as for sequences and patterns. */
  code?: boolean;
  onKeyDown?: (event: KeyboardEvent) => void;
  onBlur?: () => void;
}

/** What one-line fields take besides. */
export interface InputProps {
  type?: "text" | "password" | "search" | "email" | "number" | "date" | "url";
  inputMode?: "numeric" | "decimal" | "none";
  /** Id of a datalist with suggestions. */
  list?: string;
  min?: number | string;
  max?: number | string;
  step?: number | "any";
  /** Takes the focus when it appears. */
  focus?: boolean;
}

/** One line of text. */
export function TextField(props: TextProps & InputProps) {
  const { label, hint, errors, optional = false, onInput, code, focus, type = "text", ...rest } = props;
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (focus) input.current?.focus();
  }, []);
  return (
    <Field {...{ id, label, hint, errors, optional }}>
      <input
        {...(rest as object)}
        {...described(id, props)}
        ref={input}
        type={type as "text"}
        class={code ? "input mono" : "input"}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </Field>
  );
}

/** Several lines of text. */
export function TextArea(props: TextProps & { rows?: number }) {
  const { label, hint, errors, optional = false, onInput, code, ...rest } = props;
  const id = useId();
  return (
    <Field {...{ id, label, hint, errors, optional }}>
      <textarea
        {...(rest as object)}
        {...described(id, props)}
        class={code ? "input mono" : "input"}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </Field>
  );
}

/** One of a few options. */
export function SelectField<Value extends string>(
  props: Labelled & {
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
        {...described(id, props)}
        class="input"
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
    <label class="check">
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

/** Any number of options. */
export function Checklist(props: {
  label: string;
  value: readonly string[];
  choices: readonly { value: string; name: string; fixed?: boolean }[];
  errors?: readonly string[] | undefined;
  onChange: (value: string[]) => void;
}) {
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
              onChange(on ? [...value, choice.value] : value.filter((one) => one !== choice.value))
            }
          />
        ))}
      </div>
      {errors.length > 0 && <p class="error">{errors.join(" ")}</p>}
    </fieldset>
  );
}

/** A file to upload. */
export function FileField(props: Labelled & { accept: string; onChange: (file: File | null) => void }) {
  const { label, hint, errors, accept, onChange } = props;
  const id = useId();
  return (
    <Field {...{ id, label, hint, errors }}>
      <input
        {...described(id, props)}
        type="file"
        accept={accept}
        // Otherwise nothing happens when the same file is chosen again after a correction.
        onClick={(event) => (event.currentTarget.value = "")}
        onChange={(event) => onChange(event.currentTarget.files?.[0] ?? null)}
      />
    </Field>
  );
}
