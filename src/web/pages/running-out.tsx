import { useState } from "preact/hooks";
import type { RunningOut, StockLeft } from "../../inventory/api/route-orders.ts";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { ChipChoice } from "../components/chip-choice.tsx";
import { Empty } from "../components/empty.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { type Column, Table } from "../components/table.tsx";
import { download } from "../download.ts";
import { formatCount, formatDay, pluralize } from "../format.tsx";
import { formatConstant, pagePath } from "../inventory/declaration.ts";
import {
  GroupDialog,
  OrderDialog,
  type Ordered,
  OrderFiles,
  ReceiveDialog,
} from "../inventory/order-dialogs.tsx";
import { formatMoney, formatTotal, type OrderLine, toOrderCsv } from "../inventory/order-text.ts";
import { Person } from "../inventory/record.tsx";
import { readList } from "../inventory/read-list.ts";
import { Left, NextStep, OrderStep, SHORTAGE_WORDS, Why } from "../inventory/stock-left.tsx";
import { definePage, useQuery } from "../page.tsx";
import { call } from "../request.ts";
import { useSession } from "../session.ts";
import { Segment } from "../components/segment.tsx";

/** What is running out, and its orders. */

const TABS = [
  ["", "Running out"],
  ["orders", "Orders"],
  ["received", "Received"],
] as const;

function RunningOutPage() {
  const [query] = useQuery();
  const session = useSession();
  const [isGrouping, setGrouping] = useState(false);
  const tab = query.get("show") ?? "";
  const found = useLoaded("running out", (signal) =>
    call("GET /api/v2/:list/running_out/", {
      params: { list: "stocks/products" },
      query: { count: 1000 },
      signal,
    }),
  );
  const { value } = found;
  const counts = [value?.total, value && value.orders.requested + value.orders.ordered];
  return (
    <>
      <PageHead
        title={value ? headline(value.total) : "Running out"}
        actions={
          <>
            {session && <Button onClick={() => setGrouping(true)}>Group tubes</Button>}
            <Button
              icon="download"
              disabled={!value}
              onClick={() => download("running-out.csv", toFile(value!))}
            >
              List
            </Button>
          </>
        }
      >
        {value && value.total > 0 && <p>{summarize(value)}</p>}
      </PageHead>
      {isGrouping && <GroupDialog onClose={() => setGrouping(false)} onDone={found.reload} />}
      <nav class="tabs" aria-label="Views">
        {TABS.map(([name, title], i) => (
          <a
            key={name}
            class="tab"
            href={href("/inventory/running-out", name === "" ? {} : { show: name })}
            aria-current={tab === name ? "page" : undefined}
          >
            {title} {counts[i] !== undefined && <span class="count">{formatCount(counts[i])}</span>}
          </a>
        ))}
      </nav>
      {tab === "" ? (
        <Loaded of={found}>{(all) => <Shortages of={all} onDone={found.reload} />}</Loaded>
      ) : (
        <Orders key={tab} isOpen={tab === "orders"} onDone={found.reload} />
      )}
    </>
  );
}

const headline = (total: number): string =>
  total === 0
    ? "Nothing is running out"
    : total === 1
      ? "1 product is running out"
      : `${formatCount(total)} products are running out`;

function summarize({ counts, unrequested, total }: RunningOut): string {
  const words = [
    [counts.empty, "empty"],
    [counts.low, "below minimum"],
    [counts.expired, "expired"],
    [counts.expiring, counts.expiring === 1 ? "expires within 30 days" : "expire within 30 days"],
  ] as const;
  const kinds = words.filter(([count]) => count > 0).map(([count, word]) => `${formatCount(count)} ${word}`);
  const asked =
    unrequested === total
      ? "Nobody has asked for any of them."
      : `Nobody has asked for ${formatCount(unrequested)} of them.`;
  return `${kinds.join(", ")}. ${unrequested === 0 ? "All are requested or ordered." : asked}`;
}

const toFile = ({ results }: RunningOut): Blob =>
  new Blob(
    [toOrderCsv(results.map((row) => Object.assign({}, row, { quantity: row.order?.quantity ?? 1 })))],
    {
      type: "text/csv",
    },
  );

/** Rows by supplier, the one with the most first. */
const bySupplier = <Row extends { supplier: string }>(rows: readonly Row[]): [string, Row[]][] =>
  [...Map.groupBy(rows, ({ supplier }) => supplier)].toSorted(
    ([a, one], [b, other]) => other.length - one.length || a.localeCompare(b),
  );

const STATES = ["empty", "low", "expired", "expiring"] as const;

