import type { Slots } from "./slots.ts";

const STEP = 14;
const MAX_WIDTH = 168;

/** A picture of a box: taken and free slots, and those of the records in question. A click chooses a slot. */
export function SlotMap(props: {
  box: Slots;
  here: readonly string[];
  label: string;
  onChoose?: (position: string) => void;
}) {
  const { box, here, label, onChoose } = props;
  const columns = box.grid_columns ?? 0;
  if (columns === 0) return null;
  const rows = Math.ceil(box.slots.length / columns);
  return (
    <svg
      class="box-picture"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${columns * STEP} ${rows * STEP}`}
      width={Math.min(columns * STEP, MAX_WIDTH)}
    >
      {box.slots.map(({ position, free }, i) => (
        <rect
          key={position}
          class={here.includes(position) ? "here" : free ? "free" : undefined}
          x={(i % columns) * STEP + 1}
          y={Math.floor(i / columns) * STEP + 1}
          width={STEP - 2}
          height={STEP - 2}
          rx={2}
          onClick={onChoose && (() => onChoose(position))}
        />
      ))}
    </svg>
  );
}
