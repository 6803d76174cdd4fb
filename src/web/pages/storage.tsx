import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { Combobox } from "../components/combobox.tsx";
import { Empty } from "../components/empty.tsx";
import { Icon } from "../components/icon.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { Menu } from "../components/menu.tsx";
import { formatCount, pluralize } from "../format.tsx";
import { AddFreezer } from "../inventory/add-freezer.tsx";
import {
  declaration,
  isInTree,
  LISTS,
  newPagePath,
  pagePath,
  listTitle,
  referenceTo,
} from "../inventory/declaration.ts";
import { ChosenBox, Front, FrontLegend } from "../inventory/freezer.tsx";
import { countRoom, type FrontNode, nestNodes, nounOf, sum } from "../inventory/front.ts";
import { Capacity } from "../inventory/free-slots.tsx";
import { type Branch, type Node, PathLine, readBranch, treeAddress } from "../inventory/path.tsx";
import { CreateDialog, OptionName, searchRecords } from "../inventory/picker.tsx";
import { recordName, readPage, findSuffix, Value } from "../inventory/record.tsx";
import { MoveDialog, placeIcon, Shown, Tree } from "../inventory/tree.tsx";
import { definePage, navigate, useQuery, useTitle } from "../page.tsx";
import { useSession } from "../session.ts";

/** Rooms, equipment and locations: a tree, and the front of the place that is chosen in it. */
function Storage() {
  const [query, setQuery] = useQuery();
  const [count, setCount] = useState(0);
  const of = query.get("of") ?? "";
  const tree = useLoaded(`${count}`, (signal) => readBranch("", 1, signal));
  const branch = useLoaded(of === "" ? null : `${of} ${count}`, (signal) => readBranch(of, 1, signal, true));
  const path = (of !== "" && branch.value?.path) || [];
  const here = path.at(-1);
  useTitle(here?.name ?? "Storage");
  useEffect(() => {
    // A box has a page of its own.
    if (here?.grid_rows) location.replace(treeAddress(here));
  }, [here?.id]);
  const reload = (): void => setCount((before) => before + 1);
  const show = (next: string): void => setQuery({ of: next, box: null });
  return (
    <Shown.Provider value={{ count, path, onMoved: reload, onShow: show }}>
      <PageHead title="Storage" actions={<AddButtons here={here} onAdded={reload} />}>
        {tree.value && summarize(tree.value)}
      </PageHead>
      <div class={of === "" ? "" : "with-tree"}>
        <Places tree={tree} here={here} />
        {of !== "" && (
          <Loaded of={branch}>
            {(value) => <Place key={value.path.at(-1)?.id} branch={value} onChanged={reload} />}
          </Loaded>
        )}
      </div>
    </Shown.Provider>
  );
}

/** Buttons that add a room or a freezer, and their dialogs. */
function AddButtons({ here, onAdded }: { here: Node | undefined; onAdded: () => void }) {
  const [adding, setAdding] = useState<"room" | "freezer" | null>(null);
  const close = (): void => setAdding(null);
  if (!useSession()) return null;
  return (
    <>
      <Button icon="plus" onClick={() => setAdding("room")}>
        Add room
      </Button>
      <Button look="primary" icon="plus" onClick={() => setAdding("freezer")}>
        Add freezer
      </Button>
      {adding === "freezer" && (
        <AddFreezer place={here?.segment === "places" ? here.id : ""} onClose={close} onAdded={onAdded} />
      )}
      {adding === "room" && (
        <CreateDialog to={referenceTo("places")} name="" onClose={close} onCreated={onAdded} />
      )}
    </>
  );
}

/** What there is in one sentence. */
function summarize({ levels }: Branch): string {
  const rooms = levels.find(({ segment }) => segment === "places");
  const spaces = levels.flatMap(({ results }) => results.flatMap(({ space }) => space ?? []));
  const isWhole = levels.every(({ total, results }) => total === results.length);
  const free = spaces.reduce((total, space) => total + space.free, 0);
  return [
    pluralize(rooms?.total ?? 0, "room"),
    ...(isWhole && spaces.length > 0 ? [`${formatCount(free)} free slots`] : []),
  ]
    .join(", ")
    .concat(". Click a place to see what is inside; drag to move it.");
}

const PHONE = "(max-width: 1000px)";

