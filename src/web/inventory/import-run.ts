import { useEffect, useState } from "preact/hooks";
import { requestJson, get } from "../request.ts";
import { api } from "./declaration.ts";

/** Imports run in the background of the service: they are started, watched, and can be called off. */

export interface Report {
  rows: number;
  created: number;
  updated: number;
  unchanged: number;
  locations_made: number;
  columns: { header: string; field: string | null }[];
  errors: { row: number; column: string | null; message: string }[];
  more_errors: boolean;
  batch: string | null;
}

export interface Import {
  id: string;
  dry_run: boolean;
  state: "waiting" | "reading" | "writing" | "finished" | "refused" | "failed" | "cancelled";
  /** Of the file; null until it is read. */
  rows: number | null;
  rows_read: number;
  rows_checked: number;
  report: Report | null;
  message: string | null;
}

/** Fields by headers that name none; null leaves a column out. */
export type Mapping = Readonly<Record<string, string | null>>;

export const hasEnded = ({ state }: Import): boolean => !["waiting", "reading", "writing"].includes(state);

/** Hands a file over, and returns the id of its import. @throws Refusal */
export async function startImport(
  segment: string,
  file: File,
  how: { dry: boolean; always: boolean; mapping: Mapping },
): Promise<string> {
  const { id } = await requestJson<Import>("POST", api(segment, "import/"), {
    query: {
      background: "1",
      dry_run: how.dry ? "1" : undefined,
      match: how.always ? "none" : undefined,
      mapping: Object.keys(how.mapping).length > 0 ? JSON.stringify(how.mapping) : undefined,
    },
    // As it is: what a form would say of its type may be refused.
    body: new Blob([file]),
  });
  return id;
}

export const cancelImport = (id: string): Promise<void> => requestJson("DELETE", `/api/v2/imports/${id}/`);

/** Milliseconds between looks: soon at first, for most files are small. */
const FIRST = 60;
const LONGEST = 1000;

/** How far an import is, until it has ended. */
export function useImport(id: string | null): { value: Import | undefined; error: unknown } {
  const [shown, show] = useState<{ value?: Import; error?: unknown }>({});
  useEffect(() => {
    show({});
    if (id === null) return;
    const stop = new AbortController();
    let pause = FIRST;
    let timer: ReturnType<typeof setTimeout>;
    const look = async (): Promise<void> => {
      try {
        const value = await get<Import>(`/api/v2/imports/${id}/`, {}, stop.signal);
        if (stop.signal.aborted) return;
        show({ value });
        if (hasEnded(value)) return;
      } catch (error) {
        if (stop.signal.aborted) return;
        return show({ error });
      }
      pause = Math.min(LONGEST, pause * 1.5);
      timer = setTimeout(look, pause);
    };
    timer = setTimeout(look, pause);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [id]);
  return { value: shown.value, error: shown.error };
}
