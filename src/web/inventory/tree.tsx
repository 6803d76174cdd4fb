import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { draggable } from "../components/drag.ts";
import { SelectField } from "../components/field.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { Icon, type IconName } from "../components/icon.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { Meter } from "../components/progress.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { formatCount, pluralize } from "../format.tsx";
import { callForResponse } from "../request.ts";
import { useSession } from "../session.ts";
import { LISTS, referenceTo, listSingular, listTitle } from "./declaration.ts";
import { type Branch, type Level, type Node, readBranch, treeAddress } from "./path.tsx";
import { Picker } from "./picker.tsx";
import { USABLE_RECORDS } from "./value-input.tsx";
import { showDone } from "./write-record.ts";
import { onPlainClick } from "../components/plain-click.ts";

/** The fields that place records inside others, by the list of the others; the first set field counts. */
const findInside = (segment: string): Readonly<Record<string, string>> => LISTS[segment]?.inside ?? {};

/** The place that Storage shows, and the number of moves, each of which makes open branches load again. */
export const Shown = createContext<{
  count: number;
  path: readonly Node[];
  onMoved: () => void;
  onShow: (of: string) => void;
}>({ count: 0, path: [], onMoved: () => {}, onShow: () => {} });

/** Few enough rooms to show what is in each. */
const FEW = 4;

/** The contents of a branch. Deeper levels are loaded when they are opened. */
export const Tree = ({ branch, isOuter = false }: { branch: Branch; isOuter?: boolean }) => (
  <ul class={isOuter ? "tree outer" : "tree"}>
    {branch.levels.map((level) => (
      <Nodes key={level.segment} parent={branch.path.at(-1)} level={level} />
    ))}
  </ul>
);

function Nodes({ parent, level: { segment, total, results } }: { parent: Node | undefined; level: Level }) {
  const [more, setMore] = useState<Level["results"]>([]);
  const [page, setPage] = useState(1);
  const readMore = (): Promise<void> =>
    withErrorToast(async () => {
      const next = await readBranch(parent ? `${parent.segment}/${parent.id}` : "", page + 1);
      setMore([...more, ...(next.levels.find((level) => level.segment === segment)?.results ?? [])]);
      setPage(page + 1);
    });
  const shown = [...results, ...more];
  return (
    <>
      {shown.map((node) => (
        <TreeNode key={node.id} node={node} opens={parent === undefined && total <= FEW} />
      ))}
      {shown.length < total && (
        <li>
          <Button look="quiet" small onClick={() => void readMore()}>
            {formatCount(total - shown.length)} more {listTitle(segment).toLowerCase()}
          </Button>
        </li>
      )}
    </>
  );
}

const useDragNode = draggable<Node>();

/** Attributes of the element of a place, which is dragged into another one. */
export function useMovable(node: Node) {
  const { onMoved } = useContext(Shown);
  const isMovable = Boolean(useSession()) && Object.keys(findInside(node.segment)).length > 0;
  return useDragNode({
    value: isMovable ? node : null,
    name: node.name,
    accepts: ({ id, segment }) => id !== node.id && node.segment in findInside(segment) && !node.grid_rows,
    onDrop: (source) => void withErrorToast(() => move(source, node, onMoved)),
  });
}

async function move(node: Node, into: Node, onMoved: () => void): Promise<void> {
  const fields = findInside(node.segment);
  const field = fields[into.segment];
  const earlier = Object.values(fields).slice(0, Object.values(fields).indexOf(field));
  const body = { ...Object.fromEntries(earlier.map((name) => [name, null])), [field]: into.id };
  const response = await callForResponse("PATCH /api/v2/:list/:id/", {
    params: { list: node.segment, id: node.id },
    body,
  });
  showDone(`Moved ${node.name} to ${into.name}.`, response, onMoved);
  onMoved();
}

/** Kinds of equipment that things are kept in; others are instruments. */
const STORES = /FREEZER|FRIDGE|REFRIGERATOR|CABINET|INCUBATOR|DEWAR|TANK|STOR|SHELF|RACK|ROOM/i;
type Counted = Level["results"][number];

