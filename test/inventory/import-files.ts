import type { ImportReport } from "../../src/inventory/imports/import-report.ts";
import type { Json } from "../../src/inventory/model/field.ts";
import type { Lab } from "./harness.ts";

/** Files for imports, and what they did. */

type Answer = ImportReport & { message?: string };
type File = string | Uint8Array<ArrayBuffer> | FormData;

export const table = (...rows: string[]): string => `${rows.join("\r\n")}\r\n`;

/** Counts of a report: created, updated, unchanged, errors. */
export const counts = (of: Answer) => [of.created, of.updated, of.unchanged, of.errors.length];

/** Sends files to the lab of the current test. */
export function makeImports(lab: () => Lab) {
  const send = async (path: string, body: File, as: string | undefined = "alice") => {
    const { status, headers, bytes } = await lab().bytes("POST", path, { body, ...(as ? { as } : {}) });
    return { status, headers, report: JSON.parse(new TextDecoder().decode(bytes)) as Answer };
  };
  return {
    send,
    /** Counts of an import of rows. */
    imported: async (path: string, body: File, as?: string) => counts((await send(path, body, as)).report),
    records: async (path: string, as = "alice"): Promise<Record<string, Json>[]> =>
      (await lab().send(as, "GET", path)).body.results as Record<string, Json>[],
  };
}
