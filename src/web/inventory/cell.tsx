import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { ApiError } from "../request.ts";
import type { Declaration, FieldInfo } from "./declaration.ts";
import { asText, localTime, type Row, sent, Shown } from "./record.tsx";
import { bodyValue, ValueInput } from "./value-input.tsx";
import { announceDone, changeRecord, Conflict } from "./write-record.ts";

/** Whether a field can be changed in its cell. */
const isEditable = (field: FieldInfo | undefined): boolean =>
  field !== undefined && field.write !== "never" && field.kind !== "json" && field.kind !== "computed";

/** A value of a record in a table: for those who may change it, a button that opens an editor in its place. */
export function Cell(props: {
  of: Declaration;
  row: Row;
  name: string;
  /** Whether the keyboard stops here: only in the row that is active, or there would be hundreds of stops. */
  active: boolean;
  onSaved: (row: Row) => void;
  onUndone: () => void;
}) {
  const { of, row, name } = props;
  const [editing, setEditing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const field = of.fields[name];
  const close = (): void => {
    setEditing(false);
    // The button is there again after this render.
    setTimeout(() => button.current?.focus());
  };
  if (!row.mayChange || !isEditable(field)) return <Shown value={row.values[name]} field={field} />;
  if (editing) return <CellEditor {...props} field={field} onClose={close} />;
  return (
    <span class="cell">
      <Shown value={row.values[name]} field={field} />
      <button
        ref={button}
        type="button"
        class="quiet edit"
        tabIndex={props.active ? 0 : -1}
        aria-label={`Edit ${field.label.toLowerCase()} of ${asText(row.values[of.key])}`}
        onClick={() => setEditing(true)}
      >
        <span aria-hidden="true">✎</span>
      </button>
    </span>
  );
}

function CellEditor(props: Parameters<typeof Cell>[0] & { field: FieldInfo; onClose: () => void }) {
  const { of, row, name, field, onClose } = props;
  const before = sent(row.values[name], field);
  const [value, setValue] = useState(before);
  const [errors, setErrors] = useState<readonly string[]>([]);
  const [busy, setBusy] = useState(false);
  const [conflict, setConflict] = useState<Row | null>(null);
  const box = useRef<HTMLFormElement>(null);
  useEffect(() => {
    box.current?.querySelector<HTMLInputElement>("input, select, textarea")?.focus();
  }, []);
  const save = async (version: number | undefined): Promise<void> => {
    if (value === before && version === row.version) return onClose();
    setBusy(true);
    try {
      const body = { [name]: bodyValue(value, field) };
      const done = await changeRecord(of, { id: row.id, version }, body);
      props.onSaved(done.row);
      announceDone(
        `${field.label} of ${asText(done.row.values[of.key])} changed.`,
        done.batch,
        props.onUndone,
      );
      onClose();
    } catch (error) {
      if (error instanceof Conflict) setConflict(error.now);
      else {
        const wrong = error instanceof ApiError ? error.fields[name] : undefined;
        setErrors(wrong ?? [(error as Error).message]);
      }
    }
    setBusy(false);
  };
  return (
    <form
      ref={box}
      class="cell-editor"
      onSubmit={(event) => {
        event.preventDefault();
        void save(row.version);
      }}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape") onClose();
      }}
    >
      <ValueInput
        segment={of.name}
        name={name}
        field={{ ...field, write: "required" }}
        hint=""
        value={value}
        shownName={value === before ? asText(row.values[name]).replace(/^–$/, "") : undefined}
        errors={errors}
        onChange={setValue}
      />
      <p class="row">
        <Button look="primary" type="submit" busy={busy}>
          Save
        </Button>
        <Button look="quiet" onClick={onClose}>
          Cancel
        </Button>
      </p>
      {conflict && (
        <ConflictDialog
          label={field.label}
          now={conflict}
          theirs={asText(conflict.values[name])}
          mine={field.reference ? "what you chose" : value}
          onKeep={() => {
            props.onSaved(conflict);
            onClose();
          }}
          onOverwrite={() => {
            setConflict(null);
            void save(conflict.version);
          }}
        />
      )}
    </form>
  );
}

/** What somebody else has written meanwhile, beside what was to be written. */
export function ConflictDialog(props: {
  label: string;
  now: Row;
  theirs: string;
  mine: string;
  onKeep: () => void;
  onOverwrite: () => void;
}) {
  const { values } = props.now;
  return (
    <Dialog
      title="Changed in the meantime"
      onClose={props.onKeep}
      actions={
        <>
          <Button look="primary" onClick={props.onKeep}>
            Keep theirs
          </Button>
          <Button onClick={props.onOverwrite}>Save mine all the same</Button>
        </>
      }
    >
      <p>
        <strong>{asText(values.modified_by)}</strong> changed this record at{" "}
        {localTime(String(values.modified))}, while you were editing it. Nothing of yours is saved yet.
      </p>
      <dl class="pairs">
        <dt>{props.label} now</dt>
        <dd>{props.theirs}</dd>
        <dt>Yours</dt>
        <dd>{props.mine || "–"}</dd>
      </dl>
    </Dialog>
  );
}
