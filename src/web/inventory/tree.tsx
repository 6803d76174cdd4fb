import { createContext } from "preact";
import { useContext, useState } from "preact/hooks";
import { Button, IconButton } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { draggable } from "../components/drag.ts";
import { SelectField } from "../components/field.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { Icon } from "../components/icon.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { formatCount } from "../format.tsx";
import { callForResponse } from "../request.ts";
import { useSession } from "../session.ts";
import { LISTS, referenceTo, listSingular, listTitle } from "./declaration.ts";
import { type Branch, type Level, type Node, readBranch, treeAddress } from "./path.tsx";
import { Picker } from "./picker.tsx";
import { USABLE_RECORDS } from "./value-input.tsx";
import { showDone } from "./write-record.ts";

/** The fields that place records inside others, by the list of the others; the first set field counts. */
const findInside = (segment: string): Readonly<Record<string, string>> => LISTS[segment]?.inside ?? {};

/** Moves on this page; each makes open branches load again. */
export const Moves = createContext<{ count: number; onMoved: () => void }>({ count: 0, onMoved: () => {} });

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
        <TreeNode key={node.id} node={node} />
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

function TreeNode({ node }: { node: Level["results"][number] }) {
  const [isOpen, setOpen] = useState(false);
  const [isMoving, setMoving] = useState(false);
  const { count, onMoved } = useContext(Moves);
  const of = `${node.segment}/${node.id}`;
  const branch = useLoaded(isOpen ? `${of} ${count}` : null, (signal) => readBranch(of, 1, signal));
  const isMovable = Boolean(useSession()) && Object.keys(findInside(node.segment)).length > 0;
  const { isTarget, attributes } = useDragNode({
    value: isMovable ? node : null,
    name: node.name,
    accepts: ({ id, segment }) => id !== node.id && node.segment in findInside(segment),
    onDrop: (source) => void withErrorToast(() => move(source, node, onMoved)),
  });
  return (
    <li>
      <div class={isTarget ? "node target" : "node"} {...attributes}>
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
        <a href={treeAddress(node)}>{node.name || "(no name)"}</a>
        <small>{listSingular(node.segment)}</small>
        {node.space && (
          <span
            class="tag"
            title={`${formatCount(node.space.used)} of ${formatCount(node.space.capacity)} in use`}
          >
            {formatCount(node.space.free)} of {formatCount(node.space.capacity)} free
          </span>
        )}
        {node.contents > 0 && <span class="tag">{formatCount(node.contents)} in stock</span>}
        {isMovable && <IconButton icon="move" label={`Move ${node.name}`} onClick={() => setMoving(true)} />}
      </div>
      {isOpen && branch.value && <Tree branch={branch.value} />}
      {isMoving && <MoveDialog node={node} onClose={() => setMoving(false)} onMoved={onMoved} />}
    </li>
  );
}

function MoveDialog({ node, onClose, onMoved }: { node: Node; onClose: () => void; onMoved: () => void }) {
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
