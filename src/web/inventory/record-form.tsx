import { useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { useSession } from "../session.ts";
import { type Declaration, isCommon, formFields } from "./declaration.ts";
import { asText, bodyOf, inputOf, isNamed, type Row } from "./record.tsx";
import { ValueInput } from "./value-input.tsx";

/** Names of the fields: the record's name, required fields, the rest; access last. */
function groupsOf(of: Declaration, isSuperuser: boolean): { title: string; names: string[] }[] {
  // Only administrators change owners.
  const names = formFields(of).flatMap(([name]) => (name === "owner" && !isSuperuser ? [] : name));
  const rank = (name: string): number => {
    const { write, kind } = of.fields[name];
    return name === of.key ? 0 : write === "required" ? 1 : kind === "flag" ? 3 : 2;
  };
  return [
    {
      title: "Properties",
      names: names.filter((name) => !isCommon(name)).toSorted((a, b) => rank(a) - rank(b)),
    },
    { title: "Access", names: names.filter(isCommon) },
  ];
}

/** A form for a new record or an existing one, made from the declaration. */
export function RecordForm(props: {
  of: Declaration;
  /** Undefined for a new record. */
  row?: Row | undefined;
  /** Filled in beforehand. */
  values?: Record<string, string>;
  submit: string;
  /** Sends the changed fields. @throws ApiError */
  onSubmit: (changed: Record<string, unknown>) => Promise<void>;
  onCancel: () => void;
}) {
  const { of, row } = props;
  const before = Object.fromEntries(
    formFields(of).map(([name, field]) => [name, row ? inputOf(row.values[name], field) : ""]),
  );
  const [values, setValues] = useState<Record<string, string>>({ ...before, ...props.values });
  const groups = groupsOf(of, useSession()?.user.is_superuser === true);
  const form = useSubmission(async () => {
    const names = Object.keys(values).filter((name) => values[name] !== before[name]);
    // A record that moves without a position loses it.
    if (names.includes("location") && values.position) names.push("position");
    try {
      await props.onSubmit(
        Object.fromEntries(names.map((name) => [name, bodyOf(values[name], of.fields[name])])),
      );
    } catch (error) {
      // After the errors appear, to the first of them.
      setTimeout(() => document.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
      throw error;
    }
  });
  return (
    <form class="form" onSubmit={form.submit} noValidate>
      <FormError of={form} shown={groups.flatMap(({ names }) => names)} />
      {groups.map(
        ({ title, names }) =>
          names.length > 0 && (
            <fieldset key={title} class="card">
              <legend class="card-head">{title}</legend>
              <div class="card-body">
                {names.map((name) => {
                  const value = row?.values[name];
                  const isUnchanged = values[name] === before[name];
                  return (
                    <ValueInput
                      key={name}
                      segment={of.name}
                      name={name}
                      field={of.fields[name]}
                      value={values[name] ?? ""}
                      referenceName={isUnchanged && isNamed(value) ? asText(value) : undefined}
                      errors={form.fields[name]}
                      onChange={(changed) => setValues((old) => ({ ...old, [name]: changed }))}
                    />
                  );
                })}
              </div>
            </fieldset>
          ),
      )}
      <div class="actions">
        <Button look="primary" type="submit" busy={form.busy}>
          {props.submit}
        </Button>
        <Button look="quiet" onClick={props.onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
