import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { PageHead } from "../components/layout.tsx";
import { Loaded, Skeleton, useLoaded } from "../components/loaded.tsx";
import { BulkDialog, type Task } from "../inventory/bulk-dialog.tsx";
import {
  type Declaration,
  declaration,
  defaultColumns,
  defaultOrder,
  isInTree,
  LISTS,
  newPagePath,
  pagePath,
  toSegment,
  listSingular,
  listTitle,
} from "../inventory/declaration.ts";
import { FilterPanel } from "../inventory/filter-panel.tsx";
import {
  chosenColumns,
  type Filters,
  parseFilters,
  filtersOrAll,
  pageQuery,
} from "../inventory/list-address.ts";
import { ListTable, Pager } from "../inventory/list-table.tsx";
import { BulkBar, Toolbar, useDensity } from "../inventory/list-toolbar.tsx";
import { ViewTabs } from "../inventory/list-views.tsx";
import { readPage, type Row } from "../inventory/record.tsx";
import { SameUnits, TERMS } from "../inventory/same-units.tsx";
import { useSelection } from "../inventory/selection.ts";
import { Shortcuts } from "../inventory/shortcuts.tsx";
import { definePage, navigate, useParams, useQuery, useTitle } from "../page.tsx";
import { useSession } from "../session.ts";

function InventoryList() {
  const segment = toSegment(useParams().list);
  const title = listTitle(segment);
  useTitle(title);
  const session = useSession();
  const declared = useLoaded(segment, () => declaration(segment));
  return (
    <>
      <PageHead
        title={title}
        actions={
          session && (
            <>
              <LinkButton icon="upload" href={href(`${pagePath(segment)}/import`)}>
                Import
              </LinkButton>
              <LinkButton look="primary" icon="plus" href={href(newPagePath(segment))}>
                Add {listSingular(segment)}
              </LinkButton>
            </>
          )
        }
      >
        {declared.value?.description}
      </PageHead>
      <Loaded of={declared}>{(of) => <List of={of} />}</Loaded>
    </>
  );
}

function List({ of }: { of: Declaration }) {
  const [search, setQuery] = useQuery();
  const columns = useMemo(() => chosenColumns(search) ?? defaultColumns(of), [of, search.get("fields")]);
  // In searches of names, the API puts an exact match first.
  const isSearch = search.has("name") || search.has("search");
  const query = { ...(isSearch ? {} : { ordering: defaultOrder(of) }), ...pageQuery(search) };
  const page = useLoaded(JSON.stringify([query, columns]), (signal) => readPage(of, query, columns, signal));
  const { value } = page;
  const rows = value?.rows ?? [];
  const filters = parseFilters(search);
  const selection = useSelection(rows, value?.total ?? 0, JSON.stringify(filters));
  const [active, setActive] = useState(-1);
  const [task, setTask] = useState<Task | null>(null);
  const [isFiltering, setFiltering] = useState(false);
  const density = useDensity();
  const searchBox = useRef<HTMLInputElement>(null);
  useEffect(() => setActive(-1), [JSON.stringify(query)]);
  useEffect(() => {
    if (active >= 0) document.querySelector("tr.active")?.scrollIntoView({ block: "nearest" });
  }, [active]);
  const step = (by: number): void => setActive((at) => Math.max(0, Math.min(rows.length - 1, at + by)));
  const { current, total, total_pages } = value ?? { current: 1, total: 0, total_pages: 1 };
  const turn = (by: number): void => {
    const to = current + by;
    if (to < 1 || to > total_pages) return;
    setQuery({ page: to === 1 ? null : to });
    scrollTo({ top: 0 });
  };
  const saved = (row: Row): void =>
    page.update((before) => ({
      ...before,
      rows: before.rows.map((each) => (each.id === row.id ? row : each)),
    }));
  const shortcuts = [
    { keys: ["j", "ArrowDown"], does: "next row", run: () => step(1) },
    { keys: ["k", "ArrowUp"], does: "previous row", run: () => step(-1) },
    {
      keys: ["Enter", "o"],
      does: "open the record",
      run: () => rows[active] && navigate(pagePath(of.name, rows[active].id)),
    },
    { keys: ["x"], does: "select the row", run: () => rows[active] && selection.toggle(rows[active].id) },
    {
      keys: ["e"],
      does: "edit the first value of the row",
      run: () => document.querySelector<HTMLElement>("tr.active .cell-edit")?.click(),
    },
    { keys: ["n"], does: "next page", run: () => turn(1) },
    { keys: ["p"], does: "previous page", run: () => turn(-1) },
    { keys: ["/"], does: "search", run: () => searchBox.current?.focus() },
    { keys: ["f"], does: "filter", run: () => setFiltering(!isFiltering) },
  ];
  return (
    <>
      <ViewTabs of={of} />
      <div class="stack">
        {of.name === TERMS && <SameUnits onChanged={page.reload} />}
        <Toolbar
          of={of}
          columns={columns}
          ids={selection.isAll ? [] : [...selection.ids]}
          searchBox={searchBox}
          density={density}
          isFiltering={isFiltering}
          onFilter={() => setFiltering(!isFiltering)}
        />
        {isFiltering && <FilterPanel of={of} onClose={() => setFiltering(false)} />}
        <Loaded of={page}>
          {(value) => (
            <div class={`card dense ${density.isCompact ? "compact" : ""}`} aria-busy={page.busy}>
              {rows.length === 0 ? (
                <NoRecords of={of} filters={filters} />
              ) : (
                <ListTable
                  of={of}
                  columns={columns}
                  rows={rows}
                  selection={selection}
                  active={rows[active]?.id}
                  onSaved={saved}
                  onUndone={page.reload}
                />
              )}
              <Pager page={value} onPage={turn}>
                {rows.some(({ mayChange }) => mayChange) && (
                  <span class="pointer-only">Click a value to change it.</span>
                )}
                <Shortcuts shortcuts={shortcuts} />
              </Pager>
            </div>
          )}
        </Loaded>
        <BulkBar
          of={of}
          selection={selection}
          total={total}
          found={selection.isAll ? filters : { id: [...selection.ids] }}
          onTask={setTask}
        />
      </div>
      {task && (
        <BulkDialog
          task={task}
          of={of}
          selected={selection.isAll ? { filters: filtersOrAll(search) } : { ids: [...selection.ids] }}
          count={selection.count}
          onClose={() => setTask(null)}
          onDone={() => {
            if (task === "Delete") selection.clear();
            page.reload();
          }}
        />
      )}
    </>
  );
}

