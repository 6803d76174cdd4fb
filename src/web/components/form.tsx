import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../request.ts";
import { ErrorBanner } from "./banner.tsx";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import {
  Checkbox,
  Checklist,
  type Choices,
  FileField,
  SelectField,
  type TextOptions,
  TextField,
} from "./field.tsx";

/** A form sent by a button: once at a time, with its error until it succeeds. */
interface Submission {
  submit: (event?: Event) => void;
  busy: boolean;
  /** Messages by field. */
  fields: ApiError["fields"];
  error: unknown;
}

/** @param work throws an ApiError where the server refuses; returns true when it leaves the page */
export function useSubmission(work: () => Promise<boolean | void>): Submission {
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const run = async (): Promise<void> => {
    setBusy(true);
    try {
      const isLeaving = await work();
      setError(null);
      setBusy(isLeaving === true);
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return {
    submit(event) {
      event?.preventDefault();
      if (!busy) void run();
    },
    busy,
    fields: error instanceof ApiError ? error.fields : {},
    error,
  };
}

/** For a form whose first field takes the focus when it appears, and whenever `after` changes. */
export function useFirstFocus(after?: unknown): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>("input, textarea, select")?.focus(), [after]);
  return form;
}

/** The error of a submission, unless all of it belongs to a field in `shown`. */
export function FormError(props: { of: Submission; shown?: readonly string[]; focus?: boolean }) {
  const { error, fields } = props.of;
  const names = Object.keys(fields);
  const isPlaced =
    names.length > 0 && names.every((name) => props.shown?.includes(name.split(".")[0]) ?? true);
  return error === null || isPlaced ? null : <ErrorBanner error={error} focus={props.focus ?? false} />;
}

type Look = "primary" | "plain" | "danger";

/** The button that sends a form, what is beside it, and Cancel. */
export const FormButtons = (props: {
  of: Pick<Submission, "busy">;
  submit: ComponentChildren;
  look?: Look | undefined;
  disabled?: boolean;
  onCancel?: (() => void) | undefined;
  children?: ComponentChildren;
}) => (
  <div class="actions">
    <Button
      look={props.look ?? "primary"}
      type="submit"
      busy={props.of.busy}
      disabled={props.disabled ?? false}
    >
      {props.submit}
    </Button>
    {props.children}
    {props.onCancel && (
      <Button look="quiet" onClick={props.onCancel}>
        Cancel
      </Button>
    )}
  </div>
);

/** A field of a form by the name that requests use; a text field unless `kind` says otherwise. */
export type FormField<Values> = {
  name: keyof Values & string;
  label: string;
  hint?: ComponentChildren;
  /** May be left empty; `unmarked` where that is obvious. */
  optional?: boolean | "unmarked";
  /** Hides the label from sight. */
  hideLabel?: boolean;
  /** A message about the value; with it, nothing is sent. */
  problem?: string | undefined;
} & (
  | (Omit<TextOptions, "name"> & {
      kind?: "text";
      /** A name or code: `mono` for monospaced, without capitals and spelling corrections. */
      literal?: boolean | "mono";
    })
  | { kind: "select" | "checklist"; choices: Choices }
  | { kind: "checkbox" }
  | { kind: "file"; accept: string; onChoose?: (file: File | null) => Partial<Values> }
);

interface FormProps<Values> {
  fields: readonly FormField<Values>[] | ((values: Values) => readonly FormField<Values>[]);
  initial: Values;
  /** Label of the button. */
  submit: string;
  /** Sends the values; see useSubmission. */
  onSubmit: (values: Values, change: (patch: Partial<Values>) => void) => Promise<boolean | void>;
  onCancel?: (() => void) | undefined;
  look?: Look | undefined;
  /** Fields side by side. */
  inline?: boolean;
  /** Empties the form after success. */
  reset?: boolean;
  /** Moves the focus to an error that belongs to no field. */
  focusError?: boolean;
  /** Above the fields. */
  children?: ComponentChildren;
  /** Beside the buttons. */
  extra?: ComponentChildren;
}

/** A form made from a list of fields; errors of the server appear at the fields they name. */
export function Form<Values extends object>(props: FormProps<Values>) {
  const [values, setValues] = useState(props.initial);
  const fields = typeof props.fields === "function" ? props.fields(values) : props.fields;
  const change = (patch: Partial<Values>): void => setValues((before) => ({ ...before, ...patch }));
  const form = useSubmission(async () => {
    if (fields.some(({ problem }) => problem !== undefined)) return false;
    const isLeaving = await props.onSubmit(values, change);
    if (props.reset) setValues(props.initial);
    return isLeaving;
  });
  return (
    <form class={props.inline ? "form-inline" : "form"} onSubmit={form.submit} method="post">
      {props.children}
      <FormError of={form} shown={fields.map(({ name }) => name)} focus={props.focusError ?? false} />
      {fields.map((field) => (
        <FormControl
          key={`${field.name} ${field.label}`}
          field={field}
          value={values[field.name]}
          errors={field.problem === undefined ? form.fields[field.name] : [field.problem]}
          change={change}
        />
      ))}
      <FormButtons of={form} submit={props.submit} look={props.look} onCancel={props.onCancel}>
        {props.extra}
      </FormButtons>
    </form>
  );
}

function FormControl<Values extends object>(props: {
  field: FormField<Values>;
  value: unknown;
  errors: readonly string[] | undefined;
  change: (patch: Partial<Values>) => void;
}) {
  const { name, problem: _problem, optional, ...field } = props.field;
  const shared = { errors: props.errors, optional: optional === true };
  const set = (value: unknown): void => props.change({ [name]: value } as Partial<Values>);
  switch (field.kind) {
    case "select":
      return <SelectField {...field} {...shared} value={props.value as string} onChange={set} />;
    case "checklist":
      return <Checklist {...field} {...shared} value={props.value as string[]} onChange={set} />;
    case "checkbox":
      return <Checkbox label={field.label} checked={props.value as boolean} onChange={set} />;
    case "file": {
      const { onChoose, ...rest } = field;
      const choose = (file: File | null): void =>
        props.change({ [name]: file, ...onChoose?.(file) } as Partial<Values>);
      return <FileField {...rest} {...shared} onChange={choose} />;
    }
    default: {
      const { kind: _kind, literal, ...rest } = field;
      const literally = { autocapitalize: "none", spellcheck: false, code: literal === "mono" } as const;
      const text = { ...rest, ...shared, ...(literal ? literally : {}), name, required: !optional };
      return <TextField {...text} value={props.value as string} onInput={set} />;
    }
  }
}

/** A form in a dialog, which `onClose` closes after success and when it is cancelled. */
export function FormDialog<Values extends object>({
  title,
  onClose,
  onSubmit,
  ...form
}: FormProps<Values> & { title: string; onClose: () => void }) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        {...form}
        onCancel={onClose}
        onSubmit={async (values, change) => {
          await onSubmit(values, change);
          onClose();
          return true;
        }}
      />
    </Dialog>
  );
}
