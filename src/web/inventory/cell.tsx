import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { Icon } from "../components/icon.tsx";
import { useRecordChange } from "./change-record.tsx";
import {
  type Declaration,
  type FieldInfo,
  findField,
  hasWords,
  isEditable,
  linkedReference,
} from "./declaration.ts";
import { formatText, parseInput, formatInput, recordName, type Row, findSuffix, Value } from "./record.tsx";
import { ValueInput } from "./value-input.tsx";

interface CellProps {
  of: Declaration;
  row: Row;
  name: string;
  /** True if the cell is a tab stop, which hundreds of cells cannot be. */
  isActive: boolean;
  onSaved: (row: Row) => void;
  onUndone: () => void;
}

/** Kinds of values that may be long: they give way where the table would be wider than the page. */
const LONG_KINDS: ReadonlySet<string> = new Set(["text", "reference", "json"]);

/** A value in a table. A click edits it; beside a link there is a button for that. */
export function Cell(props: CellProps) {
  const { of, row, name, isActive } = props;
  const [isEditing, setEditing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const field = findField(of, name);
  const value = <Value value={row.values[name]} field={field} suffix={findSuffix(of, row, name)} />;
  const isLong = field !== undefined && LONG_KINDS.has(field.kind) && !hasWords(field);
  const look = isLong ? "cell cell-long" : "cell";
  if (!row.mayChange || !isEditable(field))
    return isLong ? (
      <span class={look} title={formatText(row.values[name], field)}>
        <span>{value}</span>
      </span>
    ) : (
      value
    );
  const close = (): void => {
    setEditing(false);
    // The button returns with the next render.
    setTimeout(() => button.current?.focus());
  };
  if (isEditing) return <CellEditor {...props} field={field} onClose={close} />;
  const label = `Edit ${field.label.toLowerCase()} of ${recordName(of, row)}`;
  const isLink = linkedReference(field) !== undefined && Boolean(row.values[name]);
  return (
    <span class={look}>
      {isLink && value}
      <button
        ref={button}
        type="button"
        class={isLink ? "cell-edit cell-pencil" : "cell-edit"}
        tabIndex={isActive ? 0 : -1}
        {...(isLink ? { "aria-label": label } : { title: label })}
        onClick={() => setEditing(true)}
      >
        {isLink ? <Icon name="pencil" /> : value}
      </button>
    </span>
  );
}

function CellEditor(props: CellProps & { field: FieldInfo; onClose: () => void }) {
  const { of, row, name, field, onClose } = props;
  const before = formatInput(row.values[name], field);
  const [value, setValue] = useState(before);
  const box = useRef<HTMLFormElement>(null);
  useEffect(() => box.current?.querySelector<HTMLElement>("input, select, textarea")?.focus(), []);
  const done = `Changed ${field.label.toLowerCase()} of ${recordName(of, row)}.`;
  const change = useRecordChange({ ...props, done });
  const form = useSubmission(async () =>
    value === before ? onClose() : change.save({ [name]: parseInput(value, field) }),
  );
  return (
    <form
      ref={box}
      class="cell-editor"
      onSubmit={form.submit}
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
        hideLabel
        value={value}
        referenceName={value === before ? formatText(row.values[name]).replace(/^–$/, "") : undefined}
        errors={form.fields[name]}
        onChange={setValue}
      />
      <FormError of={form} shown={[name]} />
      <div class="row">
        <Button look="primary" small type="submit" busy={form.busy}>
          Save
        </Button>
        <Button look="quiet" small onClick={onClose}>
          Cancel
        </Button>
      </div>
      {change.dialog}
    </form>
  );
}