function Shortages({ of, onDone }: { of: RunningOut; onDone: () => void }) {
  const [query, setQuery] = useQuery();
  const state = query.get("state") ?? "";
  const isGrouped = query.get("by") !== "urgency";
  const rows = of.results.filter((row) => state === "" || row.state === state);
  if (of.total === 0)
    return (
      <Empty title="Nothing is running out">
        <a href={href(pagePath("stocks/products"))}>Set a minimum on products</a> to see them here in time.
      </Empty>
    );
  const chips = STATES.filter((name) => of.counts[name] > 0).map(
    (name) => [name, `${SHORTAGE_WORDS[name]} ${formatCount(of.counts[name])}`] as const,
  );
  return (
    <div class="stack running-out">
      <div class="row between screen">
        <div class="row">
          <ChipChoice
            values={[["", `All ${formatCount(of.total)}`], ...chips]}
            chosen={state}
            onChoose={(chosen) => setQuery({ state: chosen || null })}
          />
        </div>
        <Segment
          label="Group by"
          value={isGrouped ? "" : "urgency"}
          choices={[
            ["urgency", "Urgency"],
            ["", "Supplier"],
          ]}
          onChange={(by) => setQuery({ by: by || null })}
        />
      </div>
      {isGrouped ? (
        bySupplier(rows).map(([supplier, own]) => (
          <Group key={supplier} title={supplier || "No supplier"} rows={own} onDone={onDone} />
        ))
      ) : (
        <Group title="By urgency" rows={rows} onDone={onDone} />
      )}
      {of.results.length < of.total && state === "" && (
        <p class="hint">
          The first {formatCount(of.results.length)} of {formatCount(of.total)}.
        </p>
      )}
      <p class="hint">
        Bars show the share of a full stock, and the minimum as a line. Both are set on the product.
      </p>
    </div>
  );
}

const canOrder = ({ segment, order }: StockLeft): boolean =>
  segment !== "stocks/specimen" && order?.state !== "ORDERED";

/** Rows of one supplier, of which several are ordered together. */
function Group({ title, rows, onDone }: { title: string; rows: readonly StockLeft[]; onDone: () => void }) {
  const session = useSession();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isOpen, setOpen] = useState(false);
  const selected = rows.filter(({ id }) => chosen.has(id));
  const toggle = (id: string): void => setChosen(new Set([id]).symmetricDifference(chosen));
  const together = selected.length > 0 ? selected : rows.filter(canOrder);
  const pick: Column<StockLeft> = {
    name: "select",
    title: <span class="unseen">Select</span>,
    phone: "pick",
    cell: (row) =>
      canOrder(row) && (
        <input
          type="checkbox"
          aria-label={`Select ${row.name}`}
          checked={chosen.has(row.id)}
          onChange={() => toggle(row.id)}
        />
      ),
  };
  const total = formatTotal(
    selected.map((row) => Object.assign({}, row, { quantity: row.order?.quantity ?? 1 })),
  );
  return (
    <Card
      title={title}
      count={pluralize(rows.length, "product")}
      bare
      actions={
        session &&
        together.length > 0 && (
          <span class="row end">
            {selected.length > 0 && (
              <small>
                {selected.length} selected{total && `, about ${total}`}
              </small>
            )}
            <Button
              small
              look={selected.length > 0 ? "primary" : "quiet"}
              icon={selected.length > 0 ? "shopping-cart" : undefined}
              onClick={() => setOpen(true)}
            >
              Order {selected.length > 0 && selected.length} together
            </Button>
          </span>
        )
      }
    >
      <Table
        caption={`Running out, ${title}`}
        columns={session ? [pick, ...COLUMNS] : COLUMNS}
        rows={rows}
        rowKey={({ id }) => id}
        selected={chosen}
        actions={(row) => <NextStep of={row} onDone={onDone} />}
      />
      {isOpen && <OrderDialog rows={together} onClose={() => setOpen(false)} onDone={onDone} />}
    </Card>
  );
}

const COLUMNS: readonly Column<StockLeft>[] = [
  {
    name: "name",
    title: "Product",
    heading: true,
    cell: (row) => (
      <>
        <a href={href(pagePath(row.segment, row.id))}>{row.name}</a>
        <small>
          {[formatConstant(row.model_type), row.tubes > 0 ? pluralize(row.tubes, "tube") : "no tube left"]
            .filter(Boolean)
            .join(", ")}
        </small>
      </>
    ),
  },
  { name: "why", title: "Why", phone: "end", cell: (row) => <Why of={row} /> },
  { name: "left", title: "Left in all tubes", phone: "line", cell: (row) => <Left of={row} /> },
  {
    name: "bought",
    title: "Last bought",
    phone: "line",
    cell: ({ catalogue_number, price, currency, received }) => (
      <>
        <code>{catalogue_number}</code>
        <small>
          {[formatMoney(price, currency), received && formatDay(received)].filter(Boolean).join(", ")}
        </small>
      </>
    ),
  },
  { name: "order", title: "Reorder", phone: "line", cell: (row) => <OrderStep of={row} /> },
];

