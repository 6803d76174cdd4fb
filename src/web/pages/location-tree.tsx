import { createContext } from "preact";
import { useContext, useState } from "preact/hooks";
import { href } from "../address.ts";
import { api, declaration, type Declaration, pageOf, titleOf } from "../inventory/declaration.ts";
import { type Branch, type Node, readBranch, Trail, treeAt, type TreeNode } from "../inventory/path.tsx";
import { Picker } from "../inventory/picker.tsx";
import { asText, readPage, Shown } from "../inventory/record.tsx";
import { announceDone } from "../inventory/write-record.ts";
import { useLoaded } from "../components/loaded.tsx";
import { definePage, useQuery, useTitle } from "../page.tsx";
import { showToast } from "../components/toast.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Empty } from "../components/empty.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { useSubmission } from "../components/form.tsx";
import { send } from "../request.ts";
import { useSession } from "../session.ts";

/** By which field one thing lies in another, by their lists; the same as the interface's tree. */
const INTO: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  locations: { locations: "parent", equipment: "equipment", places: "place" },
  equipment: { places: "place" },
};

/** How often something was moved on this page, and what is to be done after: every branch that is open is read again. */
const Moves = createContext<{ count: number; moved: () => void }>({ count: 0, moved: () => {} });

function LocationTree() {
  const [query] = useQuery();
  const [count, setCount] = useState(0);
  const of = query.get("of") ?? "";
  const branch = useLoaded(`${of} ${count}`, (signal) => readBranch(of, 1, signal));
  const here = branch.value?.path.at(-1);
  useTitle(here?.name ?? "Where things are");
  return (
    <>
      <Trail path={branch.value?.path ?? []} />
      <h1>{of === "" ? "Where things are" : (here?.name ?? "…")}</h1>
      {Boolean(branch.error) && <ErrorBanner error={branch.error} retry={branch.reload} />}
      {branch.value && (
        <Moves.Provider value={{ count, moved: () => setCount((before) => before + 1) }}>
          {here && <Tools here={here} />}
          <div class="record">
            <section class="card">
              <h2>{here ? "Inside it" : "Rooms, and what is in none"}</h2>
              <Tree branch={branch.value} open />
              {branch.value.levels.length === 0 && (
                <Empty title={here ? "Nothing lies in it" : "There are no places yet"}>
                  <p>
                    {here
                      ? "Add a location below it, or move one here."
                      : "Add a room, then what stands in it."}
                  </p>
                </Empty>
              )}
            </section>
            {here && <Contents here={here} branch={branch.value} />}
          </div>
        </Moves.Provider>
      )}
    </>
  );
}

function Tools({ here }: { here: Node }) {
  const session = useSession();
  const field = INTO.locations[here.segment];
  return (
    <p class="row record-tools screen">
      <LinkButton href={href(pageOf(here.segment, here.id))}>Its record</LinkButton>
      {here.segment === "locations" && (
        <LinkButton href={href("/inventory/stocktake", { location: here.id })}>Stocktake</LinkButton>
      )}
      {session && (
        <>
          <LinkButton href={href("/inventory/locations/new", { [field]: here.id })}>
            Add a location here
          </LinkButton>
          {here.segment === "locations" && (
            <LinkButton href={href("/inventory/stocks-consumables/new", { location: here.id })}>
              Add a consumable here
            </LinkButton>
          )}
        </>
      )}
    </p>
  );
}

/** One level, its further pages, and the levels below that were opened: nothing is read before it is. */
function Tree({ branch, open = false }: { branch: Branch; open?: boolean }) {
  return (
    <ul class={open ? "tree outer" : "tree"}>
      {branch.levels.map(({ segment, total, results }) => (
        <Level key={segment} of={branch.path.at(-1)} segment={segment} total={total} first={results} />
      ))}
    </ul>
  );
}

