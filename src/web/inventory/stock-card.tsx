import { useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { FormDialog, type FormField } from "../components/form.tsx";
import { Card } from "../components/layout.tsx";
import { Meter } from "../components/progress.tsx";
import { daysUntil, Time } from "../format.tsx";
import { callForResponse } from "../request.ts";
import { convertibleUnits, formatAmount } from "../../inventory/model/unit.ts";
import { useAmounts } from "./amounts.ts";
import { type Declaration, type FieldInfo, isSuffix } from "./declaration.ts";
import { formatText, type Row, toRow, findShortage, findSuffix, formatWithSuffix, WHOLE } from "./record.tsx";
import { showAdded, showDone, write } from "./write-record.ts";

/** The amount of a record, its history, and a form to withdraw some. */

interface StockProps {
  of: Declaration;
  row: Row;
  onSaved: (row: Row) => void;
  onUndone: () => void;
}

type Action = "Refill" | "Aliquots";

/** The stock of a record that has one. */
export const StockCard = (props: StockProps) =>
  stockFields(props.of).length > 0 ? <Stock {...props} /> : null;

function Stock(props: StockProps) {
  const { of, row, onSaved, onUndone } = props;
  const [action, setAction] = useState<Action | null>(null);
  const { values } = row;
  const isTracked = values.amount !== null;
  const params = { list: of.name, id: row.id };
  const thaw = (): Promise<void> =>
    write(
      () => callForResponse("POST /api/v2/:list/:id/thaw/", { params, query: WHOLE }),
      "Counted a freeze–thaw cycle.",
      onUndone,
      async (response) => onSaved(toRow(await response.json())),
    );
  return (
    <Card
      title="Stock"
      bare
      actions={
        row.mayChange &&
        isTracked && (
          <Button small icon="plus" onClick={() => setAction("Refill")}>
            Refill
          </Button>
        )
      }
      foot={
        row.mayUse && (
          <>
            {row.mayChange && (
              <Button small onClick={() => setAction("Aliquots")}>
                Make aliquots
              </Button>
            )}
            <Button small onClick={() => void thaw()}>
              Count a thaw
            </Button>
          </>
        )
      }
    >
      <StockFacts of={of} row={row} />
      {action === "Aliquots" && <AliquotDialog {...props} onClose={() => setAction(null)} />}
      {action === "Refill" && <RefillDialog {...props} onClose={() => setAction(null)} />}
    </Card>
  );
}

const WORDS: Readonly<Record<string, string>> = {
  low: "Below the minimum",
  empty: "Empty",
  expired: "Expired",
};

/** Names of the fields that the card shows, with an expiry first. */
const stockFields = ({ fields }: Declaration): string[] =>
  Object.keys(fields)
    .filter((name) => fields[name].form?.shownIn === "stock" && fields[name].write !== "never")
    .toSorted((a, b) => Number(isExpiry(fields[b])) - Number(isExpiry(fields[a])));
const isExpiry = ({ form }: FieldInfo): boolean => form?.look === "expiry";

/** The amount that is left, of how much, and the state that follows. */
export function AmountFact({ of, row }: { of: Declaration; row: Row }) {
  const shortage = findShortage(row.values);
  const { full } = useAmounts(of, row);
  return (
    <dl>
      <dt>Left</dt>
      <dd class="act-amount">{formatWithSuffix(of, row, "amount")}</dd>
      <AmountLeft of={of} row={row} full={full} />
      {shortage && (
        <dd>
          <span class={`state state-${shortage}`}>{WORDS[shortage]}</span>
        </dd>
      )}
    </dl>
  );
}

/** Dates and counts, each with what follows from it. */
function StockFacts({ of, row }: { of: Declaration; row: Row }) {
  // The amount is above, beside the actions.
  const facts = stockFields(of).filter(
    (name) => row.values[name] && !of.fields[name].form?.suffix && !isSuffix(of, name),
  );
  const { lastUsed } = useAmounts(of, row);
  return (
    <dl class="facts">
      {lastUsed && (
        <div>
          <dt>Last used</dt>
          <dd>
            <Time at={lastUsed} short />
          </dd>
        </div>
      )}
      {facts.map((name) => (
        <div key={name}>
          <dt>{of.fields[name].label}</dt>
          <dd>{formatText(row.values[name], of.fields[name])}</dd>
          {isExpiry(of.fields[name]) && <dd class="hint">{daysUntil(String(row.values[name]))}</dd>}
        </div>
      ))}
    </dl>
  );
}

/** The remaining amount as a share of the initial one, with the minimum. */
function AmountLeft({ of, row, full }: { of: Declaration; row: Row; full: number | undefined }) {
  const { amount, minimum_amount: minimum } = row.values;
  if (typeof amount !== "number") return <dd class="hint">No amount recorded</dd>;
  const unit = findSuffix(of, row, "amount");
  const shown = (value: number): string => formatAmount({ value, unit });
  const words = [
    full !== undefined && full > amount && `of ${shown(full)}`,
    minimum !== null && `low below ${shown(Number(minimum))}`,
  ].filter(Boolean);
  // If the minimum is more than there was, the bar ends at the minimum.
  const scale = Math.max(full ?? amount, Number(minimum));
  const mark = minimum === null ? undefined : Number(minimum) / scale;
  return (
    <>
      {scale > 0 && (
        <dd>
          <Meter label={[`${shown(amount)} left`, ...words].join(", ")} share={amount / scale} mark={mark} />
        </dd>
      )}
      {words.length > 0 && <dd class="hint">{words.join(", ")}</dd>}
    </>
  );
}

/** The choice of a unit, where that of the record converts into others. */
function unitField(unit: string): FormField<Record<string, string>>[] {
  const choices = convertibleUnits(unit).map((name) => ({ value: name, name }));
  return choices.length > 1 ? [{ name: "unit", label: "Unit", kind: "select", choices }] : [];
}

const DATES: FormField<Record<string, string>>[] = [
  { name: "lot", label: "Lot", optional: true },
  { name: "received", label: "Received", type: "date", optional: true },
  { name: "expiry", label: "Expiry", type: "date", optional: true },
];

function RefillDialog({ of, row, onSaved, onUndone, onClose }: StockProps & { onClose: () => void }) {
  const unit = findSuffix(of, row, "amount").trim();
  return (
    <FormDialog<Record<string, string>>
      title={`Refill ${String(row.values.name)}`}
      onClose={onClose}
      fields={[
        {
          name: "amount",
          label: unit === "" || convertibleUnits(unit).length > 1 ? "Amount" : `Amount in ${unit}`,
          type: "number",
        },
        ...unitField(unit),
        ...DATES,
      ]}
      initial={{ amount: "", unit, lot: "", received: "", expiry: "" }}
      submit="Refill"
      onSubmit={async ({ amount, ...values }) => {
        const others = Object.entries(values).filter(([, value]) => value);
        const body = { amount: Number(amount), ...Object.fromEntries(others) };
        const response = await callForResponse("POST /api/v2/:list/:id/refill/", {
          params: { list: of.name, id: row.id },
          query: WHOLE,
          body,
        });
        const saved = toRow(await response.json());
        showDone(`Refilled: ${formatWithSuffix(of, saved, "amount")} left.`, response, onUndone);
        onSaved(saved);
      }}
    />
  );
}

function AliquotDialog({ of, row, onUndone, onClose }: StockProps & { onClose: () => void }) {
  const unit = findSuffix(of, row, "amount").trim();
  return (
    <FormDialog<Record<string, string>>
      title={`Make aliquots of ${String(row.values.name)}`}
      onClose={onClose}
      fields={[
        { name: "count", label: "Number of aliquots", type: "number" },
        {
          name: "amount",
          label: "Amount of each",
          type: "number",
          optional: true,
        },
        ...unitField(unit),
        { name: "name", label: "Name, followed by a number", optional: true },
      ]}
      initial={{ count: "", amount: "", unit, name: String(row.values.name) }}
      submit="Make aliquots"
      onSubmit={async ({ count, amount, unit, name }) => {
        const body = {
          count: Number(count),
          ...(amount ? { amount: Number(amount), ...(unit ? { unit } : {}) } : {}),
          ...(name ? { name } : {}),
        };
        const response = await callForResponse("POST /api/v2/:list/:id/aliquots/", {
          params: { list: of.name, id: row.id },
          body,
        });
        await showAdded(`Made ${count} aliquots.`, of.name, response, onUndone);
        onUndone();
      }}
    >
      <p class="hint">Aliquots go to free slots of this location, and keep lot, supplier and dates.</p>
    </FormDialog>
  );
}
