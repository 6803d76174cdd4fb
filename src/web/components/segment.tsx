import type { ComponentChildren } from "preact";

interface Choices<Value extends string> {
  /** `label` names a choice that shows an icon. */
  choices: readonly (readonly [value: Value, shown: ComponentChildren, label?: string])[];
  value: Value;
  onChange: (value: Value) => void;
}

/** Chips, one of which is selected. */
export const ChipChoice = <Value extends string>(props: Choices<Value> & { look?: "chip" | "" }) => (
  <>
    {props.choices.map(([value, shown, label]) => (
      <button
        key={value}
        type="button"
        class={props.look ?? "chip"}
        title={label}
        aria-label={label}
        aria-pressed={value === props.value}
        onClick={() => props.onChange(value)}
      >
        {shown}
      </button>
    ))}
  </>
);

/** A choice of one of a few words or icons. */
export const Segment = <Value extends string>(props: Choices<Value> & { label: string }) => (
  <div class="segment" role="group" aria-label={props.label}>
    <ChipChoice {...props} look="" />
  </div>
);
