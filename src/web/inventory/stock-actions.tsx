import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { SelectField, TextField } from "../components/field.tsx";
import { FormButtons, FormError, useSubmission } from "../components/form.tsx";
import { Icon } from "../components/icon.tsx";
import { Tag } from "../components/layout.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { pluralize, Time } from "../format.tsx";
import { convertibleUnits, formatAmount, subtractAmount, unitSymbol } from "../../inventory/model/unit.ts";
import { changeStock, sendStockChange } from "../offline/relocation.ts";
import { call, callForResponse } from "../request.ts";
import { useSession } from "../session.ts";
import { useAmounts } from "./amounts.ts";
import { MoveDialog } from "./box/move-dialog.tsx";
import type { Movable } from "./box/slots.ts";
import { type Declaration, USERS } from "./declaration.ts";
import { Picker } from "./picker.tsx";
import { findSuffix, formatText, isNamed, recordName, type RecordValue, type Row } from "./record.tsx";
import { showDone, write } from "./write-record.ts";

/** What people do with stock: use some, take it out, put it back, move it. */

interface ActionsProps {
  of: Declaration;
  row: Row;
  /** The record was changed, or a change of it was undone. */
  onChanged: () => void;
  /** Before the actions, such as the amount that is left. */
  children?: ComponentChildren;
  /** In a panel: the actions are below each other. */
  narrow?: boolean;
}

/** The actions on stock, for those who may use it; for others whom to ask. Nothing for other records. */
export function StockActions(props: ActionsProps) {
  const { of, row, children, narrow = false } = props;
  if (!("taken_out" in of.fields)) return null;
  return (
    <section class={narrow ? "stack" : "card actbar"} aria-label="Actions">
      {children && <div>{children}</div>}
      {row.values.deleted === true ? null : !row.mayUse ? (
        <NotAllowed {...props} />
      ) : row.values.taken_out === true ? (
        <TakenOut {...props} />
      ) : (
        <>
          {typeof row.values.amount === "number" && <UsualUse key={row.version} {...props} />}
          <div class="actions">
            <PlaceActions {...placeProps(props)} />
          </div>
        </>
      )}
    </section>
  );
}

const movable = (of: Declaration, row: Row): Movable => ({
  segment: of.name,
  id: row.id,
  version: row.version!,
  name: recordName(of, row),
});

/** The location of a record; empty if it has none. */
export const placeOf = ({ values: { location } }: Row): Place =>
  isNamed(location) ? { id: String(location.id), name: formatText(location) } : { id: "", name: "" };

interface Place {
  id: string;
  name: string;
}

interface PlaceProps {
  record: Movable;
  from: Place;
  /** The group that owns the record, if known: it says when stock is due back. */
  group?: string | undefined;
  onChanged: () => void;
}

const placeProps = ({ of, row, onChanged }: ActionsProps): PlaceProps => {
  const { owned_by: group } = row.values;
  return {
    record: movable(of, row),
    from: placeOf(row),
    group: isNamed(group) && group.name !== null ? group.name : undefined,
    onChanged,
  };
};

/** Buttons that take a record out, or put it back, and move it, without a network, too. */
function PlaceActions({ isOut = false, ...props }: PlaceProps & { isOut?: boolean }) {
  const { record, from, group, onChanged } = props;
  const [due, setDue] = useState("");
  const takeOut = (): Promise<void> =>
    changeStock("take_out", record, dueBack(due), `Took out ${record.name}.`, onChanged);
  return (
    <>
      {isOut ? (
        <PutBack {...props}>Put back</PutBack>
      ) : (
        <>
          <Button icon="log-out" onClick={() => void takeOut()}>
            Take out
          </Button>
          <DueField group={group} value={due} onChange={setDue} />
        </>
      )}
      <MoveButton {...{ record, from, onChanged }}>Move</MoveButton>
    </>
  );
}

const DAY = 86_400_000;
const printDay = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The choice of a time as requests take it. @param due days from now or a day; if empty, the usual time */
function dueBack(due: string): { due_back?: string } {
  if (due === "") return {};
  const at = due.includes("-") ? new Date(`${due}T23:59`) : new Date(Date.now() + Number(due) * DAY);
  return { due_back: at.toISOString() };
}

