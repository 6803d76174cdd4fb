import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { MIGRATIONS } from "../../db/index.ts";
import { BACKUP_KEY, readBackupKey } from "../operations/backup/encryption.ts";
import { makeBackup } from "../operations/backup/make-backup.ts";
import type { Reason } from "../operations/backup/manifest.ts";
import { backUpToStore, type StoreBackupOptions } from "../operations/backup/store-backup.ts";
import { refuseLostDatabase } from "../operations/health/lost-database.ts";
import { lockHolder } from "../operations/health/check-machine.ts";
import { type Config, storeAccess } from "../config.ts";
import { openScoring, type Scoring } from "../scoring/index.ts";
import { commandLineOrigin } from "../accounts/audit-offline.ts";
import { getAuditLog, type AuditEvent } from "../accounts/audit.ts";
import { Accounts } from "../accounts/accounts.ts";
import { systemClock } from "../platform/clock.ts";
import { type Log, openLog } from "../platform/log.ts";
import { isStoreAddress, ObjectStore } from "../platform/object-store.ts";
import {
  type Database,
  lockDirectory,
  openDatabase,
  pendingMigrations,
  WRITE_PATIENCE,
} from "../platform/sqlite.ts";
import { reportDamage } from "../platform/storage-state.ts";
import { Problem } from "../problem.ts";
import { VERSION } from "../version.ts";
import { accountOptions, scoringOptions } from "./options.ts";

/** File name of the database in the data directory. */
export const DATABASE = "labd.sqlite";

/** Place of backups: a directory, or an object store. */
export const backupDirectory = (config: Config): string =>
  config.backup_dir === "" ? join(config.data_dir, "backups") : resolveDestination(config.backup_dir);

/** An absolute path, or `s3://bucket/prefix`. */
export const resolveDestination = (to: string): string =>
  isStoreAddress(to) ? to.replace(/\/+$/, "") : resolve(to);

/** The audit event of a backup. */
export const backupNote = ({ path, manifest }: Awaited<ReturnType<typeof makeBackup>>): AuditEvent => ({
  action: "backup.make",
  subject: { kind: "backup", id: manifest.database.sha256 },
  detail: { name: basename(path), reason: manifest.reason },
});

/** @throws Problem bad_database if a former database is missing or lacks commits */
export const requireDatabase = (config: Config): void =>
  refuseLostDatabase({
    path: join(config.data_dir, DATABASE),
    migrations: MIGRATIONS,
    backups: backupDirectory(config),
  });

/** Backs up the data directory to `to`. @throws Problem bad_backup, bad_database, store_failed */
export function backUp(
  config: Config,
  to: string,
  reason: Reason,
  report?: StoreBackupOptions["report"],
): ReturnType<typeof makeBackup> {
  requireDatabase(config);
  const about = {
    from: config.data_dir,
    database: DATABASE,
    reason,
    version: VERSION,
    now: Date.now(),
    key: readBackupKey(join(config.data_dir, BACKUP_KEY)),
  };
  if (!isStoreAddress(to)) return makeBackup({ ...about, to });
  return backUpToStore({ ...about, store: new ObjectStore(to, storeAccess(config)), report });
}

/**
 * Migrations go forward only: this backup is the way back.
 * @throws Problem bad_database likewise, bad_backup, store_failed
 */
export async function backUpBeforeUpgrade(config: Config, log: Log): Promise<AuditEvent | undefined> {
  requireDatabase(config);
  const pending = pendingMigrations(join(config.data_dir, DATABASE), MIGRATIONS);
  // All are pending: there is no database yet.
  if (pending.length === 0 || pending.length === MIGRATIONS.length) return undefined;
  const made = await backUp(config, backupDirectory(config), "upgrade");
  log.info("backup before upgrade", { path: made.path, migrations: pending });
  return { ...backupNote(made), detail: { ...backupNote(made).detail, migrations: pending } };
}

/** A data directory opened by a command that can run at the same time as a server. */
export interface Opened {
  database: Database;
  accounts: Accounts;
  close(): void;
}

/**
 * Opens the data directory for a command that can run at the same time as a server. Without a server the database is
 * migrated first; with one it must be up to date.
 * @throws Problem already_running, bad_database
 */
export async function openData(config: Config): Promise<Opened> {
  const path = join(config.data_dir, DATABASE);
  let lock: { release(): void } | undefined;
  try {
    lock = lockDirectory(config.data_dir);
  } catch (error) {
    if (pendingMigrations(path, MIGRATIONS).length > 0) throw error;
  }
  const saved = lock
    ? await backUpBeforeUpgrade(
        config,
        openLog("off", () => {}, systemClock.now),
      )
    : undefined;
  const database = openDatabase(path, MIGRATIONS, {
    checkpoints: !config.litestream,
    patience: WRITE_PATIENCE,
  });
  const audit = getAuditLog(database, systemClock);
  audit.defaultOrigin = commandLineOrigin(audit);
  if (saved) audit.record(saved);
  return {
    database,
    accounts: new Accounts(database, systemClock, accountOptions(config)),
    close() {
      database.close();
      lock?.release();
    },
  };
}

/** The scoring service of an opened data directory, on this thread. */
export function openScoringFor({ database }: Opened, config: Config): Promise<Scoring> {
  return openScoring({
    ...scoringOptions(config),
    database,
    clock: systemClock,
    log: openLog("off", () => {}, systemClock.now),
    workers: 0,
  });
}

/** Byte of the shared memory of SQLite's log that the writer locks. */
const WRITER_BYTE = 120;

/** Reports damage that a command met to the server, and names the process that was writing instead of the command. */
export function explainFailure(directory: string, error: unknown): unknown {
  reportDamage(directory, error);
  const { code, cause } = Problem.from(error);
  if (code !== "busy" || !String((cause as { code?: string } | undefined)?.code).startsWith("SQLITE_BUSY"))
    return error;
  const pid = lockHolder(join(directory, `${DATABASE}-shm`), { byte: WRITER_BYTE });
  const writer = pid === undefined ? "another process" : `process ${pid} (${readCommandLine(pid)})`;
  return new Problem(
    "busy",
    `The database was not free within ${WRITE_PATIENCE / 1000} seconds: ${writer} is writing, an import or a bulk change, for example. Try again when it has ended.`,
    { cause },
  );
}

/** The program of a process and its first argument, which have no secrets. */
function readCommandLine(pid: number): string {
  try {
    const [program, action = ""] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return `${basename(program)} ${action}`.trim();
  } catch {
    return "ended meanwhile";
  }
}
