import { existsSync, statSync } from "node:fs";
import { refuseDamage } from "../backup/make-backup.ts";
import { knownBackups } from "../backup/places.ts";
import { isReplicated, type Migration, openReader, pendingMigrations } from "../../platform/sqlite.ts";
import { type CheckResult, ok, problem, size, warning } from "../../platform/check-result.ts";

const HOUR = 3_600_000;
const LARGE_LOG = 256_000_000;

/** What there is to say where Litestream replicates a database whose log labd writes back itself. */
const UNSET = [
  "Litestream replicates it, or did, and the setting litestream is false: its copies may be damaged.",
  "Set litestream = true, restart the server, remove .labd.sqlite-litestream in the data directory, and start Litestream. Where it is not used any more: DROP TABLE _litestream_seq; DROP TABLE _litestream_lock.",
] as const;

/** Migrations, integrity, references, and the log; a read-only connection changes nothing. */
export function checkDatabase(
  path: string,
  migrations: readonly Migration[],
  litestream = false,
): CheckResult[] {
  if (!existsSync(path))
    return [
      warning(
        "database",
        `There is no ${path} yet.`,
        "labd serve makes it. If there was one: labd restore --help.",
      ),
    ];
  let pending: string[];
  try {
    pending = pendingMigrations(path, migrations);
  } catch (error) {
    return [
      problem(
        "database",
        (error as Error).message,
        "Run the version of labd that wrote it, or restore a backup.",
      ),
    ];
  }
  const found: CheckResult[] = [];
  try {
    const reader = openReader(path);
    try {
      refuseDamage(reader, path);
      if (!litestream && isReplicated(reader)) found.push(warning("database", ...UNSET));
    } finally {
      reader.close();
    }
  } catch (error) {
    found.push(
      problem(
        "database",
        (error as Error).message,
        "Stop the server, copy the whole data directory away, and restore the last backup: labd restore FILE.",
      ),
    );
  }
  if (pending.length > 0)
    found.push(
      warning(
        "database",
        `It waits for ${pending.join(", ")}.`,
        "They run when labd serve starts, after a backup.",
      ),
    );
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (log > LARGE_LOG)
    found.push(
      warning(
        "database",
        `Its log has ${size(log)}: something has read for very long.`,
        "Restart the server; it writes the log back when it stops.",
      ),
    );
  return found.length > 0
    ? found
    : [ok("database", `${size(statSync(path).size + log)}, whole, and up to date.`)];
}

/** Whether the clock goes forward: it stamps records, and ends tokens and sessions. */
export function checkClock(path: string, now: number, isSynchronized: boolean | undefined): CheckResult[] {
  const found: CheckResult[] = [];
  let newest = 0;
  if (existsSync(path)) {
    try {
      const reader = openReader(path);
      try {
        // Records have microseconds, jobs and migrations milliseconds.
        for (const sql of [
          "SELECT max(at) / 1000 AS t FROM record_batch",
          "SELECT submitted AS t FROM job ORDER BY rid DESC LIMIT 1",
          "SELECT max(applied) AS t FROM migration",
        ])
          newest = Math.max(newest, (reader.query(sql).get() as { t: number | null } | null)?.t ?? 0);
      } finally {
        reader.close();
      }
    } catch {
      // What is wrong with the database is told elsewhere.
    }
  }
  if (newest > now + 60_000)
    found.push(
      problem(
        "clock",
        `It is ${new Date(now).toISOString()} here, and the newest record is from ${new Date(newest).toISOString()}.`,
        "Set the clock (timedatectl set-ntp true). Tokens and sessions end by it, and history is in its order.",
      ),
    );
  if (isSynchronized === false)
    found.push(
      warning(
        "clock",
        "The clock is not synchronized with any other.",
        "timedatectl set-ntp true, or install chrony.",
      ),
    );
  return found.length > 0 ? found : [ok("clock", `${new Date(now).toISOString()}, after the newest record.`)];
}

/** Whether there is a backup, how old it is, and whether it would go with the data. */
export function checkBackups(
  directory: string,
  dataDirectory: string,
  hours: number,
  now: number,
): CheckResult[] {
  const { manifest: newest, address } = knownBackups(dataDirectory, directory).at(-1) ?? {};
  if (!newest || address === undefined)
    return [
      warning(
        "backup",
        `There is none in ${directory}.`,
        hours === 0
          ? "Set backup_hours, or have labd backup run every day."
          : "The server makes one a minute after its start; or: labd backup",
      ),
    ];
  const found: CheckResult[] = [];
  const age = Math.round((now - Date.parse(newest.created)) / HOUR);
  const shown = `The last is of ${newest.created}, ${size(newest.database.compressedBytes)}`;
  if (age > 2 * (hours || 24))
    found.push(
      problem(
        "backup",
        `${shown}: ${age} hours ago.`,
        "The log of the server says why (backup failed); labd backup makes one now.",
      ),
    );
  const isDirectory = existsSync(address) && existsSync(dataDirectory);
  if (isDirectory && statSync(address).dev === statSync(dataDirectory).dev)
    found.push(
      warning(
        "backup",
        `${shown}. Backups lie on the disk of the data.`,
        "Set backup_dir to another disk or to s3://…, or copy the directory to another machine.",
      ),
    );
  return found.length > 0 ? found : [ok("backup", `${shown}, in ${address}.`)];
}
