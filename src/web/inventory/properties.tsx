import { ClosedCard, KeyValues } from "../components/layout.tsx";
import { applies, type Declaration, fieldOf, isCommon } from "./declaration.ts";
import { isInTree } from "./location-card.tsx";
import { isNamed, type Row, unitOf, Value } from "./record.tsx";

/** Fields that other parts of the page show. */
const SHOWN_ELSEWHERE = new Set(
  "unit currency grid_rows grid_columns numbering below_minimum description status barcode".split(" "),
);
/** Fields of a location that the path to it shows. */
const IN_PATH = new Set("parent equipment place".split(" "));
/** Fields that the card of stock shows. */
const IN_STOCK = new Set("amount minimum_amount received opened expiry freeze_thaw_count lot".split(" "));
const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
/** Values of fields for clients that no client has set. */
const UNSET = new Set<unknown>([false, "None"]);

/** Whether the head of the page or one of its cards shows a field. */
function isShownElsewhere(of: Declaration, { values }: Row, name: string): boolean {
  const { form } = of.fields[name];
  if (name === (of.fields[of.key]?.form?.derivedFrom ?? of.key)) return true;
  if (IN_PATH.has(name)) return isInTree(of.name);
  if (name === "capacity") return typeof values.grid_rows === "number";
  if (name === "location" || name === "position") return isNamed(values.location);
  if (name === "model_type") return form?.when === undefined;
  if (name === "type") return form?.cards !== true;
  return SHOWN_ELSEWHERE.has(name) || ("freeze_thaw_count" in of.fields && IN_STOCK.has(name));
}

/** The fields of a record with values: those that the page shows nowhere else, and those that few people need. */
export function shownFields(of: Declaration, row: Row): { main: string[]; advanced: string[] } {
  const { values } = row;
  const names = Object.keys(of.fields).filter((name) => {
    const field = of.fields[name];
    if (isCommon(name) || isEmpty(values[name]) || !applies(field, values)) return false;
    if (field.form?.omitted || (field.for_clients && UNSET.has(values[name]))) return false;
    return !isShownElsewhere(of, row, name);
  });
  const isAdvanced = (name: string): boolean =>
    of.fields[name].form?.advanced === true || of.fields[name].form?.derivedFrom !== undefined;
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

export const Properties = (props: PropertiesProps) => <KeyValues of={pairsOf(props)} />;

/** Names and values of fields and annotations. */
export const pairsOf = ({ of, row, names }: PropertiesProps) =>
  names.map((name) => {
    const field = fieldOf(of, name)!;
    const shown = { value: row.values[name], field, name, unit: unitOf(row, name) };
    return [field.label, <Value key={name} {...shown} />] as const;
  });

/** Fields that few people look at. */
export const ClosedProperties = ({ title, ...props }: PropertiesProps & { title: string }) =>
  props.names.length === 0 ? null : (
    <ClosedCard title={title}>
      <Properties {...props} />
    </ClosedCard>
  );
