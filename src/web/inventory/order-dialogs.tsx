import { useRef, useState } from "preact/hooks";
import type { StockLeft } from "../../inventory/api/route-orders.ts";
import { unitSymbol } from "../../inventory/model/unit.ts";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Checkbox, TextField } from "../components/field.tsx";
import { FormButtons, FormError, useSubmission } from "../components/form.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { download } from "../download.ts";
import { pluralize } from "../format.tsx";
import { callForResponse, type TypedResponse } from "../request.ts";
import { CopyButton } from "../score/downloads.tsx";
import { referenceTo } from "./declaration.ts";
import { Capacity, useFreeSlots } from "./free-slots.tsx";
import { formatTotal, type OrderLine, toItem, toOrderCsv, toOrderText } from "./order-text.ts";
import { Picker } from "./picker.tsx";
import { Person } from "./record.tsx";
import { Scanner } from "./scanner.tsx";
import { USABLE_RECORDS } from "./value-input.tsx";
import { type Preview, showDone } from "./write-record.ts";

/** What an order or a delivery is about. */
export type Ordered = Pick<
  StockLeft,
  | "segment"
  | "id"
  | "name"
  | "supplier"
  | "catalogue_number"
  | "price"
  | "currency"
  | "unit"
  | "order"
  | "may_order"
>;

/** Buttons that copy an order as text and save it as CSV. */
export const OrderFiles = ({ lines }: { lines: readonly OrderLine[] }) => (
  <>
    <CopyButton text={toOrderText(lines)} done="Order copied." />
    <Button
      small
      icon="download"
      onClick={() => download("order.csv", new Blob([toOrderCsv(lines)], { type: "text/csv" }))}
    >
      CSV
    </Button>
  </>
);

/** Requests products, or orders them. */
export function OrderDialog(props: { rows: readonly Ordered[]; onClose: () => void; onDone: () => void }) {
  const { rows, onClose, onDone } = props;
  const [quantities, setQuantities] = useState(rows.map(({ order }) => String(order?.quantity ?? 1)));
  const [account, setAccount] = useState("");
  const [arrives, setArrives] = useState("");
  const lines = rows.map((row, i): OrderLine =>
    Object.assign({}, row, { quantity: Number(quantities[i]) || 0 }),
  );
  const isRequested = rows.every(({ order }) => order !== null);
  const mayOrder = rows.every(({ may_order }) => may_order);
  const send = (state: "REQUESTED" | "ORDERED") => async (): Promise<boolean> => {
    const items = rows.map((row, i) => Object.assign(toItem(row), { quantity: lines[i].quantity }));
    const details = { ...(account === "" ? {} : { account }), ...(arrives === "" ? {} : { arrives }) };
    const response = await callForResponse("POST /api/v2/:list/place/", {
      params: { list: "stocks/orders" },
      body: { items, state, ...details },
    });
    const word = state === "ORDERED" ? "Ordered" : "Requested";
    showDone(
      `${word} ${rows.length === 1 ? rows[0].name : pluralize(rows.length, "product")}.`,
      response,
      onDone,
    );
    onClose();
    onDone();
    return true;
  };
  const order = useSubmission(send("ORDERED"));
  const request = useSubmission(send("REQUESTED"));
  return (
    <Dialog title={`Order from ${rows[0].supplier || "the supplier"}`} onClose={onClose}>
      <form class="form" onSubmit={mayOrder ? order.submit : request.submit} method="post">
        <FormError of={order} />
        <FormError of={request} />
        <ul class="list order-lines">
          {rows.map((row, i) => (
            <li key={row.id}>
              <span class="grow">
                {row.name}
                <small>
                  {row.catalogue_number}
                  {row.order && (
                    <>
                      , for <Person username={row.order.owner} />
                    </>
                  )}
                </small>
              </span>
              <TextField
                label={`Quantity of ${row.name}`}
                hideLabel
                type="number"
                value={quantities[i]}
                onInput={(value) => setQuantities(quantities.with(i, value))}
              />
              <span class="end num">{formatTotal([lines[i]])}</span>
            </li>
          ))}
        </ul>
        {formatTotal(lines) !== "" && (
          <p class="row between">
            <span class="hint">At the last prices, without VAT and shipping</span>
            <strong>{formatTotal(lines)}</strong>
          </p>
        )}
        <div class="field-pair">
          <TextField label="Account" optional value={account} onInput={setAccount} />
          <TextField label="Arrives about" optional type="date" value={arrives} onInput={setArrives} />
        </div>
        <div class="actions">
          {mayOrder && (
            <Button look="primary" type="submit" busy={order.busy}>
              Mark as ordered
            </Button>
          )}
          {!isRequested && (
            <Button
              look={mayOrder ? "plain" : "primary"}
              type={mayOrder ? "button" : "submit"}
              busy={request.busy}
              onClick={mayOrder ? () => request.submit() : undefined}
            >
              Request
            </Button>
          )}
          <OrderFiles lines={lines} />
        </div>
      </form>
    </Dialog>
  );
}

