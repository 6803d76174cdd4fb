/** A choice of one of a few words. */
export const Segment = <Value extends string>(props: {
  label: string;
  value: Value;
  choices: readonly (readonly [value: Value, name: string])[];
  onChange: (value: Value) => void;
}) => (
  <div class="segment" role="group" aria-label={props.label}>
    {props.choices.map(([value, name]) => (
      <button
        key={value}
        type="button"
        aria-pressed={value === props.value}
        onClick={() => props.onChange(value)}
      >
        {name}
      </button>
    ))}
  </div>
);
