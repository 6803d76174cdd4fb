import { Database } from "bun:sqlite";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Problem } from "../problem.ts";
import { fold, hasSimilarWord, unaccent } from "./folded-text.ts";
import { createDirectory, createFile, sync } from "./owned-file.ts";

/** Only this module opens SQLite; others take a Database. */
export type { Database };

/** Prepared statements per connection. With the default of 20, most statements would be compiled at every use. */
Database.MAX_QUERY_CACHE_SIZE = 400;

export interface Migration {
  /** File name, such as `0001-jobs.sql`: four digits, in order without gaps. */
  name: string;
  sql: string;
}

/** Milliseconds that requests, commands, threads and processes wait for another writer. */
export const WRITE_PATIENCE = 10_000;

/** Milliseconds that a statement of the server's own thread, which it blocks, waits. */
const BUSY_TIMEOUT = 500;

/** Bytes of the write-ahead log that stay on disk once it has been written back. */
const MAX_IDLE_LOG = 33_554_432;

/**
 * Opens or creates the database at `path` and applies the migrations. A database with an unknown or altered migration is
 * refused unchanged, as is one that a migration fails on. For tests, ":memory:" or the bytes of a database open one in memory.
 * @param checkpoints false leaves checkpoints to another process (Litestream)
 * @param patience milliseconds that a statement waits for another writer; short for the server, whose thread it blocks
 * @throws Problem bad_database
 */
