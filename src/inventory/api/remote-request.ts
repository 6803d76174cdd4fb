import type { Actor } from "../model/access.ts";
import type { Code } from "../../problem.ts";
import type { Origin } from "../../platform/request-context.ts";

/** Messages between the server and a request process, as plain values. */

/** The word on the command line that starts a request process. */
export const REQUEST_PROCESS = "request-process";

/** A request whose caller is known and whose parameters are valid. */
export interface RemoteRequest {
  kind: "request";
  /** File of the database. */
  database: string;
  /** True if the request may write. */
  writes: boolean;
  /** True to make a checkpoint after a write; false leaves it to Litestream. */
  checkpoints: boolean;
  /** Method and path pattern of the operation. */
  operation: string;
  request: { url: string; method: string; headers: [string, string][]; body: Uint8Array | null };
  call: { method: string; base: string; path: string; actor: Actor; maxBytes: number };
  params: Record<string, string>;
  query: unknown;
  /** The validated body, for operations that declare a body. */
  body: unknown;
  /** State of the database before the request, for entity tags. */
  state: string;
  origin: Origin | undefined;
}

/** `locked` says that the process may write; `next` asks for more of the body; `cancel` says that nobody reads the rest. */
export type ToProcess = RemoteRequest | { kind: "locked" } | { kind: "next" } | { kind: "cancel" };

export interface RemoteHead {
  kind: "head";
  status: number;
  headers: [string, string][];
  /** The beginning of the body; null for none. */
  bytes: Uint8Array | null;
  ended: boolean;
}

export interface RemoteFailure {
  kind: "failed";
  code: Code;
  message: string;
  details: {
    fields?: Record<string, string[]>;
    more: Record<string, unknown>;
    list?: readonly unknown[];
    headers: Record<string, string>;
    cause?: string;
  };
}

/** `lock` asks for the write lock, until the response begins. */
export type FromProcess =
  | { kind: "ready"; version: string }
  | { kind: "lock" }
  | RemoteHead
  | { kind: "chunk"; bytes: Uint8Array; ended: boolean }
  | RemoteFailure;
