import type { Exposure } from "../../inventory/records/exposure.ts";
import { showToast, withErrorToast } from "../components/toast.tsx";
import { call, send } from "../request.ts";
import { api } from "./declaration.ts";
import type { Filters } from "./list-address.ts";

/** Writes. Each is a batch that can be undone. */

export const undo = (batch: string, then: () => void): Promise<void> =>
  withErrorToast(async () => {
    await call("POST /api/v2/batches/:id/undo/", { params: { id: batch }, body: {} });
    showToast("Undone.");
    then();
  });

/** The batch that a response reports; null if nothing was written. */
export const readBatchId = ({ headers }: Response): string | null => headers.get("Batch-Id");

/** Shows the outcome with Undo; `onUndone` runs after an undo. Without a response, the write waits on this device. */
export function showDone(text: string, response: Response | null, onUndone: () => void): void {
  if (response === null) return showToast(`${text} This is sent when the server responds.`);
  showBatch(text, readBatchId(response), onUndone);
}

/** Shows what a batch did, with Undo; null if nothing was written. */
export function showBatch(text: string, batch: string | null, onUndone: () => void): void {
  showToast(
    text,
    "ok",
    batch === null ? undefined : { label: "Undo", run: () => void undo(batch, onUndone) },
  );
}

/** Sends a write, shows the outcome with Undo, and returns the response; shows the error if it fails. */
export const write = (
  request: () => Promise<Response>,
  done: string,
  onUndone: () => void,
  onDone: (response: Response) => unknown = onUndone,
): Promise<void> =>
  withErrorToast(async () => {
    const response = await request();
    showDone(done, response, onUndone);
    await onDone(response);
  });

/** Records with these ids, or all that the filters find. */
export type Selected = { ids: readonly string[] } | { filters: Filters };

/** Effects of a bulk change. */
export interface Preview {
  count: number;
  /** Changed records, including records of changed annotations. */
  records: number;
  /** Identifies the preview. */
  confirm: string;
  /** Records that more people could view. */
  exposes: readonly Exposure[];
  changes: readonly {
    id: string | null;
    /** The record whose permission changes. */
    of?: { id: string };
    after: Record<string, unknown> | null;
  }[];
}

export interface BulkChange {
  segment: string;
  selected: Selected;
  change:
    | { kind: "values"; values: Record<string, unknown> }
    | { kind: "delete" }
    /** Only for records named by their ids. */
    | { kind: "share"; request: object }
    /** Only for records named by their ids: moves them into the free slots of a location, in order. */
    | { kind: "fill"; location: string };
}

/** Changes that a preview shows. */
export const PREVIEW_SIZE = 20;

function run({ segment, selected, change }: BulkChange, options: Record<string, string>): Promise<Response> {
  const ids = "ids" in selected ? selected.ids : undefined;
  const query = { ...("ids" in selected ? {} : selected.filters), ...options };
  switch (change.kind) {
    case "delete":
      return send("POST", api(segment, "bulk_delete/"), { query, ...(ids ? { body: { ids } } : {}) });
    case "fill":
      return send("POST", api("locations", `${change.location}/free_slots/`), {
        query,
        body: { records: ids },
      });
    case "share":
      return send("PATCH", api(segment, "permissions/"), { query, body: { ids, ...change.request } });
    case "values":
      return send("PATCH", api(segment), {
        query,
        body: ids ? { items: ids, ...change.values } : change.values,
        headers: { Prefer: "return=minimal" },
      });
  }
}

/** @throws ApiError with every record that cannot be changed */
export const previewBulk = async (change: BulkChange): Promise<Preview> =>
  (await (await run(change, { dry_run: "1", changes: String(PREVIEW_SIZE) })).json()) as Preview;

/** Applies the preview. @throws ApiError if the result would differ now */
export const applyBulk = (change: BulkChange, { confirm }: Preview): Promise<Response> =>
  run(change, { confirm });
