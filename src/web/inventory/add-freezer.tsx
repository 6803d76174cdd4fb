import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { TextField } from "../components/field.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { formatCount, pluralize } from "../format.tsx";
import { callForResponse } from "../request.ts";
import { newLevel, toLevel } from "./build/levels.ts";
import { referenceTo } from "./declaration.ts";
import { Picker } from "./picker.tsx";
import { showDone } from "./write-record.ts";

/** The levels of a freezer: what each is called, and how many of it there are in the level above. */
const LEVELS = [
  { name: "shelves", label: "Shelves", noun: "Shelf", initial: "4" },
  { name: "racks", label: "Racks", noun: "Rack", initial: "4" },
  { name: "boxes", label: "Boxes", noun: "Box", initial: "5" },
] as const;
const LETTERS = 26;

/** `Rack {A..D}`: shelves have numbers, racks letters. */
const namePattern = (noun: string, count: number): string =>
  noun === "Rack" && count <= LETTERS
    ? `${noun} {A..${String.fromCharCode(64 + count)}}`
    : `${noun} {1..${count}}`;

/** Adds a freezer with shelves and racks, which have room for boxes. */
export function AddFreezer(props: { place: string; onClose: () => void; onAdded: () => void }) {
  const { onClose, onAdded } = props;
  const [name, setName] = useState("Freezer 1");
  const [place, setPlace] = useState(props.place);
  const [counts, setCounts] = useState<readonly string[]>(LEVELS.map(({ initial }) => initial));
  const [shelves, racks, boxes] = counts.map((count) => Number(count) || 0);
  const made = Math.max(1, shelves) * racks || shelves;
  const form = useSubmission(async () => {
    const inner = [shelves, racks].flatMap((count, i) =>
      count > 0 ? [{ name: namePattern(LEVELS[i].noun, count) }] : [],
    );
    const last = inner.at(-1);
    // The innermost level has room for the boxes.
    if (last && boxes > 0) Object.assign(last, { box_capacity: boxes });
    const freezer = { model_type: "FREEZER", ...toLevel(newLevel({ list: "equipment", name })) };
    const levels = [freezer, ...inner];
    const response = await callForResponse("POST /api/v2/:list/build/", {
      params: { list: "locations" },
      body: { place: place === "" ? null : place, levels },
    });
    showDone(`Added ${name}.`, response, onAdded);
    onAdded();
    onClose();
    return true;
  });
  return (
    <Dialog
      title="Add freezer"
      onClose={onClose}
      cancel
      actions={
        <>
          <Button look="primary" busy={form.busy} disabled={name.trim() === ""} onClick={form.submit}>
            {racks > 0 ? `Add ${pluralize(made, "rack")}` : "Add freezer"}
          </Button>
          <LinkButton look="quiet" href={href("/inventory/build", { place })}>
            Other levels…
          </LinkButton>
        </>
      }
    >
      <FormError of={form} shown={[]} />
      <TextField label="Name" value={name} onInput={setName} />
      <div class="times">
        {LEVELS.map(({ name: level, label }, i) => (
          <TextField
            key={level}
            label={label}
            inputMode="numeric"
            value={counts[i]}
            onInput={(count) => setCounts(counts.with(i, count))}
          />
        ))}
      </div>
      <p class="hint">
        {racks > 0 && `${pluralize(made, "rack")} with room for ${formatCount(made * boxes)} boxes. `}
        Boxes are made when you need them.
      </p>
      <Picker label="Room" to={referenceTo("places")} optional creates value={place} onChoose={setPlace} />
    </Dialog>
  );
}
