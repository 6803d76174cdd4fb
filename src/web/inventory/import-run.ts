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
}

export const hasEnded = ({ state }: ImportStatus): boolean =>
  !["waiting", "reading", "writing"].includes(state);

/** Uploads a file. @returns the id of the import @throws ApiError */
export async function startImport(segment: string, file: File, options: ImportOptions): Promise<string> {
  const query = { ...makeQuery(options), background: "1" };
  const started = await call("POST /api/v2/:list/import/", {
    params: { list: segment },
    query,
    body: makeBody(file),
  });
  if (!("id" in started)) throw new Error("An import in the background is answered by its status.");
  return started.id;
}

/** All changes of existing records that an import would make, as CSV. @throws ApiError */
export async function downloadChanges(segment: string, file: File, options: ImportOptions): Promise<Blob> {
  const query = { ...makeQuery(options), dry_run: "1", format: "csv" };
  return (
    await callForResponse("POST /api/v2/:list/import/", {
      params: { list: segment },
      query,
      body: makeBody(file),
    })
  ).blob();
}

const makeQuery = ({ isDryRun, match, mapping }: ImportOptions) => ({
  dry_run: isDryRun ? "1" : undefined,
  match,
  mapping: Object.keys(mapping).length > 0 ? JSON.stringify(mapping) : undefined,
});

/** The file without the media type that the browser guesses, which the server may refuse. */
const makeBody = (file: File): Blob => new Blob([file]);

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
