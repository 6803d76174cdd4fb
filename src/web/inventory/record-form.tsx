import type { Json } from "../../inventory/model/field.ts";
import { type ComponentChildren, Fragment } from "preact";
import { useState } from "preact/hooks";
import { TextField } from "../components/field.tsx";
import { FormButtons, FormError, useFirstFocus, useSubmission } from "../components/form.tsx";
import { ClosedCard } from "../components/layout.tsx";
import { ApiError } from "../request.ts";
import { useSession } from "../session.ts";
import {
  applies,
  parseConstant,
  type Declaration,
  type FieldInfo,
  findField,
  formFields,
  inWords,
  isCommon,
  isEditable,
  machineName,
  storedIn,
} from "./declaration.ts";
import { isTypeList, isVocabulary, Terms, TypePreview } from "./type-form.tsx";
import { formatText, parseInput, formatInput, isNamed, type Row } from "./record.tsx";
import { useFreeSlots } from "./free-slots.tsx";
import { ValueInput } from "./value-input.tsx";

type Values = Readonly<Record<string, string>>;

interface Group {
  title: string;
  names: string[];
  closed?: true;
}

/**
 * The parts of a form: the record's name, required fields, then the rest; the groups of the declaration in its order;
 * annotations. The fields that few people need come last, closed. `given`: the values at first.
 */
export function groupFields(
  of: Declaration,
  values: Values,
  isSuperuser: boolean,
  annotations: readonly string[] = [],
  given = values,
): Group[] {
  const names = formFields(of).flatMap(([name, { form }]) =>
    form?.administrators && !isSuperuser ? [] : name,
  );
  const rank = (name: string): number => {
    const { write, kind, form } = of.fields[name];
    if (form?.order !== undefined) return form.order - 1000;
    return name === of.key ? 0 : write === "required" ? 1 : kind === "flag" ? 3 : 2;
  };
  const own = names
    .filter(
      (name) =>
        !isCommon(of.fields[name]) && !of.fields[name].form?.derivedFrom && applies(of.fields[name], values),
    )
    .toSorted((a, b) => rank(a) - rank(b));
  const isAsked = isAskedFor(of, values, given);
  const advanced = own.filter((name) => of.fields[name].form?.advanced);
  const more = own.filter((name) => !isAsked(name));
  const parts = Map.groupBy(
    own.filter((name) => !of.fields[name].form?.advanced && isAsked(name)),
    (name) => of.fields[name].form?.group ?? "Properties",
  );
  if (annotations.length > 0) parts.set("Metadata", [...annotations]);
  const groups: Group[] = Array.from(parts, ([title, names]) => ({ title, names }));
  if (more.length > 0) groups.push({ title: "More fields", names: more, closed: true });
  const last = [...advanced, ...names.filter((name) => isCommon(of.fields[name]))];
  if (last.length > 0)
    groups.push({ title: advanced.length > 0 ? "Advanced" : "Access", names: last, closed: true });
  return groups;
}

/**
 * Tests for the fields that records of this type usually have, or that had a value at first: a field must not move while
 * somebody types into it. A type that is not known has all fields.
 */
function isAskedFor(
  { fields }: Declaration,
  { model_type = "" }: Values,
  given: Values,
): (name: string) => boolean {
  const type = parseConstant(model_type, undefined);
  const isKnown = type === "" || Object.values(fields).some(({ form }) => form?.types?.includes(type));
  const isUsual = ({ form }: FieldInfo): boolean => !form?.types || !isKnown || form.types.includes(type);
  return (name) => Boolean(given[name]?.trim()) || isUsual(fields[name]);
}

/** Annotations in a form: annotations with a value, and custom properties of records of this type. */
export const formAnnotations = (of: Declaration, before: Values, { model_type = "" }: Values): string[] =>
  Object.entries(of.annotations).flatMap(([name, field]) => {
    const isOwn =
      field.annotation!.model_type !== "" &&
      field.annotation!.model_type === parseConstant(model_type, undefined);
    return isEditable(field) && (isOwn || before[name]) ? name : [];
  });

/** True if a form needs a value, though the API may not. */
const isNeeded = (of: Declaration, name: string, values: Values): boolean => {
  const field = findField(of, name)!;
  if (field.write === "required" && !field.form?.derivedFrom) return true;
  return (
    (field.form?.when?.required === true && applies(field, values)) ||
    Object.values(of.fields).some(({ form }) => form?.derivedFrom === name)
  );
};

/** The values to send: machine names are derived from labels, and fields that no longer apply are omitted. */
export function sentValues(of: Declaration, values: Values): Record<string, string> {
  const fields = formFields(of);
  const missing = fields.filter(([name]) => isNeeded(of, name, values) && !values[name]?.trim());
  if (missing.length > 0)
    throw new ApiError(400, "invalid_request", "Fill in the missing fields.", {
      fields: Object.fromEntries(missing.map(([name]) => [name, ["This field is required."]])),
    });
  const annotations = Object.entries(of.annotations).filter(([name]) => name in values);
  return Object.fromEntries(
    [...fields, ...annotations].map(([name, field]) => {
      const from = field.form?.derivedFrom;
      if (from && !values[name]) return [name, machineName(values[from] ?? "")];
      return [name, applies(field, values) ? (values[name] ?? "") : ""];
    }),
  );
}