/** The tree, which small screens show on demand once a place is chosen. */
function Places(props: { tree: ReturnType<typeof useLoaded<Branch>>; here: Node | undefined }) {
  const { tree, here } = props;
  const [isOpen, setOpen] = useState(true);
  useEffect(() => setOpen(!here || !matchMedia(PHONE).matches), [here?.id]);
  return (
    <details class="card tree-card" open={isOpen}>
      <summary class="card-head">
        <h2>Places</h2>
        <small>{here?.name}</small>
        <Icon name="chevron-right" />
      </summary>
      <div class="tree-find">
        <FindPlace />
      </div>
      <Loaded of={tree}>
        {(value) => (value.levels.length > 0 ? <Levels branch={value} /> : <NoRooms />)}
      </Loaded>
    </details>
  );
}

/** Finds a place of any kind by part of its name. */
const FindPlace = () => (
  <Combobox<{ segment: string } & Awaited<ReturnType<typeof searchRecords>>[number]>
    label="Find a place"
    hideLabel
    shown=""
    placeholder="Find a place"
    allowsTypedOnly
    search={async (text, signal) => {
      const lists = Object.keys(LISTS).filter(isInTree);
      const found = await Promise.all(
        lists.map(async (segment) => {
          const options = await searchRecords(referenceTo(segment), text, signal);
          return options.map((option) => Object.assign(option, { segment }));
        }),
      );
      return { options: found.flat() };
    }}
    optionKey={({ segment, value }) => `${segment}/${value}`}
    onChoose={({ segment, value }) => navigate("/inventory/storage", { of: `${segment}/${value}` })}
  >
    {(option) => <OptionName option={option} />}
  </Combobox>
);

const NoRooms = () => (
  <Empty title="No rooms yet" icon="door-open">
    <p>Add a room, then the freezers in it.</p>
    <div class="actions">
      <LinkButton icon="layers" href={href("/inventory/build")}>
        Build rooms and freezers
      </LinkButton>
    </div>
  </Empty>
);

/** Rooms; equipment and locations without one come under a separate heading. */
function Levels({ branch }: { branch: Branch }) {
  const rooms = branch.levels.filter(({ segment }) => segment === "places");
  const others = branch.levels.filter(({ segment }) => segment !== "places");
  return (
    <>
      <Tree branch={{ ...branch, levels: rooms }} isOuter />
      {others.length > 0 && (
        <>
          <h3 class="tree-head">Without a room</h3>
          <Tree branch={{ ...branch, levels: others }} isOuter />
        </>
      )}
    </>
  );
}

const isBox = ({ nodes, grid_rows }: FrontNode): boolean => nodes.length === 0 && grid_rows !== null;
const countBoxes = (nodes: readonly FrontNode[]): number =>
  nodes.reduce((total, node) => total + (isBox(node) ? 1 : countBoxes(node.nodes)), 0);
const countAllRoom = (nodes: readonly FrontNode[]): number =>
  nodes.reduce((total, node) => total + countRoom(node) + countAllRoom(node.nodes), 0);
const findNode = (nodes: readonly FrontNode[], id: string | null): FrontNode | undefined =>
  nodes.flatMap((node) => (node.id === id ? node : (findNode(node.nodes, id) ?? [])))[0];

/** A place: its front, and the records in it. */
function Place({ branch, onChanged }: { branch: Branch; onChanged: () => void }) {
  const [query] = useQuery();
  const [moving, setMoving] = useState<Node | null>(null);
  const here = branch.path.at(-1)!;
  const nodes = nestNodes(here.id, branch);
  const space = sum(nodes);
  const chosen = findNode(nodes, query.get("box"));
  const room = countAllRoom(nodes);
  const where = branch.path.slice(0, -1).map(({ name }) => name);
  const boxes = countBoxes(nodes);
  return (
    <div class="stack">
      <section class="card" aria-labelledby="place-name">
        <div class="card-head">
          <div class="place-title">
            <h2 id="place-name">
              <Icon name={placeIcon(here)} /> {here.name}
            </h2>
            <small>
              <PathLine path={where.join(" › ") || (here.segment === "places" ? "Room" : "Without a room")} />
              {boxes > 0 && `, ${pluralize(boxes, "box", "boxes")}`}
            </small>
          </div>
          <Actions here={here} nodes={nodes} onMove={() => setMoving(here)} />
        </div>
        <div class="card-body stack">
          {space.capacity > 0 && (
            <Capacity space={space}>
              {room > 0 && `, room for ${pluralize(room, "more box", "more boxes")}`}
            </Capacity>
          )}
          {nodes.length > 0 ? (
            <>
              <Front name={here.name} nodes={nodes} />
              <FrontLegend />
            </>
          ) : (
            branch.contents.length === 0 && <p class="muted">Nothing inside.</p>
          )}
        </div>
        {chosen && <ChosenBox box={chosen} onMove={() => setMoving(chosen)} />}
      </section>
      <Contents here={here} contents={branch.contents} />
      {moving && <MoveDialog node={moving} onClose={() => setMoving(null)} onMoved={onChanged} />}
    </div>
  );
}

