import { useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Card } from "../components/layout.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { MoveDialog } from "./box/move-dialog.tsx";
import { SlotMap } from "./box/slot-map.tsx";
import { readSlots } from "./box/slots.ts";
import { type Declaration, isInTree, isStored } from "./declaration.ts";
import { FreeSlots, useFreeSlots } from "./free-slots.tsx";
import { LocationPath } from "./path.tsx";
import { placeOf } from "./stock-actions.tsx";
import { isNamed, recordName, type Row } from "./record.tsx";

interface LocationCardProps {
  of: Declaration;
  row: Row;
  onMoved: () => void;
}

/** The location of a record: the path to its slot, and a picture of the box. */
export function LocationCard({ of, row, onMoved }: LocationCardProps) {
  const [isMoving, setMoving] = useState(false);
  const { location, position } = row.values;
  if (isInTree(of.name)) return row.values.deleted === true ? null : <TreeCard of={of} row={row} />;
  // Stock is moved by the actions on it.
  const canMove = row.mayChange && isStored(of) && !("taken_out" in of.fields);
  if (!isStored(of) && !isNamed(location)) return null;
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
          <LocationPath segment="locations" id={from.id} slot={slot} />
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

/** The path to a room, a piece of equipment or a location, and its free slots. The page of a box begins with these. */
function TreeCard({ of, row }: Pick<LocationCardProps, "of" | "row">) {
  const space = useFreeSlots(of.name, row.values.grid_rows ? "" : row.id);
  return (
    <Card title="Location" foot={space && <FreeSlots space={space} />}>
      <LocationPath segment={of.name} id={row.id} />
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
