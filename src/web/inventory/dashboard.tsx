import type { ComponentChildren } from "preact";
import { href } from "../address.ts";
import { Card } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { countOf, formatCount, formatDay, Time, unitSymbol } from "../format.tsx";
import { get } from "../request.ts";
import { useSession } from "../session.ts";
import { api, pageOf, singularOf, STOCK_LISTS } from "./declaration.ts";
import { RecentChanges } from "./recent-changes.tsx";
import { ExpiryTag, stockStateOf } from "./record.tsx";
import * as views from "../../inventory/resources/stock-views.ts";
import type { StockView } from "../../inventory/resources/stock-views.ts";

/** Stock that needs attention: each panel asks for the first records of the lists of stock, and their number. */

/** Records that a panel shows. */
const SHOWN = 5;

interface Item {
  id: string;
  segment: string;
  name: string;
  location__unique_path: string | null;
  position: string;
  expiry: string | null;
  amount: number | null;
  minimum_amount: number | null;
  unit__name: string | null;
  status: string;
  modified: string;
  owner__username: string | null;
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
  /** Fields besides id, name and where it is. */
  fields: readonly string[];
  /** Order of the records of both lists. */
  compare: (a: Item, b: Item) => number;
  empty: string;
  end: (item: Item) => ComponentChildren;
  /** Further lists to link to: what their records are, and the filters. */
  also?: { name: string; filters: Record<string, string> };
  below?: (item: Item) => ComponentChildren;
}

const byText = (a: string | null, b: string | null): number => (a ?? "").localeCompare(b ?? "");
const latestFirst = (a: Item, b: Item): number => byText(b.modified, a.modified);

const Changed = ({ item }: { item: Item }) => (
  <small>
    <Time at={item.modified} />
  </small>
);

export const EXPIRING: Panel = {
  ...views.EXPIRING,
  fields: ["expiry"],
  compare: (a, b) => byText(a.expiry, b.expiry),
  empty: "Nothing expires in the next 30 days.",
  end: ({ expiry }) => expiry && <Expiry day={expiry} />,
  also: { name: "expired", filters: { expiry__lt: "today" } },
};

export const LOW: Panel = {
  ...views.LOW,
  fields: ["amount", "minimum_amount", "unit__name", "status"],
  compare: (a, b) => (a.amount ?? 0) - (b.amount ?? 0) || byText(a.name, b.name),
  empty: "Nothing is below its minimum amount.",
  end: (item) => <Amount item={item} />,
};

const MINE: Panel = {
  ...views.MINE,
  fields: ["modified"],
  compare: latestFirst,
  empty: "You own no stock.",
  end: (item) => <Changed item={item} />,
};

const SHARED: Panel = {
  title: "Shared with me",
  filters: { shared_with_me: "true" },
  ordering: "-modified",
  fields: ["modified", "owner__username"],
  compare: latestFirst,
  empty: "Nobody has shared stock with you.",
  below: ({ owner__username: owner }) => owner && `shared by ${owner}`,
  end: (item) => <Changed item={item} />,
};

/** A day of expiry, with how far away it is. */
const Expiry = ({ day }: { day: string }) => (
  <>
    <ExpiryTag day={day} />
    <small>{formatDay(day)}</small>
  </>
);

function Amount({ item }: { item: Item }) {
  const unit = item.unit__name === null ? "" : ` ${unitSymbol(item.unit__name)}`;
  return (
    <>
      <span class={`state state-${stockStateOf({ ...item, below_minimum: true })}`}>
        {item.amount}
        {unit}
      </span>
      <small>
        of {item.minimum_amount}
        {unit}
      </small>
    </>
  );
}

/** How many records of each list of stock the filters find, without lists of none. */
async function readTotals(filters: Record<string, string>, signal: AbortSignal): Promise<Total[]> {
  // An order that other panels need, too.
  const query = { ...filters, ordering: "-modified", fields: "id", page_size: "1" };
  const totals = await Promise.all(
    STOCK_LISTS.map(async (segment) => {
      const { total } = await get<{ total: number }>(api(segment), query, signal);
      return { segment, total };
    }),
  );
  return totals.filter(({ total }) => total > 0);
}

async function readPanel({ filters, ordering, fields, compare }: Panel, signal: AbortSignal): Promise<Found> {
  const query = {
    ...filters,
    ordering,
    fields: ["id", "name", "location__unique_path", "position", ...fields].join(","),
    response_format: "flat",
    page_size: String(SHOWN),
  };
  const pages = await Promise.all(
    STOCK_LISTS.map(async (segment) => {
      const page = await get<{ total: number; results: Item[] }>(api(segment), query, signal);
      return {
        segment,
        total: page.total,
        items: page.results.map((item) => Object.assign(item, { segment })),
      };
    }),
  );
  const items = pages.flatMap((page) => page.items).toSorted(compare);
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
      <a key={word + segment} href={href(pageOf(segment), { ...filters, ordering })}>
        {countOf(count, word + singularOf(segment))}
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
              <li key={item.id}>
                <span class="grow">
                  <a href={href(pageOf(item.segment, item.id))}>{item.name || "(no name)"}</a>
                  <small>{of.below?.(item) ?? placeOf(item)}</small>
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
const placeOf = ({ location__unique_path: location, position }: Item): string =>
  [location ?? "no location", position].filter((part) => part !== "").join(", ");

/** The panels: stock that needs attention first, then that of the reader. */
export function Dashboard({ children }: { children: ComponentChildren }) {
  const session = useSession();
  return (
    <div class="with-panel">
      <div class="stack">
        <StockPanel of={EXPIRING} />
        <StockPanel of={LOW} />
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