export function openDatabase(
  path: string | Uint8Array,
  migrations: readonly Migration[],
  { checkpoints = true, patience = BUSY_TIMEOUT }: { checkpoints?: boolean; patience?: number } = {},
): Database {
  if (typeof path === "string" && path !== ":memory:") {
    if (existsSync(path)) refuseForeign(path, migrations);
    createDirectory(dirname(path));
    createFile(path);
  }
  const database =
    typeof path === "string"
      ? new Database(path, { create: true, strict: true })
      : Database.deserialize(path, { strict: true });
  try {
    // First: the next one waits while another process recovers the log.
    database.run(`PRAGMA busy_timeout = ${patience}`);
    // FULL: a commit survives a power cut.
    database.run("PRAGMA journal_mode = WAL");
    database.run("PRAGMA synchronous = FULL");
    // 16 MB instead of 4: pages that change with every commit are written back less often.
    database.run(`PRAGMA wal_autocheckpoint = ${checkpoints ? 4000 : 0}`);
    // After a checkpoint, the first commit cuts off what a large transaction left.
    if (checkpoints) database.run(`PRAGMA journal_size_limit = ${MAX_IDLE_LOG}`);
    addFunctions(database);
    migrate(database, migrations);
    database.run("PRAGMA foreign_keys = ON");
    if (!checkpoints) unchecked.add(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * A second connection that sees the present state of the database, for reads that take several turns of the event loop.
 * Undefined for a database in memory, which has one connection. Close it soon with `closeSnapshot`: it holds back
 * checkpoints.
 */
export function openSnapshot(database: Database): Database | undefined {
  if (isInMemory(database)) return undefined;
  const reader = new Database(database.filename, { readonly: true, strict: true });
  try {
    reader.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
    addFunctions(reader);
    reader.run("BEGIN");
    // The first read fixes the snapshot.
    reader.query("SELECT count(*) FROM migration").get();
    return reader;
  } catch (error) {
    reader.close();
    throw error;
  }
}

/** True if the database has one connection only. */
export const isInMemory = ({ filename }: Database): boolean => filename === ":memory:" || filename === "";

/** True if Litestream has replicated this database: it leaves its tables behind. */
export function isReplicated(database: Database): boolean {
  return (
    database.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '_litestream_seq'").get() !==
    null
  );
}

/** SQLite removes the log beside an empty file, which may be all that is left of a database. */
function refuseEmpty(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.size === 0)
    throw new Problem("bad_database", `${path} is empty.`);
}

/** A read-only connection to a database that others may write. @throws Problem bad_database for an empty file */
export function openReader(path: string): Database {
  refuseEmpty(path);
  const reader = new Database(path, { readonly: true, strict: true });
  reader.run(`PRAGMA busy_timeout = ${WRITE_PATIENCE}`);
  addFunctions(reader);
  return reader;
}

/**
 * Writes the log of a large transaction back into the database and truncates it; on the connection of the server this would
 * take seconds. Readers and writers go on; while one of them needs the log, it stays.
 */
export function checkpoint(writer: Database): void {
  try {
    writer.run("PRAGMA wal_checkpoint(PASSIVE)");
    // Nothing is left to copy, so that this takes no time; it would wait for readers.
    writer.run("PRAGMA busy_timeout = 0");
    writer.run("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // A full disk, for example. Committed changes stay in the log until the next one.
  } finally {
    writer.run(`PRAGMA busy_timeout = ${WRITE_PATIENCE}`);
  }
}

/** True if this process makes the checkpoints of the database, and not Litestream. */
export const makesCheckpoints = (database: Database): boolean => !unchecked.has(database);

/** A connection for a thread or process that writes to an open database. It waits for other writers. */
export function openWriter(path: string): Database {
  refuseEmpty(path);
  const writer = new Database(path, { readwrite: true, create: false, strict: true });
  writer.run(`PRAGMA busy_timeout = ${WRITE_PATIENCE}`);
  writer.run("PRAGMA synchronous = FULL");
  // The main connection, or Litestream, makes the checkpoints.
  writer.run("PRAGMA wal_autocheckpoint = 0");
  writer.run("PRAGMA foreign_keys = ON");
  addFunctions(writer);
  return writer;
}

/** Rewrites the database without its free pages, in one transaction. Nothing else may use it. */
export function compactDatabase(path: string, { checkpoints = true }: { checkpoints?: boolean } = {}): void {
  const writer = openWriter(path);
  try {
    // By default in /tmp, which may be small, or readable for others.
    writer.query(`PRAGMA temp_store_directory = '${dirname(path).replaceAll("'", "''")}'`).run();
    writer.run("VACUUM");
    if (checkpoints) checkpoint(writer);
  } finally {
    writer.query("PRAGMA temp_store_directory = ''").run();
    writer.close(true);
  }
}

/** Ends the snapshot at once; an unfinalized statement would keep a closed connection open. */
export function closeSnapshot(reader: Database): void {
  reader.run("ROLLBACK");
  reader.close();
}

function addFunctions(database: Database): void {
  for (const [name, of] of Object.entries({ fold, unaccent }))
    database.function(name, { deterministic: true }, (text: unknown) =>
      text === null || text === undefined ? null : of(String(text)),
    );
  database.function("has_similar_word", { deterministic: true }, (text: unknown, word: unknown) =>
    Number(hasSimilarWord(String(text), String(word))),
  );
}

/**
 * Writes without waiting for the disk, for what may be lost in a power cut. It survives the end of the process. Not
 * within a transaction.
 */
export function withoutSync<T>(database: Database, write: () => T): T {
  database.run("PRAGMA synchronous = NORMAL");
  try {
    return write();
  } finally {
    database.run("PRAGMA synchronous = FULL");
  }
}

/** Databases whose checkpoints another process makes. */
const unchecked = new WeakSet<Database>();

/**
 * Makes a checkpoint, unless another process does, and closes; without `true` the -wal file would stay behind.
 */
export function closeDatabase(database: Database): void {
  try {
    if (!unchecked.has(database)) database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // Disk full, for example. The next start finds the log.
  }
  database.close(true);
}

interface Applied {
  name: string;
  checksum: string;
}

/** Without foreign keys, so that a migration can rebuild a table; they are checked before it is committed. */
function migrate(database: Database, migrations: readonly Migration[]): void {
  database.run("PRAGMA foreign_keys = OFF");
  database.run(
    "CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY, checksum TEXT NOT NULL, applied INTEGER NOT NULL) STRICT",
  );
  const known = new Set(applied(database).map(({ name }) => name));
  // Without a transaction: a command beside a server that writes would wait for nothing.
  if (migrations.every(({ name }) => known.has(name))) return;
  let current = "";
  const apply = database.transaction(() => {
    for (const migration of migrations) {
      if (known.has(migration.name)) continue;
      current = migration.name;
      database.run(migration.sql);
      database
        .query("INSERT INTO migration (name, checksum, applied) VALUES (?, ?, ?)")
        .run(migration.name, checksum(migration.sql), Date.now());
      const [broken] = database.query("PRAGMA foreign_key_check").all() as { table: string }[];
      if (broken) throw new Error(`rows of ${broken.table} would lack what they refer to`);
    }
  });
  try {
    apply.exclusive();
  } catch (error) {
    throw known.size === 0 || current === "" ? error : failedUpgrade(database.filename, current, error);
  }
}

/** Instructions if an upgrade fails, by the kind of its cause. */
const AFTER_FAILURE: Partial<Record<Problem["code"], string>> = {
  disk_full: "Free some space and start labd again.",
  disk_failed: "Check the disk and its mount options, and start labd again.",
  busy: "Stop the other process that uses it, and start labd again.",
  database_damaged: "Restore the newest backup: labd restore FILE.",
};

function failedUpgrade(path: string, migration: string, cause: unknown): Problem {
  const next =
    AFTER_FAILURE[Problem.from(cause).code] ??
    "Start the former version of labd, which still works with it, and report this message.";
  const why = (cause as Error).message.replace(/\.$/, "");
  const text = `Upgrading ${path} failed in migration ${migration}: ${why}. The database is as it was before. ${next}`;
  return new Problem("bad_database", text, { cause });
}

/**
 * Names of the migrations that the database at `path` lacks; all of them without a database.
 * @throws Problem bad_database for one that holds an unknown or altered migration
 */
export function pendingMigrations(path: string, migrations: readonly Migration[]): string[] {
  if (existsSync(path)) refuseForeign(path, migrations);
  const known = existsSync(path) ? new Set(readApplied(path).map(({ name }) => name)) : new Set();
  return migrations.map(({ name }) => name).filter((name) => !known.has(name));
}

function refuseForeign(path: string, migrations: readonly Migration[]): void {
  const expected = new Map(migrations.map(({ name, sql }) => [name, checksum(sql)]));
  for (const { name, checksum } of readApplied(path)) {
    if (name === "0001-jobs.sql") {
      throw new Problem(
        "bad_database",
        `${path} was written by labd 0.1, a pre-release whose databases cannot be upgraded. Export the records with that version, ` +
          "start this version on an empty data directory, and import the records. Nothing was changed.",
      );
    }
    if (!expected.has(name)) {
      throw new Problem(
        "bad_database",
        `${path} contains migration ${name}, which this version of labd does not know: it was written by a newer version. ` +
          "Start that version, or restore a backup made before the upgrade. Nothing was changed.",
      );
    }
    if (expected.get(name) !== checksum) {
      throw new Problem(
        "bad_database",
        `${path}: migration ${name} differs from the one in this version of labd. Nothing was changed.`,
      );
    }
  }
}

/** The migrations that a database has; a read-only connection leaves foreign databases unchanged. @throws Problem bad_database */
export function readApplied(path: string): Applied[] {
  try {
    const reader = new Database(path, { readonly: true });
    try {
      reader.run(`PRAGMA busy_timeout = ${WRITE_PATIENCE}`);
      return applied(reader);
    } finally {
      reader.close();
    }
  } catch (error) {
    throw new Problem("bad_database", `${path} is not a labd database: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function applied(database: Database): Applied[] {
  const exists = database
    .query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration'")
    .get();
  if (!exists) {
    const others = database.query("SELECT count(*) AS n FROM sqlite_schema").get() as { n: number };
    if (others.n > 0) throw new Error("it holds other tables");
    return [];
  }
  return database.query("SELECT name, checksum FROM migration ORDER BY name").all() as Applied[];
}

function checksum(sql: string): string {
  return new Bun.CryptoHasher("sha256").update(sql.replaceAll("\r\n", "\n")).digest("hex");
}

/** A lock that the operating system releases when the process dies. */
export interface DirectoryLock {
  release(): void;
}

/** The garbage collector would close unreferenced connections and release their locks. */
const held = new Set<Database>();

/**
 * A lock on the file at `path`, which is created and stays; null if it is held, even by this process.
 * @param patience milliseconds to wait
 */
export function lockFile(path: string, patience = 0): DirectoryLock | null {
  const lock = new Database(createFile(path));
  try {
    lock.run(`PRAGMA busy_timeout = ${patience}`);
    lock.run("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    if ((error as { code?: string }).code === "SQLITE_BUSY") return null;
    throw error;
  }
  held.add(lock);
  return {
    release() {
      held.delete(lock);
      lock.close(true);
    },
  };
}

/** The problem of a data directory that cannot be written; any other error unchanged. */
export function unwritable(directory: string, error: unknown): unknown {
  const { code, cause } = Problem.from(error);
  const system = String((error as { code?: string }).code);
  const denied = `this account (uid ${process.getuid?.()}) is not allowed to`;
  const words: Record<string, string> = {
    EACCES: denied,
    EPERM: denied,
    ENOTDIR: "a part of the path is a file",
    EEXIST: "it is a file",
    ENOENT: "it cannot be created there",
    EROFS: "the disk is read-only",
  };
  const known = words[system];
  if (known === undefined && code !== "disk_failed" && code !== "disk_full") return error;
  const why = known ?? (cause instanceof Error ? cause.message : String(error));
  return new Problem(
    code === "disk_full" ? code : "disk_failed",
    `The data directory ${directory} cannot be written: ${why}. Check the disk, its mount options and the owner of the directory, or name another with --data-dir.`,
    known === undefined ? { cause: error } : {},
  );
}

/**
 * Locks the data directory for this process.
 * @param patience milliseconds to wait for a command that holds it
 * @throws Problem already_running, disk_failed
 */
export function lockDirectory(directory: string, patience = 0): DirectoryLock {
  let lock: DirectoryLock | null;
  try {
    createDirectory(directory);
    accessSync(directory, constants.W_OK);
    lock = lockFile(join(directory, "labd.lock"), patience);
  } catch (error) {
    throw unwritable(directory, error);
  }
  if (lock) return lock;
  throw new Problem(
    "already_running",
    `Another labd server uses the data directory ${directory}. Stop it first, or name another with --data-dir.`,
  );
}

/**
 * A new database that one process fills and nobody changes afterwards; it has no log, so that a crash leaves it unusable.
 * Finish it with `closeStore`, then give it its name.
 */
export function createStore(path: string, schema: string): Database {
  const store = new Database(createFile(path), { strict: true });
  store.run("PRAGMA journal_mode = OFF");
  store.run("PRAGMA synchronous = OFF");
  store.run(schema);
  store.run("BEGIN");
  return store;
}

/** Temporary tables of one connection, in files that SQLite removes with it, however the process ends. */
export function openScratch(schema: string): Database {
  const scratch = new Database(":memory:", { strict: true });
  scratch.run(schema);
  return scratch;
}

/** Commits, with what `index` creates, and writes everything to the disk. */
export function closeStore(store: Database, index: string): void {
  store.run(index);
  store.run("COMMIT");
  store.close(true);
  sync(store.filename);
}
