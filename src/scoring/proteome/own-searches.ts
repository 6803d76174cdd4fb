import { type Owner, requireOwner } from "../../accounts/owner.ts";
import type { Database } from "../../platform/sqlite.ts";

/** Searches that are remembered of one client, and of all. The oldest are removed. */
const MAX_PER_CLIENT = 200;
const MAX_IN_ALL = 20_000;

/** A search of one caller. */
export interface OwnSearch {
  id: string;
  /** Identifies the computation that equal searches share. */
  computation: string;
  /** Key of the owner. */
  owner: string;
  isCancelled: boolean;
}

interface Row extends Omit<OwnSearch, "isCancelled"> {
  isCancelled: number;
}

const SELECT =
  "SELECT id, computation, coalesce(owner, client) AS owner, cancelled AS isCancelled FROM proteome_search";

/** Searches of callers, in SQLite: equal ones share a computation, but not their identifier and their end. */
export class OwnSearches {
  constructor(private readonly database: Database) {}

  /**
   * Records a search, unless the owner has started an equal one.
   * @param key key of the owner; null for the account of the client
   * @returns `unused`: computations whose last search was removed to make room
   */
  add(computation: string, client: string, key: string | null): { search: OwnSearch; unused: string[] } {
    return this.database
      .transaction(() => {
        const known = this.#row(
          `${SELECT} WHERE computation = ? AND coalesce(owner, client) = ? AND NOT cancelled`,
          computation,
          key ?? client,
        );
        if (known) return { search: known, unused: [] };
        const bytes = crypto.getRandomValues(new Uint8Array(32));
        const id = Buffer.from(bytes).toString("hex");
        this.database
          .query("INSERT INTO proteome_search (id, computation, client, owner) VALUES (?, ?, ?, ?)")
          .run(id, computation, client, key);
        const search = { id, computation, owner: key ?? client, isCancelled: false };
        return { search, unused: this.#makeRoom(client) };
      })
      .immediate();
  }

  #makeRoom(client: string): string[] {
    const removed = this.database
      .query(
        `DELETE FROM proteome_search WHERE rowid IN
         (SELECT rowid FROM proteome_search WHERE client = ?1 ORDER BY rowid DESC LIMIT -1 OFFSET ${MAX_PER_CLIENT})
         OR rowid <= (SELECT max(rowid) FROM proteome_search) - ${MAX_IN_ALL} RETURNING computation`,
      )
      .all(client) as { computation: string }[];
    return [...new Set(removed.map(({ computation }) => computation))].filter((one) => !this.#has(one));
  }

  #has(computation: string): boolean {
    return this.#row(`${SELECT} WHERE computation = ? LIMIT 1`, computation) !== null;
  }

  /** Those that former versions started have the identifier of their computation, and no owner. */
  find(id: string): OwnSearch {
    return this.#row(`${SELECT} WHERE id = ?`, id) ?? { id, computation: id, owner: "", isCancelled: false };
  }

  /**
   * Ends a search for its owner.
   * @returns whether nobody else waits for the computation
   * @throws Problem forbidden for others
   */
  cancel({ id, computation, owner }: OwnSearch, caller: Owner): boolean {
    requireOwner(caller, owner, "search");
    this.#setCancelled(id, 1);
    return !this.isWanted(computation);
  }

  /** Takes back `cancel`: the computation had ended before. */
  keep(id: string): void {
    this.#setCancelled(id, 0);
  }

  #setCancelled(id: string, cancelled: 0 | 1): void {
    this.database.query("UPDATE proteome_search SET cancelled = ? WHERE id = ?").run(cancelled, id);
  }

  remove(id: string): void {
    this.database.query("DELETE FROM proteome_search WHERE id = ?").run(id);
  }

  /** Whether a search that is not cancelled needs the computation. */
  isWanted(computation: string): boolean {
    return this.#row(`${SELECT} WHERE computation = ? AND NOT cancelled LIMIT 1`, computation) !== null;
  }

  /** Whether all searches that need it were cancelled. */
  isAbandoned(computation: string): boolean {
    return this.#has(computation) && !this.isWanted(computation);
  }

  #row(sql: string, ...values: string[]): OwnSearch | null {
    const row = this.database.query(sql).get(...values) as Row | null;
    return row && { ...row, isCancelled: row.isCancelled === 1 };
  }
}
