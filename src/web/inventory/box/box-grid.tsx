import { useEffect, useRef, useState } from "preact/hooks";
import { href } from "../../address.ts";
import { draggable } from "../../components/drag.ts";
import { pagePath } from "../declaration.ts";
import { navigate } from "../../page.tsx";
import { State, stateText, findStockState } from "../record.tsx";
import { moveToSlot } from "../../offline/relocation.ts";
import type { Slot, Slots, Stored } from "./slots.ts";

interface GridProps {
  box: Slots;
  /** True if the visitor is signed in. */
  mayMove: boolean;
  selected: string | null;
  /** Positions of several selected slots. */
  marked: ReadonlySet<string>;
  /** Filled last. */
  latest: string | null;
  onSelect: (position: string) => void;
  /** Adds the slots from the selected one to another, or adds or removes one slot. */
  onMark: (position: string, how: "range" | "toggle") => void;
  /** Enter on a free slot. */
  onAdd: (position: string) => void;
  onMoved: () => void;
}

const useDragStored = draggable<Stored>();

/** Narrowest slot; wider boxes scroll. */
const MIN_WIDTH = 20;
/** Columns from which the slots are too narrow for names. */
const DENSE_COLUMNS = 13;

/**
 * The slots as an ARIA grid: arrow keys, Home and End move, Enter opens, M picks a record up, Enter puts it down, Escape
 * leaves it. Dragging moves too. With Shift, arrow keys and clicks select a rectangle; with Ctrl, clicks add a slot.
 */
