import { useState } from "preact/hooks";
import type { RunningOut, StockLeft } from "../../inventory/api/route-orders.ts";
import { href } from "../address.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { ChipChoice, Segment } from "../components/segment.tsx";
import { Empty } from "../components/empty.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { type Column, Table } from "../components/table.tsx";
import { download } from "../download.ts";
import { formatCount, formatDay, pluralize } from "../format.tsx";
import { formatConstant, pagePath } from "../inventory/declaration.ts";
import { GroupDialog, OrderDialog } from "../inventory/order-dialogs.tsx";
import { bySupplier, Orders } from "../inventory/orders.tsx";
import { formatMoney, formatTotal, type OrderLine, toOrderCsv } from "../inventory/order-text.ts";
import { Left, NextStep, OrderStep, SHORTAGE_WORDS, Why } from "../inventory/stock-left.tsx";
import { definePage, useQuery } from "../page.tsx";
import { call } from "../request.ts";
import { useSession } from "../session.ts";

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
            {session && tab !== "orders" && (
              <LinkButton icon="scan-line" href={href("/inventory/running-out", { show: "orders" })}>
                Receive a delivery
              </LinkButton>
            )}
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

const toLine = (row: StockLeft): OrderLine => Object.assign({}, row, { quantity: row.order?.quantity ?? 1 });

const toFile = ({ results }: RunningOut): Blob =>
  new Blob([toOrderCsv(results.map(toLine))], { type: "text/csv" });

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
            choices={[["", `All ${formatCount(of.total)}`], ...chips]}
            value={state}
            onChange={(chosen) => setQuery({ state: chosen || null })}
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
  const total = formatTotal(selected.map(toLine));
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

export const runningOutPage = definePage({
  name: "running-out",
  paths: ["/inventory/running-out"],
  title: "Running out",
  View: RunningOutPage,
});
