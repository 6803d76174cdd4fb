import type { SentFields } from "../../inventory/api/list-operations.ts";
import { useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { KeyValues } from "../components/layout.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { formatTime } from "../format.tsx";
import { ApiError, callForResponse } from "../request.ts";
import { type Declaration, findField } from "./declaration.ts";
import { formatText, readRecord, type Row, toRow, WHOLE } from "./record.tsx";
import { showDone } from "./write-record.ts";

interface Conflict {
  /** The record as it is now. */
  now: Row;
  /** The fields that were to be written. */
  changed: SentFields;
}

/** Saves changes to a record; where somebody else has changed it meanwhile, `dialog` asks which to keep. */
export function useRecordChange(props: {
  of: Declaration;
  row: Row;
  done: string;
  /** A write returned the record. */
  onSaved: (row: Row) => void;
  onUndone: () => void;
  onClose: () => void;
}) {
  const { of, row, onSaved, onClose } = props;
  const [conflict, setConflict] = useState<Conflict | null>(null);
  /** @throws ApiError */
  const save = async (changed: SentFields, version = row.version): Promise<void> => {
    const headers = version === undefined ? undefined : { "If-Match": `"${version}"` };
    try {
      const response = await callForResponse("PATCH /api/v2/:list/:id/", {
        params: { list: of.name, id: row.id },
        query: WHOLE,
        body: changed,
        ...(headers && { headers }),
      });
      showDone(props.done, response, props.onUndone);
      onSaved(toRow(await response.json()));
      onClose();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 412) throw error;
      setConflict({ now: await readRecord(of.name, row.id), changed });
    }
  };
  const dialog = conflict && (
    <ConflictDialog
      of={of}
      {...conflict}
      onKeep={() => {
        onSaved(conflict.now);
        onClose();
      }}
      onOverwrite={() => {
        setConflict(null);
        void withErrorToast(() => save(conflict.changed, conflict.now.version));
      }}
    />
  );
  return { save, dialog };
}

/** Two people have changed a record: shows both versions and asks which to keep. */
function ConflictDialog(props: Conflict & { of: Declaration; onKeep: () => void; onOverwrite: () => void }) {
  const { of, now, changed, onKeep } = props;
  return (
    <Dialog
      title="Changed in the meantime"
      onClose={onKeep}
      actions={
        <>
          <Button look="primary" onClick={onKeep}>
            Keep theirs
          </Button>
          <Button onClick={props.onOverwrite}>Overwrite</Button>
        </>
      }
    >
      <p>
        <strong>{formatText(now.values.modified_by)}</strong> changed this record on{" "}
        {formatTime(String(now.values.modified))}, while you were editing it. Your changes are not saved yet.
      </p>
      <KeyValues
        of={Object.entries(changed).flatMap(([name, ownValue]) => {
          const field = findField(of, name)!;
          const { label, reference } = field;
          return [
            [`${label} now`, formatText(now.values[name], field)],
            [`${label}, yours`, reference ? "your choice" : formatText(ownValue as string)],
          ] as const;
        })}
      />
    </Dialog>
  );
}
