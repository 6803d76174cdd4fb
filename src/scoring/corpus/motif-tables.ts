import { Problem } from "../../problem.ts";
import { auditOf } from "../../accounts/audit.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/sqlite.ts";
import { type JudgedTable, judgeElmTable, readElmTable } from "./elm-table.ts";
import { type MotifClass, type MotifClasses, motifClasses, starterClasses } from "./motif-classes.ts";

/** A table of motif classes that was imported. */
export interface ImportedTable {
  /** Name of its file. */
  name: string;
  /** SHA-256 of its content. */
  hash: string;
  /** What the file says of itself; null where it says nothing. */
  version: string | null;
  published: string | null;
  /** Milliseconds since 1970-01-01 UTC. */
  imported: number;
  /** Number of its classes. */
  size: number;
}

/**
 * The motif classes of a data directory: those that come with the program and, layered over them, those of a table
 * that was imported. The database is asked each time whether the table is still the same, so that a running service
 * sees what another process imports.
 */
export class MotifTables implements MotifClasses {
  readonly #starter = starterClasses();
  #known: MotifClasses;
  /** Which table `#known` has. */
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

  find(name: string): MotifClass {
    return this.#current().find(name);
  }

  /** The table in use; null where none was imported. */
  imported(): ImportedTable | null {
    return this.database
      .query(
        `SELECT name, hash, version, published, imported, (SELECT count(*) FROM motif_class) AS size
         FROM motif_table`,
      )
      .get() as ImportedTable | null;
  }

  /** The classes of the imported table alone, in its order. */
  importedClasses(): MotifClass[] {
    const rows = this.database
      .query("SELECT name, accession, expression, description, citation FROM motif_class ORDER BY rowid")
      .all() as (Omit<MotifClass, "aliases" | "dialect"> & { accession: string | null })[];
    return rows.map(({ name, accession, expression, description, citation }) => ({
      name,
      aliases: accession === null ? [] : [accession],
      expression,
      dialect: "elm",
      description,
      citation,
    }));
  }

  /**
   * Takes a table as the ELM resource publishes it into use, in place of the one before. Importing the same again
   * changes nothing. Jobs that were submitted keep the expressions that their names had.
   * @throws Problem invalid_request that names every bad row; nothing is imported then
   */
  import(name: string, bytes: Uint8Array): ImportedTable {
    const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
    const { version, published, classes } = readElmTable(textOf(bytes));
    this.database
      .transaction(() => {
        if (this.imported()?.hash === hash) return;
        this.#clear();
        this.database
          .query(
            "INSERT INTO motif_table (rid, hash, name, version, published, imported) VALUES (1, ?, ?, ?, ?, ?)",
          )
          .run(hash, name, version, published, this.clock.now());
        const insert = this.database.query(
          "INSERT INTO motif_class (name, accession, expression, description, citation) VALUES (?, ?, ?, ?, ?)",
        );
        for (const one of classes) {
          insert.run(one.name, one.aliases[0] ?? null, one.expression, one.description, one.citation);
        }
        auditOf(this.database, this.clock).record({
          action: "motif_classes.import",
          subject: { kind: "motif_table", id: hash },
          detail: { name, version, published, classes: classes.length },
        });
      })
      .immediate();
    return this.imported()!;
  }

  /** What an import of this table would say of each of its lines; nothing is changed. @throws Problem invalid_request */
  judge(bytes: Uint8Array): JudgedTable {
    return judgeElmTable(textOf(bytes));
  }

  /** Gives the imported table up; what comes with the program counts again. @returns false where there is none */
  remove(): boolean {
    return this.database
      .transaction(() => {
        const former = this.imported();
        if (former)
          auditOf(this.database, this.clock).record({
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

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Problem("invalid_request", "The table is not text in UTF-8.", { cause: error });
  }
}
