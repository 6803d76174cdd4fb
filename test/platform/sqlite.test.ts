import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIGRATIONS } from "../../db/index.ts";
import { Problem } from "../../src/problem.ts";
import {
  checkpoint,
  closeDatabase,
  closeSnapshot,
  isReplicated,
  lockDirectory,
  lockFile,
  openDatabase,
  openReader,
  openSnapshot,
  openWriter,
  pendingMigrations,
  unwritable,
  withoutSync,
} from "../../src/platform/sqlite.ts";

const FIRST = [{ name: "0001-a.sql", sql: "CREATE TABLE a (x INTEGER) STRICT;" }];
const BOTH = [
  ...FIRST,
  { name: "0002-b.sql", sql: "CREATE TABLE b (y INTEGER) STRICT; INSERT INTO b VALUES (7);" },
];

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "labd-sqlite-"));
  path = join(directory, "labd.sqlite");
});
afterEach(() => rmSync(directory, { recursive: true }));

function refusal(act: () => unknown): Problem {
  try {
    act();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

test("opens a database with WAL, synchronous=FULL and foreign keys", () => {
  const database = openDatabase(path, FIRST);
  const pragma = (name: string): unknown =>
    Object.values(database.query(`PRAGMA ${name}`).get() as object)[0];
  expect(pragma("journal_mode")).toBe("wal");
  expect(pragma("synchronous")).toBe(2);
  expect(pragma("foreign_keys")).toBe(1);
  closeDatabase(database);
  expect(existsSync(`${path}-wal`)).toBe(false);
});

test("leaves checkpoints to Litestream and detects it by its tables", () => {
  const left = openDatabase(path, FIRST, { checkpoints: false });
  const beside = openWriter(path);
  for (const connection of [left, beside])
    expect(connection.query("PRAGMA wal_autocheckpoint").get()).toEqual({ wal_autocheckpoint: 0 });
  expect(isReplicated(left)).toBe(false);
  left.run("CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)");
  expect(isReplicated(beside)).toBe(true);
  const before = statSync(`${path}-wal`).size;
  closeDatabase(left);
  expect(statSync(`${path}-wal`).size).toBe(before);
  closeDatabase(beside);
  expect(existsSync(`${path}-wal`)).toBe(false);
});

describe("the write-ahead log of a large transaction", () => {
  const size = (): number => statSync(`${path}-wal`).size;
  const LARGE = "INSERT INTO b SELECT zeroblob(1000000) FROM generate";
  const MIGRATION = [
    {
      name: "0001-b.sql",
      sql: "CREATE TABLE b (y BLOB) STRICT; CREATE VIEW generate AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) SELECT i FROM n;",
    },
  ];

  test("a write-ahead log is truncated by the checkpoint of its writer", () => {
    const database = openDatabase(path, MIGRATION);
    const writer = openWriter(path);
    writer.run(LARGE);
    expect(size()).toBeGreaterThan(60_000_000);
    checkpoint(writer);
    expect(size()).toBe(0);
    expect(writer.query("PRAGMA busy_timeout").get()).toEqual({ timeout: 10_000 });
    closeDatabase(writer);
    closeDatabase(database);
  });

  test("a write-ahead log is kept while a reader needs it, and truncated by a later commit", () => {
    const database = openDatabase(path, MIGRATION);
    const writer = openWriter(path);
    database.run("INSERT INTO b VALUES (NULL)");
    const reader = openSnapshot(database)!;
    writer.run(LARGE);
    checkpoint(writer);
    expect(size()).toBeGreaterThan(60_000_000);
    expect(reader.query("SELECT count(*) AS n FROM b").get()).toEqual({ n: 1 });
    closeSnapshot(reader);
    // The first makes the checkpoint, the second starts the log again.
    for (let i = 0; i < 2; i++) database.run("INSERT INTO b VALUES (NULL)");
    expect(size()).toBeLessThan(34_000_000);
    expect(database.query("SELECT count(*) AS n FROM b").get()).toEqual({ n: 63 });
    closeDatabase(writer);
    closeDatabase(database);
  });
});

test("migrations run once, in order, and keep existing data", () => {
  expect(pendingMigrations(path, BOTH)).toEqual(["0001-a.sql", "0002-b.sql"]);
  const first = openDatabase(path, FIRST);
  first.run("INSERT INTO a VALUES (1)");
  closeDatabase(first);
  expect(pendingMigrations(path, BOTH)).toEqual(["0002-b.sql"]);
  for (let i = 0; i < 2; i++) {
    const database = openDatabase(path, BOTH);
    expect(database.query("SELECT x FROM a").all()).toEqual([{ x: 1 }]);
    expect(database.query("SELECT y FROM b").all()).toEqual([{ y: 7 }]);
    closeDatabase(database);
  }
});

test("a failed migration changes nothing", () => {
  closeDatabase(openDatabase(path, FIRST));
  const broken = [
    ...FIRST,
    { name: "0002-b.sql", sql: "CREATE TABLE b (y INTEGER); CREATE TABLE a (z INTEGER);" },
  ];
  const { code, message } = refusal(() => openDatabase(path, broken));
  expect([code, message]).toEqual([
    "bad_database",
    `Upgrading ${path} failed in migration 0002-b.sql: table a already exists. The database is as it was before. ` +
      "Start the former version of labd, which still works with it, and report this message.",
  ]);
  const database = openDatabase(path, FIRST);
  expect(database.query("SELECT name FROM sqlite_schema WHERE name = 'b'").get()).toBeNull();
  closeDatabase(database);
});

test("rejects newer, altered and foreign databases without changing them", () => {
  closeDatabase(openDatabase(path, BOTH));
  const before = readFileSync(path);
  const newer = refusal(() => openDatabase(path, FIRST));
  expect(newer.code).toBe("bad_database");
  expect(newer.message).toContain("0002-b.sql");
  expect(newer.message).toContain("newer version");
  const altered = refusal(() =>
    openDatabase(path, [{ name: "0001-a.sql", sql: "CREATE TABLE a (x TEXT)" }, BOTH[1]]),
  );
  expect(altered.message).toContain("0001-a.sql differs");
  expect(readFileSync(path).equals(before)).toBe(true);

  const foreign = join(directory, "foreign.sqlite");
  writeFileSync(foreign, "this is not a database, but it has an owner who wants it back");
  expect(refusal(() => openDatabase(foreign, FIRST)).message).toContain("not a labd database");
  expect(readFileSync(foreign, "utf8")).toStartWith("this is not");
});

test("only one process may use a data directory, and its lock ends with it", async () => {
  const lock = lockDirectory(directory);
  expect(refusal(() => lockDirectory(directory)).code).toBe("already_running");
  lock.release();
  lockDirectory(directory).release();

  const source = join(import.meta.dir, "../../src/platform/sqlite.ts");
  const taking = (patience: number): string =>
    `(await import(${JSON.stringify(source)})).lockDirectory(${JSON.stringify(directory)}, ${patience}); console.log("held")`;
  const holder = Bun.spawn([process.execPath, "-e", `${taking(0)}; setInterval(() => {}, 1000)`], {
    stdout: "pipe",
  });
  await holder.stdout.getReader().read();
  expect(refusal(() => lockDirectory(directory)).code).toBe("already_running");
  // A waiting process gets the lock as soon as it is free.
  setTimeout(() => holder.kill("SIGKILL"), 0);
  const waiting = Bun.spawn([process.execPath, "-e", taking(20_000)], { stdout: "pipe" });
  expect(await new Response(waiting.stdout).text()).toBe("held\n");
  await holder.exited;
  lockDirectory(directory).release();
});

test("a start waits while another process briefly locks the whole database", async () => {
  openDatabase(path, MIGRATIONS).close();
  // As one does that takes in the log which a killed one has left.
  const holder = `
    const { Database } = require("bun:sqlite");
    const database = new Database(${JSON.stringify(path)});
    database.run("PRAGMA locking_mode = EXCLUSIVE");
    database.run("UPDATE session SET agent = ''");
    console.log("held");
    await Bun.sleep(400);
    database.close();`;
  const child = Bun.spawn([process.execPath, "-e", holder], { stdout: "pipe", stderr: "inherit" });
  for await (const chunk of child.stdout) if (new TextDecoder().decode(chunk).includes("held")) break;
  openDatabase(path, MIGRATIONS).close();
  expect(await child.exited).toBe(0);
});

test("withoutSync writes without waiting for the disk, and later writes wait again, also after an error", () => {
  const database = openDatabase(path, MIGRATIONS);
  const level = () => (database.query("PRAGMA synchronous").get() as { synchronous: number }).synchronous;
  const [normal, full] = [1, 2];
  expect([level(), withoutSync(database, level), level()]).toEqual([full, normal, full]);
  const fail = (): never => {
    throw new Error("on purpose");
  };
  expect(() => withoutSync(database, fail)).toThrow("on purpose");
  expect(level()).toBe(full);
  closeDatabase(database);
});

test("a snapshot shows an earlier state of the database, a reader shows the current one, and neither writes", () => {
  const database = openDatabase(path, FIRST);
  database.run("INSERT INTO a VALUES (1)");
  const snapshot = openSnapshot(database)!;
  const reader = openReader(path);
  database.run("INSERT INTO a VALUES (2)");
  const countRows = (connection: typeof database) => connection.query("SELECT count(*) AS n FROM a").get();
  expect([countRows(snapshot), countRows(reader)]).toEqual([{ n: 1 }, { n: 2 }]);
  for (const connection of [snapshot, reader]) {
    expect(() => connection.run("INSERT INTO a VALUES (3)")).toThrow("readonly");
    expect(connection.query("SELECT fold('ÄB') AS x, fold(NULL) AS y").get()).toEqual({ x: "äb", y: null });
  }
  closeSnapshot(snapshot);
  reader.close();
  closeDatabase(database);
  const memory = openDatabase(":memory:", FIRST);
  expect(openSnapshot(memory)).toBeUndefined();
  memory.close();
});

test("a locked file cannot be locked again until it is released", () => {
  const file = join(directory, "lock");
  const lock = lockFile(file)!;
  expect(lockFile(file)).toBeNull();
  lock.release();
  lockFile(file)!.release();
});

test.each([
  ["EACCES", "disk_failed", "is not allowed to"],
  ["EPERM", "disk_failed", "is not allowed to"],
  ["EROFS", "disk_failed", "the disk is read-only"],
  ["ENOTDIR", "disk_failed", "a part of the path is a file"],
  ["disk_failed", "disk_failed", "the cause"],
  ["disk_full", "disk_full", "the cause"],
] as const)("%s is reported as %s: %s", (given, code, why) => {
  const cause = new Error("the cause");
  const error = given.startsWith("disk")
    ? new Problem(given as "disk_full", "", { cause })
    : Object.assign(cause, { code: given });
  const problem = unwritable("/srv/labd", error) as Problem;
  expect(problem.code).toBe(code);
  expect(problem.message).toStartWith("The data directory /srv/labd cannot be written: ");
  expect(problem.message).toContain(why);
});

test("does not report other errors as disk errors", () => {
  const error = new Problem("conflict", "In use.");
  expect(unwritable("/srv/labd", error)).toBe(error);
});

test("an empty file is not opened, so that its log stays", () => {
  writeFileSync(path, "");
  writeFileSync(`${path}-wal`, "pages");
  for (const opens of [openReader, openWriter])
    expect(refusal(() => opens(path)).message).toBe(`${path} is empty.`);
  expect(readFileSync(`${path}-wal`, "utf8")).toBe("pages");
});
