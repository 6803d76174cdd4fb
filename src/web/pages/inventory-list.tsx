import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { href } from "../address.ts";
import { BulkDialog, many, placeFields, type Task } from "../inventory/bulk.tsx";
import { Cell } from "../inventory/cell.tsx";
import {
  columnTitle,
  type Declaration,
  declaration,
  newPageOf,
  pageOf,
  segmentOf,
  titleOf,
  usualColumns,
} from "../inventory/declaration.ts";
import { FilterPanel } from "../inventory/filter-panel.tsx";
import { chosenColumns, filtersOf, filtersOrAll, pageQuery } from "../inventory/list-address.ts";
import { ColumnsMenu, MoreMenu, ViewsMenu } from "../inventory/list-tools.tsx";
import { asText, readPage, type Row, Shown } from "../inventory/record.tsx";
import { Shortcuts } from "../inventory/shortcuts.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { definePage, navigate, useParams, useQuery, useTitle } from "../page.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { type Column, Table } from "../components/table.tsx";
import { useSession } from "../session.ts";

const SIZES = [20, 50, 100, 200];
/** Milliseconds without a key before the list is searched. */
const PAUSE = 75;

function InventoryList() {
  const segment = segmentOf(useParams().list);
  const title = titleOf(segment);
  useTitle(title);
  const declared = useLoaded(segment, () => declaration(segment));
  return (
    <>
      <h1>{title}</h1>
      {declared.value ? (
        <List of={declared.value} />
      ) : declared.error ? (
        <ErrorBanner error={declared.error} retry={declared.reload} />
      ) : (
        <p class="muted">…</p>
      )}
    </>
  );
}

