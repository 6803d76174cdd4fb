import { Icon } from "../components/icon.tsx";
import { KeyValues } from "../components/layout.tsx";
import { applies, type Declaration, isCommon } from "./declaration.ts";
import { isNamed, type Row, unitOf, Value } from "./record.tsx";

/** Fields that other parts of the page show. */
const SHOWN_ELSEWHERE = new Set(
  "unit currency grid_rows grid_columns numbering below_minimum description status barcode".split(" "),
);
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

export const Properties = ({ of, row, names }: PropertiesProps) => (
  <KeyValues
    of={names.map((name) => [
      of.fields[name].label,
      <Value
        key={name}
        value={row.values[name]}
        field={of.fields[name]}
        name={name}
        unit={unitOf(row, name)}
      />,
    ])}
  />
);

/** Fields that few people look at. */
export const ClosedProperties = ({ title, ...props }: PropertiesProps & { title: string }) =>
  props.names.length === 0 ? null : (
    <details class="card disclosed">
      <summary class="card-head">
        <Icon name="chevron-right" />
        {title}
      </summary>
      <div class="card-body">
        <Properties {...props} />
      </div>
    </details>
  );