/** Actions on a place. */
function Actions({ here, nodes, onMove }: { here: Node; nodes: readonly FrontNode[]; onMove: () => void }) {
  const { segment, id } = here;
  const session = useSession();
  const inside = LISTS.locations.inside![segment];
  const noun = nounOf(nodes.at(-1)?.name ?? "")?.toLowerCase() ?? "location";
  return (
    <div class="actions">
      {session && (
        <LinkButton small icon="plus" href={href(newPagePath("locations"), { [inside]: id })}>
          Add {noun}
        </LinkButton>
      )}
      <LinkButton small icon="printer" href={href("/inventory/labels", { list: "locations", [inside]: id })}>
        Labels
      </LinkButton>
      <Menu label="More" plain small>
        <a href={href(pagePath(segment, id))}>Properties, access and history</a>
        {segment === "locations" && (
          <>
            <a href={href("/inventory/stocktake", { location: id })}>Stocktake</a>
            {session && (
              <a href={href(newPagePath("stocks/consumables"), { location: id })}>Add consumable</a>
            )}
          </>
        )}
        {session && segment !== "places" && (
          <button type="button" onClick={onMove}>
            Move
          </button>
        )}
        {session && segment === "places" && (
          <>
            <a href={href(newPagePath("equipment"), { place: id })}>Add equipment</a>
            <a href={href("/inventory/build", { place: id })}>Build storage</a>
          </>
        )}
        {Object.keys(LISTS)
          .filter(isInTree)
          .map((list) => (
            <a key={list} href={href(pagePath(list), { page: 1 })}>
              All {listTitle(list).toLowerCase()} as a table
            </a>
          ))}
      </Menu>
    </div>
  );
}

/** Records kept in a place itself, by list. */
const Contents = ({ here, contents }: { here: Node; contents: Branch["contents"] }) => (
  <>
    {contents.map(({ segment, field, total }) => (
      <Kept key={`${segment} ${field}`} segment={segment} field={field} total={total} id={here.id} />
    ))}
  </>
);

const FIRST = 20;

function Kept(props: { segment: string; field: string; total: number; id: string }) {
  const { segment, field, total, id } = props;
  const found = useLoaded(`${segment} ${id}`, async (signal) => {
    const of = await declaration(segment);
    const fields = ["amount", "state"].flatMap((look) =>
      Object.keys(of.fields).filter((name) => of.fields[name].form?.look === look),
    );
    const { rows } = await readPage(of, { [field]: id, page_size: String(FIRST) }, fields, signal);
    return { of, fields, rows };
  });
  return (
    <Card
      title={listTitle(segment)}
      count={formatCount(total)}
      bare
      foot={
        total > FIRST && <a href={href(pagePath(segment), { [field]: id })}>Show all {formatCount(total)}</a>
      }
    >
      <Loaded of={found}>
        {({ of, fields, rows }) => (
          <ul class="list">
            {rows.map((row) => (
              <li key={row.id}>
                <a href={href(pagePath(segment, row.id))}>{recordName(of, row)}</a>
                <span class="row end">
                  {fields
                    .filter((name) => ![null, undefined, ""].includes(row.values[name] as null))
                    .map((name) => (
                      <Value
                        key={name}
                        suffix={findSuffix(of, row, name)}
                        value={row.values[name]}
                        field={of.fields[name]}
                      />
                    ))}
                </span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  );
}

export const storagePage = definePage({
  name: "storage",
  paths: ["/inventory/storage", "/inventory/tree"],
  title: "Storage",
  currentAddress: ({ path, search }) =>
    path === "/inventory/tree" ? ["/inventory/storage", { of: search.get("of") }] : undefined,
  View: Storage,
});
