import { appendFileSync, openSync } from "node:fs";

/** A client's own record of its requests, compared with the server afterwards. */

/**
 * `unknown`: the connection broke before the reply, so the request may or may not have been executed.
 * `wrong`: the reply was not one of those expected.
 */
export type Outcome = "accepted" | "rejected" | "unknown" | "wrong";

/** Expected state of a record. */
export interface State {
  label: string;
  description: string;
  alive: boolean;
  /** Number of writes so far. */
  version: number;
}

/** A record that a client created. It has one possible state, or two after a request with an unknown outcome. */
export interface KnownRecord {
  /** Null if an import created it, or if its creation is uncertain. */
  id: string | null;
  label: string;
  /** Null: the record does not exist. */
  states: (State | null)[];
  /** All records of a group are in their first state, or all are in their second. */
  group: number | null;
  /** Contents of notes: those that must exist, and those that may. */
  notes: { confirmed: string[]; possible: string[] };
  /** SHA-256 of files by file name. */
  files: { confirmed: Record<string, string>; possible: Record<string, string> };
}

/** An accepted job. */
export interface KnownJob {
  id: string;
  sequence: string;
  pattern: string;
  cancelled: "no" | "yes" | "possibly";
  /** The result as a table, once fetched. */
  result: string | null;
}

/** Final report of a client process. */
export interface ClientReport {
  records: KnownRecord[];
  jobs: KnownJob[];
  /** Labels of rejected records; none may exist. */
  rejected: string[];
  /** Issued tokens; all must work. */
  tokens: string[];
  /** Failed sign-ins: those answered with 401, and those whose reply was lost. */
  failedSignIns: { confirmed: number; possible: number };
  /** Requests by kind and outcome. */
  counts: Record<string, Partial<Record<Outcome, number>>>;
  /** Descriptions of wrong replies. */
  wrong: string[];
}

/** A file with one line per request. */
export class Ledger {
  readonly #file: number;
  readonly counts: ClientReport["counts"] = {};
  readonly wrong: string[] = [];
  #lines: string[] = [];

  constructor(path: string) {
    this.#file = openSync(path, "a");
  }

  add(lane: string, request: string, outcome: Outcome, detail: string, milliseconds = 0): void {
    const counts = (this.counts[request] ??= {});
    counts[outcome] = (counts[outcome] ?? 0) + 1;
    this.#lines.push(
      JSON.stringify([Date.now(), lane, request, outcome, Math.round(milliseconds * 10) / 10, detail]),
    );
    if (outcome === "wrong") this.wrong.push(`${lane}: ${request}: ${detail}`);
    if (this.#lines.length >= 200) this.flush();
  }

  flush(): void {
    if (this.#lines.length > 0) appendFileSync(this.#file, `${this.#lines.join("\n")}\n`);
    this.#lines = [];
  }
}