const isInstrument = ({ segment, model_type = "", inside, contents }: Counted): boolean =>
  segment === "equipment" && inside + contents === 0 && !STORES.test(model_type);

/** The picture of a place. */
export function placeIcon({ segment, name, model_type = "", grid_rows }: Omit<Node, "id">): IconName {
  if (segment === "places") return "door-open";
  if (segment === "locations") return grid_rows ? "box" : /rack|column/i.test(name) ? "columns-3" : "rows-3";
  return /CABINET|SHELF/i.test(model_type)
    ? "archive"
    : STORES.test(model_type)
      ? "refrigerator"
      : "microscope";
}

/** Free slots in words; else the number of things inside. */
function countText(node: Counted): string {
  const { space, contents } = node;
  if (space) return space.free === 0 ? "full" : `${formatCount(space.free)} free`;
  if (contents > 0) return pluralize(contents, "item");
  return isInstrument(node) ? "instrument" : "";
}

function TreeNode({ node, opens }: { node: Counted; opens: boolean }) {
  const { count, path, onShow } = useContext(Shown);
  const isOuter = path.some(({ id }) => id === node.id);
  const isShown = path.at(-1)?.id === node.id;
  const [isOpen, setOpen] = useState(opens);
  useEffect(() => {
    if (isOuter) setOpen(true);
  }, [isOuter]);
  const of = `${node.segment}/${node.id}`;
  const branch = useLoaded(isOpen && node.inside > 0 ? `${of} ${count}` : null, (signal) =>
    readBranch(of, 1, signal),
  );
  const { isTarget, attributes } = useMovable(node);
  const { space } = node;
  return (
    <li>
      <div
        class={["node", isTarget && "target", isShown && "shown"].filter(Boolean).join(" ")}
        {...attributes}
      >
        {node.inside > 0 ? (
          <button
            type="button"
            class="btn btn-quiet btn-small btn-icon disclosure"
            aria-expanded={isOpen}
            aria-label={`Contents of ${node.name}`}
            onClick={() => setOpen(!isOpen)}
          >
            <Icon name="chevron-right" />
          </button>
        ) : (
          <span class="leaf" />
        )}
        <a
          href={treeAddress(node)}
          aria-current={isShown ? "true" : undefined}
          class={isInstrument(node) ? "muted" : undefined}
          onClick={node.grid_rows ? undefined : onPlainClick(() => onShow(of))}
        >
          <Icon name={placeIcon(node)} />
          <span>{node.name || "(no name)"}</span>
        </a>
        {space && space.capacity > 0 && (
          <Meter
            label={`${formatCount(space.used)} of ${formatCount(space.capacity)} in use`}
            share={space.used / space.capacity}
          />
        )}
        <small>{countText(node)}</small>
      </div>
      {isOpen && branch.value && <Tree branch={branch.value} />}
    </li>
  );
}

/** Asks for the place to move one into. */
export function MoveDialog({
  node,
  onClose,
  onMoved,
}: {
  node: Node;
  onClose: () => void;
  onMoved: () => void;
}) {
  const segments = Object.keys(findInside(node.segment));
  const [segment, setSegment] = useState(segments[0]);
  const [chosen, setChosen] = useState({ id: "", name: "" });
  const form = useSubmission(async () => {
    await move(node, { segment, ...chosen }, onMoved);
    onClose();
    return true;
  });
  return (
    <Dialog
      title={`Move ${node.name}`}
      onClose={onClose}
      cancel
      actions={
        <Button look="primary" busy={form.busy} disabled={chosen.id === ""} onClick={form.submit}>
          Move
        </Button>
      }
    >
      <FormError of={form} shown={[]} />
      {segments.length > 1 && (
        <SelectField
          label="Move into"
          value={segment}
          choices={segments.map((value) => ({ value, name: listSingular(value) }))}
          onChange={(value) => {
            setSegment(value);
            setChosen({ id: "", name: "" });
          }}
        />
      )}
      <Picker
        key={segment}
        label="Destination"
        to={referenceTo(segment, segment === "locations" ? USABLE_RECORDS : {})}
        value={chosen.id}
        onChoose={(id, name) => setChosen({ id, name })}
        creates
      />
    </Dialog>
  );
}