/** Asks when stock is due back: after the usual days of its group, others, or on a day. */
function DueField(props: {
  group: string | undefined;
  label?: string;
  value: string;
  onChange: (due: string) => void;
}) {
  const { group, label, value, onChange } = props;
  const usual = useLoaded(group ?? null, (signal) =>
    call("GET /api/v2/:list/:id/", {
      params: { list: "groups", id: group! },
      query: { fields: "due_back_days" },
      signal,
    }),
  ).value as { due_back_days?: number } | undefined;
  const days = usual?.due_back_days;
  const isDay = value.includes("-");
  const choices = [...new Set([1, 3, 7, ...(days === undefined ? [] : [days])])]
    .toSorted((a, b) => a - b)
    .map((each) => ({ value: each === days ? "" : String(each), name: `for ${pluralize(each, "day")}` }));
  return (
    <>
      <SelectField
        label={label ?? "Due back"}
        hideLabel={label === undefined}
        value={isDay ? "day" : value}
        choices={[
          ...(days === undefined ? [{ value: "", name: "for the usual time" }] : []),
          ...choices,
          { value: "day", name: "until a day" },
        ]}
        onChange={(chosen) => onChange(chosen === "day" ? printDay(Date.now() + DAY) : chosen)}
      />
      {isDay && (
        <TextField
          label="Due back on"
          hideLabel
          type="date"
          min={printDay(Date.now())}
          required
          value={value}
          onInput={(day) => day !== "" && onChange(day)}
        />
      )}
    </>
  );
}