function List({ of }: { of: Declaration }) {
  const [search, setQuery] = useQuery();
  const session = useSession();
  const columns = useMemo(() => chosenColumns(search) ?? usualColumns(of), [of, search.get("fields")]);
  const query = pageQuery(search);
  const page = useLoaded(JSON.stringify([query, columns]), (signal) => readPage(of, query, columns, signal));
  const [changed, setChanged] = useState<ReadonlyMap<string, Row>>(new Map());
  useEffect(() => setChanged((before) => (before.size === 0 ? before : new Map())), [page.value]);
  const rows = useMemo(
    () => page.value?.rows.map((row) => changed.get(row.id) ?? row) ?? [],
    [page.value, changed],
  );
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [all, setAll] = useState(false);
  const [active, setActive] = useState(-1);
  const [task, setTask] = useState<Task | null>(null);
  const expression = search.get("query_expression") ?? "";
  const [filtering, setFiltering] = useState(false);
  const searchBox = useRef<HTMLInputElement>(null);
  const filterKey = JSON.stringify(filtersOf(search));
  // What "all that is found" meant changes with the filter.
  useEffect(() => setAll(false), [filterKey]);
  useEffect(() => setActive(-1), [page.value]);
  useEffect(() => {
    if (active >= 0) document.querySelector("tr.selected")?.scrollIntoView({ block: "nearest" });
  }, [active]);

  const total = page.value?.total ?? 0;
  const count = all ? total : chosen.size;
  /** The row that was selected last, from which a click with Shift selects all between. */
  const last = useRef<string | null>(null);
  const toggle = (id: string, range = false): void => {
    const next = new Set(all ? rows.map((row) => row.id) : chosen);
    const ends = [last.current, id].map((end) => rows.findIndex((row) => row.id === end));
    if (range && !ends.includes(-1)) {
      const on = !next.has(id);
      for (const row of rows.slice(Math.min(...ends), Math.max(...ends) + 1))
        if (on) next.add(row.id);
        else next.delete(row.id);
    } else if (!next.delete(id)) next.add(id);
    last.current = id;
    setAll(false);
    setChosen(next);
  };
  const clear = (): void => {
    setChosen(new Set());
    setAll(false);
  };
  const isChosen = (id: string): boolean => all || chosen.has(id);
  const pageChosen = rows.length > 0 && rows.every(({ id }) => isChosen(id));
  const togglePage = (): void => {
    const next = new Set(all ? [] : chosen);
    for (const { id } of rows)
      if (pageChosen) next.delete(id);
      else next.add(id);
    setAll(false);
    setChosen(next);
  };
  const step = (by: number): void => setActive((at) => Math.max(0, Math.min(rows.length - 1, at + by)));
  const turn = (by: number): void => {
    const to = (page.value?.current ?? 1) + by;
    if (to >= 1 && to <= (page.value?.total_pages ?? 1)) setQuery({ page: to === 1 ? null : to });
  };
  const tableColumns = (): Column<Row>[] => [
    {
      name: "select",
      title: (
        <input
          type="checkbox"
          aria-label="Select all on this page"
          checked={pageChosen}
          onChange={togglePage}
        />
      ),
      cell: (row) => (
        <input
          type="checkbox"
          aria-label={`Select ${asText(row.values[of.key])}`}
          checked={isChosen(row.id)}
          onClick={(event) => toggle(row.id, event.shiftKey)}
        />
      ),
    },
    ...columns.map((name): Column<Row> => {
      const field = of.fields[name];
      return {
        name,
        title: columnTitle(of, name),
        numeric: field?.kind === "integer" || field?.kind === "number",
        sortable: field?.sortable ?? name.includes("__"),
        heading: name === of.key,
        cell: (row) =>
          name === of.key ? (
            <a href={href(pageOf(of.name, row.id))}>{asText(row.values[name])}</a>
          ) : field ? (
            <Cell
              of={of}
              row={row}
              name={name}
              active={rows[active]?.id === row.id}
              onSaved={(saved) => setChanged(new Map(changed).set(saved.id, saved))}
              onUndone={page.reload}
            />
          ) : (
            <Shown value={row.values[name]} field={undefined} />
          ),
      };
    }),
  ];
  const order = search.get("ordering") ?? of.ordering.join(",");
  // Hundreds of cells: they are looked at again only where something of them has changed.
  const table = useMemo(
    () => (
      <Table
        caption={titleOf(of.name)}
        columns={tableColumns()}
        rows={rows}
        keyOf={(row) => row.id}
        order={order}
        onOrder={(by) => setQuery({ ordering: by, page: null })}
        selected={rows[active]?.id}
      />
    ),
    [of, columns, rows, order, active, chosen, all],
  );
  const filters = filtersOf(search);
  const others = Object.entries(filters).filter(([name]) => name !== "query" && name !== "query_expression");

  return (
    <>
      <p class="muted screen">{of.description}</p>
      <div class="list-tools screen">
        <SearchBox boxRef={searchBox} value={search.get("query") ?? ""} setQuery={setQuery} />
        <Button aria-expanded={filtering} onClick={() => setFiltering(!filtering)}>
          Filter{expression !== "" && <span class="tag good">on</span>}
        </Button>
        <ViewsMenu of={of} search={search} session={session} />
        <ColumnsMenu of={of} columns={columns} setQuery={setQuery} />
        <MoreMenu
          of={of}
          search={search}
          columns={columns}
          ids={all ? [] : [...chosen]}
          session={session}
          onChanged={page.reload}
        />
        {session && (
          <LinkButton look="primary" href={href(newPageOf(of.name))}>
            Add
          </LinkButton>
        )}
      </div>
      {filtering && (
        <FilterPanel of={of} text={expression} setQuery={setQuery} onClose={() => setFiltering(false)} />
      )}
      {(others.length > 0 || (expression !== "" && !filtering)) && (
        <p class="row filters-on">
          {others.map(([name, values]) => (
            <span key={name} class="tag">
              {name.replaceAll("__", " › ")}: {values.join(", ").slice(0, 60)}
              <button
                type="button"
                class="quiet"
                aria-label={`Without the filter ${name}`}
                onClick={() => setQuery({ [name]: null, page: null })}
              >
                ×
              </button>
            </span>
          ))}
          {expression !== "" && !filtering && (
            <span class="tag">
              filter on
              <button
                type="button"
                class="quiet"
                aria-label="Without the filter"
                onClick={() => setQuery({ query_expression: null, page: null })}
              >
                ×
              </button>
            </span>
          )}
        </p>
      )}
      {Boolean(page.error) && <ErrorBanner error={page.error} retry={page.reload} />}
      <p class="row list-count" aria-live="polite">
        <strong>{page.error ? "" : page.value ? many(total) : "…"}</strong>
        <Shortcuts
          shortcuts={[
            { keys: ["j", "ArrowDown"], does: "next row", run: () => step(1) },
            { keys: ["k", "ArrowUp"], does: "row before", run: () => step(-1) },
            {
              keys: ["Enter", "o"],
              does: "open the record",
              run: () => rows[active] && navigate(pageOf(of.name, rows[active].id)),
            },
            { keys: ["x"], does: "select the row", run: () => rows[active] && toggle(rows[active].id) },
            {
              keys: ["e"],
              does: "edit the first value of the row",
              run: () => document.querySelector<HTMLElement>("tr.selected button.edit")?.click(),
            },
            { keys: ["n"], does: "next page", run: () => turn(1) },
            { keys: ["p"], does: "page before", run: () => turn(-1) },
            { keys: ["/"], does: "search", run: () => searchBox.current?.focus() },
            { keys: ["f"], does: "filter", run: () => setFiltering(!filtering) },
          ]}
        />
      </p>
      {page.error && !page.busy ? null : page.value && rows.length === 0 ? (
        <Nothing of={of} filtered={Object.keys(filters).length > 0} signedIn={Boolean(session)} />
      ) : (
        <div class={page.busy ? "list busy" : "list"}>{table}</div>
      )}
      {page.value && !page.error && (
        <Pages
          current={page.value.current}
          pages={page.value.total_pages}
          size={Number(search.get("page_size") ?? 50)}
          onTurn={turn}
          onSize={(size) => setQuery({ page_size: size === 50 ? null : size, page: null })}
        />
      )}
      {count > 0 && (
        <section class="selection" aria-label="Selection">
          <p class="row">
            <strong>{many(count)} selected</strong>
            {!all && pageChosen && total > rows.length && (
              <Button look="quiet" onClick={() => setAll(true)}>
                Select all {total.toLocaleString("en")} that are found
              </Button>
            )}
            <span class="row grow">
              {session && search.get("deleted") === null && (
                <>
                  <Button onClick={() => setTask("edit")}>Change</Button>
                  {placeFields(of).length > 0 && <Button onClick={() => setTask("move")}>Move</Button>}
                  {of.guarded && <Button onClick={() => setTask("share")}>Share</Button>}
                  <Button look="danger" onClick={() => setTask("delete")}>
                    Delete
                  </Button>
                </>
              )}
              {session === null && <span class="muted">Sign in to change them.</span>}
            </span>
            <Button look="quiet" onClick={clear}>
              Clear
            </Button>
          </p>
        </section>
      )}
      {task && (
        <BulkDialog
          task={task}
          of={of}
          selected={all ? { filters: filtersOrAll(search) } : { ids: [...chosen] }}
          count={count}
          onClose={() => setTask(null)}
          onDone={() => {
            if (task === "delete") clear();
            page.reload();
          }}
        />
      )}
    </>
  );
}

