import type { Imported } from "./import.ts";
import type { ImportOptions, ImportReport } from "./import-report.ts";
import type { Actor } from "../model/access.ts";
import type { Origin } from "../../platform/request-context.ts";
import { resolveWorkerUrl } from "../../platform/worker-address.ts";

/** Messages between the main thread and the thread of an import. */

/** The module of the thread, relative to the project. */
export const IMPORT_WORKER = "src/inventory/imports/import-worker.ts";
export const importWorkerUrl = (): string => resolveWorkerUrl(IMPORT_WORKER.replace("src/", ""));

export interface ImportRequest {
  /** Name of the resource. */
  resource: string;
  options: ImportOptions;
  actor: Actor;
  /** Origin of the import; by default the current request. */
  origin?: Origin | undefined;
  bytes: Uint8Array;
}

/** The first message; any second one lets the thread write. */
export interface ImportTask extends ImportRequest {
  /** File of the database. */
  path: string;
  /** True to make a checkpoint afterwards; false leaves it to Litestream. */
  checkpoints: boolean;
  /** Id in the table import_file, if the import is stored there. */
  stored: string | null;
  /** A 32-bit number; any value except 0 cancels the import. */
  cancelled: SharedArrayBuffer;
}

export type ImportMessage =
  | { kind: "progress"; status: { rows_read: number } | { rows_checked: number; rows_written: number } }
  /** The file is read; the thread waits until it may write. */
  | { kind: "ready"; rows: number }
  | { kind: "done"; imported: Imported }
  | { kind: "failed"; code: string; message: string; cause: string | undefined };

/** Result of a stored import, as JSON. */
export interface Outcome {
  state: "finished" | "refused" | "failed" | "cancelled";
  ended: number;
  report: ImportReport | null;
  message: string | null;
}
