import { basename, join } from "node:path";
import { backupDirectory, backupNote, backUp, DATABASE, destinationOf } from "../app/data-directory.ts";
import { giveToOwner } from "../app/data-owner.ts";
import { listBackups, type Manifest } from "../operations/backup/manifest.ts";
import { type Retention, thin } from "../operations/backup/retention.ts";
import { listStore, thinStore } from "../operations/backup/store-backup.ts";
import type { Command } from "./command-line.ts";
import { type Config, STORE_SETTINGS, storeAccess } from "../config.ts";
import { Problem } from "../problem.ts";
import { recordOffline } from "../accounts/audit-offline.ts";
import type { AuditEvent } from "../accounts/audit.ts";
import { isStoreAddress, ObjectStore } from "../platform/object-store.ts";
import { transferLine } from "./progress.ts";

export const backup: Command = {
  name: "backup",
  summary: "Back up a data directory, while it is served or not: checked, compressed, and read back.",
  flags: [
    {
      name: "--to",
      value: "PLACE",
      sentence:
        "Directory for the backup, or s3://bucket/prefix, in which nothing is removed unless --thin is given; by default backup_dir.",
    },
    { name: "--thin", sentence: "Remove backups in --to that are over by the settings." },
    { name: "--list", sentence: "Make none; show those that are in --to, oldest first." },
    { name: "--scheduled", sentence: "Note in the manifest that nobody asked: how the server calls it." },
  ],
  settings: [
    "data_dir",
    "backup_dir",
    "backup_keep_days",
    "backup_keep_weeks",
    "backup_keep_months",
    ...STORE_SETTINGS,
  ],
  example:
    "labd backup --data-dir /var/lib/labd --to /mnt/backup\n" +
    "labd backup --config /etc/labd/labd.toml --to s3://lab-backups/labd\n" +
    "The database is one file, which zstd unpacks to SQLite; the manifest beside it has hashes and counts of rows.",
  async run(call) {
    const { config } = call.configuration();
    const asked = call.value("--to");
    const to = asked === undefined ? backupDirectory(config) : destinationOf(asked);
    if (call.has("--list")) {
      process.stdout.write(await listing(config, to));
      return 0;
    }
    const line = transferLine();
    const made = await backUp(config, to, call.has("--scheduled") ? "schedule" : "asked", (_file, ...far) =>
      line.show(...far),
    );
    line.clear();
    const { path, manifest } = made;
    const note = (what: AuditEvent): void => {
      try {
        recordOffline(join(config.data_dir, DATABASE), what);
      } catch (error) {
        // The backup is there all the same: from a disk that is full or only read, it may be needed most.
        process.stderr.write(`labd: not noted in the audit log: ${(error as Error).message}\n`);
      }
    };
    note(backupNote(made));
    giveToOwner(config.data_dir);
    const { bytes, compressedBytes, rows } = manifest.database;
    const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
    process.stdout.write(
      `${path}\n${total} rows in ${Object.keys(rows).length} tables, ${bytes} bytes, compressed ${compressedBytes}; corpora: ${manifest.corpora.length}\n`,
    );
    if (asked !== undefined && !call.has("--thin")) return 0;
    const removed = await thinned(config, to);
    for (const one of removed)
      process.stdout.write(`removed ${one}
`);
    const manifests = removed.map((one) => basename(one)).filter((name) => name.endsWith(".json"));
    if (manifests.length > 0) note({ action: "backup.remove", detail: { names: manifests } });
    return 0;
  },
};

/** Removes those that are over. @returns what was removed */
async function thinned(config: Config, to: string): Promise<string[]> {
  const retention: Retention = {
    days: config.backup_keep_days,
    weeks: config.backup_keep_weeks,
    months: config.backup_keep_months,
  };
  if (!isStoreAddress(to)) return thin(to, retention);
  try {
    return await thinStore(new ObjectStore(to, storeAccess(config)), config.data_dir, retention);
  } catch (error) {
    // Keys that may not remove anything are a good idea, and the backup is there.
    if (!(error instanceof Problem) || error.code !== "store_failed") throw error;
    process.stdout.write(`not removed: ${error.message}\n`);
    return [];
  }
}

async function listing(config: Config, to: string): Promise<string> {
  const found = isStoreAddress(to)
    ? (await listStore(new ObjectStore(to, storeAccess(config)), config.data_dir)).map(
        ({ name, manifest }) => ({ path: `${to}/${name}`, manifest }),
      )
    : listBackups(to);
  if (found.length === 0) return `There is no backup in ${to}.\n`;
  return found.map(({ path, manifest }) => `${path}  ${about(manifest)}\n`).join("");
}

const about = ({ reason, labd, database, corpora }: Manifest): string =>
  `${reason}  labd ${labd}  ${database.compressedBytes} bytes  corpora: ${corpora.length}`;
