import { useState } from "preact/hooks";
import { href } from "../../address.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { FormButtons, FormError, useSubmission } from "../../components/form.tsx";
import { pause, useLoaded } from "../../components/loaded.tsx";
import { findScanned, movedTo, moveRecords } from "../../offline/relocation.ts";
import { withErrorToast } from "../../components/toast.tsx";
import { callForResponse } from "../../request.ts";
import { listSingular, newPagePath, STOCK_LISTS } from "../declaration.ts";
import { OptionName, searchRecords } from "../picker.tsx";
import { showAdded, showDone } from "../write-record.ts";
import { type Movable, type Slots } from "./slots.ts";

/** Milliseconds after the last key, before records are searched. */
const PAUSE = 150;
/** Records of a similar name that are offered. */
const MOST = 5;

/** Puts a new record into a slot, or an existing one: by its name, or by scanning its code. */
export function AddDialog(props: { box: Slots; position: string; onClose: () => void; onMoved: () => void }) {
  const { box, position, onClose, onMoved } = props;
  const [segment, setSegment] = useState<string>(STOCK_LISTS[0]);
  const [typed, setTyped] = useState("");
  const name = typed.trim();
  const similar = useLoaded(name === "" ? null : `${segment} ${name}`, async (signal) => {
    await pause(PAUSE, signal);
    const found = await searchRecords({ segment, key: "name", printed: "id" }, name, signal);
    return found.slice(0, MOST);
  });
  const finish = (): void => {
    onMoved();
    onClose();
  };
  const move = async (record: Movable | undefined): Promise<void> => {
    if (!record) throw new Error("The record no longer exists.");
    const moved = await moveRecords({ id: box.id, name: box.unique_path }, movedTo(position, record));
    showDone(`Moved ${record.name} to ${position}.`, moved, onMoved);
    finish();
  };
  const moveFound = async (code: string): Promise<void> => move((await findScanned(code))[0]);
  const add = useSubmission(async () => {
    const [scanned] = await findScanned(name);
    if (scanned && STOCK_LISTS.includes(scanned.segment)) return move(scanned);
    if (box.isOffline) throw new Error("The server does not respond: only existing records can be added.");
    const body = { name, location: box.id, position };
    const params = { list: segment };
    const response = await callForResponse("POST /api/v2/:list/", { params, body });
    await showAdded(`Added ${name} to ${position}.`, segment, response, onMoved);
    finish();
  });
  const noun = listSingular(segment);
  return (
    <Dialog title={`Add to ${position}`} onClose={onClose}>
      <form class="stack" onSubmit={add.submit} noValidate>
        <TextField
          label="Name"
          hint={`Enter makes a new ${noun}. A scanned code finds the record that has it.`}
          autocomplete="off"
          maxLength={255}
          value={typed}
          errors={add.fields.name}
          onInput={setTyped}
        />
        <SimilarRecords found={name === "" ? [] : (similar.value ?? [])} onChoose={moveFound} />
        <SelectField
          label="Kind"
          value={segment}
          choices={STOCK_LISTS.map((value) => ({ value, name: listSingular(value) }))}
          onChange={setSegment}
        />
        <FormError of={add} shown={["name"]} />
        <FormButtons of={add} submit={`Add ${noun}`} disabled={name === ""} onCancel={onClose}>
          {!box.isOffline && (
            <LinkButton href={href(newPagePath(segment), { name, location: box.id, position })}>
              More fields
            </LinkButton>
          )}
        </FormButtons>
      </form>
    </Dialog>
  );
}

/** Records of a similar name, each with a button that moves it here. */
function SimilarRecords(props: {
  found: Awaited<ReturnType<typeof searchRecords>>;
  onChoose: (id: string) => Promise<void>;
}) {
  const { found, onChoose } = props;
  if (found.length === 0) return null;
  return (
    <ul class="list panel" aria-label="Existing records">
      {found.map((option) => (
        <li key={option.value}>
          <OptionName option={option} />
          <span class="end">
            <Button
              small
              aria-label={`Move here: ${option.name}`}
              onClick={() => void withErrorToast(() => onChoose(option.value))}
            >
              Move here
            </Button>
          </span>
        </li>
      ))}
    </ul>
  );
}
