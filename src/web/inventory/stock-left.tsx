import { useState } from "preact/hooks";
import type { StockLeft } from "../../inventory/api/route-orders.ts";
import { formatAmount } from "../../inventory/model/unit.ts";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { Card } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { Meter } from "../components/progress.tsx";
import { daysUntil, formatDay, pluralize } from "../format.tsx";
import { call } from "../request.ts";
import { useSession } from "../session.ts";
import { type Declaration, declaration, listTitle, pagePath } from "./declaration.ts";
import { OrderDialog, type Ordered, ReceiveDialog, receivedText } from "./order-dialogs.tsx";
import { formatMoney } from "./order-text.ts";
import { ExpiryTag, formatWithSuffix, Person, readPage, type Row, State } from "./record.tsx";

/** How much is left of a product or of a record, and what is done about it. */

export const SHORTAGE_WORDS: Readonly<Record<string, string>> = {
  empty: "Empty",
  low: "Below minimum",
  expired: "Expired",
  expiring: "Expiring",
};
/** Classes of the marks. */
const MARKS: Readonly<Record<string, string>> = { expiring: "soon" };

const show = (value: number, { unit }: StockLeft): string =>
  unit === "" ? String(value) : formatAmount({ value, unit });

/** `12 µL left of 50 µL`: of a full stock, where that is known. */
export function leftText(row: StockLeft): string {
  if (row.left === null) return pluralize(row.tubes, "tube");
  const full = row.full !== null && row.full >= row.left ? ` of ${show(row.full, row)}` : "";
  return `${show(row.left, row)}${full}`;
}

/** The amount that is left, as a bar of a full stock with a tick at the minimum. */
export function Left({ of }: { of: StockLeft }) {
  const { left, full, minimum } = of;
  const scale = Math.max(full ?? 0, left ?? 0, minimum ?? 0);
  const least = minimum === null ? "" : `minimum ${show(minimum, of)}`;
  return (
    <>
      {leftText(of)}
      {left !== null && scale > 0 && (full !== null || minimum !== null) && (
        <Meter
          label={[`${leftText(of)} left`, least].filter(Boolean).join(", ")}
          share={left / scale}
          mark={minimum === null ? undefined : minimum / scale}
          state={of.state}
        />
      )}
      {least && <small>{least}</small>}
    </>
  );
}

/** The state, and since or until when. */
export function Why({ of: { state, expiry, modified } }: { of: StockLeft }) {
  if (state === null) return null;
  const isAboutExpiry = state === "expired" || state === "expiring";
  return (
    <>
      <span class={`state state-${MARKS[state] ?? state}`}>{SHORTAGE_WORDS[state]}</span>
      {isAboutExpiry && expiry && (
        <small>
          {formatDay(expiry)}, {daysUntil(expiry)}
        </small>
      )}
      {state === "empty" && modified && <small>since {formatDay(modified)}</small>}
    </>
  );
}

/** The step of an order, with who and when. */
export function OrderStep({ of: { order } }: { of: Pick<StockLeft, "order"> }) {
  if (!order) return <span class="muted">Not requested</span>;
  const { state, owner, created, ordered, arrives } = order;
  const came = receivedText(order);
  const isLate = arrives !== null && Date.parse(arrives) < Date.now() - 86_400_000;
  return state === "REQUESTED" ? (
    <>
      Requested
      <small>
        <Person username={owner} />, {formatDay(created)}
      </small>
    </>
  ) : (
    <>
      {`Ordered ${formatDay(ordered ?? created)}`}
      {came && <small>{came}</small>}
      {arrives && (
        <small class={isLate ? "late" : undefined}>
          {isLate ? `Due ${formatDay(arrives)}, ${daysUntil(arrives)}` : `Arrives ${formatDay(arrives)}`}
        </small>
      )}
    </>
  );
}

