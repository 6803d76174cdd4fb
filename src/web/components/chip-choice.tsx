/** Chips, one of which is selected. */
export const ChipChoice = <Value extends string>(props: {
  values: readonly (readonly [value: Value, name: string])[];
  chosen: Value;
  onChoose: (value: Value) => void;
}) => (
  <>
    {props.values.map(([value, name]) => (
      <button
        key={value}
        type="button"
        class="chip"
        aria-pressed={value === props.chosen}
        onClick={() => props.onChoose(value)}
      >
        {name}
      </button>
    ))}
  </>
);
