import { useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { ApiError } from "../request.ts";
import { useSession } from "../session.ts";
import { type Declaration, isCommon, writableFields } from "./declaration.ts";
import { asText, isFar, type Row, sent } from "./record.tsx";
import { bodyValue, ValueInput } from "./value-input.tsx";

/** Fields in the order in which people fill them in: what names the record, what must be there, the rest; who owns it last. */
function groupsOf(of: Declaration, superuser: boolean): { title: string; names: string[] }[] {
  const all = writableFields(of).map(([name]) => name);
  // Only administrators give records to others.
  const writable = superuser ? all : all.filter((name) => name !== "owner");
  const own = writable.filter((name) => !isCommon(name));
  const rank = (name: string): number =>
    name === of.key ? 0 : of.fields[name].write === "required" ? 1 : of.fields[name].kind === "flag" ? 3 : 2;
  return [
    { title: "", names: own.sort((a, b) => rank(a) - rank(b)) },
    { title: "Who may see it", names: writable.filter(isCommon) },
  ];
}

/** What is in the form before anything is typed. */
function initialValues(of: Declaration, row: Row | undefined): Record<string, string> {
  return Object.fromEntries(
    writableFields(of).map(([name, field]) => [name, row ? sent(row.values[name], field) : ""]),
  );
}

/** A form for a new record, or for one that is there, from its declaration; errors stand at their fields. */
export function RecordForm(props: {
  of: Declaration;
  /** The record as it is; undefined for a new one. */
  row?: Row | undefined;
  /** What is filled in before, such as by the address. */
  values?: Record<string, string>;
  submit: string;
  /** Sends what changed. @throws Refusal, whose errors are shown */
  onSubmit: (changed: Record<string, unknown>) => Promise<void>;
  onCancel: () => void;
}) {
  const { of, row } = props;
  const before = initialValues(of, row);
  const [values, setValues] = useState<Record<string, string>>({ ...before, ...props.values });
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const fields = error instanceof ApiError ? error.fields : {};
  const groups = groupsOf(of, useSession()?.user.is_superuser === true);
  const shown = new Set(groups.flatMap(({ names }) => names));
  const elsewhere = Object.keys(fields).length === 0 || Object.keys(fields).some((name) => !shown.has(name));
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const names = Object.keys(values).filter((name) => values[name] !== before[name]);
      const changed = names.map((name) => [name, bodyValue(values[name], of.fields[name])]);
      await props.onSubmit(Object.fromEntries(changed));
    } catch (problem) {
      setError(problem);
      // After the errors are there, to the first of them.
      setTimeout(() => document.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
    }
    setBusy(false);
  };
  return (
    <form onSubmit={submit} noValidate>
      {error !== null && elsewhere && <ErrorBanner error={error} />}
      {groups.map(
        ({ title, names }) =>
          names.length > 0 && (
            <fieldset key={title} class="form-group">
              {title && <legend>{title}</legend>}
              {names.map((name) => (
                <ValueInput
                  key={name}
                  segment={of.name}
                  name={name}
                  field={of.fields[name]}
                  value={values[name] ?? ""}
                  shownName={nameOf(row, name, values[name] === before[name])}
                  errors={fields[name]}
                  onChange={(value) => setValues((old) => ({ ...old, [name]: value }))}
                />
              ))}
            </fieldset>
          ),
      )}
      <p class="row">
        <Button look="primary" type="submit" busy={busy}>
          {props.submit}
        </Button>
        <Button onClick={props.onCancel}>Cancel</Button>
      </p>
    </form>
  );
}

const nameOf = (row: Row | undefined, name: string, unchanged: boolean): string | undefined => {
  const value = row?.values[name];
  return unchanged && isFar(value) ? asText(value) : undefined;
};
