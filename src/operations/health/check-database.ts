import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Checks, type CheckResult, ok, size } from "../../platform/check-result.ts";
import { reportDamage } from "../../platform/storage-state.ts";
import { isReplicated, type Migration, openReader, pendingMigrations } from "../../platform/sqlite.ts";
import { requireIntact } from "../backup/make-backup.ts";
import { LEFT_OUT } from "../backup/manifest.ts";
import { knownBackups } from "../backup/places.ts";
import { refuseLostDatabase } from "./lost-database.ts";

const HOUR = 3_600_000;
const LARGE_LOG = 256_000_000;

/** Checks migrations, integrity, references and the log, with a read-only connection. */
export function checkDatabase(
  path: string,
  migrations: readonly Migration[],
  litestream = false,
  backups = join(dirname(path), "backups"),
): CheckResult[] {
  const checks = new Checks("database");
  const isEmpty = !statSync(path, { throwIfNoEntry: false })?.size;
  try {
    if (isEmpty) refuseLostDatabase({ path, migrations, backups });
  } catch (error) {
    checks.problem((error as Error).message, "labd does not start until one of these is done.");
    return checks.results;
  }
  if (!existsSync(path)) {
    checks.warning(
      `${path} does not exist yet.`,
      "labd serve creates the database. If it was lost, see labd restore --help.",
    );
    return checks.results;
  }
  let pending: string[];
  try {
    pending = pendingMigrations(path, migrations);
  } catch (error) {
    checks.problem((error as Error).message, "Run the version of labd that wrote it, or restore a backup.");
    return checks.results;
  }
  try {
    const reader = openReader(path);
    try {
      requireIntact(reader, path);
      refuseLostDatabase({ path, migrations, backups });
      if (!litestream && isReplicated(reader))
        checks.warning(
          "Litestream replicates or replicated it, but the setting litestream is false: its copies may be damaged.",
          "Set litestream = true, restart the server, remove .labd.sqlite-litestream in the data directory, and start Litestream. If it is no longer used: DROP TABLE _litestream_seq; DROP TABLE _litestream_lock.",
        );
    } finally {
      reader.close();
    }
  } catch (error) {
    reportDamage(dirname(path), error);
    checks.problem(
      (error as Error).message,
      "Stop the server, copy the data directory elsewhere, and restore the last backup: labd restore FILE.",
    );
  }
  if (pending.length > 0)
    checks.warning(
      `Migrations are pending: ${pending.join(", ")}.`,
      "Migrations run when labd serve starts, after a backup.",
    );
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (log > LARGE_LOG)
    checks.warning(
      `Its write-ahead log has ${size(log)}: a connection has been reading for a very long time.`,
      "Restart the server; it checkpoints the log when it stops.",
    );
  return checks.orOk(`${size(statSync(path).size + log)}, intact, and up to date.`);
}

/** Checks that the clock is not behind the newest record: it stamps records, and expires tokens and sessions. */
export function checkClock(path: string, now: number, isSynchronized: boolean | undefined): CheckResult[] {
  const checks = new Checks("clock");
  const newest = newestRecord(path);
  if (newest > now + 60_000)
    checks.problem(
      `The clock shows ${new Date(now).toISOString()}, but the newest record is from ${new Date(newest).toISOString()}.`,
      "Set the clock (timedatectl set-ntp true). The expiry of tokens and the order of history depend on it.",
    );
  if (isSynchronized === false)
    checks.warning("The clock is not synchronized.", "timedatectl set-ntp true, or install chrony.");
  return checks.orOk(`${new Date(now).toISOString()}, after the newest record.`);
}

/** Milliseconds since 1970 of the newest record; 0 without records, or if the database cannot be read. */
function newestRecord(path: string): number {
  if (!existsSync(path)) return 0;
  try {
    const reader = openReader(path);
    try {
      // Records have microseconds, jobs and migrations milliseconds.
      const row = reader
        .query(
          `SELECT max(
             coalesce((SELECT max(at) / 1000 FROM record_batch), 0),
             coalesce((SELECT max(submitted) FROM job), 0),
             coalesce((SELECT max(applied) FROM migration), 0)) AS newest`,
        )
        .get();
      return (row as { newest: number }).newest;
    } finally {
      reader.close();
    }
  } catch {
    return 0;
  }
}

/** Checks the age of the last backup, and whether it would be lost with the data. */
export function checkBackups(
  directory: string,
  dataDirectory: string,
  hours: number,
  now: number,
): CheckResult[] {
  const checks = new Checks("backup");
  const { manifest: newest, address } = knownBackups(dataDirectory, directory).at(-1) ?? {};
  if (!newest || address === undefined) {
    checks.warning(
      `There is no backup in ${directory}.`,
      hours === 0
        ? "Set backup_hours, or run labd backup every day."
        : "The server makes a backup a minute after it starts. To make a backup now, run labd backup.",
    );
    return checks.results;
  }
  const age = Math.round((now - Date.parse(newest.created)) / HOUR);
  const shown = `The last is from ${newest.created}, ${size(newest.database.compressedBytes)}`;
  if (age > 2 * (hours || 24))
    checks.problem(
      `${shown}: ${age} hours ago.`,
      "The log of the server shows why (backup failed). To make one now, run labd backup.",
    );
  if (newest.damaged?.length)
    checks.problem(
      `${shown}, and has damaged content: ${newest.damaged.slice(0, 5).join(", ")}${newest.damaged.length > 5 ? " and more" : ""}.`,
      "Run labd doctor --deep, which explains how to repair each. Until then, the last undamaged backups are kept in addition.",
    );
  const isDirectory = existsSync(address) && existsSync(dataDirectory);
  if (isDirectory && statSync(address).dev === statSync(dataDirectory).dev)
    checks.warning(
      `${shown}. Backups are on the same disk as the data.`,
      "Set backup_dir to another disk or to s3://…, or copy the directory to another machine.",
    );
  return [...checks.orOk(`${shown}, in ${address}.`), ok("backup", LEFT_OUT)];
}
