import { expect, test } from "bun:test";
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MIGRATIONS } from "../db/index.ts";
import { openStore } from "../src/inventory/records/store.ts";
import { closeDatabase, openDatabase } from "../src/platform/sqlite.ts";
import { createFilled } from "./fixtures/filled-database.ts";
import { textIndexErrors } from "./inventory/text-index.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";

const DB = join(import.meta.dir, "../db");

/** SHA-256 of each migration. Databases store them, and an edited migration would make the next version reject them. */
const SUMS = join(import.meta.dir, "golden/migrations.txt");

test("embeds every file of db/ in order", () => {
  const files = readdirSync(DB).filter((name) => name.endsWith(".sql") && name !== "schema.sql");
  expect(MIGRATIONS.map(({ name }) => name)).toEqual(files.toSorted());
  expect(files.filter((name) => !/^\d{4}-[a-z-]+\.sql$/.test(name))).toEqual([]);
  expect(new Set(files.map((name) => name.slice(0, 4))).size).toBe(files.length);
});

test("released migrations are unchanged (SCHEMA=write adds the sums of new ones)", () => {
  const sums = MIGRATIONS.map(({ name, sql }) => {
    const sum = new Bun.CryptoHasher("sha256").update(sql.replaceAll("\r\n", "\n")).digest("hex");
    return `${sum}  ${name}\n`;
  });
  const released = readFileSync(SUMS, "utf8");
  const added = sums.filter((line) => !released.includes(line.slice(64)));
  if (process.env.SCHEMA === "write") appendFileSync(SUMS, added.join(""));
  expect(readFileSync(SUMS, "utf8")).toBe(sums.join(""));
});

test("migrations of a new database produce schema.sql (SCHEMA=write rewrites it)", () => {
  const database = openDatabase(":memory:", MIGRATIONS);
  const rows = database
    .query(
      "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE '%\\_fts\\__%' ESCAPE '\\' ORDER BY rowid",
    )
    .all() as { sql: string }[];
  const schema = `-- Schema after all migrations. Written by: SCHEMA=write bun test test/migrations.test.ts\n\n${rows.map(({ sql }) => `${sql};\n`).join("\n")}`;
  const file = join(DB, "schema.sql");
  if (process.env.SCHEMA === "write") writeFileSync(file, schema);
  expect(readFileSync(file, "utf8")).toBe(schema);
});

