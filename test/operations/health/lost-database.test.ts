import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIGRATIONS } from "../../../db/index.ts";
import { getAuditLog } from "../../../src/accounts/audit.ts";
import { makeBackup } from "../../../src/operations/backup/make-backup.ts";
import { readLocalBackup, restoreBackup } from "../../../src/operations/backup/restore-backup.ts";
import { checkDatabase } from "../../../src/operations/health/check-database.ts";
import {
  COMMIT_FILE,
  noteCommitted,
  refuseLostDatabase,
} from "../../../src/operations/health/lost-database.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { closeDatabase, openDatabase, openWriter } from "../../../src/platform/sqlite.ts";
import { Problem } from "../../../src/problem.ts";

let directory: string;
let path: string;
let backups: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "labd-lost-"));
  path = join(directory, "labd.sqlite");
  backups = join(directory, "backups");
});
afterEach(() => rmSync(directory, { recursive: true }));

/** The message of the refusal; empty if there is none. */
function refusal(): string {
  try {
    refuseLostDatabase({ path, migrations: MIGRATIONS, backups });
    return "";
  } catch (error) {
    expect([error instanceof Problem, (error as Problem).code]).toEqual([true, "bad_database"]);
    const { message } = error as Problem;
    expect(checkDatabase(path, MIGRATIONS, false, backups)[0]).toMatchObject({
      state: "problem",
      found: message,
    });
    return message;
  }
}

/** A database with one entry in its log, as a server leaves it that ends without a checkpoint. */
function crashed(): void {
  const database = openDatabase(path, MIGRATIONS);
  closeDatabase(database);
  const other = openDatabase(path, MIGRATIONS);
  getAuditLog(other, systemClock).record({ action: "service.start", detail: {} });
  noteCommitted(other, systemClock.now).stop();
  const aside = join(directory, "aside");
  mkdirSync(aside);
  for (const name of readdirSync(directory).filter((one) => one.startsWith("labd.")))
    copyFileSync(join(directory, name), join(aside, name));
  closeDatabase(other);
  for (const name of readdirSync(aside)) copyFileSync(join(aside, name), join(directory, name));
}

test("a directory without a trace of a database gets a new one", () => {
  expect(refusal()).toBe("");
  mkdirSync(join(directory, "models"));
  mkdirSync(join(directory, "corpora"));
  for (const name of ["labd.lock", "backup.key", "models/P1.pdb", "labd.sqlite"])
    writeFileSync(join(directory, name), "");
  expect(refusal()).toBe("");
});

test.each(["corpora/1.labc", "features/1.features", "second-factor.key", COMMIT_FILE, "labd.sqlite-wal"])(
  "a missing or empty database beside %s is not recreated",
  (trace) => {
    mkdirSync(join(directory, trace, ".."), { recursive: true });
    writeFileSync(join(directory, trace), "x");
    for (const state of ["missing", "empty"]) {
      const said = refusal();
      expect(said).toContain(`${path} is ${state}`);
      expect(said).toContain(trace.split("/")[0]);
      expect(said).toContain("To start again");
      expect(existsSync(join(directory, trace))).toBe(true);
      writeFileSync(path, "");
    }
  },
);

test("the refusal names the newest backup, restoring which ends it", async () => {
  crashed();
  const options = {
    from: directory,
    database: "labd.sqlite",
    to: backups,
    version: "1",
    reason: "asked",
  } as const;
  await makeBackup({ ...options, now: 1e12 });
  const { path: newest } = await makeBackup({ ...options, now: 2e12 });
  rmSync(`${path}-wal`);
  rmSync(`${path}-shm`);
  expect(refusal()).toContain(`labd restore ${newest} --data-dir ${directory}`);
  rmSync(path);
  expect(refusal()).toContain(`labd restore ${newest} --data-dir ${directory}`);
  const known = MIGRATIONS.map(({ name }) => name);
  await restoreBackup({
    backup: readLocalBackup(newest),
    to: directory,
    database: "labd.sqlite",
    known,
    now: 3e12,
  });
  expect(refusal()).toBe("");
});

test("a database whose write-ahead log was removed is refused until the marker file is deleted", () => {
  crashed();
  expect(refusal()).toBe("");
  rmSync(`${path}-wal`);
  rmSync(`${path}-shm`, { force: true });
  expect(refusal()).toContain("audit ends at row 0, not 1. Its log labd.sqlite-wal was removed");
  rmSync(join(directory, COMMIT_FILE));
  expect(refusal()).toBe("");
});

test("neither a recovered write-ahead log nor a garbled marker file counts as loss", () => {
  crashed();
  closeDatabase(openWriter(path));
  expect([existsSync(`${path}-wal`), refusal()]).toEqual([false, ""]);
  writeFileSync(join(directory, COMMIT_FILE), "\0\0\0");
  expect(refusal()).toBe("");
});