type Order = OrderLine &
  StockLeft["order"] & {
    id: string;
    received: string | null;
    received_by: string | null;
    ordered_by: string | null;
    account: string;
  };

const FIELDS =
  "id,name,supplier,catalogue_number,quantity,price,currency,state,owner,created,ordered,ordered_by,arrives,received,received_by,account";

/** Orders by supplier: those on their way, or those that came. */
function Orders({ isOpen, onDone }: { isOpen: boolean; onDone: () => void }) {
  const found = useLoaded(String(isOpen), (signal) =>
    readList<Order>(
      "stocks/orders",
      {
        state: isOpen ? ["REQUESTED", "ORDERED"] : "RECEIVED",
        ordering: isOpen ? "supplier,name" : "-received",
        response_format: "flat",
        fields: FIELDS,
        page_size: "500",
      },
      signal,
    ),
  );
  const reload = (): void => {
    found.reload();
    onDone();
  };
  return (
    <Loaded of={found}>
      {({ results }) =>
        results.length === 0 ? (
          <Empty title={isOpen ? "No open orders" : "Nothing received yet"}>
            Orders begin with Reorder, in the list of what is running out.
          </Empty>
        ) : (
          <div class="stack running-out">
            {bySupplier(results).map(([supplier, rows]) => (
              <Card
                key={supplier}
                title={supplier || "No supplier"}
                count={pluralize(rows.length, "order")}
                bare
                actions={
                  isOpen && (
                    <span class="row end">
                      <OrderFiles lines={rows} />
                      <Button small icon="printer" onClick={() => print()}>
                        Print
                      </Button>
                    </span>
                  )
                }
              >
                <Table
                  caption={`Orders from ${supplier}`}
                  columns={isOpen ? ORDER_COLUMNS : [...ORDER_COLUMNS.slice(0, -1), RECEIVED_COLUMN]}
                  rows={rows}
                  rowKey={({ id }) => id}
                  {...(isOpen ? { actions: (row: Order) => <OrderAction of={row} onDone={reload} /> } : {})}
                />
              </Card>
            ))}
          </div>
        )
      }
    </Loaded>
  );
}

function OrderAction({ of, onDone }: { of: Order; onDone: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const session = useSession();
  if (!session) return null;
  const row: Ordered = Object.assign({}, of, {
    segment: "stocks/orders",
    unit: "",
    may_order: true,
    order: of,
  });
  const dialog = { onClose: () => setOpen(false), onDone };
  const isOrdered = of.state === "ORDERED";
  return (
    <>
      <Button small icon={isOrdered ? "package-check" : "shopping-cart"} onClick={() => setOpen(true)}>
        {isOrdered ? "Received" : "Mark ordered"}
        <span class="unseen"> {of.name}</span>
      </Button>
      {isOpen &&
        (isOrdered ? <ReceiveDialog of={row} {...dialog} /> : <OrderDialog rows={[row]} {...dialog} />)}
    </>
  );
}

const ORDER_COLUMNS: readonly Column<Order>[] = [
  {
    name: "name",
    title: "Product",
    heading: true,
    cell: ({ id, name, catalogue_number }) => (
      <>
        <a href={href(pagePath("stocks/orders", id))}>{name}</a>
        <small>{catalogue_number}</small>
      </>
    ),
  },
  { name: "quantity", title: "Quantity", numeric: true, cell: ({ quantity }) => quantity },
  { name: "price", title: "Price", numeric: true, cell: (row) => formatTotal([row]) },
  {
    name: "requested",
    title: "Requested",
    cell: ({ owner, created }) => (
      <>
        <Person username={owner} />, {formatDay(created)}
      </>
    ),
  },
  { name: "state", title: "State", phone: "end", cell: (order) => <OrderStep of={{ order }} /> },
];

const RECEIVED_COLUMN: Column<Order> = {
  name: "received",
  title: "Received",
  cell: ({ received, received_by }) =>
    received && (
      <>
        {formatDay(received)}, {received_by && <Person username={received_by} />}
      </>
    ),
};

export const runningOutPage = definePage({
  name: "running-out",
  paths: ["/inventory/running-out"],
  title: "Running out",
  View: RunningOutPage,
});