test("rebuilding the tables of categories and field metas keeps their records and references", () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-migrations-"));
  try {
    const path = join(directory, "labd.sqlite");
    const old = openDatabase(path, MIGRATIONS.slice(0, 3));
    const shared = "1, 1, 1, 1, 1, 1";
    const columns = "created, modified, created_by, modified_by, owner, owned_by";
    old.run(
      `INSERT INTO cv_category (rid, id, name, name_fold, kind, ${columns}) VALUES (7, 'c', 'Organ', 'organ', 'term', ${shared})`,
    );
    old.run(
      `INSERT INTO vocabulary_term (rid, id, name, name_fold, label, label_fold, category, ${columns}) VALUES (9, 't', 'liver', 'liver', 'liver', 'liver', 7, ${shared})`,
    );
    old.close(true);
    const migrated = openDatabase(path, MIGRATIONS);
    const terms = "SELECT t.id, c.name FROM vocabulary_term AS t JOIN cv_category AS c ON c.rid = t.category";
    expect(migrated.query(terms).all()).toEqual([{ id: "t", name: "Organ" }]);
    expect(() => migrated.run("DELETE FROM cv_category WHERE rid = 7")).toThrow("FOREIGN KEY");
    migrated.run(
      `INSERT INTO cv_category (id, name, name_fold, kind, ${columns}) VALUES ('d', 'Organ', 'organ', 'term', ${shared})`,
    );
    migrated.close(true);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("rebuilding the table of assays keeps its records", () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-migrations-"));
  try {
    const path = join(directory, "labd.sqlite");
    const until = MIGRATIONS.findIndex(({ name }) => name.endsWith("models-of-labid.sql"));
    const old = openDatabase(path, MIGRATIONS.slice(0, until));
    old.run(
      "INSERT INTO assay (rid, id, name, name_fold, state, multiplexed, created, modified, created_by, modified_by, owner, owned_by, version)" +
        " VALUES (7, 'a', 'Lane', 'lane', 'NEW', 1, 2, 3, 1, 1, 1, 1, 4)",
    );
    old.close(true);
    const migrated = openDatabase(path, MIGRATIONS);
    const columns =
      "rid, id, name, state, multiplexed, created, modified, version, flowcell, runtype, live_base_calling";
    expect(migrated.query(`SELECT ${columns} FROM assay`).values()).toEqual([
      [7, "a", "Lane", "NEW", 1, 2, 3, 4, "", null, "None"],
    ]);
    migrated.close(true);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("adding positions and stock keeps records, and marks stock below its minimum", () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-migrations-"));
  try {
    const path = join(directory, "labd.sqlite");
    const old = openDatabase(path, MIGRATIONS.slice(0, 5));
    const columns = "created, modified, created_by, modified_by, owner, owned_by";
    old.run(
      `INSERT INTO location (rid, id, label, label_fold, ${columns}) VALUES (3, 'l', 'Box', 'box', 1, 1, 1, 1, 1, 1)`,
    );
    for (const table of ["consumable", "specimen"])
      old.run(
        `INSERT INTO ${table} (rid, id, name, name_fold, location, ${columns}) VALUES (7, 'c', 'Taq', 'taq', 3, 1, 1, 1, 1, 1, 1)`,
      );
    old.close();
    const database = openDatabase(path, MIGRATIONS);
    for (const table of ["consumable", "specimen"]) {
      const read = () => database.query(`SELECT name, position, amount, below_minimum FROM ${table}`).get();
      expect(read()).toEqual({ name: "Taq", position: "", amount: null, below_minimum: 0 });
      database.run(`UPDATE ${table} SET amount = 1, minimum_amount = 2`);
      expect(read()).toMatchObject({ amount: 1, below_minimum: 1 });
    }
    database.run("UPDATE specimen SET position = 'A1'");
    expect(() => database.run("UPDATE consumable SET position = 'A1'")).toThrow("UNIQUE");
    expect(database.query("PRAGMA foreign_key_check").all()).toEqual([]);
    database.close();
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("stored annotations become values that lists compare", () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-migrations-"));
  try {
    const path = join(directory, "labd.sqlite");
    const until = MIGRATIONS.findIndex(({ name }) => name.endsWith("annotation-values.sql"));
    const old = openDatabase(path, MIGRATIONS.slice(0, until));
    old.run(
      "INSERT INTO field_type (rid, id, kind, name, name_fold, description_fold, type, preferred_view_widget, preferred_edit_widget," +
        " preferred_list_widget, field_meta, created, modified, created_by, modified_by, owner, owned_by)" +
        " VALUES (9, 'y', 'annotation', 'line', 'line', '', 'TEXT', '', '', '', 1, 1, 1, 1, 1, 1, 1)",
    );
    const values = ['"Wild Type"', "[1.5, true]", '"2026-01-02"', '{"resource": "term", "id": "t"}'];
    for (const [i, value] of values.entries())
      old.run(
        "INSERT INTO annotation (rid, id, object_kind, object_rid, annotation_type, value, created, modified, created_by, modified_by)" +
          " VALUES (?1, ?1, 'specimen', 7, 9, ?2, 1, 1, 1, 1)",
        [i + 1, value],
      );
    old.close();
    const database = openDatabase(path, MIGRATIONS);
    expect(
      database.query("SELECT rid, text, fold, number, reference FROM annotation_value ORDER BY rid").values(),
    ).toEqual([
      [1024, "Wild Type", "wild type", null, null],
      [2048, "1.5", "1.5", 1.5, null],
      [2049, "true", "true", 1, null],
      [3072, "2026-01-02", "2026-01-02", Date.UTC(2026, 0, 2) * 1000, null],
      [4096, null, null, null, "t"],
    ]);
    database.close();
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("making the address of places optional keeps it", () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-migrations-"));
  try {
    const path = join(directory, "labd.sqlite");
    const until = MIGRATIONS.findIndex(({ name }) => name.endsWith("places-without-address.sql"));
    const old = openDatabase(path, MIGRATIONS.slice(0, until));
    const shared = "1, 1, 1, 1, 1, 1";
    const columns = "created, modified, created_by, modified_by, owner, owned_by";
    old.run(
      `INSERT INTO address (rid, name, name_fold, ${columns}) VALUES (3, 'Institute', 'institute', ${shared})`,
    );
    const room = "INSERT INTO place (id, room, building_fold, room_fold";
    old.run(`${room}, address, ${columns}) VALUES ('p', '7', '', '7', 3, ${shared})`);
    old.close(true);
    const migrated = openDatabase(path, MIGRATIONS);
    expect(migrated.query("SELECT id, address FROM place").values()).toEqual([["p", 3]]);
    migrated.run(`${room}, ${columns}) VALUES ('q', '8', '', '8', ${shared})`);
    expect(() => migrated.run("DELETE FROM address WHERE rid = 3")).toThrow("FOREIGN KEY");
    migrated.close(true);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test.each(MIGRATIONS.slice(0, -1).map(({ name }, i) => [name, i + 1] as const))(
  "the text index contains the texts of a database that was last migrated by %s",
  (_, count) => {
    const directory = mkdtempSync(join(tmpdir(), "labd-migrations-"));
    try {
      const path = join(directory, "labd.sqlite");
      createFilled(path, count);
      const database = openDatabase(path, MIGRATIONS);
      openStore(database, { now: () => 0, newId: () => "" });
      expect(database.query("SELECT count(*) > 0 AS many FROM record_text_location_docsize").get()).toEqual({
        many: 1,
      });
      expect(textIndexErrors(database)).toEqual([]);
      closeDatabase(database);
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);

test("rebuilding the table of webhook deliveries keeps its records", () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-migrations-"));
  try {
    const path = join(directory, "labd.sqlite");
    const until = MIGRATIONS.findIndex(({ name }) => name.endsWith("reminders.sql"));
    const old = openDatabase(path, MIGRATIONS.slice(0, until));
    old.run(
      "INSERT INTO webhook (rid, id, user_rid, url, sealed_secret, events, jobs, created, record_cursor, job_cursor)" +
        " VALUES (3, 'w', 1, 'https://lab.example', 's', '[]', 0, 1, 5, 6)",
    );
    old.run(
      "INSERT INTO webhook_delivery (rid, id, webhook, event, source, seq, payload, created, due, error)" +
        " VALUES (7, 'd', 3, 'record.created', 'record', 4, '{}', 1, 2, 'late')",
    );
    old.close(true);
    const migrated = openDatabase(path, MIGRATIONS);
    const columns = "rid, id, webhook, source, seq, payload, state, due, attempts, error";
    expect(migrated.query(`SELECT ${columns} FROM webhook_delivery`).values()).toEqual([
      [7, "d", 3, "record", 4, "{}", "pending", 2, 0, "late"],
    ]);
    expect(migrated.query("SELECT record_cursor, job_cursor, reminder_cursor FROM webhook").values()).toEqual(
      [[5, 6, 0]],
    );
    migrated.run("DELETE FROM webhook");
    expect(migrated.query("SELECT 1 FROM webhook_delivery").get()).toBeNull();
    migrated.close(true);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("what people were reminded of is not new after the migration, also of products", () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-migrations-"));
  try {
    const path = join(directory, "labd.sqlite");
    const until = MIGRATIONS.findIndex(({ name }) => name.endsWith("reminders-of-readers.sql"));
    const old = openDatabase(path, MIGRATIONS.slice(0, until));
    const shared = "id, created, modified, created_by, modified_by, owner, owned_by, name, name_fold";
    old.run(`INSERT INTO product (rid, ${shared}) VALUES (4, 'p', 1, 1, 1, 1, 1, 1, 'Taq', 'taq')`);
    for (const [rid, product] of [
      [7, null],
      [8, 4],
      [9, 4],
    ])
      old.run(
        `INSERT INTO consumable (rid, product, ${shared}) VALUES (?1, ?2, 'c' || ?1, 1, 1, 1, 1, 1, 1, 'Taq', 'taq')`,
        [rid, product],
      );
    for (const [seq, record] of [7, 8, 9, 10].entries())
      old.run("INSERT INTO reminder VALUES (?, 'consumable', ?, 'below_minimum', 5)", [seq + 20, record]);
    old.run("INSERT INTO reminder_digest (user_rid, seen, due) VALUES (1, 22, 1)");
    old.close();
    const database = openDatabase(path, MIGRATIONS);
    const read = "SELECT reader, resource, record, reason, since, seq < 0 FROM reminder ORDER BY resource";
    expect(database.query(read).values()).toEqual([
      [1, "consumable", 7, "below_minimum", 5, 1],
      [1, "product", 4, "below_minimum", 5, 1],
    ]);
    const insert =
      "INSERT INTO reminder (reader, resource, record, reason, since) VALUES (1, 'product', 5, 'expired', 1)";
    // After the cursors of all readers.
    expect(database.query(`${insert} RETURNING seq`).values()).toEqual([[24]]);
    database.close();
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("migration turns builds and proteome searches into tasks of the users who started them", () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-migrations-"));
  try {
    const path = join(directory, "labd.sqlite");
    const until = MIGRATIONS.findIndex(({ name }) => name.endsWith("tasks.sql"));
    const old = openDatabase(path, MIGRATIONS.slice(0, until));
    const build = "INSERT INTO proteome_build (id, corpus, corpus_name, organism, username, state, submitted";
    old.run(`${build}) VALUES ('b1', 'hash', 'yeast', '9606', 'ada', 'running', 1)`);
    old.run(
      `${build}, ended, stored, carried) VALUES ('b2', 'hash', 'yeast', NULL, 'bob', 'finished', 2, 3, 8, 5)`,
    );
    const search = "INSERT INTO proteome_search (id, computation, client, owner, cancelled) VALUES";
    old.run(`${search} ('s1', 'c', 'user ada', NULL, 0), ('s2', 'c', '192.0.2.1', 'key', 1)`);
    old.close(true);
    const migrated = openDatabase(path, MIGRATIONS);
    const columns = "id, kind, subject, coalesce(owner, client), state, shared";
    expect(migrated.query(`SELECT ${columns} FROM task ORDER BY rid`).values()).toEqual([
      ["b1", "family-build", "yeast", "user ada", "running", null],
      ["b2", "family-build", "yeast", "user bob", "finished", null],
      ["s1", "proteome-search", "", "user ada", "finished", "c"],
      ["s2", "proteome-search", "", "key", "cancelled", "c"],
    ]);
    const [[request, result]] = migrated
      .query("SELECT request, result FROM task WHERE id = 'b2'")
      .values() as string[][];
    expect([JSON.parse(request), JSON.parse(result)]).toEqual([
      { corpus: "hash", organism: null, proteins: null },
      { stored: 8, carried: 5 },
    ]);
    migrated.close(true);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("models of jobs become models of proteins, of several the last", () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-migrations-"));
  try {
    const path = join(directory, "labd.sqlite");
    const until = MIGRATIONS.findIndex(({ name }) => name.endsWith("models-of-proteins.sql"));
    const old = openDatabase(path, MIGRATIONS.slice(0, until));
    const insert = old.query(
      "INSERT INTO job (rid, id, state, client, owner, request, digest, submitted) VALUES (?1, ?1, 'queued', ?2, ?3, ?4, 'd', 1)",
    );
    const jobs: [client: string, owner: string | null, query: string][] = [
      ["user ana", null, "mkt"],
      ["192.0.2.1", "secret", "MKT"],
      ["192.0.2.1", "secret", "MKT"],
      ["192.0.2.1", "secret", "MKTA"],
    ];
    for (const [i, [client, owner, query]] of jobs.entries()) {
      insert.run(i + 1, client, owner, JSON.stringify({ query }));
      old.run("INSERT INTO job_model (job, name, content, added) VALUES (?1, 'file ' || ?1, x'0102', ?1)", [
        i + 1,
      ]);
    }
    old.close();
    const database = openDatabase(path, MIGRATIONS);
    expect(
      database.query("SELECT owner, sequence, client, name FROM protein_model ORDER BY added").values(),
    ).toEqual([
      ["user ana", "MKT", "user ana", "file 1"],
      ["secret", "MKT", "192.0.2.1", "file 3"],
      ["secret", "MKTA", "192.0.2.1", "file 4"],
    ]);
    const stored = () => database.query("SELECT client, models FROM anonymous_storage").values();
    expect(stored()).toEqual([["192.0.2.1", 4]]);
    database.run("DELETE FROM protein_model WHERE sequence = 'MKT'");
    expect(stored()).toEqual([["192.0.2.1", 2]]);
    database.close();
  } finally {
    rmSync(directory, { recursive: true });
  }
});
