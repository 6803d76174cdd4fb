import type { ComponentChildren } from "preact";
import { href } from "../address.ts";
import { Card } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { pluralize, formatCount, Time } from "../format.tsx";
import { useSession } from "../session.ts";
import { type Declaration, declaration, pagePath, listSingular, STOCK_LISTS } from "./declaration.ts";
import { RecentChanges } from "./recent-changes.tsx";
import { formatText, isNamed, recordName, readPage, type Row, findSuffix } from "./record.tsx";
import { DueBack } from "./stock-actions.tsx";
import * as views from "../../inventory/resources/stock-views.ts";
import type { StockView } from "../../inventory/resources/stock-views.ts";
import { countRecords } from "./read-list.ts";
import { Why } from "./stock-left.tsx";
import { call } from "../request.ts";

/** Stock that needs attention: each panel asks for the first records of the lists of stock, and their number. */

/** Records that a panel shows. */
const SHOWN = 5;

/** A record of a list of stock. */
interface Item {
  of: Declaration;
  row: Row;
}

interface Total {
  segment: string;
  total: number;
}

interface Found {
  items: Item[];
  totals: Total[];
}

interface Panel extends StockView {
  /** Fields besides the name and the location. */
  fields: readonly string[];
  /** Order of the records of both lists. */
  compare: (a: Row["values"], b: Row["values"]) => number;
  empty: string;
  end: (item: Item) => ComponentChildren;
  /** Further lists to link to: what their records are, and the filters. */
  also?: { name: string; filters: Record<string, string> };
  below?: (item: Item) => ComponentChildren;
}

const compareTexts =
  (name: string): Panel["compare"] =>
  (a, b) =>
    String(a[name] ?? "").localeCompare(String(b[name] ?? ""));
const latestFirst: Panel["compare"] = (a, b) => compareTexts("modified")(b, a);

const Changed = ({ row: { values } }: Item) => (
  <small>
    <Time at={String(values.modified)} />
  </small>
);

const TAKEN_OUT: Panel = {
  ...views.TAKEN_OUT,
  fields: ["taken_out_by", "due_back"],
  compare: compareTexts("due_back"),
  empty: "Everything is in its place.",
  below: ({ row: { values } }) => `${formatText(values.taken_out_by)} has it`,
  end: ({ row: { values } }) => <DueBack at={values.due_back} />,
  also: { name: "overdue", filters: views.OVERDUE.filters },
};

const MINE: Panel = {
  ...views.OWN_STOCK,
  fields: ["modified"],
  compare: latestFirst,
  empty: "You own no stock.",
  end: (item) => <Changed {...item} />,
};

const SHARED: Panel = {
  title: "Shared with me",
  filters: { shared_with_me: "true" },
  ordering: "-modified",
  fields: ["modified", "owner"],
  compare: latestFirst,
  empty: "Nobody has shared stock with you.",
  below: ({ row }) => `shared by ${formatText(row.values.owner)}`,
  end: (item) => <Changed {...item} />,
};

/** The number of records that the filters find in each list of stock; lists without any are left out. */
async function readTotals(filters: Record<string, string>, signal: AbortSignal): Promise<Total[]> {
  // An order that other panels need, too.
  const query = { ...filters, ordering: "-modified" };
  const totals = await Promise.all(
    STOCK_LISTS.map(async (segment) => {
      const total = await countRecords(segment, query, signal);
      return { segment, total };
    }),
  );
  return totals.filter(({ total }) => total > 0);
}

async function readPanel({ filters, ordering, fields, compare }: Panel, signal: AbortSignal): Promise<Found> {
  const query = { ...filters, ordering, page_size: String(SHOWN) };
  const pages = await Promise.all(
    STOCK_LISTS.map(async (segment) => {
      const of = await declaration(segment);
      const { total, rows } = await readPage(of, query, ["location", ...fields], signal);
      return { segment, total, items: rows.map((row): Item => ({ of, row })) };
    }),
  );
  const items = pages.flatMap((page) => page.items).toSorted((a, b) => compare(a.row.values, b.row.values));
  return { items: items.slice(0, SHOWN), totals: pages.filter(({ total }) => total > 0) };
}

/** The most urgent of what is running out; the list has all of it. */
export function RunningOutPanel() {
  const session = useSession();
  const found = useLoaded("running out", (signal) =>
    call("GET /api/v2/:list/running_out/", {
      params: { list: "stocks/products" },
      query: { count: SHOWN },
      signal,
    }),
  );
  const total = found.value?.total ?? 0;
  const foot = total > 0 && (
    <>
      <a href={href("/inventory/running-out")}>Reorder and receive</a>
      {session && (
        <a class="end" href={`${href("/profile")}#reminders`}>
          Get reminders by e-mail
        </a>
      )}
    </>
  );
  return (
    <Card title="Running out" count={found.value && formatCount(total)} bare foot={foot}>
      <Loaded of={found}>
        {({ results }) => (
          <ul class="list panel">
            {results.length === 0 && <li class="muted">Nothing is running out.</li>}
            {results.map((row) => (
              <li key={row.id}>
                <span class="grow">
                  <a href={href(pagePath(row.segment, row.id))}>{row.name}</a>
                  <small>{[row.supplier, row.catalogue_number].filter(Boolean).join(", ")}</small>
                </span>
                <span class="end">
                  <Why of={row} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  );
}

function StockPanel({ of }: { of: Panel }) {
  const found = useLoaded(of.title, (signal) => readPanel(of, signal));
  const { totals = [] } = found.value ?? {};
  const total = totals.reduce((sum, each) => sum + each.total, 0);
  const { also, ordering } = of;
  const others = useLoaded(also ? also.name : null, (signal) => readTotals(also?.filters ?? {}, signal));
  const linksTo = (lists: readonly Total[], word: string, filters: Record<string, string>) =>
    lists.map(({ segment, total: count }) => (
      <a key={word + segment} href={href(pagePath(segment), { ...filters, ordering })}>
        {pluralize(count, word + listSingular(segment))}
      </a>
    ));
  const links = [
    ...linksTo(totals, "", of.filters),
    ...(also ? linksTo(others.value ?? [], `${also.name} `, also.filters) : []),
  ];
  return (
    <Card title={of.title} count={found.value && formatCount(total)} bare foot={links.length > 0 && links}>
      <Loaded of={found}>
        {({ items }) => (
          <ul class="list panel">
            {items.length === 0 && <li class="muted">{of.empty}</li>}
            {items.map((item) => (
              <li key={item.row.id}>
                <span class="grow">
                  <a href={href(pagePath(item.of.name, item.row.id))}>{recordName(item.of, item.row)}</a>
                  <small>{of.below?.(item) ?? formatPlace(item)}</small>
                </span>
                <span class="end">{of.end(item)}</span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  );
}

/** `Box oligos 1, A3`. */
function formatPlace({ of, row }: Item): string {
  const { location } = row.values;
  return isNamed(location) && location.name !== null
    ? location.name + findSuffix(of, row, "location")
    : "no location";
}

/** The panels: stock that needs attention first, then that of the reader. */
export function Dashboard({ children }: { children: ComponentChildren }) {
  const session = useSession();
  return (
    <div class="with-panel">
      <div class="stack">
        <RunningOutPanel />
        <StockPanel of={TAKEN_OUT} />
        {session && <RecentChanges />}
      </div>
      <div class="stack">
        {session && <StockPanel of={MINE} />}
        {session && <StockPanel of={SHARED} />}
        {children}
      </div>
    </div>
  );
}
