import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { href } from "../address.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { formatCount } from "../format.tsx";
import { useQuery } from "../page.tsx";
import { useSession } from "../session.ts";
import { newPagePath, pagePath } from "./declaration.ts";
import {
  arrange,
  countRoom,
  type FrontNode,
  nextName,
  type Rack,
  type Shelf,
  shortName,
  sum,
} from "./front.ts";
import { PathLine, treeAddress } from "./path.tsx";
import { readFlat } from "./read-list.ts";
import { Person } from "./record.tsx";
import { useMovable } from "./tree.tsx";
import { onPlainClick } from "../components/plain-click.ts";

/** Places for boxes that a rack shows. */
const MAX_ROOM = 30;

/** The front of a freezer: shelves, racks on them, and boxes with their fill levels. Arrow keys lead from box to box. */
export function Front({ name, nodes }: { name: string; nodes: readonly FrontNode[] }) {
  const front = useRef<HTMLDivElement>(null);
  const shelves = arrange(nodes);
  const onKeyDown = (event: KeyboardEvent): void => {
    const boxes = [...(front.current?.querySelectorAll<HTMLElement>("a.bx") ?? [])];
    const to = findNearest(boxes, document.activeElement, event.key);
    if (!to) return;
    event.preventDefault();
    to.focus();
  };
  return (
    <div ref={front} class="front" role="group" aria-label={`Front of ${name}`} onKeyDown={onKeyDown}>
      {shelves.map((shelf) => (
        <ShelfRow key={shelf.shelf?.id ?? ""} of={shelf} siblings={nodes} />
      ))}
    </div>
  );
}

/** The box that an arrow key leads to: the next one in the row, or the nearest one in the next row. */
function findNearest(boxes: HTMLElement[], from: Element | null, key: string): HTMLElement | undefined {
  const at = boxes.indexOf(from as HTMLElement);
  if (at < 0) return undefined;
  if (key === "ArrowLeft" || key === "ArrowRight") return boxes[at + (key === "ArrowLeft" ? -1 : 1)];
  if (key !== "ArrowUp" && key !== "ArrowDown") return undefined;
  const here = boxes[at].getBoundingClientRect();
  const rows = boxes
    .map((box) => ({ box, rect: box.getBoundingClientRect() }))
    .filter(({ rect }) => (key === "ArrowUp" ? rect.bottom <= here.top : rect.top >= here.bottom));
  const distance = ({ rect }: { rect: DOMRect }): number =>
    Math.abs(rect.top - here.top) * boxes.length + Math.abs(rect.left - here.left);
  return rows.toSorted((one, other) => distance(one) - distance(other))[0]?.box;
}

/** Free slots in words. */
const freeText = ({ usage: { capacity, free } }: FrontNode): string =>
  capacity === 0 ? "no boxes" : free === 0 ? "full" : formatCount(free);

const ShelfRow = ({ of: { shelf, racks }, siblings }: { of: Shelf; siblings: readonly FrontNode[] }) => (
  <div class={shelf ? "shelf" : "shelf shelf-plain"}>
    {shelf && <ShelfName shelf={shelf} />}
    <div class="racks">
      {racks.map((rack) => (
        <RackCard key={rack.rack?.id ?? ""} of={rack} siblings={shelf?.nodes ?? siblings} />
      ))}
    </div>
  </div>
);

function ShelfName({ shelf }: { shelf: FrontNode }) {
  const { isTarget, attributes } = useMovable(shelf);
  return (
    <div class={isTarget ? "shelf-name target" : "shelf-name"} {...attributes}>
      <a href={treeAddress(shelf)}>{shelf.name}</a>
      <span>{shelf.usage.capacity === 0 ? "no boxes" : `${formatCount(shelf.usage.free)} free`}</span>
    </div>
  );
}

function RackCard({ of: { rack, boxes }, siblings }: { of: Rack; siblings: readonly FrontNode[] }) {
  const isLong = boxes.some((box) => shortName(box, boxes).length > 3);
  return (
    <RackFrame rack={rack} siblings={siblings}>
      <div class={isLong ? "boxes boxes-named" : "boxes"}>
        {boxes.map((box) => (
          <BoxLink key={box.id} box={box} name={shortName(box, boxes)} />
        ))}
        {rack && <Room rack={rack} />}
      </div>
    </RackFrame>
  );
}

