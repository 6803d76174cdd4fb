import { useState } from "preact/hooks";
import { href } from "../../address.ts";
import { Button, IconButton, LinkButton } from "../../components/button.tsx";
import { Skeleton, useLoaded } from "../../components/loaded.tsx";
import { type Declaration, declaration, isCommon, pageOf } from "../declaration.ts";
import { Properties } from "../properties.tsx";
import { readRecord, type Row } from "../record.tsx";
import { MoveDialog } from "./move-dialog.tsx";
import { type Slot, type Slots, type Stored, takeOut } from "./slots.ts";

/** What is in the selected slot, and what can be done with it. */
export function SlotPanel(props: {
  box: Slots;
  slot: Slot;
  mayMove: boolean;
  onClose: () => void;
  onAdd: () => void;
  onMoved: () => void;
}) {
  const { box, slot, mayMove, onClose, onAdd, onMoved } = props;
  const { position, record, free } = slot;
  return (
    <section class="card screen" aria-label={`Slot ${position}`}>
      <div class="card-head">
        <h2>
          {position} <span class="count">{free ? "free" : "selected"}</span>
        </h2>
        <IconButton icon="x" label="Close" onClick={onClose} />
      </div>
      <div class="card-body stack">
        {record && <StoredRecord key={record.id} box={box} record={record} onMoved={onMoved} />}
        {!record && !free && <p>A record that you may not view is in this slot.</p>}
        {free && <p class="muted">Nothing is in this slot.</p>}
        {free && mayMove && (
          <div class="actions">
            <Button icon="plus" onClick={onAdd}>
              Add to {position}
            </Button>
          </div>
        )}
      </div>
    </section>
  );
}

/** Fields that the panel leaves out, because the page shows them. */
const ELSEWHERE = new Set(["below_minimum", "description", "location", "position", "type", "unit"]);

function StoredRecord({ box, record, onMoved }: { box: Slots; record: Stored; onMoved: () => void }) {
  const [isMoving, setMoving] = useState(false);
  const { segment, id, name, version } = record;
  const loaded = useLoaded(`${id} ${version}`, async (signal) => {
    const [of, row] = await Promise.all([declaration(segment), readRecord(segment, id, signal)]);
    return { of, row };
  });
  const description = loaded.value?.row.values.description;
  return (
    <>
      <div>
        <p>
          <a href={href(pageOf(segment, id))}>
            <strong>{name}</strong>
          </a>
        </p>
        {description && <p class="muted">{String(description)}</p>}
      </div>
      {loaded.value ? <Fields {...loaded.value} /> : <Skeleton />}
      {record.change && (
        <div class="actions">
          <Button small icon="log-out" onClick={() => void takeOut(record, onMoved)}>
            Take out
          </Button>
          <Button small icon="move" onClick={() => setMoving(true)}>
            Move
          </Button>
          <LinkButton small icon="pencil" href={href(pageOf(segment, id), { edit: "1" })}>
            Edit
          </LinkButton>
        </div>
      )}
      {isMoving && (
        <MoveDialog
          from={{ id: box.id, name: box.label }}
          record={record}
          onClose={() => setMoving(false)}
          onMoved={onMoved}
        />
      )}
    </>
  );
}

function Fields({ of, row }: { of: Declaration; row: Row }) {
  const isShown = (name: string): boolean =>
    name !== of.key &&
    !ELSEWHERE.has(name) &&
    !isCommon(name) &&
    ![null, undefined, ""].includes(row.values[name] as null);
  const names = [...Object.keys(of.fields).filter(isShown), "owner", "modified"];
  return <Properties {...{ of, row, names }} />;
}
