import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { formatCount } from "../format.tsx";
import {
  declaration,
  LISTS,
  newPagePath,
  pagePath,
  listSingular,
  STOCK_LISTS,
  listTitle,
} from "../inventory/declaration.ts";
import { Box } from "../inventory/box/box.tsx";
import { FreeSlots, useFreeSlots } from "../inventory/free-slots.tsx";
import { type Branch, makeCrumbs, type Node, readBranch } from "../inventory/path.tsx";
import { recordName, readPage, findSuffix, Value } from "../inventory/record.tsx";
import { Moves, Tree } from "../inventory/tree.tsx";
import { definePage, useQuery, useTitle } from "../page.tsx";
import { useSession } from "../session.ts";

function LocationTree() {
  const [query] = useQuery();
  const [count, setCount] = useState(0);
  const of = query.get("of") ?? "";
  const branch = useLoaded(`${of} ${count}`, (signal) => readBranch(of, 1, signal));
  const path = branch.value?.path ?? [];
  const here = path.at(-1);
  const title = here?.name ?? "Locations";
  useTitle(title);
  const head = (first?: ComponentChildren, last?: ComponentChildren) => (
    <PageHead
      title={title}
      {...(here ? { crumbs: makeCrumbs(path) } : {})}
      actions={here && <Actions {...{ here, first, last }} />}
    >
      {here && listSingular(here.segment)}
    </PageHead>
  );
  const below = (hasGrid: boolean) => (
    <Moves.Provider value={{ count, onMoved: () => setCount((before) => before + 1) }}>
      <Loaded of={branch}>{(value) => <EnclosedRecords branch={value} hasGrid={hasGrid} />}</Loaded>
    </Moves.Provider>
  );
  return here?.segment === "locations" ? (
    <Box key={here.id} id={here.id} head={head} foot={below} />
  ) : (
    <>
      {head()}
      {below(false)}
    </>
  );
}

/** The locations and records in a place; of a box, without the records that the grid shows. */
function EnclosedRecords({ branch, hasGrid }: { branch: Branch; hasGrid: boolean }) {
  const { path, levels, contents } = branch;
  const here = path.at(-1);
  const others = contents.filter(({ segment }) => !STOCK_LISTS.includes(segment));
  const kept = hasGrid ? others : contents;
  // A box of tubes has no locations inside.
  const showsContents = levels.length > 0 || (!hasGrid && kept.length === 0);
  const showsKept = here !== undefined && (!hasGrid || kept.length > 0);
  return (
    <div class={showsContents && showsKept ? "with-panel" : ""}>
      {showsContents && <Inside here={here} branch={branch} />}
      {showsKept && <Contents here={here} contents={kept} />}
    </div>
  );
}

/** Rooms, or the contents of one of them. */
function Inside({ here, branch }: { here: Node | undefined; branch: Branch }) {
  const space = useFreeSlots(here?.segment ?? "", here?.id ?? "");
  return (
    <Card title={here ? `Inside ${here.name}` : "Rooms"} bare foot={space && <FreeSlots space={space} />}>
      {branch.levels.length > 0 ? (
        <Levels branch={branch} isTop={!here} />
      ) : (
        <Empty title={here ? "Nothing inside" : "No rooms yet"} icon="map-pin">
          <p>{here ? "Add a location, or move one here." : "Add a room, then the equipment in it."}</p>
          {!here && (
            <div class="actions">
              <LinkButton look="primary" icon="layers" href={href("/inventory/build")}>
                Build rooms and freezers
              </LinkButton>
            </div>
          )}
        </Empty>
      )}
    </Card>
  );
}

/** At the top, equipment without a room comes under a separate heading. */
function Levels({ branch, isTop }: { branch: Branch; isTop: boolean }) {
  const rooms = branch.levels.filter(({ segment }) => segment === "places");
  const others = branch.levels.filter(({ segment }) => segment !== "places");
  if (!isTop || others.length === 0) return <Tree branch={branch} isOuter />;
  return (
    <>
      <Tree branch={{ ...branch, levels: rooms }} isOuter />
      <h3 class="tree-head">Unplaced equipment and locations</h3>
      <Tree branch={{ ...branch, levels: others }} isOuter />
    </>
  );
}

/** Actions on a place. A box comes with its own actions, and only tubes are put into it. */
function Actions(props: { here: Node; first: ComponentChildren; last: ComponentChildren }) {
  const { here, first, last } = props;
  const { segment, id } = here;
  const session = useSession();
  const isLocation = segment === "locations";
  const canBuild = session && first === undefined;
  return (
    <>
      {first}
      <LinkButton icon="file-text" href={href(pagePath(segment, id))}>
        Record
      </LinkButton>
      {isLocation && (
        <LinkButton icon="clipboard-check" href={href("/inventory/stocktake", { location: id })}>
          Stocktake
        </LinkButton>
      )}
      {canBuild && isLocation && (
        <LinkButton icon="plus" href={href(newPagePath("stocks/consumables"), { location: id })}>
          Add consumable
        </LinkButton>
      )}
      {canBuild && segment === "places" && (
        <LinkButton icon="layers" href={href("/inventory/build", { place: id })}>
          Build storage
        </LinkButton>
      )}
      {last}
      {canBuild && (
        <LinkButton
          look="primary"
          icon="plus"
          href={href(newPagePath("locations"), { [LISTS.locations.inside![segment]]: id })}
        >
          Add location
        </LinkButton>
      )}
    </>
  );
}

/** Records kept in a location itself, by list. */
const Contents = ({ here, contents }: { here: Node; contents: Branch["contents"] }) => (
  <div class="stack">
    {contents.length === 0 && (
      <Card title="Records">
        <p class="muted">None</p>
      </Card>
    )}
    {contents.map(({ segment, field, total }) => (
      <Kept key={`${segment} ${field}`} segment={segment} field={field} total={total} id={here.id} />
    ))}
  </div>
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
  paths: ["/inventory/tree"],
  title: "Locations",
  View: LocationTree,
});