/** The next step for a row: reorder, mark ordered or receive. */
export function NextStep({ of, onDone }: { of: Ordered; onDone: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const session = useSession();
  const state = of.order?.state;
  // Specimens are not bought.
  if (!session || of.segment === "stocks/specimen" || (state === "REQUESTED" && !of.may_order)) return null;
  const dialog = { onClose: () => setOpen(false), onDone };
  return (
    <>
      <Button
        small
        icon={state === "ORDERED" ? "package-check" : "shopping-cart"}
        onClick={() => setOpen(true)}
      >
        {state === "ORDERED" ? "Received" : state === "REQUESTED" ? "Mark ordered" : "Reorder"}
        <span class="unseen"> {of.name}</span>
      </Button>
      {isOpen && state === "ORDERED" && <ReceiveDialog of={of} {...dialog} />}
      {isOpen && state !== "ORDERED" && <OrderDialog rows={[of]} {...dialog} />}
    </>
  );
}

/** Tubes that the card of a product shows. */
const SHOWN = 20;
const PRODUCTS = "stocks/products";
const TUBES = "stocks/consumables";

async function readProduct(query: { product?: string; consumable?: string }, signal: AbortSignal) {
  const found = await call("GET /api/v2/:list/running_out/", { params: { list: PRODUCTS }, query, signal });
  const [stock] = found.results;
  if (stock?.segment !== PRODUCTS) return { stock, of: undefined, rows: [], total: 0 };
  const of = await declaration(TUBES);
  const filter = { product: stock.id, ordering: "expiry,name__natural", page_size: String(SHOWN) };
  const fields = ["status", "amount", "minimum_amount", "expiry", "lot", "location"];
  return { stock, of, ...(await readPage(of, filter, fields, signal)) };
}

/** The product of a tube, or of its own page: the total, and tubes with lot, expiry and place. */
export function ProductCard({ of: { name }, row }: { of: Declaration; row: Row }) {
  const isProduct = name === PRODUCTS;
  const isShown = isProduct || (name === TUBES && row.values.deleted !== true);
  const query = isProduct ? { product: row.id } : { consumable: row.id };
  const loaded = useLoaded(isShown ? `${row.id} ${row.version}` : null, (signal) =>
    readProduct(query, signal),
  );
  const stock = loaded.value?.stock;
  if (!isShown || (loaded.value && !stock)) return null;
  const title = isProduct ? "Stock" : loaded.value?.of ? `Product ${stock!.name}` : "Order";
  return (
    <Card title={title} bare actions={stock && <NextStep of={stock} onDone={loaded.reload} />}>
      <Loaded of={loaded}>
        {({ stock: left, of, rows, total }) => (
          <>
            <div class="card-body">
              {of ? <ProductTotal of={left} /> : <OrderStep of={left} />}
              {of && left.order && (
                <p>
                  <OrderStep of={left} />
                </p>
              )}
            </div>
            {of && (
              <ul class="list panel">
                {rows.map((tube) => (
                  <Tube key={tube.id} of={of} row={tube} isThis={tube.id === row.id} />
                ))}
                {total > rows.length && (
                  <li>
                    <a href={href(pagePath(TUBES), { product: left.id })}>
                      All {total} {listTitle(TUBES).toLowerCase()}
                    </a>
                  </li>
                )}
              </ul>
            )}
          </>
        )}
      </Loaded>
    </Card>
  );
}

const ProductTotal = ({ of }: { of: StockLeft }) => {
  const session = useSession();
  const bought = [of.received && formatDay(of.received), formatMoney(of.price, of.currency)].filter(Boolean);
  return (
    <>
      <p>
        <strong>
          {pluralize(of.tubes, "tube")}
          {of.unit !== "" && of.left !== null && `, ${leftText(of)}`} left
        </strong>
        {session?.user.is_superuser !== true && " in the tubes that you can see"}.
        {of.minimum !== null &&
          ` Reorder below ${of.unit === "" ? pluralize(of.minimum, "tube") : show(of.minimum, of)}.`}{" "}
        <Why of={of} />
      </p>
      {bought.length > 0 && <p class="hint">Last bought: {bought.join(", ")}</p>}
    </>
  );
};

function Tube({ of, row, isThis }: { of: Declaration; row: Row; isThis: boolean }) {
  const { values } = row;
  const place = formatWithSuffix(of, row, "location");
  return (
    <li aria-current={isThis ? "true" : undefined}>
      <span class="grow">
        {isThis ? (
          <>
            <strong>{String(values.name)}</strong> <span class="tag">this tube</span>
          </>
        ) : (
          <a href={href(pagePath(TUBES, row.id))}>{String(values.name)}</a>
        )}
        <small>
          {[
            values.lot && `lot ${String(values.lot)}`,
            values.expiry && formatDay(String(values.expiry)),
            place !== "–" && place,
          ]
            .filter(Boolean)
            .join(", ") || "no location"}
        </small>
      </span>
      <span class="end">
        {values.amount === null ? <State values={values} /> : formatWithSuffix(of, row, "amount")}
        {typeof values.expiry === "string" && <ExpiryTag day={values.expiry} />}
      </span>
    </li>
  );
}
