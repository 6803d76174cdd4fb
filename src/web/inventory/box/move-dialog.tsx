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
import { freePositionsIn, type Movable } from "./slots.ts";

const LOCATIONS = referenceTo("locations", USABLE_RECORDS);

/** Moves a record to a free slot of this location or another. */
export function MoveDialog(props: {
  /** The current location; its id is empty if that is unknown. */
  from: { id: string; name: string };
  record: Movable;
  onClose: () => void;
  onMoved: () => void;
}) {
  const { from, record, onClose, onMoved } = props;
  const [place, setPlace] = useState(from);
  const [chosen, setPosition] = useState<string | null>(null);
  const slots = useLoaded(place.id === "" ? null : place.id, (signal) => readKnownSlots(place.id, signal));
  const target = slots.value?.id === place.id ? slots.value : undefined;
  const free = target ? freePositionsIn(target) : [];
  const isFull = target !== undefined && target.grid_rows !== null && free.length === 0;
  const position = chosen ?? free[0] ?? "";
  const form = useSubmission(async () => {
    const response = await moveRecords(place, movedTo(position, record));
    showDone(`Moved ${record.name} to ${[place.name, position].join(" ").trim()}.`, response, onMoved);
    onMoved();
    onClose();
    return true;
  });
  return (
    <Dialog
      title={`Move ${record.name}`}
      onClose={onClose}
      cancel
      actions={
        <Button look="primary" busy={form.busy} disabled={!target || isFull} onClick={form.submit}>
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
          label="Position"
          value={position}
          choices={free.map((value) => ({ value, name: value }))}
          onChange={setPosition}
        />
      )}
      {isFull && <p>All slots of {place.name} are occupied.</p>}
      {target?.grid_rows === null && (
        <p class="hint">{place.name} has no grid, so the record has no position there.</p>
      )}
    </Dialog>
  );
}