/** Hands stock to another person, or keeps it longer. */
function LoanDialog({ record, group, onChanged, isHanded, onClose }: LoanProps) {
  const [person, setPerson] = useState({ username: "", name: "" });
  const [due, setDue] = useState("");
  const form = useSubmission(async () => {
    const body = { ...dueBack(due), ...(isHanded ? { taken_out_by: person.username } : {}) };
    const text = isHanded ? `${person.name} has ${record.name}.` : `Kept ${record.name} longer.`;
    showDone(text, await sendStockChange("take_out", record, body, text), onChanged);
    onClose();
    onChanged();
    return true;
  });
  return (
    <Dialog title={`${isHanded ? "Hand over" : "Keep"} ${record.name}`} onClose={onClose}>
      <form class="form" onSubmit={form.submit} method="post">
        <FormError of={form} shown={["taken_out_by"]} />
        {isHanded && (
          <Picker
            label="To"
            to={USERS}
            value={person.username}
            errors={form.fields.taken_out_by}
            onChoose={(username, name) => setPerson({ username, name })}
          />
        )}
        <DueField group={group} label="Due back" value={due} onChange={setDue} />
        <FormButtons
          of={form}
          submit={isHanded ? "Hand over" : "Keep it"}
          disabled={isHanded && person.username === ""}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
type LoanProps = PlaceProps & { isHanded: boolean; onClose: () => void };

const PutBack = ({ record, onChanged, children }: PlaceProps & { children: string }) => (
  <Button
    look="primary"
    icon="undo-2"
    onClick={() => void changeStock("put_back", record, {}, `Put back ${record.name}.`, onChanged)}
  >
    {children}
  </Button>
);

function MoveButton(props: PlaceProps & { children: string }) {
  const [isOpen, setOpen] = useState(false);
  const { record, from, onChanged, children } = props;
  return (
    <>
      <Button icon="move" onClick={() => setOpen(true)}>
        {children}
      </Button>
      {isOpen && (
        <MoveDialog from={from} records={[record]} onClose={() => setOpen(false)} onMoved={onChanged} />
      )}
    </>
  );
}

/** The form that uses some, at first as much as the last time, if there is so much left. */
function UsualUse({ of, row, onChanged }: ActionsProps) {
  const { lastAmount } = useAmounts(of, row);
  const left = Number(row.values.amount);
  const usual = lastAmount !== undefined && lastAmount <= left ? String(lastAmount) : "";
  const unit = findSuffix(of, row, "amount").trim();
  return <UseForm record={movable(of, row)} left={left} own={unit} usual={usual} onChanged={onChanged} />;
}

/** The actions on stock that this device knows: what they do waits for the network. */
export function KnownActions({ amount, unit = "", isOut, ...props }: KnownProps) {
  const { record, onChanged } = props;
  return (
    <section class="stack" aria-label="Actions">
      {!isOut && typeof amount === "number" && (
        <UseForm key={amount} record={record} left={amount} own={unitSymbol(unit)} onChanged={onChanged} />
      )}
      <div class="actions">
        <PlaceActions {...props} isOut={isOut} />
      </div>
    </section>
  );
}
type KnownProps = PlaceProps & {
  amount?: number | null | undefined;
  unit?: string | undefined;
  isOut: boolean;
};

/** Takes an amount of what is left, in its own unit or another. */
function UseForm(props: {
  record: Movable;
  left: number;
  own: string;
  usual?: string;
  onChanged: () => void;
}) {
  const { record, left, own, usual = "", onChanged } = props;
  const [typed, setTyped] = useState<string | null>(null);
  const text = typed ?? usual;
  const units = convertibleUnits(own);
  const [unit, setUnit] = useState(own);
  const amount = Number(text);
  const after = subtractAmount({ value: left, unit: own }, { value: amount, unit });
  const isValid = text.trim() !== "" && amount > 0 && after !== undefined && after >= 0;
  const body = { amount, ...(unit === own ? {} : { unit }) };
  const form = useSubmission(() =>
    changeStock("consume", record, body, `Used ${text} ${unit}`.trim() + ".", onChanged),
  );
  return (
    <form class="act-use" onSubmit={form.submit}>
      <TextField
        label={units.length > 1 || own === "" ? "Use" : `Use, in ${own}`}
        type="number"
        step="any"
        min={0}
        value={text}
        onInput={setTyped}
      />
      {units.length > 1 && (
        <SelectField
          label="Unit"
          value={unit}
          choices={units.map((name) => ({ value: name, name }))}
          onChange={setUnit}
        />
      )}
      <Button type="submit" look="primary" busy={form.busy} disabled={!isValid}>
        {isValid ? `Use ${text} ${unit}` : "Use"}
      </Button>
      <p class="hint">
        {isValid
          ? `${typed === null ? "As last time. " : ""}Leaves ${formatAmount({ value: after, unit: own })}. Undo stays possible.`
          : `At most ${formatAmount({ value: left, unit: own })}.`}
      </p>
      <FormError of={form} shown={[]} />
    </form>
  );
}

/** When stock is due back, and that it is late. */
export const DueBack = ({ at }: { at: RecordValue | undefined }) =>
  typeof at === "string" ? (
    <>
      {Date.parse(at) < Date.now() && <Tag tone="warn">overdue</Tag>} due back <Time at={at} />
    </>
  ) : null;

/** Who has the record since when, and buttons that put it back. */
function TakenOut(props: ActionsProps) {
  const { row, onChanged } = props;
  const { values } = row;
  const [loan, setLoan] = useState<"hand" | "keep" | null>(null);
  const { location, position, taken_out_by: holder, taken_out_since: since, due_back: due } = values;
  const isOwn = useSession()?.user.username === (isNamed(holder) ? holder.id : undefined);
  const shared = placeProps(props);
  const { record } = shared;
  const release = (): Promise<void> =>
    write(
      () =>
        callForResponse("POST /api/v2/:list/:id/evict/", {
          params: { list: "locations", id: placeOf(row).id },
          body: { records: [row.id] },
        }),
      "Released the slot.",
      onChanged,
    );
  const place = [isNamed(location) && location.name, position].filter(Boolean).join(", ");
  return (
    <div class="stack">
      <div>
        <p>
          <strong>{isOwn ? "You have" : `${formatText(holder)} has`} it</strong> since{" "}
          <Time at={String(since)} />
        </p>
        <p class="hint">
          {place === "" ? "It has no slot" : `From ${place}, kept free for it`}, <DueBack at={due} />
        </p>
      </div>
      <div class="actions">
        <PutBack {...shared}>{`Put back${position ? ` in ${String(position)}` : ""}`}</PutBack>
        <MoveButton {...shared}>Put elsewhere</MoveButton>
        <Button onClick={() => setLoan("hand")}>Hand over</Button>
        {isNamed(location) && location.name !== null && (
          <Button look="quiet" onClick={() => void release()}>
            Release the slot
          </Button>
        )}
        {isOwn ? (
          <Button onClick={() => setLoan("keep")}>Keep longer</Button>
        ) : (
          <Button
            onClick={() => void changeStock("take_out", record, {}, `You have ${record.name}.`, onChanged)}
          >
            I have it now
          </Button>
        )}
      </div>
      {loan && <LoanDialog {...shared} isHanded={loan === "hand"} onClose={() => setLoan(null)} />}
    </div>
  );
}

/** Why the reader may not use the record, and whom to ask. */
function NotAllowed({ of, row }: ActionsProps) {
  const user = useSession()?.user.username;
  const params = { list: of.name, id: row.id };
  const explained = useLoaded(user ? `${row.id} rights` : null, (signal) =>
    call("GET /api/v2/:list/:id/", { params, query: { explain: "1" }, signal }),
  );
  const { ask = [] } = (explained.value ?? {}) as { ask?: { username: string; full_name: string }[] };
  const names = ask.map(({ username, full_name }) => full_name || username);
  return (
    <div class="row">
      <Icon name="lock" />
      <div>
        <p>
          <strong>You can see it, not use it.</strong>
        </p>
        <p class="hint">
          {user === undefined
            ? "Sign in to use it."
            : `It belongs to ${formatText(row.values.owner)}. ${names.length > 0 ? `Ask ${new Intl.ListFormat("en", { type: "disjunction" }).format(names)}.` : ""}`}
        </p>
      </div>
    </div>
  );
}
