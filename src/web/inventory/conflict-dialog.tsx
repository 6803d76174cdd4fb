import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { KeyValues } from "../components/layout.tsx";
import { formatTime } from "../format.tsx";
import type { Declaration } from "./declaration.ts";
import { asText, type Row } from "./record.tsx";

/** Two people have changed a record: shows both versions and asks which to keep. */
export function ConflictDialog(props: {
  of: Declaration;
  /** The record as it is now. */
  now: Row;
  /** The fields that were to be written. */
  changed: Record<string, unknown>;
  onKeep: () => void;
  onOverwrite: () => void;
}) {
  const { of, now, changed } = props;
  return (
    <Dialog
      title="Changed in the meantime"
      onClose={props.onKeep}
      actions={
        <>
          <Button look="primary" onClick={props.onKeep}>
            Keep theirs
          </Button>
          <Button onClick={props.onOverwrite}>Overwrite</Button>
        </>
      }
    >
      <p>
        <strong>{asText(now.values.modified_by)}</strong> changed this record on{" "}
        {formatTime(String(now.values.modified))}, while you were editing it. Your changes are not saved yet.
      </p>
      <KeyValues
        of={Object.entries(changed).flatMap(([name, mine]) => {
          const { label, reference } = of.fields[name];
          return [
            [`${label} now`, asText(now.values[name], of.fields[name])],
            [`${label}, yours`, reference ? "your choice" : asText(mine as string)],
          ] as const;
        })}
      />
    </Dialog>
  );
}
