import { expect, test } from "bun:test";
import { MIGRATIONS } from "../../db/index.ts";
import { openDatabase } from "../../src/platform/sqlite.ts";
import { StorageState } from "../../src/platform/storage-state.ts";

const MEGABYTE = 1024 * 1024;

function open() {
  const database = openDatabase(":memory:", MIGRATIONS);
  const logged: [string, unknown][] = [];
  const disk = { bavail: 100, blocks: 100_000, bsize: MEGABYTE };
  const state = new StorageState(
    "/data",
    database,
    { info: () => {}, problem: (event, fields) => void logged.push([event, fields?.cause]) },
    () => disk,
  );
  return { database, logged, disk, state };
}

test("rejects new writes on a full disk until there is space, but no deletions", () => {
  const { disk, state } = open();
  expect(state.problem()).toBeUndefined();
  disk.bavail = 15;
  expect(state.problem()).toMatchObject({ code: "disk_full", headers: { "Retry-After": "60" } });
  expect(state.problem(true)).toBeUndefined();
  // Of a small disk, a hundredth is left.
  disk.blocks = 1000;
  expect(state.problem()).toBeUndefined();
  disk.bavail = 9;
  expect(state.problem()).toMatchObject({ code: "disk_full" });
  disk.bavail = 17;
  expect(state.problem()).toBeUndefined();
});

test("stops writing once an error in the log reveals a damaged database", () => {
  const { database, logged, state } = open();
  state.log.problem("job", { cause: "disk I/O error" });
  expect(state.problem()).toBeUndefined();
  state.log.problem("request process", { cause: "SQLiteError: database disk image is malformed\n    at x" });
  state.log.problem("expiry", { cause: "SQLiteError: file is not a database" });
  expect(state.problem()).toMatchObject({ code: "database_damaged" });
  expect(state.problem(true)).toMatchObject({ code: "database_damaged" });
  expect(logged.map(([event]) => event)).toEqual(["job", "request process", "database damaged", "expiry"]);
  expect(() => database.run("DELETE FROM migration")).toThrow("readonly");
  expect(database.query("SELECT count(*) AS n FROM migration").get()).toEqual({ n: MIGRATIONS.length });
});
