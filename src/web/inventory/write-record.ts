import { showToast } from "../components/toast.tsx";
import { requestJson, ApiError, send } from "../request.ts";
import { api, type Declaration } from "./declaration.ts";
import type { Filters } from "./list-address.ts";
import { type Row, rowOf } from "./record.tsx";

/** Changes of records, with the way back: every write is a batch that can be undone. */

/** Takes a batch back and says so. */
export async function undo(batch: string, then: () => void, force = false): Promise<void> {
  try {
    await requestJson("POST", `/api/v2/batches/${batch}/undo/`, { body: force ? { force } : {} });
    showToast("Undone.");
    then();
  } catch (error) {
    showToast(`Not undone. ${(error as Error).message}`, "error");
  }
}

/** Says what was done, with a button that takes it back; `then` runs after that. */
export function announceDone(text: string, batch: string | null, then: () => void): void {
  const action = batch === null ? undefined : { label: "Undo", run: () => void undo(batch, then) };
  showToast(text, "ok", action);
}

/** Which records: those with these ids, or all that the filters find. */
export type Selected = { ids: readonly string[] } | { filters: Filters };

/** What a change of several records would do. */
export interface Preview {
  count: number;
  /** Names exactly what was shown. */
  confirm: string;
  changes: readonly {
    id: string | null;
    /** Of a right that is given: the record. */
    of?: { id: string };
    op: string;
    before: Record<string, unknown> | null;
    after: Record<string, unknown> | null;
  }[];
}

/** Changes of several records, first tried out, then done. */
export interface BulkWork {
  segment: string;
  selected: Selected;
  change:
    | { kind: "values"; values: Record<string, unknown> }
    | { kind: "delete" }
    /** Who gets which rights; only of records that are named by their ids. */
    | { kind: "share"; wish: object };
}

/** Changes that a preview shows. */
export const PREVIEWED = 20;

async function run({ segment, selected, change }: BulkWork, how: Record<string, string>): Promise<Response> {
  const ids = "ids" in selected ? selected.ids : undefined;
  const query = { ...("ids" in selected ? {} : selected.filters), ...how };
  switch (change.kind) {
    case "delete":
      return send("POST", api(segment, "bulk_delete/"), { query, ...(ids ? { body: { ids } } : {}) });
    case "share":
      return send("PATCH", api(segment, "permissions/"), { query, body: { ids, ...change.wish } });
    case "values":
      return send("PATCH", api(segment), {
        query,
        body: ids ? { items: ids, ...change.values } : change.values,
        headers: { Prefer: "return=minimal" },
      });
  }
}

/** @throws Refusal that tells of each record that was refused */
export const tryOut = async (work: BulkWork): Promise<Preview> =>
  (await (await run(work, { dry_run: "1", changes: String(PREVIEWED) })).json()) as Preview;

/** Does what was shown, and returns the batch. @throws Refusal where it would come out otherwise by now */
export const carryOut = async (work: BulkWork, preview: Preview): Promise<string | null> =>
  (await run(work, { confirm: preview.confirm })).headers.get("Batch-Id");

/** A record that was written in the meantime. */
export class Conflict extends Error {
  constructor(readonly now: Row) {
    super("Somebody else has changed this record.");
  }
}

/**
 * Changes one record in the version that was read, and returns it as it is now, with the batch.
 * @throws Conflict where it is in another version, Refusal
 */
export async function changeRecord(
  { name }: Declaration,
  { id, version }: Pick<Row, "id" | "version">,
  values: Record<string, unknown>,
): Promise<{ row: Row; batch: string | null }> {
  const query = { response_format: "nested", fields: "*" };
  try {
    const response = await send("PATCH", api(name, `${id}/`), {
      query,
      body: values,
      ...(version === undefined ? {} : { headers: { "If-Match": `"${version}"` } }),
    });
    return { row: rowOf(await response.json()), batch: response.headers.get("Batch-Id") };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 412) throw error;
    throw new Conflict(rowOf(await requestJson("GET", api(name, `${id}/`), { query })));
  }
}
