import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SelectField } from "../../components/field.tsx";
import { FormError, useSubmission } from "../../components/form.tsx";
import { useLoaded } from "../../components/loaded.tsx";
import { readKnownSlots } from "../../offline/known-slots.ts";
import { movedTo, moveRecords } from "../../offline/relocation.ts";
import { referenceTo } from "../declaration.ts";
import { Picker } from "../picker.tsx";
import { USABLE_RECORDS } from "../value-input.tsx";
import { showDone } from "../write-record.ts";
import { SlotMap } from "./slot-map.tsx";
import { freePositionsIn, type Movable } from "./slots.ts";

const LOCATIONS = referenceTo("locations", USABLE_RECORDS);

/** Moves records to free slots of this location or another, from a first one on. */
export function MoveDialog(props: {
  /** The current location; its id is empty if that is unknown. */
  from: { id: string; name: string };
  records: readonly Movable[];
  onClose: () => void;
  onMoved: () => void;
}) {
  const { from, records, onClose, onMoved } = props;
  const count = records.length;
  const what = count === 1 ? records[0].name : `${count} tubes`;
  const [place, setPlace] = useState(from);
  const [chosen, setPosition] = useState<string | null>(null);
  const { box, hasGrid, free, positions, isFull } = useFreeSlotsFrom(place.id, chosen, count);
  const form = useSubmission(async () => {
    const moved = records.map((record, i) => movedTo(hasGrid ? positions[i] : "", record));
    const response = await moveRecords(place, ...moved);
    const range = count === 1 ? positions[0] : `${positions[0]} to ${positions.at(-1)}`;
    const to = hasGrid ? `${place.name} ${range}` : place.name;
    showDone(`Moved ${what} to ${to}.`, response, onMoved);
    onMoved();
    onClose();
    return true;
  });
  return (
    <Dialog
      title={`Move ${what}`}
      onClose={onClose}
      cancel
      actions={
        <Button look="primary" busy={form.busy} disabled={!box || isFull} onClick={form.submit}>
          Move
        </Button>
      }
    >
      <FormError of={form} shown={[]} />
      <Picker
        creates
        label="Location"
        to={LOCATIONS}
        value={place.id}
        name={place.name}
        onChoose={(id, name) => {
          setPlace({ id, name });
          setPosition(null);
        }}
      />
      {free.length > 0 && (
        <SelectField
          label={count === 1 ? "Position" : "First position"}
          value={positions[0] ?? ""}
          choices={free.map((value) => ({ value, name: value }))}
          onChange={setPosition}
        />
      )}
      {box && hasGrid && (
        <SlotMap
          box={box}
          marks={Object.fromEntries(positions.map((position) => [position, "here"]))}
          label={`Free slots for ${what}`}
          onChoose={(position) => free.includes(position) && setPosition(position)}
        />
      )}
      {isFull && <p>{shortageText(place.name, count, positions)}</p>}
      {box && !hasGrid && <p class="hint">{place.name} has no grid, so there are no positions.</p>}
    </Dialog>
  );
}

/** The slots of a location, and the free ones that as many records take from a first position on. */
function useFreeSlotsFrom(place: string, first: string | null, count: number) {
  const slots = useLoaded(place === "" ? null : place, (signal) => readKnownSlots(place, signal));
  const box = slots.value?.id === place ? slots.value : undefined;
  const hasGrid = box !== undefined && box.grid_rows !== null;
  const free = box ? freePositionsIn(box) : [];
  const from = Math.max(0, free.indexOf(first ?? ""));
  const positions = free.slice(from, from + count);
  return { box, hasGrid, free, positions, isFull: hasGrid && positions.length < count };
}

const shortageText = (name: string, count: number, positions: readonly string[]): string =>
  positions.length === 0
    ? `All slots of ${name} are occupied.`
    : `Only ${positions.length} of ${count} fit in from ${positions[0]} on.`;
