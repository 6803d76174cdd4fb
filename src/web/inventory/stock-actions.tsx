import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { SelectField, TextField } from "../components/field.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { Icon } from "../components/icon.tsx";
import { Tag } from "../components/layout.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { Time } from "../format.tsx";
import { addAmounts, convertibleUnits, formatAmount } from "../../inventory/model/unit.ts";
import { changeStock } from "../offline/relocation.ts";
import { call, callForResponse } from "../request.ts";
import { useSession } from "../session.ts";
import { useAmounts } from "./amounts.ts";
import { MoveDialog } from "./box/move-dialog.tsx";
import type { Movable } from "./box/slots.ts";
import { type Declaration } from "./declaration.ts";
import {
  findSuffix,
  formatText,
  formatWithSuffix,
  isNamed,
  recordName,
  type RecordValue,
  type Row,
} from "./record.tsx";
import { write } from "./write-record.ts";

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
          {typeof row.values.amount === "number" && <UseForm key={row.version} {...props} />}
          <div class="actions">
            <PlaceActions {...props} record={movable(of, row)} from={placeOf(row)} />
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
  onChanged: () => void;
}

/** Buttons that take a record out, or put it back, and move it, without a network, too. */
export function PlaceActions({ isOut = false, ...props }: PlaceProps & { isOut?: boolean }) {
  const { record, from, onChanged } = props;
  return (
    <>
      {isOut ? (
        <PutBack {...props}>Put back</PutBack>
      ) : (
        <Button
          icon="log-out"
          onClick={() => void changeStock("take_out", record, {}, `Took out ${record.name}.`, onChanged)}
        >
          Take out
        </Button>
      )}
      <MoveButton {...{ record, from, onChanged }}>Move</MoveButton>
    </>
  );
}

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

/** Takes an amount, at first as much as the last time. */
function UseForm({ of, row, onChanged }: ActionsProps) {
  const { lastAmount } = useAmounts(of, row);
  const [typed, setTyped] = useState<string | null>(null);
  // As much as the last time, if there is so much left.
  const usual = lastAmount !== undefined && lastAmount <= Number(row.values.amount) ? String(lastAmount) : "";
  const text = typed ?? usual;
  const own = findSuffix(of, row, "amount").trim();
  const units = convertibleUnits(own);
  const [unit, setUnit] = useState(own);
  const amount = Number(text);
  const after = addAmounts(
    [
      { value: Number(row.values.amount), unit: own },
      { value: -amount, unit },
    ],
    own,
  );
  const isValid = text.trim() !== "" && amount > 0 && after !== undefined && after >= 0;
  const body = { amount, ...(unit === own ? {} : { unit }) };
  const form = useSubmission(() =>
    changeStock("consume", movable(of, row), body, `Used ${text} ${unit}`.trim() + ".", onChanged),
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
          : `At most ${formatWithSuffix(of, row, "amount")}.`}
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
function TakenOut({ of, row, onChanged }: ActionsProps) {
  const { values } = row;
  const { location, position, taken_out_by: holder, taken_out_since: since, due_back: due } = values;
  const isOwn = useSession()?.user.username === (isNamed(holder) ? holder.id : undefined);
  const record = movable(of, row);
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
        <PutBack record={record} from={placeOf(row)} onChanged={onChanged}>
          {`Put back${position ? ` in ${String(position)}` : ""}`}
        </PutBack>
        <MoveButton record={record} from={placeOf(row)} onChanged={onChanged}>
          Put elsewhere
        </MoveButton>
        {isNamed(location) && location.name !== null && (
          <Button look="quiet" onClick={() => void release()}>
            Release the slot
          </Button>
        )}
        {!isOwn && (
          <Button
            onClick={() => void changeStock("take_out", record, {}, `You have ${record.name}.`, onChanged)}
          >
            I have it now
          </Button>
        )}
      </div>
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