/** Looks for words in names while they are typed. */
function SearchBox(props: {
  boxRef: { current: HTMLInputElement | null };
  value: string;
  setQuery: ReturnType<typeof useQuery>[1];
}) {
  const [typed, setTyped] = useState(props.value);
  // What this box asked for itself must not take the place of what was typed since.
  const asked = useRef(props.value);
  const ask = (how?: { replace: boolean }): void => {
    asked.current = typed;
    props.setQuery({ query: typed, page: null }, how);
  };
  useEffect(() => {
    if (props.value !== asked.current) setTyped(props.value);
    asked.current = props.value;
  }, [props.value]);
  useEffect(() => {
    if (typed === asked.current) return;
    const timer = setTimeout(() => ask({ replace: true }), PAUSE);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      <input
        ref={props.boxRef}
        type="search"
        aria-label="Search names"
        placeholder="Search names"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </form>
  );
}

function Nothing({ of, filtered, signedIn }: { of: Declaration; filtered: boolean; signedIn: boolean }) {
  if (filtered)
    return (
      <Empty title="Nothing is found">
        <p>
          No record that you may view fits. <a href={href(pageOf(of.name))}>Show all</a>
        </p>
      </Empty>
    );
  return (
    <Empty title="Nothing is here yet">
      {signedIn ? (
        <p>
          <a href={href(newPageOf(of.name))}>Add the first record</a>, or{" "}
          <a href={href(`${pageOf(of.name)}/import`)}>import a file</a>.
        </p>
      ) : (
        <p>Public records are shown to everyone; sign in to see those of your groups.</p>
      )}
    </Empty>
  );
}

function Pages(props: {
  current: number;
  pages: number;
  size: number;
  onTurn: (by: number) => void;
  onSize: (size: number) => void;
}) {
  const { current, pages, size, onTurn, onSize } = props;
  const sizes = SIZES.includes(size) ? SIZES : [...SIZES, size].sort((a, b) => a - b);
  return (
    <nav class="row pages screen" aria-label="Pages">
      <Button disabled={current <= 1} onClick={() => onTurn(-1)}>
        ← Before
      </Button>
      <span>
        Page {current.toLocaleString("en")} of {pages.toLocaleString("en")}
      </span>
      <Button disabled={current >= pages} onClick={() => onTurn(1)}>
        Next →
      </Button>
      <label class="row">
        Rows
        <select value={String(size)} onChange={(event) => onSize(Number(event.currentTarget.value))}>
          {sizes.map((each) => (
            <option key={each} value={String(each)}>
              {each}
            </option>
          ))}
        </select>
      </label>
    </nav>
  );
}

export const inventoryListPage = definePage({
  name: "inventory-list",
  paths: ["/inventory/:list"],
  title: "Inventory",
  View: InventoryList,
});