function NoRecords({ of, filters }: { of: Declaration; filters: Filters }) {
  const [, setQuery] = useQuery();
  const session = useSession();
  const plural = listTitle(of.name).toLowerCase();
  const { query } = filters;
  if (Object.keys(filters).length > 0)
    return (
      <Empty title={`No ${plural} found`} icon="search-x">
        <p>No record that you can view matches the filter.</p>
        <div class="actions">
          <Button
            onClick={() =>
              setQuery(
                Object.fromEntries(
                  [...new URLSearchParams(location.search).keys()].map((name) => [name, null]),
                ),
              )
            }
          >
            Show all
          </Button>
          {query && (
            <LinkButton look="quiet" icon="search" href={href("/search", { q: query.join(" ") })}>
              Search barcodes and texts too
            </LinkButton>
          )}
        </div>
      </Empty>
    );
  if (session === undefined) return <Skeleton />;
  return (
    <Empty title={`No ${plural} yet`} icon={LISTS[of.name]?.icon ?? "layers"}>
      <p>
        {session
          ? "Add the first one, or import a spreadsheet."
          : "Public records are visible to everyone. Sign in to see the records of your groups."}
      </p>
      <div class="actions">
        {session ? (
          <>
            <LinkButton icon="plus" href={href(newPagePath(of.name))}>
              Add {listSingular(of.name)}
            </LinkButton>
            <LinkButton look="quiet" icon="upload" href={href(`${pagePath(of.name)}/import`)}>
              Import a spreadsheet
            </LinkButton>
          </>
        ) : (
          <LinkButton href={href("/sign-in")}>Sign in</LinkButton>
        )}
      </div>
    </Empty>
  );
}

export const inventoryListPage = definePage({
  name: "inventory-list",
  paths: ["/inventory/:list"],
  title: "Inventory",
  // Rooms, equipment and locations are together; filters and saved views of one of them are still a list.
  currentAddress: ({ path, search }) =>
    search.size === 0 && isInTree(toSegment(path.split("/").at(-1)!))
      ? ["/inventory/storage", {}]
      : undefined,
  View: InventoryList,
});
