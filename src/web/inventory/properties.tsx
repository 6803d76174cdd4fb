import { ClosedCard, KeyValues } from "../components/layout.tsx";
import { applies, type Declaration, findField, isSuffix, titleField } from "./declaration.ts";
import { type Row, findSuffix, Value } from "./record.tsx";

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
/** Values of fields for clients that no client has set. */
const UNSET = new Set<unknown>([false, "None"]);

/** The fields of a record with values: fields that the page shows nowhere else, and fields that few people need. */
export function shownFields(of: Declaration, { values }: Row): { main: string[]; advanced: string[] } {
  const names = Object.keys(of.fields).filter((name) => {
    const field = of.fields[name];
    if (field.form?.shownIn || name === titleField(of) || isSuffix(of, name)) return false;
    if (isEmpty(values[name]) || !applies(field, values)) return false;
    if (field.form?.omitted || field.form?.derivedFrom) return false;
    return !(field.for_clients && UNSET.has(values[name]));
  });
  const isAdvanced = (name: string): boolean => of.fields[name].form?.advanced === true;
  return {
    main: names.filter((name) => !isAdvanced(name)),
    advanced: names.filter(isAdvanced),
  };
}

interface PropertiesProps {
  of: Declaration;
  row: Row;
  names: readonly string[];
}

export const Properties = (props: PropertiesProps) => <KeyValues of={listProperties(props)} />;

/** Names and values of fields and annotations. */
export const listProperties = ({ of, row, names }: PropertiesProps) =>
  names.map((name) => {
    const field = findField(of, name)!;
    const shown = { value: row.values[name], field, suffix: findSuffix(of, row, name) };
    return [field.label, <Value key={name} {...shown} />] as const;
  });

/** Fields that few people need. */
export const ClosedProperties = ({ title, ...props }: PropertiesProps & { title: string }) =>
  props.names.length === 0 ? null : (
    <ClosedCard title={title}>
      <Properties {...props} />
    </ClosedCard>
  );
