import { Card } from "../components/layout.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { readSlots } from "./box/slots.ts";
import { LocationPath } from "./path.tsx";
import { isNamed, type Row } from "./record.tsx";

/** Lists of which every record is part of the tree of locations. */
const IN_TREE = new Set(["locations", "equipment", "places"]);
export const isInTree = (segment: string): boolean => IN_TREE.has(segment);

/** Where a record is: the path to its slot, and a picture of the box. */
export function LocationCard({ segment, row }: { segment: string; row: Row }) {
  const { location, position } = row.values;
  if (isInTree(segment))
    return (
      <Card title="Location">
        <LocationPath segment={segment} id={row.id} />
      </Card>
    );
  if (!isNamed(location)) return null;
  const slot = typeof position === "string" ? position : "";
  return (
    <Card title="Location">
      <div class="where">
        {slot !== "" && <BoxPicture location={String(location.id)} slot={slot} />}
        <LocationPath segment="locations" id={String(location.id)} slot={slot} />
      </div>
    </Card>
  );
}

const STEP = 14;

/** The slots of a box: taken, free, and that of the record. */
function BoxPicture({ location, slot }: { location: string; slot: string }) {
  const { value } = useLoaded(`${location} ${slot}`, (signal) => readSlots(location, signal));
  const columns = value?.grid_columns ?? 0;
  if (!value || columns === 0) return null;
  const rows = Math.ceil(value.slots.length / columns);
  return (
    <svg
      class="box-picture"
      role="img"
      aria-label={`Slot ${slot} of ${value.slots.length}`}
      viewBox={`0 0 ${columns * STEP} ${rows * STEP}`}
      width={Math.min(columns * STEP, 168)}
    >
      {value.slots.map(({ position, free }, i) => (
        <rect
          key={position}
          class={position === slot ? "here" : free ? "free" : undefined}
          x={(i % columns) * STEP + 1}
          y={Math.floor(i / columns) * STEP + 1}
          width={STEP - 2}
          height={STEP - 2}
          rx={2}
        />
      ))}
    </svg>
  );
}
