import { appendFileSync, openSync } from "node:fs";

/** What a client knows of its requests: kept outside the server, and what the server is held against afterwards. */

/**
 * What became of a request. `unknown`: the connection broke before the answer, so that it may have been done or not;
 * `wrong`: it was answered, and not as it has to be.
 */
export type Outcome = "accepted" | "refused" | "unknown" | "wrong";

/** What a record may look like at the end; null where it is not there. */
export interface State {
  label: string;
  description: string;
  alive: boolean;
  /** How often it was written. */
  version: number;
}

/** A record that was asked for. It has one possible state, or two after a request whose outcome is not known. */
export interface KnownRecord {
  /** Null where it was made by an import, or perhaps never. */
  id: string | null;
  label: string;
  states: (State | null)[];
  /** Records of one group are all in their first state or all in their second. */
  group: number | null;
  /** Contents of notes, and SHA-256 of files by the name of the file: those that have to be there, and those that may. */
  notes: { sure: string[]; perhaps: string[] };
  files: { sure: Record<string, string>; perhaps: Record<string, string> };
}

/** A job that was accepted. */
export interface KnownJob {
  id: string;
  name: string;
  sequence: string;
  pattern: string;
  cancelled: "no" | "yes" | "perhaps";
  /** The result as a table, once it was seen. */
  seen: string | null;
}

/** What a client process says at its end. */
export interface Account {
  records: KnownRecord[];
  jobs: KnownJob[];
  /** Labels of records that were refused: none of them may be there. */
  refused: string[];
  /** Tokens that were given, all of which have to work. */
  tokens: string[];
  /** Sign-ins that were answered by 401, by name of the account; and those whose answer was lost. */
  failedSignIns: Record<string, { sure: number; perhaps: number }>;
  /** Requests by what they were for and what became of them. */
  counts: Record<string, Partial<Record<Outcome, number>>>;
  /** What was answered otherwise than it has to be, in words. */
  wrong: string[];
}

/** A file with a line for each request. */
export class Ledger {
  readonly #file: number;
  readonly counts: Account["counts"] = {};
  readonly wrong: string[] = [];
  #lines: string[] = [];

  constructor(path: string) {
    this.#file = openSync(path, "a");
  }

  note(lane: string, what: string, outcome: Outcome, about: string, milliseconds = 0): void {
    const of = (this.counts[what] ??= {});
    of[outcome] = (of[outcome] ?? 0) + 1;
    this.#lines.push(
      JSON.stringify([Date.now(), lane, what, outcome, Math.round(milliseconds * 10) / 10, about]),
    );
    if (outcome === "wrong") this.wrong.push(`${lane}: ${what}: ${about}`);
    if (this.#lines.length >= 200) this.flush();
  }

  flush(): void {
    if (this.#lines.length > 0) appendFileSync(this.#file, `${this.#lines.join("\n")}\n`);
    this.#lines = [];
  }
}
