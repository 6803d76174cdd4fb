import type { ImportOptions, ImportReport } from "./import.ts";
import type { Actor } from "../model/access.ts";
import type { Origin } from "../../platform/request-context.ts";
import { addressOfWorker } from "../../platform/worker-address.ts";

/** What the thread of an import and the one that answers requests say to each other. */

/** The module of the thread, as a path from the top of the project. */
export const IMPORT_WORKER = "src/inventory/imports/import-worker.ts";
export const importWorkerAddress = (): string =>
  addressOfWorker(import.meta.url, IMPORT_WORKER.replace("src/", ""));

/** What is to be done, once; the second message, of any kind, says that the thread may write. */
export interface ImportTask {
  /** File of the database. */
  path: string;
  /** Name of the resource. */
  resource: string;
  options: ImportOptions;
  actor: Actor;
  /** Where the request came from. */
  origin: Origin | undefined;
  bytes: Uint8Array;
  /** Id of the row of import_file that it is, where it is one. */
  stored: string | null;
  /** One 32-bit number; not 0 calls the import off. */
  off: SharedArrayBuffer;
}

export type ImportNews =
  | { kind: "read"; rows: number }
  /** All is read; the thread waits until it may write. */
  | { kind: "ready"; rows: number }
  | { kind: "wrote"; checked: number; written: number }
  | { kind: "done"; report: ImportReport }
  | { kind: "failed"; code: string; message: string; cause: string | undefined };

/** What a stored import came to, as JSON. */
export interface Outcome {
  state: "finished" | "refused" | "failed" | "cancelled";
  ended: number;
  report: ImportReport | null;
  /** What went wrong, for people. */
  message: string | null;
}