/** `3 of 5 received`: of the tubes of an order; empty before the first one. */
export const receivedText = ({ tubes_received: came, quantity }: NonNullable<StockLeft["order"]>): string =>
  came === 0 ? "" : `${came} of ${quantity} received`;

/** Makes tubes of a delivery; `barcodes` are of the scanned ones. */
type Receive = (
  delivery: { tubes: number; complete: boolean; barcodes?: string[] },
  key: string,
) => Promise<TypedResponse<unknown>>;

/** Makes the tubes of a delivery, in the free slots of a location: all at once, or each as it is scanned. */
export function ReceiveDialog({ of, onClose, onDone }: ReceiveProps) {
  const order = of.order!;
  const [values, setValues] = useState({
    tubes: String(Math.max(1, order.quantity - order.tubes_received)),
    amount: "",
    price: of.price === null ? "" : String(of.price),
    lot: "",
    expiry: "",
  });
  const [location, setLocation] = useState("");
  const [isPart, setPart] = useState(false);
  const [prints, setPrints] = useState(false);
  const [isScanning, setScanning] = useState(false);
  // A delivery that is sent twice makes its tubes once.
  const [key] = useState(() => crypto.randomUUID());
  const space = useFreeSlots("locations", location);
  const field = (
    name: keyof typeof values,
    label: string,
    type: "text" | "number" | "date",
    optional = true,
  ) => (
    <TextField
      label={label}
      type={type}
      optional={optional}
      required={!optional}
      errors={form.fields[name]}
      {...(type === "number" ? { inputMode: "decimal", step: "any", min: 0 } : {})}
      value={values[name]}
      onInput={(value) => setValues({ ...values, [name]: value })}
    />
  );
  const receive: Receive = (delivery, key) => {
    const { amount, price, lot, expiry } = values;
    return callForResponse("POST /api/v2/:list/:id/receive/", {
      params: { list: "stocks/orders", id: order.id },
      headers: { "Idempotency-Key": key },
      body: {
        ...(amount === "" ? {} : { amount: Number(amount) }),
        ...(price === "" ? {} : { price: Number(price) }),
        ...(expiry === "" ? {} : { expiry }),
        ...(location === "" ? {} : { location }),
        lot,
        ...delivery,
      },
    });
  };
  const form = useSubmission(async () => {
    const response = await receive({ tubes: Number(values.tubes), complete: !isPart }, key);
    const made = (await response.clone().json()) as { id: string }[];
    showDone(`Received ${of.name}: ${pluralize(made.length, "tube")}.`, response, onDone);
    onClose();
    onDone();
    if (prints)
      globalThis.location.assign(
        href("/inventory/labels", { list: "stocks/consumables", id: made.map(({ id }) => id).join() }),
      );
    return true;
  });
  const count = Number(values.tubes) || 0;
  // An order that is complete leaves the list, and its dialog with it.
  const close = (): void => {
    onClose();
    if (isScanning) onDone();
  };
  return (
    <Dialog title={`Received: ${of.name}`} onClose={close}>
      <form class="form" onSubmit={form.submit} method="post">
        <FormError of={form} shown={Object.keys(values)} />
        <div class="field-pair">
          {!isScanning && field("tubes", "Tubes", "number", false)}
          {field("amount", of.unit === "" ? "Amount of each" : `Each, in ${unitSymbol(of.unit)}`, "number")}
        </div>
        <div class="field-pair">
          {field("lot", "Lot", "text")}
          {field("expiry", "Expiry", "date")}
        </div>
        {field("price", of.currency === "" ? "Price of each" : `Price of each, in ${of.currency}`, "number")}
        <Picker
          label="Put into"
          optional
          to={{ ...referenceTo("locations"), filter: USABLE_RECORDS }}
          value={location}
          onChoose={(id) => setLocation(id)}
        />
        {!isScanning && <Capacity space={space} />}
        <Checkbox label="Scan the tubes" checked={isScanning} onChange={setScanning} />
        {!isScanning && (
          <>
            <Checkbox label="Only a part came" checked={isPart} onChange={setPart} />
            <Checkbox label={`Print ${pluralize(count, "label")}`} checked={prints} onChange={setPrints} />
            <FormButtons of={form} submit={`Make ${pluralize(count, "tube")}`} onCancel={onClose} />
          </>
        )}
      </form>
      {isScanning && <ScannedTubes order={order} receive={receive} onDone={onDone} />}
    </Dialog>
  );
}
interface ReceiveProps {
  of: Ordered;
  onClose: () => void;
  onDone: () => void;
}

