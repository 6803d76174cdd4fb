import { useLoaded, useReloadUntil } from "../components/loaded.tsx";
import { type Answer, call, callForResponse } from "../request.ts";

/** Imports run in the background of the server. */

export type ImportStatus = Answer<"GET /api/v2/imports/:id/">;
export type Report = NonNullable<ImportStatus["report"]>;

/** Fields by the headers of the file; null leaves a column out. */
export type Mapping = Readonly<Record<string, string | null>>;

export interface ImportOptions {
  isDryRun: boolean;
  /** Value that matches rows without an id to existing records. */
  match: Report["match"];
  mapping: Mapping;
  /** Imports rows without errors, and leaves the others. */
  partial?: boolean;
  dates?: "day" | "month" | undefined;
  unit?: string | undefined;
  sheet?: string | undefined;
  rows: RowDecisions;
}

/** Options of a file, or of another sheet, about which nothing was decided. */
export const NO_DECISIONS = { mapping: {}, rows: {}, dates: undefined, unit: undefined, sheet: undefined };

/** Decisions about rows by their numbers: corrected cells, the record that it changes, or that it is left out. */
export type RowDecisions = Readonly<
  Record<string, { cells?: Readonly<Record<string, string>>; change?: string; skip?: boolean }>
>;

export const hasEnded = ({ state }: ImportStatus): boolean =>
  !["waiting", "reading", "writing"].includes(state);

/** Uploads a file. @returns the id of the import @throws ApiError */
export async function startImport(segment: string, file: File, options: ImportOptions): Promise<string> {
  const query = { ...makeQuery(options), background: "1" };
  const started = await call("POST /api/v2/:list/import/", {
    params: { list: segment },
    query,
    body: makeBody(file, options),
  });
  if (!("id" in started)) throw new Error("An import in the background is answered by its status.");
  return started.id;
}

/** All changes of existing records that an import would make, or the rows that would wait. @throws ApiError */
export async function downloadTable(
  segment: string,
  file: File,
  options: ImportOptions,
  format: "csv" | "waiting-xlsx",
): Promise<Blob> {
  const query = { ...makeQuery(options), dry_run: "1", format };
  return (
    await callForResponse("POST /api/v2/:list/import/", {
      params: { list: segment },
      query,
      body: makeBody(file, options),
    })
  ).blob();
}

const makeQuery = ({ isDryRun, match, mapping, partial, dates, unit, sheet }: ImportOptions) => ({
  partial: partial ? "1" : undefined,
  dates,
  unit: unit || undefined,
  sheet,
  dry_run: isDryRun ? "1" : undefined,
  match,
  mapping: Object.keys(mapping).length > 0 ? JSON.stringify(mapping) : undefined,
});

/** The file without the media type that the browser guesses, which the server may refuse, and decisions about rows. */
function makeBody(file: File, { rows }: ImportOptions): Blob | FormData {
  if (Object.keys(rows).length === 0) return new Blob([file]);
  const form = new FormData();
  form.append("rows", JSON.stringify(rows));
  form.append("file", new Blob([file]), "file");
  return form;
}

export const cancelImport = (id: string) => call("DELETE /api/v2/imports/:id/", { params: { id } });

/** Milliseconds between requests. */
const PAUSE = 200;

/** The status of an import, followed until it has ended. */
export function useImport(id: string | null): { value: ImportStatus | undefined; error: unknown } {
  const loaded = useLoaded(id, (signal) => call("GET /api/v2/imports/:id/", { params: { id: id! }, signal }));
  // The status of an earlier import stays until this one is there.
  const value = loaded.value?.id === id ? loaded.value : undefined;
  useReloadUntil({ ...loaded, value }, hasEnded, PAUSE);
  return { value, error: loaded.error };
}
