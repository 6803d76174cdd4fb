import { useEffect, useState } from "preact/hooks";
import type { ImportStatus } from "../../inventory/imports/imports.ts";
import { get, requestJson } from "../request.ts";
import { api } from "./declaration.ts";

/** Imports run in the background of the server. */

export type Report = NonNullable<ImportStatus["report"]>;
export type { ImportStatus };

/** Fields by the headers of the file; null leaves a column out. */
export type Mapping = Readonly<Record<string, string | null>>;

export interface ImportOptions {
  isDryRun: boolean;
  /** Whether rows without an id are new even if a record has the same name. */
  addsAll: boolean;
  mapping: Mapping;
}

export const hasEnded = ({ state }: ImportStatus): boolean =>
  !["waiting", "reading", "writing"].includes(state);

/** Uploads a file. @returns the id of the import @throws ApiError */
export async function startImport(segment: string, file: File, options: ImportOptions): Promise<string> {
  const { isDryRun, addsAll, mapping } = options;
  const { id } = await requestJson<ImportStatus>("POST", api(segment, "import/"), {
    query: {
      background: "1",
      dry_run: isDryRun ? "1" : undefined,
      match: addsAll ? "none" : undefined,
      mapping: Object.keys(mapping).length > 0 ? JSON.stringify(mapping) : undefined,
    },
    // Without the type that the browser guesses, which the server may refuse.
    body: new Blob([file]),
  });
  return id;
}

export const cancelImport = (id: string): Promise<void> => requestJson("DELETE", `/api/v2/imports/${id}/`);

/** Milliseconds between requests: short at first, since most files are small. */
const FIRST = 60;
const LONGEST = 1000;

/** The status of an import, followed until it has ended. */
export function useImport(id: string | null): { value?: ImportStatus; error?: unknown } {
  const [shown, setShown] = useState<{ value?: ImportStatus; error?: unknown }>({});
  useEffect(() => {
    setShown({});
    if (id === null) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const load = async (pause: number): Promise<void> => {
      try {
        const value = await get<ImportStatus>(`/api/v2/imports/${id}/`, {}, stop.signal);
        setShown({ value });
        if (!hasEnded(value)) timer = setTimeout(load, pause, Math.min(LONGEST, pause * 1.5));
      } catch (error) {
        if (!stop.signal.aborted) setShown({ error });
      }
    };
    timer = setTimeout(load, FIRST, FIRST);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [id]);
  return shown;
}
