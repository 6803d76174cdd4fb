import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { href } from "../../address.ts";
import { Button } from "../../components/button.tsx";
import { Segment } from "../../components/segment.tsx";
import { Card } from "../../components/layout.tsx";
import { useLoaded } from "../../components/loaded.tsx";
import { Menu } from "../../components/menu.tsx";
import { readKnownSlots } from "../../offline/known-slots.ts";
import { QueueList } from "../../offline/queue-list.tsx";
import { useQueue, useReloadAfterSending } from "../../offline/use-queue.ts";
import { useQuery } from "../../page.tsx";
import { findStockState } from "../record.tsx";
import { useSession } from "../../session.ts";
import { listSingular, STOCK_LISTS } from "../declaration.ts";
import { Capacity } from "../free-slots.tsx";
import { AddDialog } from "./add-dialog.tsx";
import { BoxGrid, BoxList } from "./box-grid.tsx";
import { HiddenRecords } from "./evict.tsx";
import { RackFileButton } from "./rack-dialog.tsx";
import { ScanBar } from "./scan-bar.tsx";
import { SeveralPanel, SlotPanel } from "./slot-panel.tsx";
import { rectangle, type Slots, type Stored } from "./slots.ts";

interface BoxProps {
  id: string;
  /** The head of the page. For a box, `before` and `after` surround its other actions. */
  head: (first?: ComponentChildren, last?: ComponentChildren) => ComponentChildren;
  /** Cards below, which need not repeat the records in the grid. */
  foot?: (hasGrid: boolean) => ComponentChildren;
}

/** A location with a grid: the record in each slot, and the free slots. Other locations have only head and foot. */
export function Box({ id, head, foot }: BoxProps) {
  const slots = useLoaded(id, (signal) => readKnownSlots(id, signal));
  useReloadAfterSending(slots.reload);
  const box = slots.value;
  const hasGrid = box !== undefined && box.grid_rows !== null;
  return (
    <>
      {hasGrid ? <Content box={box} head={head} reload={slots.reload} /> : head()}
      {(box || slots.error !== undefined) && foot?.(hasGrid)}
    </>
  );
}

function Content({ box, head, reload }: Pick<BoxProps, "head"> & { box: Slots; reload: () => void }) {
  const mayMove = useMayMove(box);
  const selection = useSelectedSlots(box);
  const { selected, marked, select, mark } = selection;
  const [latest, setLatest] = useState<string | null>(null);
  const [adding, setAdding] = useState<string | null>(null);
  const [isScanning, setScanning] = useState(false);
  const [view, setView] = useState<"grid" | "list">("grid");
  const slot = box.slots.find(({ position }) => position === selected);
  const several = box.slots.flatMap(({ position, record }) =>
    record?.use && marked.has(position) ? record : [],
  );
  const target = slot?.free ? slot.position : box.next;
  return (
    <div class="stack box">
      {head(
        <>
          <Capacity space={box.space} />
          <PrintMenu box={box} />
        </>,
        mayMove && target !== null && (
          <Button look="primary" icon="plus" onClick={() => setAdding(target)}>
            Add to {target}
          </Button>
        ),
      )}
      <BoxChanges box={box} />
      <HiddenRecords box={box} onMoved={reload} />
      {isScanning && (
        <ScanBar
          box={box}
          target={target}
          onMoved={(position) => {
            setLatest(position);
            select(null);
            reload();
          }}
          onStop={() => setScanning(false)}
        />
      )}
      <div class={slot || several.length > 1 ? "with-panel" : ""}>
        <Card
          title="Contents"
          bare={view === "list"}
          actions={
            <>
              {mayMove && <RackFileButton box={box} onMoved={reload} />}
              {!isScanning && <ScanButton onScan={() => setScanning(true)} />}
              <Segment
                label="View"
                value={view}
                choices={[
                  ["grid", "Grid"],
                  ["list", "List"],
                ]}
                onChange={setView}
              />
            </>
          }
          foot={view === "grid" && <Legend box={box} mayMove={mayMove} {...selection} />}
        >
          {view === "grid" ? (
            <BoxGrid
              box={box}
              mayMove={mayMove}
              selected={selected}
              marked={marked}
              latest={latest}
              onSelect={select}
              onMark={mark}
              onAdd={setAdding}
              onMoved={reload}
            />
          ) : (
            <BoxList records={recordsIn(box)} mayMove={false} />
          )}
        </Card>
        <SidePanel
          {...{ box, slot, several, mayMove, onAdd: setAdding, onMoved: reload }}
          onClose={() => select(null)}
        />
      </div>
      {view === "grid" && <Unplaced records={box.others} mayMove={mayMove} />}
      {adding !== null && (
        <AddDialog box={box} position={adding} onClose={() => setAdding(null)} onMoved={reload} />
      )}
    </div>
  );
}

