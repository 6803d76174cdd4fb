import { useState } from "preact/hooks";
import { Select } from "../components/field.tsx";
import { Card } from "../components/layout.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { formatCount, pluralize } from "../format.tsx";
import { SlotMap } from "./box/slot-map.tsx";
import { readSlots } from "./box/slots.ts";
import type { Report } from "./import-run.ts";

/** The slots of a box into which the rows of a file go, those with errors, and what is there already. */
export function BoxCard({ boxes }: { boxes: NonNullable<Report["boxes"]> }) {
  const [chosen, setChosen] = useState("");
  const box = boxes.find(({ id }) => id === chosen) ?? boxes[0];
  const { value } = useLoaded(box.id, (signal) => readSlots(box.id, signal));
  if (value?.id !== box.id) return null;
  const others = value.slots.filter(({ position }) => !(position in box.slots));
  const free = others.filter(({ free }) => free).length;
  const marks = Object.values(box.slots);
  const count = (mark: string): number => marks.filter((each) => each === mark).length;
  const legend = (
    [
      ["created", count("created"), "new"],
      ["updated", count("updated"), "changed"],
      ["waiting", count("waiting"), count("waiting") === 1 ? "needs a look" : "need a look"],
      [undefined, others.length - free, "already there"],
    ] as const
  ).filter(([, slots]) => slots > 0);
  const words = legend.map(([, slots, what]) => `${formatCount(slots)} ${what}`);
  return (
    <Card title={boxes.length === 1 ? box.name : "Boxes"} foot={`${pluralize(free, "slot")} stay free`}>
      {boxes.length > 1 && (
        <Select
          label="Box"
          value={box.id}
          choices={boxes.map(({ id, name }) => [id, name] as const)}
          onChange={setChosen}
        />
      )}
      <SlotMap box={value} marks={box.slots} label={`${box.name}: ${words.join(", ")}`} isWide />
      <ul class="legend">
        {legend.map(([mark, slots, what]) => (
          <li key={what}>
            <svg class="box-picture" width="14" height="14" aria-hidden="true">
              <rect class={mark} x="1" y="1" width="12" height="12" rx="2" />
              {mark === "updated" && <rect class="created" x="1" y="7" width="12" height="6" />}
            </svg>
            {formatCount(slots)} {what}
          </li>
        ))}
      </ul>
    </Card>
  );
}
