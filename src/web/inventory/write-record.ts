import type { Json } from "../../inventory/model/field.ts";
import type { Preview } from "../../inventory/api/parameters.ts";
import { showToast, withErrorToast } from "../components/toast.tsx";
import { navigate } from "../page.tsx";
import { call, callForResponse, type TypedResponse } from "../request.ts";
import type { GrantChanges } from "./sharing.tsx";
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

/** Shows what a batch did, with Undo and the labels of new records; null if nothing was written. */
export function showBatch(text: string, batch: string | null, onUndone: () => void, made?: Made): void {
  const ids = made?.ids ?? [];
  const labels = {
    label: ids.length === 1 ? "Print label" : "Print labels",
    run: () => navigate("/inventory/labels", { list: made!.segment, id: ids.join() }),
  };
  const hasLabels = ids.length > 0 && ids.length <= MAX_NAMED;
  const undoing = { label: "Undo", run: () => void undo(batch!, onUndone) };
  showToast(text, "ok", ...(hasLabels ? [labels] : []), ...(batch === null ? [] : [undoing]));
}

/** New records of a list. */
interface Made {
  segment: string;
  ids: readonly string[];
}

/** Records that an address can name. */
const MAX_NAMED = 200;

/** Shows that records were added, from the answer of the request. */
export async function showAdded(
  text: string,
  segment: string,
  response: TypedResponse<object>,
  onUndone: () => void,
): Promise<void> {
  const made = [await response.clone().json()].flat() as { id: string; barcode?: string }[];
  const ids = made.map(({ id }) => id);
  showBatch(text + nameCode(made.length === 1 ? made[0].barcode : ""), readBatchId(response), onUndone, {
    segment,
    ids,
  });
}

/** The code of a new record, in a message. */
export const nameCode = (code: unknown): string => (code ? ` Its code is ${String(code)}.` : "");

/** Sends a write, shows the outcome with Undo, and returns the response; shows the error if it fails. */
export const write = <Sent extends Response>(
  request: () => Promise<Sent>,
  done: string,
  onUndone: () => void,
  onDone: (response: Sent) => unknown = onUndone,
): Promise<void> =>
  withErrorToast(async () => {
    const response = await request();
    showDone(done, response, onUndone);
    await onDone(response);
  });

/** Records with these ids, or all that the filters find. */
export type Selected = { ids: readonly string[] } | { filters: Filters };

export type { Preview };

export interface BulkChange {
  segment: string;
  selected: Selected;
  change:
    | { kind: "values"; values: Record<string, Json> }
    | { kind: "delete" }
    /** Only for records named by their ids. */
    | { kind: "share"; request: GrantChanges }
    /** Only for records named by their ids: moves them into the free slots of a location, in order. */
    | { kind: "fill"; location: string };
}

/** Changes that a preview shows. */
export const PREVIEW_SIZE = 20;

function run({ segment, selected, change }: BulkChange, options: Record<string, string>): Promise<Response> {
  const ids = "ids" in selected ? selected.ids : undefined;
  const query = { ...("ids" in selected ? {} : selected.filters), ...options };
  const params = { list: segment };
  switch (change.kind) {
    case "delete":
      return callForResponse("POST /api/v2/:list/bulk_delete/", { params, query, body: ids && { ids } });
    case "fill":
      return callForResponse("POST /api/v2/:list/:id/free_slots/", {
        params: { list: "locations", id: change.location },
        query,
        body: { records: ids ?? [] },
      });
    case "share":
      return callForResponse("PATCH /api/v2/:list/permissions/", {
        params,
        query,
        body: { ids: ids ?? [], ...change.request },
      });
    case "values":
      return callForResponse("PATCH /api/v2/:list/", {
        params,
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
