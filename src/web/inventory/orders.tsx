import type { StockLeft } from "../../inventory/api/route-orders.ts";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { Card } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { type Column, Table } from "../components/table.tsx";
import { formatDay, pluralize } from "../format.tsx";
import { pagePath } from "./declaration.ts";
import { type Ordered, OrderFiles } from "./order-dialogs.tsx";
import { formatTotal, type OrderLine } from "./order-text.ts";
import { readList } from "./read-list.ts";
import { Person } from "./record.tsx";
import { NextStep, OrderStep } from "./stock-left.tsx";

/** Rows by supplier, the one with the most first. */
export const bySupplier = <Row extends { supplier: string }>(rows: readonly Row[]): [string, Row[]][] =>
  [...Map.groupBy(rows, ({ supplier }) => supplier)].toSorted(
    ([a, one], [b, other]) => other.length - one.length || a.localeCompare(b),
  );

type Order = OrderLine &
  StockLeft["order"] & {
    id: string;
    received: string | null;
    received_by: string | null;
    ordered_by: string | null;
    account: string;
  };

const FIELDS =
  "id,name,supplier,catalogue_number,quantity,tubes_received,price,currency,state,owner,created,ordered,ordered_by,arrives,received,received_by,account";

/** Orders by supplier: those on their way, or those that came. */
export function Orders({ isOpen, onDone }: { isOpen: boolean; onDone: () => void }) {
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
                  {...(isOpen
                    ? { actions: (row: Order) => <NextStep of={toOrdered(row)} onDone={reload} /> }
                    : {})}
                />
              </Card>
            ))}
          </div>
        )
      }
    </Loaded>
  );
}

/** An order as what it is about. */
const toOrdered = (order: Order): Ordered =>
  Object.assign({}, order, { segment: "stocks/orders", unit: "", may_order: true, order });

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
