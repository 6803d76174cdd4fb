import { useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Card } from "../components/layout.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { MoveDialog } from "./box/move-dialog.tsx";
import { SlotMap } from "./box/slot-map.tsx";
import { readSlots } from "./box/slots.ts";
import { type Declaration, isInTree, isStored } from "./declaration.ts";
import { LocationPath } from "./path.tsx";
import { placeOf } from "./stock-actions.tsx";
import { isNamed, recordName, type Row } from "./record.tsx";

interface LocationCardProps {
  of: Declaration;
  row: Row;
  onMoved: () => void;
}

/** The location of a record: the path to its slot, and a picture of the box. Paths of places are in their heads. */
export function LocationCard({ of, row, onMoved }: LocationCardProps) {
  const [isMoving, setMoving] = useState(false);
  const { location, position } = row.values;
  // Stock is moved by the actions on it.
  const canMove = row.mayChange && isStored(of) && !("taken_out" in of.fields);
  if (isInTree(of.name) || (!isStored(of) && !isNamed(location))) return null;
  const slot = String(position ?? "");
  const from = placeOf(row);
  return (
    <Card
      title="Location"
      actions={
        canMove && (
          <Button look="quiet" small icon="move" onClick={() => setMoving(true)}>
            Move
          </Button>
        )
      }
    >
      {from.id === "" ? (
        <p class="muted">No location recorded</p>
      ) : isNamed(location) && location.name === null ? (
        <p class="muted">In a location that you may not view{slot !== "" && `, slot ${slot}`}</p>
      ) : (
        <div class="where">
          {slot !== "" && <BoxPicture location={from.id} slot={slot} />}
          <LocationPath id={from.id} slot={slot} />
        </div>
      )}
      {isMoving && (
        <MoveDialog
          from={from}
          records={[{ segment: of.name, id: row.id, version: row.version!, name: recordName(of, row) }]}
          onClose={() => setMoving(false)}
          onMoved={onMoved}
        />
      )}
    </Card>
  );
}

/** The slots of a box: taken, free, and that of the record. */
function BoxPicture({ location, slot }: { location: string; slot: string }) {
  const { value } = useLoaded(`${location} ${slot}`, (signal) => readSlots(location, signal));
  return value ? (
    <SlotMap box={value} marks={{ [slot]: "here" }} label={`Slot ${slot} of ${value.slots.length}`} />
  ) : null;
}
