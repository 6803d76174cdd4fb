import { Problem } from "../../problem.ts";
import { getAuditLog } from "../../accounts/audit.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/sqlite.ts";
import { type CheckedTable, checkElmTable, decodeHtml, readElmTable } from "./elm-table.ts";
import { type MotifClass, type MotifClasses, motifClasses, starterClasses } from "./motif-classes.ts";

/** An imported table of motif classes. */
export interface ImportedTable {
  /** Name of the file. */
  name: string;
  /** SHA-256 of the file. */
  hash: string;
  /** Version and date from the file's comments, or null. */
  version: string | null;
  published: string | null;
  /** Milliseconds since 1970-01-01 UTC. */
  imported: number;
  /** Number of classes. */
  size: number;
}

/**
 * The motif classes of a data directory: the built-in ones, replaced by those of an imported table. Each access checks
 * whether the table has changed, so that a running service sees imports by other processes.
 */
export class MotifTables implements MotifClasses {
  readonly #starter = starterClasses();
  #known: MotifClasses;
  /** Hash of the table in `#known`. */
  #hash: string | null = null;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    this.#known = motifClasses(this.#starter);
  }

  get classes(): readonly MotifClass[] {
    return this.#current().classes;
  }

  get scanned(): readonly MotifClass[] {
    return this.#current().scanned;
  }

  get(name: string): MotifClass | undefined {
    return this.#current().get(name);
  }

  find(name: string): MotifClass {
    return this.#current().find(name);
  }

  /** Names that mean one class, also those of built-in classes that the imported table overrides. */
  synonyms(): string[][] {
    return [...this.#starter, ...this.classes].map(({ name, aliases }) => aliases.concat(name));
  }

  /** The imported table, or null. */
  imported(): ImportedTable | null {
    return this.database
      .query(
        `SELECT name, hash, version, published, imported, (SELECT count(*) FROM motif_class) AS size
         FROM motif_table`,
      )
      .get() as ImportedTable | null;
  }

  /** The classes of the imported table, in its order. */
  importedClasses(): MotifClass[] {
    const rows = this.database
      .query(
        "SELECT name, title, accession, expression, description, citation FROM motif_class ORDER BY rowid",
      )
      .all() as (Omit<MotifClass, "aliases" | "dialect"> & { accession: string | null })[];
    return rows.map(({ name, title, accession, expression, description, citation }) => ({
      name,
      title,
      aliases: accession === null ? [] : [accession],
      expression,
      dialect: "elm",
      // Earlier versions stored the description as the file has it.
      description: decodeHtml(description),
      citation,
    }));
  }

  /**
   * Imports a table from the ELM resource and replaces the previous one. Submitted jobs keep their expressions.
   * @throws Problem invalid_request naming every bad row; nothing is imported then
   */
  import(name: string, bytes: Uint8Array): ImportedTable {
    const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
    const { version, published, classes } = readElmTable(decodeText(bytes));
    const was = this.importedClasses();
    this.database
      .transaction(() => {
        // A table that an earlier version imported lacks titles.
        const isSame = classes.every(({ name, title }, i) => was[i]?.name === name && was[i].title === title);
        if (isSame && this.imported()?.hash === hash) return;
        this.#clear();
        this.database
          .query(
            "INSERT INTO motif_table (rid, hash, name, version, published, imported) VALUES (1, ?, ?, ?, ?, ?)",
          )
          .run(hash, name, version, published, this.clock.now());
        const insert = this.database.query(
          "INSERT INTO motif_class (name, title, accession, expression, description, citation) VALUES (?, ?, ?, ?, ?, ?)",
        );
        for (const one of classes) {
          insert.run(
            one.name,
            one.title,
            one.aliases[0] ?? null,
            one.expression,
            one.description,
            one.citation,
          );
        }
        getAuditLog(this.database, this.clock).record({
          action: "motif_classes.import",
          subject: { kind: "motif_table", id: hash },
          detail: { name, version, published, classes: classes.length },
        });
      })
      .immediate();
    return this.imported()!;
  }

  /** Checks each line of a table without importing it. @throws Problem invalid_request */
  check(bytes: Uint8Array): CheckedTable {
    return checkElmTable(decodeText(bytes));
  }

  /** Removes the imported table, so that the built-in classes apply. @returns false without one */
  remove(): boolean {
    return this.database
      .transaction(() => {
        const former = this.imported();
        if (former)
          getAuditLog(this.database, this.clock).record({
            action: "motif_classes.remove",
            subject: { kind: "motif_table", id: former.hash },
            detail: { name: former.name },
          });
        return this.#clear();
      })
      .immediate();
  }

  #clear(): boolean {
    this.database.query("DELETE FROM motif_class").run();
    return this.database.query("DELETE FROM motif_table").run().changes > 0;
  }

  #current(): MotifClasses {
    const row = this.database.query("SELECT hash FROM motif_table").get() as { hash: string } | null;
    const hash = row?.hash ?? null;
    if (hash !== this.#hash) {
      this.#known = motifClasses(this.#starter, this.importedClasses());
      this.#hash = hash;
    }
    return this.#known;
  }
}

/** @throws Problem invalid_request */
export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Problem("invalid_request", "The table is not UTF-8 text.", { cause: error });
  }
}
