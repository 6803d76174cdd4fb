import { basename, join, resolve } from "node:path";
import { backupDirectory, backupNote, backUp, DATABASE } from "../app/data-directory.ts";
import { thin } from "../backup/retention.ts";
import type { Verb } from "../command-line.ts";
import { noteBeside } from "../shell/audit-beside.ts";
import type { Note } from "../shell/audit.ts";

export const backup: Verb = {
  name: "backup",
  summary: "Back up a data directory, while it is served or not: checked, compressed, and read back.",
  flags: [
    {
      name: "--to",
      value: "DIR",
      sentence:
        "Directory for the backup, in which nothing is removed unless --thin is given; by default backup_dir.",
    },
    { name: "--thin", sentence: "Remove backups in --to that are over by the settings." },
    { name: "--scheduled", sentence: "Note in the manifest that nobody asked: how the server calls it." },
  ],
  settings: ["data_dir", "backup_dir", "backup_keep_days", "backup_keep_weeks", "backup_keep_months"],
  example:
    "labd backup --data-dir /var/lib/labd --to /mnt/backup\n" +
    "The database is one file, which zstd unpacks to SQLite; the manifest beside it has hashes and counts of rows.",
  async run(call) {
    const { config } = call.configuration();
    const asked = call.value("--to");
    const to = asked === undefined ? backupDirectory(config) : resolve(asked);
    const made = await backUp(config, to, call.has("--scheduled") ? "schedule" : "asked");
    const { path, manifest } = made;
    const note = (what: Note): void => {
      try {
        noteBeside(join(config.data_dir, DATABASE), what);
      } catch (error) {
        // The backup is there all the same: from a disk that is full or only read, it may be needed most.
        process.stderr.write(`labd: not noted in the audit log: ${(error as Error).message}\n`);
      }
    };
    note(backupNote(made));
    const { bytes, compressedBytes, rows } = manifest.database;
    const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
    process.stdout.write(
      `${path}\n${total} rows in ${Object.keys(rows).length} tables, ${bytes} bytes, compressed ${compressedBytes}; corpora: ${manifest.corpora.length}\n`,
    );
    if (asked !== undefined && !call.has("--thin")) return 0;
    const removed = thin(to, {
      days: config.backup_keep_days,
      weeks: config.backup_keep_weeks,
      months: config.backup_keep_months,
    });
    for (const one of removed) process.stdout.write(`removed ${one}\n`);
    const manifests = removed.map((one) => basename(one)).filter((name) => name.endsWith(".json"));
    if (manifests.length > 0) note({ action: "backup.remove", detail: { names: manifests } });
    return 0;
  },
};
