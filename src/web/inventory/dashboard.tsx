import type { ComponentChildren } from "preact";
import { href } from "../address.ts";
import { Card } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { pluralize, formatCount, formatDay, Time } from "../format.tsx";
import { useSession } from "../session.ts";
import { type Declaration, declaration, pagePath, listSingular, STOCK_LISTS } from "./declaration.ts";
import { RecentChanges } from "./recent-changes.tsx";
import {
  formatText,
  ExpiryTag,
  isNamed,
  personName,
  recordName,
  readPage,
  type Row,
  findStockState,
  findSuffix,
  formatWithSuffix,
} from "./record.tsx";
import { DueBack } from "./stock-actions.tsx";
import * as views from "../../inventory/resources/stock-views.ts";
import type { StockView } from "../../inventory/resources/stock-views.ts";
import { countRecords } from "./read-list.ts";

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

export const EXPIRING: Panel = {
  ...views.EXPIRING,
  fields: ["expiry"],
  compare: compareTexts("expiry"),
  empty: "Nothing expires in the next 30 days.",
  end: ({ row: { values } }) => (
    <>
      <ExpiryTag day={String(values.expiry)} />
      <small>{formatDay(String(values.expiry))}</small>
    </>
  ),
  also: { name: "expired", filters: { expiry__lt: "today" } },
};

export const LOW: Panel = {
  ...views.LOW,
  fields: ["amount", "minimum_amount", "status"],
  compare: (a, b) => Number(a.amount) - Number(b.amount) || compareTexts("name")(a, b),
  empty: "Nothing is below its minimum amount.",
  end: (item) => <Amount {...item} />,
};

const TAKEN_OUT: Panel = {
  ...views.TAKEN_OUT,
  fields: ["taken_out_by", "due_back"],
  compare: compareTexts("due_back"),
  empty: "Everything is in its place.",
  below: ({ row: { values } }) => `${personName(values.taken_out_by)} has it`,
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

function Amount({ of, row }: Item) {
  const amount = (name: string): string => formatWithSuffix(of, row, name);
  return (
    <>
      <span class={`state state-${findStockState(row.values)}`}>{amount("amount")}</span>
      {row.values.minimum_amount !== null && <small>minimum {amount("minimum_amount")}</small>}
    </>
  );
}

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

const REMINDERS = (
  <a key="reminders" class="end" href={`${href("/profile")}#reminders`}>
    Get reminders by e-mail
  </a>
);

export function StockPanel({ of }: { of: Panel }) {
  const session = useSession();
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
    ...(of === LOW && total > 0 && session ? [REMINDERS] : []),
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
        <StockPanel of={EXPIRING} />
        <StockPanel of={LOW} />
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
