import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { formatCount } from "../format.tsx";
import { Button } from "./button.tsx";
import { Checkbox } from "./field.tsx";

/** More values are folded up, but for those that are chosen. */
const MAX_VALUES = 8;

interface FacetValue {
  value: string;
  name: ComponentChildren;
  /** Rows with the value; null if not known. */
  count: number | null;
}

/** The values of a filter with the number of rows of each. */
export function Facet(props: {
  title: string;
  values: readonly FacetValue[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  /** True if only one value may be chosen. */
  single?: boolean | undefined;
}) {
  const { title, values, chosen, onChange, single = false } = props;
  const [areAllShown, setAllShown] = useState(false);
  const shown = values.filter(({ value }, i) => areAllShown || i < MAX_VALUES || chosen.includes(value));
  const others = values.length - shown.length;
  return (
    <fieldset>
      <legend>{title}</legend>
      {shown.map(({ value, name, count }) => (
        <div key={value} class="row">
          <Checkbox
            label={name}
            checked={chosen.includes(value)}
            onChange={(on) => {
              const rest = single ? [] : chosen.filter((one) => one !== value);
              onChange(on ? [...rest, value] : rest);
            }}
          />
          {count !== null && <small class="end">{formatCount(count)}</small>}
        </div>
      ))}
      {others > 0 && (
        <Button look="quiet" small onClick={() => setAllShown(true)}>
          {`${formatCount(others)} more`}
        </Button>
      )}
    </fieldset>
  );
}