export function BoxGrid(props: GridProps) {
  const { box, mayMove, selected, onSelect, onMark, onAdd, onMoved } = props;
  // The slot to which Shift has extended the selection.
  const [end, setEnd] = useState<string | null>(null);
  const [held, setHeld] = useState<Stored | null>(null);
  const table = useRef<HTMLTableElement>(null);
  const columns = box.grid_columns!;
  const at = Math.max(
    0,
    box.slots.findIndex(({ position }) => position === (end ?? selected)),
  );
  const focus = (slot: number, isRange: boolean): void => {
    const { position } = box.slots[slot];
    setEnd(isRange ? position : null);
    if (isRange) onMark(position, "range");
    else onSelect(position);
    table.current?.querySelectorAll<HTMLElement>("[role=gridcell]")[slot]?.focus();
  };
  const drop = (record: Stored, to: Slot): void => {
    setHeld(null);
    void moveToSlot(box, record, to, onMoved);
  };
  const enter = (slot: Slot): void => {
    if (held) drop(held, slot);
    else if (slot.record) navigate(pagePath(slot.record.segment, slot.record.id));
    else if (slot.free && mayMove) onAdd(slot.position);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey || event.metaKey) return;
    const to = findTarget(event.key, event.ctrlKey, at, columns, box.slots.length);
    const slot = box.slots[at];
    if (to !== undefined) focus(to, event.shiftKey);
    else if (event.key === "Enter") enter(slot);
    else if (event.key === "Escape" && held) setHeld(null);
    else if ((event.key === "m" || event.key === "M") && mayMove && slot.record?.use) setHeld(slot.record);
    else return;
    event.preventDefault();
    // Shortcuts of the page use single letters, too.
    event.stopPropagation();
  };
  // After a move, the focus stays on the slot that was chosen.
  useEffect(() => {
    if (held) table.current?.querySelectorAll<HTMLElement>("[role=gridcell]")[at]?.focus();
  }, [held]);
  return (
    <>
      <div class="table-scroll">
        <table
          ref={table}
          class={columns < DENSE_COLUMNS ? "boxgrid" : "boxgrid dense-grid"}
          role="grid"
          aria-multiselectable="true"
          aria-label={`${box.label}, ${box.grid_rows} rows, ${columns} columns`}
          onKeyDown={onKeyDown}
        >
          <colgroup>
            <col class="row-names" />
            {box.slots.slice(0, columns).map(({ position }) => (
              <col key={position} width={MIN_WIDTH} />
            ))}
          </colgroup>
          <thead>
            <tr>
              <td />
              {box.slots.slice(0, columns).map(({ position }, i) => (
                <th key={position} scope="col">
                  {i + 1}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {splitRows(box).map((row) => (
              <tr key={row[0].position}>
                <th scope="row">{row[0].position.replace(/(?<=\D)\d+$/, "")}</th>
                {row.map((slot) => (
                  <SlotCell
                    key={slot.position}
                    {...props}
                    slot={slot}
                    held={held}
                    isStop={slot === box.slots[at]}
                    onDrop={drop}
                    onOpen={enter}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="unseen" role="status">
        {held && `${held.name} is picked up. Choose a slot and press Enter, or Escape to leave it.`}
      </p>
    </>
  );
}

const splitRows = ({ slots, grid_columns }: Slots): Slot[][] =>
  Array.from({ length: slots.length / grid_columns! }, (_, row) =>
    slots.slice(row * grid_columns!, (row + 1) * grid_columns!),
  );

/** The slot that a key leads to. */
function findTarget(
  key: string,
  ctrl: boolean,
  at: number,
  columns: number,
  count: number,
): number | undefined {
  const start = at - (at % columns);
  const targets: Record<string, number> = {
    ArrowLeft: at % columns === 0 ? at : at - 1,
    ArrowRight: at % columns === columns - 1 ? at : at + 1,
    ArrowUp: at < columns ? at : at - columns,
    ArrowDown: at + columns >= count ? at : at + columns,
    Home: ctrl ? 0 : start,
    End: ctrl ? count - 1 : start + columns - 1,
  };
  return Object.hasOwn(targets, key) ? targets[key] : undefined;
}

interface CellProps extends GridProps {
  slot: Slot;
  held: Stored | null;
  /** True if the cell is the tab stop of the grid. */
  isStop: boolean;
  onDrop: (record: Stored, to: Slot) => void;
  onOpen: (slot: Slot) => void;
}

function SlotCell(props: CellProps) {
  const { box, slot, held, mayMove, selected, marked, isStop, onSelect, onMark, onDrop, onOpen } = props;
  const { position, record, free } = slot;
  const isNext = box.next === position;
  const { isTarget, attributes } = useDragStored({
    value: mayMove && record?.use ? record : null,
    name: record?.name ?? "",
    accepts: (stored) => stored.position !== position && (free || record?.use === true),
    onDrop: (stored) => onDrop(stored, slot),
  });
  const click = (event: MouseEvent): void => {
    if (held) onDrop(held, slot);
    else if (event.shiftKey) onMark(position, "range");
    else if (event.ctrlKey || event.metaKey) onMark(position, "toggle");
    else onSelect(position);
  };
  return (
    <td
      role="gridcell"
      tabIndex={isStop ? 0 : -1}
      aria-selected={position === selected || marked.has(position)}
      aria-label={describeSlot(slot, isNext)}
      class={classNames(props, isTarget)}
      title={record?.name}
      onClick={click}
      onDblClick={() => onOpen(slot)}
      {...attributes}
    >
      {free ? isNext && <span class="name">Next</span> : <Occupied record={record} />}
    </td>
  );
}

const Occupied = ({ record }: { record: Stored | null }) => (
  <>
    <span class="name">{record?.name ?? "Hidden"}</span>
    <span class={`state state-${record?.waits ? "waits" : record ? findStockState(record) : "other"}`} />
  </>
);

function classNames({ box, slot, held, selected, latest }: CellProps, isTarget: boolean): string {
  const { position, free } = slot;
  const looks: Record<string, boolean> = {
    free,
    next: box.next === position,
    just: latest === position,
    target: isTarget || (held !== null && position === selected),
    held: held?.position === position,
  };
  return ["slot", ...Object.keys(looks).filter((name) => looks[name])].join(" ");
}

function describeSlot({ position, record, free }: Slot, isNext: boolean): string {
  if (free) return `${position}, ${isNext ? "next free slot" : "free"}`;
  if (!record) return `${position}, occupied by a record that you may not view`;
  const state = record.waits ? "waits to be sent" : stateText(record).toLowerCase();
  return [position, record.name, state].filter(Boolean).join(", ");
}

/** Records with their positions and states, as a list. Movable records can be dragged into a slot. */
export const BoxList = ({ records, mayMove }: { records: readonly Stored[]; mayMove: boolean }) => (
  <ul class="list">
    {records.map((record) => (
      <Item key={record.id} record={record} mayMove={mayMove} />
    ))}
  </ul>
);

function Item({ record, mayMove }: { record: Stored; mayMove: boolean }) {
  const { segment, id, name, position } = record;
  const { attributes } = useDragStored({
    value: mayMove && record.use ? record : null,
    name,
    accepts: () => false,
    onDrop: () => {},
  });
  return (
    <li {...attributes}>
      <span class="row">
        <span class="slot-name">{position || "–"}</span>
        <a href={href(pagePath(segment, id))}>{name}</a>
      </span>
      <span class="end">
        <State values={record} />
      </span>
    </li>
  );
}