/** The selected slot, or several selected tubes. */
const SidePanel = ({
  slot,
  several,
  onAdd,
  ...shared
}: {
  box: Slots;
  slot: Slots["slots"][number] | undefined;
  several: readonly Stored[];
  mayMove: boolean;
  onAdd: (position: string) => void;
  onMoved: () => void;
  onClose: () => void;
}) =>
  several.length > 1 ? (
    <SeveralPanel {...shared} records={several} />
  ) : (
    slot && <SlotPanel {...shared} slot={slot} onAdd={() => onAdd(slot.position)} />
  );

/** The selected slot, at first the one that a link to a tube names, and several selected together. */
function useSelectedSlots(box: Slots) {
  const [query] = useQuery();
  const [selected, setSelected] = useState<string | null>(
    query.get("at") ?? box.slots.find(({ record }) => record !== null)?.position ?? null,
  );
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [isMarking, setMarking] = useState(false);
  const start = (position: string | null, marking: boolean): void => {
    setSelected(position);
    setMarked(new Set());
    setMarking(marking);
  };
  /** Adds the slots from the selected one to another, or adds or removes one slot. */
  const mark = (position: string, how: "range" | "toggle"): void => {
    const before = marked.size === 0 && selected !== null ? new Set([selected]) : marked;
    const range = how === "range" && selected !== null ? rectangle(box, selected, position) : undefined;
    setMarked(range ? new Set(range) : before.symmetricDifference(new Set([position])));
  };
  return {
    selected,
    marked,
    mark,
    select: (position: string | null): void =>
      isMarking && position !== null ? mark(position, "toggle") : start(position, false),
    /** For fingers, which have no Shift and Ctrl: each tap adds or removes a slot. */
    isMarking,
    onMarking: (on: boolean): void => start(null, on),
  };
}

const useMayMove = ({ use }: Slots): boolean => Boolean(useSession()) && use;

const recordsIn = ({ slots, others }: Slots): Stored[] => [
  ...slots.flatMap(({ record }) => record ?? []),
  ...others,
];

const Unplaced = ({ records, mayMove }: { records: readonly Stored[]; mayMove: boolean }) =>
  records.length === 0 ? null : (
    <Card
      title="Without a slot"
      count={records.length}
      bare
      foot={mayMove && <span class="muted screen pointer-only">Drag a record into a slot.</span>}
    >
      <BoxList records={records} mayMove={mayMove} />
    </Card>
  );

/** Rejected and waiting moves into or out of the box, which the grid shows without a network. */
function BoxChanges({ box }: { box: Slots }) {
  const person = useSession()?.user.id;
  const { changes } = useQueue();
  const stored = new Set(recordsIn(box).map(({ id }) => id));
  const shown = changes.filter(
    ({ change, conflict }) =>
      (conflict || !box.isOffline) &&
      change.kind === "move" &&
      (change.location?.id === box.id || change.records.some(({ id }) => stored.has(id))),
  );
  return person !== undefined && shown.length > 0 ? <QueueList person={person} changes={shown} /> : null;
}

/** Scanning into the box, which works without a network, too. */
const ScanButton = ({ onScan }: { onScan: () => void }) =>
  useSession() ? (
    <Button small icon="scan-line" onClick={onScan}>
      Scan into the box
    </Button>
  ) : null;

const PrintMenu = ({ box }: { box: Slots }) =>
  box.isOffline ? null : (
    <Menu label="Print" text icon="printer">
      <button type="button" onClick={() => print()}>
        Print the box
      </button>
      <a href={href("/inventory/labels", { list: "locations", id: box.id })}>Print a label for the box</a>
      {STOCK_LISTS.map((list) => (
        <a key={list} href={href("/inventory/labels", { list, location: box.id })}>
          Print labels of its {listSingular(list)}s
        </a>
      ))}
    </Menu>
  );

/** Marks that few boxes have. */
const RARE: readonly [name: string, words: string, test: (slot: Slots["slots"][number]) => boolean][] = [
  ["out", "taken out", ({ record }) => record !== null && findStockState(record) === "out"],
  ["other", "other status", ({ record }) => record !== null && findStockState(record) === "other"],
  ["other", "hidden from you", ({ free, record }) => !free && record === null],
  ["waits", "waits to be sent", ({ record }) => record?.waits === true],
];

const Legend = (props: {
  box: Slots;
  mayMove: boolean;
  isMarking: boolean;
  onMarking: (on: boolean) => void;
}) => (
  <div class="row between">
    <ul class="row">
      <li class="state state-ok">available</li>
      <li class="state state-low">low</li>
      <li class="state state-empty">empty</li>
      <li class="state state-expired">expired</li>
      {RARE.filter(([, , test]) => props.box.slots.some(test)).map(([name, words]) => (
        <li key={words} class={`state state-${name}`}>
          {words}
        </li>
      ))}
    </ul>
    {props.mayMove && (
      <Button small aria-pressed={props.isMarking} onClick={() => props.onMarking(!props.isMarking)}>
        Select several
      </Button>
    )}
    <span class="muted screen pointer-only">
      Arrow keys move, Enter opens.
      {props.mayMove && " M picks a tube up, Enter puts it down; or drag it. Shift selects several."}
    </span>
  </div>
);
