import type { CorpusChange, Hit, Options, Stage, StoredFamily } from "../../motif/index.ts";
import type { Problem } from "../../problem.ts";
import type { CorpusInfo } from "../corpus/corpus.ts";
import type { JobRequest } from "./job.ts";

/** Messages between the pool, or another group of workers, and the worker that scores (worker.ts). */

export interface CorpusSource {
  /** The file of the corpus; null for none. */
  corpusPath: string | null;
  /** The content of the file, if it has been read. */
  corpusBytes?: SharedArrayBuffer | undefined;
}

/** A job to score, against the corpus in a file. */
export interface WorkerTask extends CorpusSource {
  ticket: number;
  request: JobRequest;
  /** Replace the defaults of the method. */
  options?: Partial<Options>;
  /** True if the prediction is returned packed for the store, instead of as JSON text. */
  pack?: boolean;
  /** The query's hits, if they have been found. */
  hits?: Hit[] | undefined;
}

/** A search that all workers with the same counter share, each in other parts of the corpus. */
export interface SearchTask extends CorpusSource {
  ticket: number;
  queries: string[];
  options?: Partial<Options> | undefined;
  /** A zero in shared memory. */
  counter: Int32Array;
}

/** A message of a worker. `ticket` is that of the task, so that messages about an earlier one are ignored. */
export type WorkerReport =
  | { ticket: number; kind: "progress"; stage: Stage; fraction: number }
  | { ticket: number; kind: "finished"; prediction: string | Uint8Array<ArrayBuffer> }
  /** Hits of each query in this worker's parts of the corpus. */
  | { ticket: number; kind: "searched"; hits: Hit[][] }
  /** `reason` is for the client, with the code of its problem; null for an unexpected error. `cause` is for the log. */
  | { ticket: number; kind: "failed"; reason: string | null; code?: Problem["code"]; cause: string };

/** Families of proteins to compute. */
export interface FamiliesTask {
  ticket: number;
  corpusPath: string;
  /** Indexes in the corpus. */
  members: number[];
  stop?: Stop;
}

/** Another thread sets it to 1, in shared memory, to interrupt the task. */
export type Stop = Int32Array;

/** Families of a file of another corpus to carry over. */
export interface CarryTask {
  ticket: number;
  corpusPath: string;
  former: Pick<CorpusInfo, "path" | "hash">;
  change: CorpusChange;
  families: string;
  /** Indexes in the former corpus. */
  among: number[];
  stop?: Stop;
}

/** Families of the corpus in the order of the members; of a CarryTask those that are unchanged. */
export interface FamiliesReport {
  ticket: number;
  kind: "families";
  families: StoredFamily[];
  /** True if the worker gave the task up and some members are left. */
  isInterrupted?: boolean;
}
