import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { MIGRATIONS } from "../db/index.ts";
import { openStore } from "../src/inventory/records/store.ts";
import { DECLARED } from "../src/inventory/resources/index.ts";
import { type Database, openDatabase } from "../src/platform/sqlite.ts";

/** Shared by the processes of the tests: migrating takes as long as dozens of requests. */
const CACHE = join(import.meta.dir, "../node_modules/.cache/labd");

let image: Uint8Array | undefined;

/** Changes the schema, like a migration. */
const searchable = (): unknown =>
  [...DECLARED.values()].map(({ table, fields }) => [
    table,
    Object.keys(fields).filter((name) => fields[name].searchable),
  ]);

/** The bytes of an empty database with all migrations and the text index, which are made once for all tests. */
function emptyDatabase(): Uint8Array {
  if (image) return image;
  const digest = new Bun.CryptoHasher("sha256")
    .update(JSON.stringify([MIGRATIONS, searchable()]))
    .digest("hex");
  const file = join(CACHE, `${digest}.sqlite`);
  if (!existsSync(file)) {
    const database = openDatabase(":memory:", MIGRATIONS);
    // Makes the text index.
    openStore(database, { now: () => 0, newId: () => "" });
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(`${file}.${process.pid}`, database.serialize());
    // Another process may read it.
    renameSync(`${file}.${process.pid}`, file);
    database.close();
  }
  return (image = readFileSync(file));
}

/** A database with all migrations: a new one in memory, or the one at `path`, which is created if it does not exist. */
export function openMigrated(path?: string): Database {
  if (path === undefined) return openDatabase(emptyDatabase(), MIGRATIONS);
  if (!existsSync(path)) createMigrated(path);
  const database = openDatabase(path, MIGRATIONS);
  // Tests cut no power: commits need not wait for the disk.
  database.run("PRAGMA synchronous = OFF");
  return database;
}

/** The file of an empty database, as the first start of a server leaves it. */
export function createMigrated(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, emptyDatabase(), { mode: 0o600 });
}
