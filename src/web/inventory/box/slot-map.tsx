import type { Slots } from "./slots.ts";

const STEP = 14;
const MAX_WIDTH = 168;

/** A picture of a box: taken and free slots, and those in question, by their marks. A click chooses a slot. */
export function SlotMap(props: {
  box: Slots;
  /** Classes of slots, by position. */
  marks: Readonly<Record<string, string>>;
  label: string;
  /** As wide as its place, with the names of rows and columns. */
  isWide?: boolean;
  onChoose?: (position: string) => void;
}) {
  const { box, marks, label, isWide = false, onChoose } = props;
  const columns = box.grid_columns ?? 0;
  if (columns === 0) return null;
  const rows = Math.ceil(box.slots.length / columns);
  const margin = isWide && /^\D/.test(box.slots[0].position) ? STEP : 0;
  const [width, height] = [columns * STEP + margin, rows * STEP + margin];
  return (
    <svg
      class="box-picture"
      role="img"
      aria-label={label}
      viewBox={`${-margin} ${-margin} ${width} ${height}`}
      width={isWide ? "100%" : Math.min(width, MAX_WIDTH)}
    >
      {box.slots.map(({ position, free }, i) => {
        const [x, y] = [(i % columns) * STEP + 1, Math.floor(i / columns) * STEP + 1];
        const mark = marks[position];
        const side = STEP - 2;
        return (
          <g key={position} onClick={onChoose && (() => onChoose(position))}>
            <rect class={mark ?? (free ? "free" : undefined)} x={x} y={y} width={side} height={side} rx={2} />
            {mark === "updated" && (
              <rect class="created" x={x} y={y + side / 2} width={side} height={side / 2} />
            )}
            {margin > 0 && y === 1 && (
              <text x={x + side / 2} y={-4}>
                {position.replace(/^\D+/, "")}
              </text>
            )}
            {margin > 0 && x === 1 && (
              <text x={-margin / 2} y={y + side - 3}>
                {position.replace(/\d+$/, "")}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}