function RackFrame(props: {
  rack: FrontNode | null;
  siblings: readonly FrontNode[];
  children: ComponentChildren;
}) {
  const { rack, siblings, children } = props;
  return rack ? <NamedRack {...{ rack, siblings, children }} /> : <div class="rack">{children}</div>;
}

function NamedRack(props: { rack: FrontNode; siblings: readonly FrontNode[]; children: ComponentChildren }) {
  const { rack, siblings, children } = props;
  const { isTarget, attributes } = useMovable(rack);
  return (
    <div class={isTarget ? "rack target" : "rack"} role="group" aria-label={rack.name} {...attributes}>
      <div class="rack-name">
        <a href={treeAddress(rack)} aria-label={rack.name}>
          {shortName(rack, siblings)}
        </a>
        <span>{freeText(rack)}</span>
      </div>
      {children}
    </div>
  );
}

/** A box with its fill level. A click chooses it, another one opens it. */
function BoxLink({ box, name }: { box: FrontNode; name: string }) {
  const [query, setQuery] = useQuery();
  const { attributes } = useMovable(box);
  const { used, capacity } = box.usage;
  const share = capacity === 0 ? 0 : Math.min(1, used / capacity);
  const isChosen = query.get("box") === box.id;
  const words = capacity === 0 ? "no slots" : `${formatCount(used)} of ${formatCount(capacity)} used`;
  return (
    <a
      class={share === 1 ? "bx full" : "bx"}
      href={treeAddress(box)}
      aria-label={`${box.name}, ${words}`}
      aria-current={isChosen ? "true" : undefined}
      title={box.name}
      onClick={
        isChosen || !box.grid_rows
          ? undefined
          : onPlainClick(() => setQuery({ box: box.id }, { replace: true }))
      }
      {...attributes}
    >
      <span aria-hidden="true">{name}</span>
      <Level share={share} />
    </a>
  );
}

const Level = ({ share }: { share: number }) => (
  <svg aria-hidden="true">
    <rect y={`${100 - 100 * share}%`} width="100%" height={`${100 * share}%`} />
  </svg>
);

/** Places for boxes that are not there yet; the first one leads to the form for a box. */
function Room({ rack }: { rack: FrontNode }) {
  const room = Math.min(countRoom(rack), MAX_ROOM);
  const label = `Add a box to ${rack.name}`;
  const values = { label: nextName(rack.nodes), parent: rack.id, grid_rows: 9, grid_columns: 9 };
  const canAdd = Boolean(useSession());
  return (
    <>
      {Array.from({ length: room }, (_, i) =>
        i === 0 && canAdd ? (
          <a
            key={i}
            class="bx room"
            href={href(newPagePath("locations"), values)}
            aria-label={label}
            title={label}
          >
            <Icon name="plus" />
          </a>
        ) : (
          <span key={i} class="bx room" title="Room for a box" />
        ),
      )}
    </>
  );
}

export const FrontLegend = () => (
  <ul class="legend">
    <li>
      <span class="bx lv">
        <Level share={0.6} />
      </span>
      fill level
    </li>
    <li>
      <span class="bx lv full">
        <Level share={1} />
      </span>
      full
    </li>
    <li>
      <span class="bx lv room" />
      room for a box
    </li>
    <li>Number beside a rack: free slots</li>
  </ul>
);

/** The chosen box, with a way into it. */
export function ChosenBox({ box, onMove }: { box: FrontNode; onMove: () => void }) {
  const { value } = useLoaded(box.id, (signal) =>
    readFlat<{ unique_path: string; description: string; owner: string }>(
      "locations",
      box.id,
      { fields: "unique_path,description,owner" },
      signal,
    ),
  );
  const { used, capacity } = sum([box]);
  const words = [
    value?.description,
    `${box.grid_rows} × ${box.grid_columns}`,
    `${formatCount(used)} of ${formatCount(capacity)} used`,
  ];
  const canMove = Boolean(useSession());
  return (
    <div class="pickbar" role="status">
      <Icon name="box" />
      <p class="grow">
        <b>
          <PathLine path={value?.unique_path ?? box.name} />
        </b>
        <small>
          {words.filter(Boolean).join(", ")}
          {value && (
            <>
              , <Person username={value.owner} />
            </>
          )}
        </small>
      </p>
      <div class="actions">
        <LinkButton small href={href(pagePath("locations", box.id))}>
          Open box
        </LinkButton>
        {canMove && (
          <Button small icon="move" onClick={onMove}>
            Move box
          </Button>
        )}
      </div>
    </div>
  );
}