interface RecordFormProps {
  of: Declaration;
  /** Undefined for a new record. */
  row?: Row | undefined;
  /** Filled in beforehand. */
  values?: Record<string, string>;
  submit: string;
  /** Sends the changed fields. @throws ApiError */
  onSubmit: (changed: Record<string, Json>) => Promise<void>;
  onCancel: () => void;
}

const initialText = (field: FieldInfo): string => (field.initial === true ? "true" : "");

/** A form for a new record or an existing one, made from the declaration. */
export function RecordForm(props: RecordFormProps) {
  const { of, row } = props;
  const before = Object.fromEntries(
    [...formFields(of), ...Object.entries(of.annotations)].map(([name, field]) => [
      name,
      row ? formatInput(row.values[name], field) : initialText(field),
    ]),
  );
  const given = { ...before, ...props.values };
  const [values, setValues] = useState<Record<string, string>>(given);
  const annotations = formAnnotations(of, given, values);
  const location = storedIn(of);
  const position = location && of.fields[location].form!.suffix;
  const positionHint = usePositionHint((location && values[location]) ?? "");
  const groups = groupFields(of, values, useSession()?.user.is_superuser === true, annotations, given);
  const element = useFirstFocus();
  const form = useSubmission(async () => {
    try {
      const sent = sentValues(of, values);
      const names = Object.keys(sent).filter((name) => sent[name] !== before[name]);
      // A record that moves without a position loses it.
      if (position && names.includes(location) && values[position]) names.push(position);
      await props.onSubmit(
        Object.fromEntries(names.map((name) => [name, parseInput(sent[name], findField(of, name)!)])),
      );
    } catch (error) {
      // After the errors appear, to the first of them.
      setTimeout(() => document.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
      throw error;
    }
  });
  /** The name in requests that follows from a label, where the server refuses it. */
  const derivedField = (from: string) => {
    const name = Object.keys(of.fields).find((other) => of.fields[other].form?.derivedFrom === from);
    if (name === undefined || !form.fields[name]) return null;
    return (
      <TextField
        label={of.fields[name].label}
        value={values[name] || machineName(values[from] ?? "")}
        errors={form.fields[name]}
        code
        onInput={(changed) => setValues((old) => ({ ...old, [name]: changed }))}
      />
    );
  };
  const input = (name: string) => {
    const value = row?.values[name];
    const isUnchanged = values[name] === before[name];
    const set = (changed: string): void => setValues((old) => ({ ...old, [name]: changed }));
    const field = findField(of, name)!;
    return (
      <Fragment key={name}>
        <ValueInput
          segment={of.name}
          name={name}
          field={isNeeded(of, name, values) ? { ...field, write: "required" } : field}
          value={values[name] ?? ""}
          referenceName={isUnchanged && isNamed(value) ? formatText(value) : undefined}
          errors={form.fields[name]?.map((message) => inWords(message, field, Object.values(of.fields)))}
          onChange={set}
          {...(name === position && positionHint ? { hint: positionHint } : {})}
        />
        {isTypeList(of) && isVocabulary(field) && values[name] && <Terms category={values[name]} />}
        {derivedField(name)}
      </Fragment>
    );
  };
  return (
    <div class={isTypeList(of) ? "with-panel" : undefined}>
      <form ref={element} class="form" onSubmit={form.submit} noValidate>
        <FormError of={form} shown={[...groups.flatMap(({ names }) => names), of.key]} />
        {groups.map((group) =>
          group.closed ? (
            <Advanced
              key={group.title}
              of={of}
              group={group}
              isOpen={group.names.some((name) => name in form.fields)}
            >
              {group.names.map(input)}
            </Advanced>
          ) : (
            <fieldset key={group.title} class="card">
              <legend class="card-head">{group.title}</legend>
              <div class="card-body">
                {pairFields(of, group.names).map((names) =>
                  names.length === 1 ? (
                    input(names[0])
                  ) : (
                    <div key={names[0]} class="field-pair">
                      {names.map(input)}
                    </div>
                  ),
                )}
              </div>
            </fieldset>
          ),
        )}
        <FormButtons of={form} submit={props.submit} onCancel={props.onCancel} />
      </form>
      {isTypeList(of) && <TypePreview of={of} values={values} />}
    </div>
  );
}

/** The next free position of a location with a grid; undefined for others. */
function usePositionHint(location: string): string | undefined {
  const space = useFreeSlots("locations", location);
  if (space?.free === 0) return "The location is full.";
  const isHere = space?.next?.location.id === location && space.next.position !== "";
  return isHere ? `Next free position: ${space.next!.position}.` : undefined;
}

/** The fields of a group in rows: units and positions next to their fields, others as declared. */
export function pairFields({ fields }: Pick<Declaration, "fields">, names: readonly string[]): string[][] {
  const rows: string[][] = [];
  for (const name of names) {
    const isBeside = ([first]: string[]): boolean =>
      fields[first]?.form?.suffix === name || fields[name]?.form?.beside === first;
    const row = rows.find((each) => each.length === 1 && isBeside(each));
    if (row) row.push(name);
    else rows.push([name]);
  }
  return rows;
}

/** Fields that few people need, behind a heading that names some of them. */
function Advanced(props: { of: Declaration; group: Group; isOpen: boolean; children: ComponentChildren }) {
  const { of, group, isOpen, children } = props;
  const some = group.names.slice(0, 5).map((name) => of.fields[name].label.toLowerCase());
  return (
    <ClosedCard title={group.title} note={some.join(", ")} open={isOpen}>
      {children}
    </ClosedCard>
  );
}