/** Makes a tube for each scanned barcode; the last one that was ordered closes the order. */
function ScannedTubes(props: {
  order: NonNullable<StockLeft["order"]>;
  receive: Receive;
  onDone: () => void;
}) {
  const { order, onDone } = props;
  const [came, setCame] = useState(order.tubes_received);
  const [said, setSaid] = useState("");
  // Scanners are faster than requests.
  const latest = useRef({ sending: Promise.resolve(), came, receive: props.receive });
  latest.current.receive = props.receive;
  const count = (by: number): void => setCame((latest.current.came += by));
  const make = async (code: string): Promise<void> => {
    const complete = latest.current.came + 1 >= order.quantity;
    const response = await latest.current.receive(
      { tubes: 1, barcodes: [code], complete },
      crypto.randomUUID(),
    );
    const [{ name, position }] = (await response.clone().json()) as { name: string; position: string }[];
    const text = `Made ${name}${position === "" ? "" : ` in ${position}`}.`;
    setSaid(text);
    showDone(text, response, () => {
      count(-1);
      onDone();
    });
    count(1);
  };
  const scan = (code: string): void => {
    const { sending } = latest.current;
    latest.current.sending = sending.then(() => make(code).catch((error: Error) => setSaid(error.message)));
  };
  const text = receivedText({ ...order, tubes_received: came });
  return (
    <div class="stack">
      <p role="status">
        <strong>{text || `0 of ${order.quantity} received`}.</strong> {said}
      </p>
      {came < order.quantity && (
        <Scanner onCode={scan} hint="Scan or type the barcode of each tube: it goes to the next free slot." />
      )}
    </div>
  );
}

/** Groups tubes of one supplier and catalogue number into products, after a preview. */
export function GroupDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const params = { list: "stocks/products" };
  const send = (query: Record<string, string>) =>
    callForResponse("POST /api/v2/:list/group/", { params, query });
  const preview = useLoaded("preview", async () => {
    const response = await send({ dry_run: "1" });
    return (await response.json()) as unknown as Preview;
  });
  const grouping = useSubmission(async () => {
    const response = await send({ confirm: preview.value!.confirm });
    const { results } = (await response.clone().json()) as { results: object[] };
    showDone(`Grouped tubes into ${pluralize(results.length, "product")}.`, response, onDone);
    onClose();
    onDone();
    return true;
  });
  return (
    <Dialog title="Group tubes into products" onClose={onClose}>
      <form class="form" onSubmit={grouping.submit} method="post">
        <p>
          Tubes with the same supplier and catalogue number become one product, so that they are counted
          together.
        </p>
        <FormError of={grouping} />
        <Loaded of={preview}>
          {({ changes }) => {
            const made = changes.filter(({ id }) => id === null);
            const tubes = changes.length - made.length;
            return tubes === 0 ? (
              <p class="hint">You can change no tubes that have both and no product.</p>
            ) : (
              <>
                <p>
                  {pluralize(tubes, "tube")}, {pluralize(made.length, "new product")}:
                </p>
                <ul class="hint">
                  {made.map(({ after }, i) => (
                    <li key={i}>
                      {[after?.name, after?.supplier, after?.catalogue_number].map(String).join(", ")}
                    </li>
                  ))}
                </ul>
                <FormButtons of={grouping} submit={`Group ${pluralize(tubes, "tube")}`} />
              </>
            );
          }}
        </Loaded>
      </form>
    </Dialog>
  );
}
