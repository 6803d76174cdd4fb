import { useState } from "preact/hooks";
import type { MissingAction } from "../../inventory/labels/stocktake.ts";
import { ErrorBanner } from "../components/banner.tsx";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { SelectField } from "../components/field.tsx";
import { useSubmission } from "../components/form.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { countOf, formatCount } from "../format.tsx";
import { requestJson, send } from "../request.ts";
import type { Count } from "./stocktake-parts.tsx";
import { type Preview, showDone } from "./write-record.ts";

/** What applying a stocktake would write, and a button that does it. */
export function ApplyDialog(props: { path: string; count: Count; onClose: () => void; onDone: () => void }) {
  const { path, count, onClose, onDone } = props;
  const [missing, setMissing] = useState<MissingAction>("status");
  const body = { missing };
  const preview = useLoaded(missing, (signal) =>
    requestJson<Preview>("POST", path, { body, query: { dry_run: "1", changes: "0" }, signal }),
  );
  // Applying writes the stocktake too.
  const changed = Math.max(0, (preview.value?.count ?? 1) - 1);
  const form = useSubmission(async () => {
    const response = await send("POST", path, { body, query: { confirm: preview.value?.confirm } });
    showDone("Stocktake applied.", response.headers.get("Batch-Id"), onDone);
    onDone();
    onClose();
    return true;
  });
  const error = form.error ?? preview.error;
  return (
    <Dialog
      title="Apply the stocktake"
      onClose={onClose}
      cancel
      actions={
        <Button look="primary" busy={form.busy} disabled={!preview.value} onClick={form.submit}>
          Apply
        </Button>
      }
    >
      {error !== undefined && error !== null && <ErrorBanner error={error} />}
      <p>
        {formatCount(count.misplaced.length)} misplaced items move to where they were found.{" "}
        {formatCount(count.missing.length)} are missing.
      </p>
      <SelectField
        label="Missing items"
        value={missing}
        choices={[
          { value: "status", name: "Set the status to Missing" },
          { value: "clear", name: "Clear the location" },
          { value: "keep", name: "Keep as they are, in the report only" },
        ]}
        onChange={setMissing}
      />
      <p role="status">
        {preview.value &&
          `${countOf(changed, "record")} will change, except those that you may not edit. You can undo this.`}
      </p>
    </Dialog>
  );
}
