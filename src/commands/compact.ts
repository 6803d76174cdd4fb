import { existsSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { MIGRATIONS } from "../../db/index.ts";
import { recordOffline } from "../accounts/audit-offline.ts";
import { DATABASE, requireDatabase } from "../app/data-directory.ts";
import { requireIntact } from "../operations/backup/make-backup.ts";
import { size } from "../platform/check-result.ts";
import { compactDatabase, lockDirectory, openReader, pendingMigrations } from "../platform/sqlite.ts";
import { Problem } from "../problem.ts";
import type { Command } from "./command.ts";

export const compact: Command = {
  name: "compact",
  summary: "Return the space of deleted rows in the database to the disk.",
  settings: ["data_dir", "litestream"],
  example:
    "labd compact --config /etc/labd/labd.toml\n" +
    "Stop the server first. The database is checked first, and stays unchanged if anything fails. The disk needs free space of twice its size.",
  async run(call) {
    const { config } = call.configuration();
    const { data_dir: directory, litestream } = config;
    const path = join(directory, DATABASE);
    requireDatabase(config);
    if (!existsSync(path)) throw new Problem("bad_database", `There is no database ${path}.`);
    const lock = lockDirectory(directory);
    try {
      if (pendingMigrations(path, MIGRATIONS).length > 0)
        throw new Problem("bad_database", `${path} was written by an older version. Start the server once.`);
      const before = statSync(path).size;
      requireSpace(directory, before);
      checkIntact(path);
      compactDatabase(path, { checkpoints: !litestream });
      const after = statSync(path).size;
      recordOffline(path, { action: "database.compact", detail: { before, after } });
      await call.print(`Compacted ${path} from ${size(before)} to ${size(after)}.\n`);
    } finally {
      lock.release();
    }
  },
};

/** SQLite writes the new database to a temporary file, and then to the log. */
function requireSpace(directory: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(directory);
  const [free, needed] = [bavail * bsize, 2 * bytes];
  if (free < needed)
    throw new Problem(
      "disk_full",
      `Compacting needs ${size(needed)} of free space at ${directory}, which has ${size(free)}. Free some space; nothing was changed.`,
    );
}

function checkIntact(path: string): void {
  using reader = openReader(path);
  requireIntact(reader, path);
}