function Level(props: { of: Node | undefined; segment: string; total: number; first: readonly TreeNode[] }) {
  const { of, segment, total, first } = props;
  const [more, setMore] = useState<TreeNode[]>([]);
  const [page, setPage] = useState(1);
  const readMore = async (): Promise<void> => {
    try {
      const next = await readBranch(of ? `${of.segment}/${of.id}` : "", page + 1);
      const found = next.levels.find((level) => level.segment === segment)?.results ?? [];
      setMore([...more, ...found]);
      setPage(page + 1);
    } catch (error) {
      showToast((error as Error).message, "error");
    }
  };
  const shown = [...first, ...more];
  return (
    <>
      {shown.map((node) => (
        <Twig key={node.id} node={node} />
      ))}
      {shown.length < total && (
        <li>
          <Button look="quiet" onClick={() => void readMore()}>
            {(total - shown.length).toLocaleString("en")} more of {titleOf(segment).toLowerCase()}
          </Button>
        </li>
      )}
    </>
  );
}

const KINDS: Readonly<Record<string, string>> = {
  places: "place",
  equipment: "equipment",
  locations: "location",
};

/** Of what is dragged, for the things over which it is: the browser tells its data only when it is dropped. */
let dragged: Node | undefined;

/** Puts a thing into another: the first field that is set decides where it lies, so those before it are emptied. */
async function move(node: Node, into: Node, moved: () => void): Promise<void> {
  const fields = Object.values(INTO[node.segment]);
  const field = INTO[node.segment][into.segment];
  const before = fields.slice(0, fields.indexOf(field));
  const body = { ...Object.fromEntries(before.map((name) => [name, null])), [field]: into.id };
  const response = await send("PATCH", api(node.segment, `${node.id}/`), { body });
  announceDone(`${node.name} moved.`, response.headers.get("Batch-Id"), moved);
  moved();
}

function Twig({ node }: { node: TreeNode }) {
  const [open, setOpen] = useState(false);
  const [moving, setMoving] = useState(false);
  const [target, setTarget] = useState(false);
  const session = useSession();
  const { count, moved } = useContext(Moves);
  const of = `${node.segment}/${node.id}`;
  const branch = useLoaded(open ? `${of} ${count}` : null, (signal) => readBranch(of, 1, signal));
  const movable = Boolean(session) && node.segment in INTO;
  const takes = (): boolean =>
    dragged !== undefined && dragged.id !== node.id && node.segment in INTO[dragged.segment];
  return (
    <li>
      <div
        class={target ? "twig target" : "twig"}
        draggable={movable}
        onDragStart={(event) => {
          dragged = node;
          event.dataTransfer?.setData("text/plain", node.name);
        }}
        onDragEnd={() => {
          dragged = undefined;
        }}
        onDragOver={(event) => {
          if (!takes()) return;
          event.preventDefault();
          setTarget(true);
        }}
        onDragLeave={() => setTarget(false)}
        onDrop={(event) => {
          event.preventDefault();
          setTarget(false);
          if (dragged && takes())
            move(dragged, node, moved).catch((error: Error) => showToast(error.message, "error"));
        }}
      >
        {node.inside > 0 ? (
          <button
            type="button"
            class="quiet"
            aria-expanded={open}
            aria-label={`What lies in ${node.name}`}
            onClick={() => setOpen(!open)}
          >
            <span aria-hidden="true">{open ? "▾" : "▸"}</span>
          </button>
        ) : (
          <span class="leaf" />
        )}
        <a href={treeAt(node)}>{node.name || "(without a name)"}</a>
        <small>{KINDS[node.segment]}</small>
        {node.contents > 0 && (
          <span class="tag" title="Records that are kept in it">
            {node.contents.toLocaleString("en")}
            <span class="unseen"> records in it</span>
          </span>
        )}
        {movable && (
          <Button look="quiet" aria-label={`Move ${node.name}`} onClick={() => setMoving(true)}>
            Move
          </Button>
        )}
      </div>
      {open && branch.value && <Tree branch={branch.value} />}
      {moving && <MoveDialog node={node} onClose={() => setMoving(false)} onMoved={moved} />}
    </li>
  );
}

