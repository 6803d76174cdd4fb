import { accessSync, constants, existsSync } from "node:fs";
import { basename, join } from "node:path";
import { recordOffline } from "../accounts/audit-offline.ts";
import type { AuditEvent } from "../accounts/audit.ts";
import { backupDirectory, backupNote, backUp, DATABASE, resolveDestination } from "../app/data-directory.ts";
import { type Config, STORE_SETTINGS, storeAccess } from "../config.ts";
import { BACKUP_KEY, createBackupKey } from "../operations/backup/encryption.ts";
import { LEFT_OUT, listBackups } from "../operations/backup/manifest.ts";
import { readRetention, thin } from "../operations/backup/retention.ts";
import { listStore, thinStore } from "../operations/backup/store-backup.ts";
import { isStoreAddress, ObjectStore } from "../platform/object-store.ts";
import { Problem } from "../problem.ts";
import type { Call, Command } from "./command.ts";
import { transferLine } from "./progress.ts";

export const backup: Command = {
  name: "backup",
  summary: "Create a verified, compressed backup of a data directory, even while the server runs.",
  flags: {
    "--to PLACE":
      "Directory for the backup, or s3://bucket/prefix; backup_dir by default. With --to, old backups stay unless --thin is given.",
    "--thin": "Remove backups in --to that the settings no longer keep.",
    "--list": "List the backups, oldest first, instead of making one.",
    "--make-key": `Create ${BACKUP_KEY} in the data directory, with which backups are encrypted from then on, and make none.`,
    "--scheduled": "Record the schedule as the reason; the server uses this.",
  },
  settings: ["data_dir", "backup_dir", "backup_keep", ...STORE_SETTINGS],
  example:
    "labd backup --data-dir /var/lib/labd --to /mnt/backup\n" +
    "labd backup --config /etc/labd/labd.toml --to s3://lab-backups/labd\n" +
    "The database is one SQLite file, compressed with zstd; its manifest contains hashes and row counts.",
  async run(call) {
    const { config } = call.configuration();
    const to = call.value("--to");
    const place = to === undefined ? backupDirectory(config) : resolveDestination(to);
    if (call.has("--make-key")) return makeKey(call, config);
    if (call.has("--list")) return call.print(await listing(config, place));
    const line = transferLine(call.streams.stderr);
    const made = await backUp(
      config,
      place,
      call.has("--scheduled") ? "schedule" : "asked",
      (_file, ...done) => line.show(...done),
    ).finally(line.clear);
    record(call, config, backupNote(made));
    const { database, corpora, features = [], damaged = [] } = made.manifest;
    const { bytes, compressedBytes, rows } = database;
    const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
    await call.print(
      `${made.path}\n${total} rows in ${Object.keys(rows).length} tables, ${bytes} bytes, compressed ${compressedBytes}; corpora: ${corpora.length}; features: ${features.length}\n${LEFT_OUT}\n`,
    );
    for (const name of damaged) call.warn(`${name} is damaged. Run labd doctor --deep.`);
    if (to === undefined || call.has("--thin")) await removeOldBackups(call, config, place);
  },
};

async function makeKey(call: Call, { data_dir }: Config): Promise<void> {
  const path = join(data_dir, BACKUP_KEY);
  const { id } = createBackupKey(path);
  await call.print(
    `Created ${path}, the key ${id}. Backups are encrypted from now on. Keep a copy of the file apart from the backups: without it nobody can restore them.\n`,
  );
}

/** A full or read-only disk must not keep anyone from making a backup. */
function record(call: Call, config: Config, event: AuditEvent): void {
  try {
    recordOffline(join(config.data_dir, DATABASE), event);
  } catch (error) {
    call.warn(`The audit log could not be written: ${(error as Error).message}`);
  }
}

async function removeOldBackups(call: Call, config: Config, place: string): Promise<void> {
  const retention = readRetention(config.backup_keep);
  try {
    const removed = isStoreAddress(place)
      ? await thinStore(new ObjectStore(place, storeAccess(config)), config.data_dir, retention)
      : thin(place, retention);
    for (const path of removed) await call.print(`removed ${path}\n`);
    const names = removed.map((path) => basename(path)).filter((name) => name.endsWith(".json"));
    if (names.length > 0) record(call, config, { action: "backup.remove", detail: { names } });
  } catch (error) {
    // Keys without the right to delete are a good idea, and the backup exists.
    if (!(error instanceof Problem) || error.code !== "store_failed") throw error;
    await call.print(`not removed: ${error.message}\n`);
  }
}

function listDirectory(place: string): ReturnType<typeof listBackups> {
  if (existsSync(place)) accessSync(place, constants.R_OK);
  return listBackups(place);
}

/** The backups of a directory or object store, oldest first. */
export async function findBackups(config: Config, place: string): Promise<ReturnType<typeof listBackups>> {
  if (!isStoreAddress(place)) return listDirectory(place);
  const stored = await listStore(new ObjectStore(place, storeAccess(config)), config.data_dir);
  return stored.map(({ name, manifest }) => ({ path: `${place}/${name}`, manifest }));
}

async function listing(config: Config, place: string): Promise<string> {
  const found = await findBackups(config, place);
  if (found.length === 0) return `There is no backup in ${place}.\n`;
  const line = ({ path, manifest }: (typeof found)[number]): string => {
    const { reason, labd, key, database, corpora, features = [], damaged = [] } = manifest;
    const encrypted = key === undefined ? "" : `  key ${key}`;
    const state = damaged.length === 0 ? "" : `  damaged: ${damaged.length}`;
    return `${path}  ${reason}  labd ${labd}  ${database.compressedBytes} bytes  corpora: ${corpora.length}  features: ${features.length}${encrypted}${state}\n`;
  };
  return found.map(line).join("");
}
