import { useState } from "preact/hooks";
import { href } from "../../address.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SelectField } from "../../components/field.tsx";
import { FormError, useSubmission } from "../../components/form.tsx";
import { findScanned, movedTo, moveRecords } from "../../offline/relocation.ts";
import { pagePath, listSingular, STOCK_LISTS } from "../declaration.ts";
import { Picker } from "../picker.tsx";
import { showDone } from "../write-record.ts";
import { type Slots } from "./slots.ts";

/** Puts an existing record into a slot, or leads to the form for a new one. */
export function AddDialog(props: { box: Slots; position: string; onClose: () => void; onMoved: () => void }) {
  const { box, position, onClose, onMoved } = props;
  const [segment, setSegment] = useState<string>(STOCK_LISTS[0]);
  const [chosen, setChosen] = useState({ id: "", name: "" });
  const form = useSubmission(async () => {
    const [record] = await findScanned(chosen.id);
    if (!record) throw new Error(`${chosen.name} was not found.`);
    const response = await moveRecords({ id: box.id, name: box.unique_path }, movedTo(position, record));
    showDone(`Moved ${chosen.name} to ${position}.`, response, onMoved);
    onMoved();
    onClose();
    return true;
  });
  const noun = listSingular(segment);
  const values = { location: box.id, position };
  return (
    <Dialog
      title={`Add to ${position}`}
      onClose={onClose}
      cancel
      actions={
        <>
          <Button look="primary" busy={form.busy} disabled={chosen.id === ""} onClick={form.submit}>
            Move to {position}
          </Button>
          {!box.isOffline && (
            <LinkButton href={href(`${pagePath(segment)}/new`, values)}>New {noun}</LinkButton>
          )}
        </>
      }
    >
      <FormError of={form} shown={[]} />
      <SelectField
        label="Kind"
        value={segment}
        choices={STOCK_LISTS.map((value) => ({ value, name: listSingular(value) }))}
        onChange={(value) => {
          setSegment(value);
          setChosen({ id: "", name: "" });
        }}
      />
      <Picker
        key={segment}
        label={`Existing ${noun}`}
        to={{ segment, key: "name", printed: "id" }}
        value={chosen.id}
        onChoose={(id, name) => setChosen({ id, name })}
      />
    </Dialog>
  );
}