/** Chooses where a thing goes, with the keyboard as well as with the mouse. */
function MoveDialog({ node, onClose, onMoved }: { node: Node; onClose: () => void; onMoved: () => void }) {
  const into = INTO[node.segment];
  const [segment, setSegment] = useState(Object.keys(into)[0]);
  const [chosen, setChosen] = useState({ id: "", name: "" });
  const declared = useLoaded(segment, () => declaration(segment));
  const { submit, busy, error } = useSubmission(async () => {
    await move(node, { segment, ...chosen }, onMoved);
    onClose();
    return true;
  });
  return (
    <Dialog
      title={`Move ${node.name}`}
      onClose={onClose}
      actions={
        <>
          <Button look="primary" busy={busy} disabled={chosen.id === ""} onClick={submit}>
            Move it there
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </>
      }
    >
      {error !== null && <ErrorBanner error={error} />}
      {Object.keys(into).length > 1 && (
        <fieldset class="plain-group">
          <legend>Into</legend>
          {Object.keys(into).map((each) => (
            <label key={each} class="checkbox">
              <input
                type="radio"
                name="into"
                checked={each === segment}
                onChange={() => {
                  setSegment(each);
                  setChosen({ id: "", name: "" });
                }}
              />
              <span>{each === "equipment" ? "a piece of equipment" : `a ${KINDS[each]}`}</span>
            </label>
          ))}
        </fieldset>
      )}
      {declared.value && (
        <Picker
          key={segment}
          label={`Which ${KINDS[segment]}`}
          to={{ segment, key: declared.value.key, printed: "id" }}
          value={chosen.id}
          onChoose={(id, name) => setChosen({ id, name })}
        />
      )}
    </Dialog>
  );
}

/** What is kept in the thing itself, list by list: the first of each, and the way to all. */
function Contents({ here, branch }: { here: Node; branch: Branch }) {
  return (
    <section class="card">
      <h2>Kept in it</h2>
      {branch.contents.length === 0 && <p class="muted">Nothing.</p>}
      {branch.contents.map(({ segment, field, total }) => (
        <Kept key={`${segment} ${field}`} segment={segment} field={field} total={total} id={here.id} />
      ))}
    </section>
  );
}

const FIRST = 20;

function Kept(props: { segment: string; field: string; total: number; id: string }) {
  const { segment, field, total, id } = props;
  const found = useLoaded(
    `${segment} ${id}`,
    async (signal): Promise<[Declaration, Awaited<ReturnType<typeof readPage>>]> => {
      const of = await declaration(segment);
      const extra = ["status", "amount", "unit"].filter((name) => name in of.fields);
      return [of, await readPage(of, { [field]: id, page_size: String(FIRST) }, extra, signal)];
    },
  );
  const [of, page] = found.value ?? [];
  return (
    <>
      <h3>
        <a href={href(pageOf(segment), { [field]: id })}>
          {total.toLocaleString("en")} {titleOf(segment).toLowerCase()}
        </a>
      </h3>
      {of && page && (
        <ul class="bare kept">
          {page.rows.map((row) => (
            <li key={row.id} class="row between">
              <a href={href(pageOf(segment, row.id))}>{asText(row.values[of.key])}</a>
              <small>
                {["amount", "unit", "status"]
                  .filter(
                    (name) =>
                      row.values[name] !== null && row.values[name] !== undefined && row.values[name] !== "",
                  )
                  .map((name) => (
                    <span key={name}>
                      {typeof row.values[name] === "object" ? (
                        asText(row.values[name])
                      ) : (
                        <Shown value={row.values[name]} field={of.fields[name]} />
                      )}{" "}
                    </span>
                  ))}
              </small>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

export const locationTreePage = definePage({
  name: "location-tree",
  paths: ["/inventory/tree"],
  title: "Where things are",
  View: LocationTree,
});
