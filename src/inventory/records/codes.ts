import { NO_CODES, parseCodePattern } from "../model/code-pattern.ts";
import type { Resource, Resources } from "../model/resource.ts";
import type { StoredRecord } from "../model/stored-record.ts";
import type { Statements } from "./statements.ts";

/** The field with the code of a record. */
export const CODE = "barcode";

/**
 * Makes the codes of new records by the patterns of their lists and types. All state is in the database, in the
 * transaction of the record, as imports and other processes write too.
 */
export class Codes {
  /** Tables whose records have codes: no two records of any of them get the same one. */
  readonly #tables: readonly string[];
  #reserved: ReadonlySet<string> = new Set();

  constructor(
    private readonly statements: Statements,
    resources: Resources,
  ) {
    const coded = [...resources.values()].filter(({ fields }) => CODE in fields);
    this.#tables = [...new Set(coded.map(({ table }) => table))];
  }

  /** Runs work that adds records with these codes: no other record gets one of them before. */
  reserving<T>(codes: readonly string[], work: () => T): T {
    this.#reserved = new Set(codes);
    try {
      return work();
    } finally {
      this.#reserved = new Set();
    }
  }

  /** The next free code for a new record; undefined if it has one, or if no pattern applies. */
  make(resource: Resource, record: Readonly<StoredRecord>): string | undefined {
    if (!(CODE in resource.fields) || record[CODE] !== "") return undefined;
    const found = this.statements.get({
      text: "SELECT pattern FROM code_pattern WHERE list = ? AND model_type IN ('', ?) AND deleted = 0 ORDER BY model_type DESC LIMIT 1",
      args: [resource.segment, record.model_type ?? ""],
    });
    return found === null || found.pattern === NO_CODES ? undefined : this.#next(String(found.pattern));
  }

  #next(pattern: string): string {
    const { before, digits, after } = parseCodePattern(pattern)!;
    const counter = "SELECT last FROM code_counter WHERE pattern = ?";
    const known = this.statements.get({ text: counter, args: [pattern] })?.last;
    let last = Number(known ?? this.#greatest(before, digits, after));
    let code: string;
    do {
      last++;
      code = `${before}${String(last).padStart(digits, "0")}${after}`;
    } while (this.#reserved.has(code) || this.#isTaken(code));
    this.statements.run({
      text: "INSERT INTO code_counter (pattern, last) VALUES (?, ?) ON CONFLICT (pattern) DO UPDATE SET last = excluded.last",
      args: [pattern, last],
    });
    return code;
  }

  /** Deleted records, which may be restored, and those that the caller may not view keep their codes. */
  #isTaken(code: string): boolean {
    const each = this.#tables.map((table) => `SELECT 1 FROM ${table} WHERE ${CODE} = ?1`);
    return this.statements.get({ text: `${each.join(" UNION ALL ")} LIMIT 1`, args: [code] }) !== null;
  }

  /** The greatest number in use when a pattern is used first. Codes that sort after all digits are not read. */
  #greatest(before: string, digits: number, after: string): number {
    const number = `substr(${CODE}, ?1, ?2)`;
    const each = this.#tables.map(
      (table) =>
        `SELECT max(CAST(${number} AS INTEGER)) AS last FROM ${table} WHERE ${CODE} >= ?3 AND ${CODE} < ?3 || ':'` +
        ` AND ${CODE} = ?3 || ${number} || ?4 AND length(${number}) = ?2 AND ${number} NOT GLOB '*[^0-9]*'`,
    );
    return Number(
      this.statements.get({
        text: `SELECT coalesce(max(last), 0) AS last FROM (${each.join(" UNION ALL ")})`,
        args: [before.length + 1, digits, before, after],
      })?.last,
    );
  }
}
