import { useEffect, useRef, useState } from "preact/hooks";
import { href } from "../../address.ts";
import { Button, IconButton, LinkButton } from "../../components/button.tsx";
import { KeyValues, Tag } from "../../components/layout.tsx";
import { Skeleton, useLoaded } from "../../components/loaded.tsx";
import { Time } from "../../format.tsx";
import { useAmounts } from "../amounts.ts";
import { type Declaration, declaration, findField, isConstant, pagePath } from "../declaration.ts";
import { listProperties } from "../properties.tsx";
import { formatText, isNamed, readRecord, type Row, State, stateText, Value } from "../record.tsx";
import { KnownActions, StockActions } from "../stock-actions.tsx";
import { EvictButton } from "./evict.tsx";
import { MoveDialog } from "./move-dialog.tsx";
import type { Slot, Slots, Stored } from "./slots.ts";

/** Phones, on which the panel is below the box. */
const PHONE = "(pointer: coarse) and (max-width: 1000px)";

/** The record in the selected slot, and actions on it. */
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
  const panel = useRef<HTMLElement>(null);
  const first = useRef(position);
  useEffect(() => {
    if (position !== first.current && matchMedia(PHONE).matches)
      panel.current?.scrollIntoView({ block: "nearest" });
    first.current = "";
  }, [position]);
  return (
    <section ref={panel} class="card screen" aria-label={`Slot ${position}`}>
      <div class="card-head">
        <h2>
          {position} <span class="count">{free ? "free" : "selected tube"}</span>
        </h2>
        <IconButton icon="x" label="Close" onClick={onClose} />
      </div>
      <div class="card-body stack">
        {record && <StoredRecord key={record.id} box={box} record={record} onMoved={onMoved} />}
        {!record && !free && <p>A record that you may not view is in this slot.</p>}
        {!free && !record?.use && <EvictButton {...{ box, position, onMoved }} />}
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

/** Several selected tubes, which are moved together. */
export function SeveralPanel(props: {
  box: Slots;
  records: readonly Stored[];
  onClose: () => void;
  onMoved: () => void;
}) {
  const { box, records, onClose, onMoved } = props;
  const [isMoving, setMoving] = useState(false);
  return (
    <section class="card screen" aria-label="Selected tubes">
      <div class="card-head">
        <h2>{records.length} tubes selected</h2>
        <IconButton icon="x" label="Close" onClick={onClose} />
      </div>
      <div class="card-body stack">
        <p class="muted">{records.map(({ position, name }) => `${position} ${name}`).join(", ")}</p>
        <div class="actions">
          <Button icon="move" onClick={() => setMoving(true)}>
            Move {records.length} tubes
          </Button>
        </div>
      </div>
      {isMoving && (
        <MoveDialog
          from={{ id: box.id, name: box.unique_path }}
          records={records}
          onClose={() => setMoving(false)}
          onMoved={() => {
            onClose();
            onMoved();
          }}
        />
      )}
    </section>
  );
}

/** Names of the fields in the panel: the kind of record, annotations, then the other fields of the summary. */
function summaryFields({ fields, annotations }: Declaration): string[] {
  const names = Object.keys(fields).filter((name) => fields[name].form?.summary);
  const first = names.filter((name) => isConstant(fields[name]));
  return [...first, ...Object.keys(annotations), ...names.filter((name) => !first.includes(name))];
}

function StoredRecord({ box, record, onMoved }: { box: Slots; record: Stored; onMoved: () => void }) {
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
          <a href={href(pagePath(segment, id))}>
            <strong>{name}</strong>
          </a>
        </p>
        {description && <p class="muted">{String(description)}</p>}
        {record.waits && <Tag tone="warn">waits to be sent</Tag>}
      </div>
      {loaded.value ? <Fields {...loaded.value} box={box} /> : loaded.error === undefined && <Skeleton />}
      {loaded.value ? (
        <StockActions {...loaded.value} onChanged={onMoved} narrow />
      ) : (
        record.use && (
          <KnownActions
            isOut={record.taken_out}
            amount={box.isOffline && record.amount}
            unit={record.unit}
            record={record}
            from={{ id: box.id, name: box.unique_path }}
            onChanged={onMoved}
          />
        )
      )}
      {record.change && !box.isOffline && (
        <div class="actions">
          <LinkButton small icon="pencil" href={href(pagePath(segment, id), { edit: "1" })}>
            Edit
          </LinkButton>
        </div>
      )}
      {loaded.value && (
        <p class="hint">
          Changed by {formatText(loaded.value.row.values.modified_by)},{" "}
          <Time at={String(loaded.value.row.values.modified)} short />
        </p>
      )}
    </>
  );
}

function Fields({ of, row, box }: { of: Declaration; row: Row; box: Slots }) {
  const { lastUsed } = useAmounts(of, row);
  const { values } = row;
  const names = summaryFields(of).filter((name) => ![null, undefined, ""].includes(values[name] as null));
  // Referenced records, such as the other primer of a pair, may be in the same box.
  const beside = names.flatMap((name) => {
    const value = values[name];
    const found = isNamed(value) && box.slots.find(({ record }) => record?.id === value.id);
    return found ? [{ name, value, position: found.position }] : [];
  });
  const alone = names.filter((name) => !beside.some((each) => each.name === name));
  return (
    <>
      <KeyValues
        of={[
          ["Status", stateText(values) && <State values={values} />],
          ...listProperties({ of, row, names: alone }),
          ["Last used", lastUsed && <Time at={lastUsed} short />],
        ]}
      />
      {beside.map(({ name, value, position }) => (
        <p key={name} class="note">
          <strong>{findField(of, name)!.label}:</strong> <Value value={value} field={findField(of, name)} />{" "}
          in {position}
        </p>
      ))}
    </>
  );
}
