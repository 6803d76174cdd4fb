import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { MIGRATIONS } from "../../db/index.ts";
import { makeBackup } from "../../src/operations/backup/make-backup.ts";
import { listBackups } from "../../src/operations/backup/manifest.ts";
import { createFilled, dump } from "../fixtures/filled-database.ts";
import { labd, LABD, scratch } from "./labd.ts";

setDefaultTimeout(600_000);

/** Upgrades of databases of every older version, as restored from backups, that are killed at writes to the database. */

const STRACE = Bun.which("strace");

/** Runs a command that upgrades, under strace with these options about writes to the database and its log. */
function traced(data: string, ...options: string[]): { code: number | null; signal: string; output: string } {
  const paths = ["labd.sqlite", "labd.sqlite-wal"].flatMap((name) => ["-P", join(data, name)]);
  const words = [
    "-f",
    "-qq",
    ...paths,
    "-e",
    "trace=pwrite64",
    ...options,
    LABD,
    "user",
    "list",
    "--data-dir",
    data,
  ];
  const { exitCode, signalCode, stderr } = Bun.spawnSync([STRACE!, ...words], {
    env: { PATH: "" },
    stdout: "ignore",
  });
  return { code: exitCode, signal: String(signalCode ?? ""), output: stderr.toString() };
}

/** A data directory with a database of the version before a migration, restored from a backup. */
async function restored(place: string, index: number): Promise<string> {
  const [old, backups, data] = ["old", "backups", "data"].map((name) => join(place, name));
  createFilledIn(old, index);
  const options = {
    from: old,
    database: "labd.sqlite",
    to: backups,
    reason: "asked",
    version: "0.2.0",
  } as const;
  const { path } = await makeBackup({ ...options, now: Date.now() });
  expect(await labd(["restore", path, "--data-dir", data])).toMatchObject({ code: 0 });
  return data;
}

function createFilledIn(directory: string, count: number): void {
  mkdirSync(directory);
  createFilled(join(directory, "labd.sqlite"), count);
}

test.skipIf(STRACE === null).each(MIGRATIONS.map(({ name }, index) => [name, index] as const).slice(1))(
  `an upgrade from the version before %s that is killed while it writes is completed${STRACE ? "" : " (SKIPPED: no strace)"}`,
  async (_, index) => {
    using place = scratch();
    const data = await restored(place.directory, index);
    const [former, whole] = ["former", "whole"].map((name) => join(place.directory, name));
    cpSync(data, former, { recursive: true });
    cpSync(data, whole, { recursive: true });
    const log = join(place.directory, "log");
    expect(traced(whole, "-o", log)).toMatchObject({ code: 0 });
    const expected = dump(join(whole, "labd.sqlite"));
    expect(expected.migrations).toEqual(MIGRATIONS.map(({ name }) => name));
    const writes = readFileSync(log, "utf8").split("pwrite64(").length - 1;
    expect(writes).toBeGreaterThan(10);
    for (const share of [0.05, 0.5, 0.95]) {
      rmSync(data, { recursive: true });
      cpSync(former, data, { recursive: true });
      const when = Math.ceil(writes * share);
      expect(traced(data, "-e", `inject=pwrite64:signal=SIGKILL:when=${when}`).signal).toBe("SIGKILL");
      expect(await labd(["user", "list", "--data-dir", data])).toMatchObject({ code: 0 });
      expect(dump(join(data, "labd.sqlite"))).toEqual(expected);
      const [{ manifest }] = listBackups(join(data, "backups"));
      expect([manifest.reason, manifest.database.migrations.length]).toEqual(["upgrade", index]);
    }
  },
);

const LAST = MIGRATIONS.length - 1;

test.skipIf(STRACE === null)("an upgrade on a full disk names the failed step and the remedy", async () => {
  using place = scratch();
  const data = await restored(place.directory, LAST);
  const before = dump(join(data, "labd.sqlite"));
  // The first writes create the table of migrations.
  const { code, output } = traced(data, "-o", "/dev/null", "-e", "inject=pwrite64:error=ENOSPC:when=3+");
  expect([code, output]).toEqual([
    76,
    expect.stringContaining(`failed in migration ${MIGRATIONS[LAST].name}: database or disk is full.`),
  ]);
  expect(output).toContain("The database is as it was before. Free some space and start labd again.");
  expect(dump(join(data, "labd.sqlite"))).toEqual(before);
  expect(await labd(["user", "list", "--data-dir", data])).toMatchObject({ code: 0 });
});

test("an upgrade that a constraint stops leaves the database, and names the migration in the log", async () => {
  using place = scratch();
  const data = join(place.directory, "data");
  createFilledIn(data, 1);
  const path = join(data, "labd.sqlite");
  const database = new Database(path);
  database.run("CREATE TABLE result_part (x)");
  database.close(true);
  const before = dump(path);
  for (const words of [
    ["user", "list"],
    ["serve", "--port", "0"],
  ]) {
    const { code, stderr } = await labd([...words, "--data-dir", data]);
    expect([code, stderr]).toEqual([
      76,
      expect.stringContaining("failed in migration 0003-result-part.sql: table result_part already exists."),
    ]);
    expect(stderr).toContain("Start the former version of labd");
    expect(dump(path)).toEqual(before);
  }
  expect(readdirSync(join(data, "backups")).some((name) => name.endsWith(".json"))).toBe(true);
});
