import { basename, join } from "node:path";
import { DATABASE } from "../app/data-directory.ts";
import { giveToOwner } from "../app/data-owner.ts";
import type { Manifest } from "../operations/backup/manifest.ts";
import {
  checkBackup,
  type ReadBackup,
  readLocalBackup,
  readStoredBackup,
  restoreBackup,
} from "../operations/backup/restore-backup.ts";
import type { Call, Command } from "./command-line.ts";
import { STORE_SETTINGS, storeAccess } from "../config.ts";
import { MIGRATIONS } from "../../db/index.ts";
import { Problem } from "../problem.ts";
import { type AuditHead, auditHead } from "../accounts/audit.ts";
import { recordOffline } from "../accounts/audit-offline.ts";
import { isStoreAddress, ObjectStore } from "../platform/object-store.ts";
import { SECOND_FACTOR_KEY } from "../accounts/second-factor.ts";
import { closeDatabase, openWriter } from "../platform/sqlite.ts";
import { checkSecondFactors } from "../operations/health/check-second-factors.ts";
import { checkSecrets } from "../webhooks/index.ts";

export const restore: Command = {
  name: "restore",
  summary: "Put a backup in the place of a data directory's database, or only check it.",
  operands: "FILE | s3://bucket/prefix/FILE",
  flags: [{ name: "--check", sentence: "Unpack and look at all of it, and change nothing." }],
  settings: ["data_dir", ...STORE_SETTINGS],
  example:
    "labd restore --check backups/labd-20261121T212500Z.json\n" +
    "labd restore backups/labd-20261121T212500Z.json --data-dir /var/lib/labd\n" +
    "labd restore s3://lab-backups/labd/labd-20261121T212500Z.json --config /etc/labd/labd.toml\n" +
    "Stop the server first. The former database stays beside, as labd.sqlite.before-…",
  async run(call) {
    const [path, ...rest] = call.operands;
    if (path === undefined || rest.length > 0)
      throw new Problem("usage", "Usage: labd restore [--check] FILE. See labd restore --help.");
    const { config } = call.configuration();
    const known = MIGRATIONS.map(({ name }) => name);
    if (call.has("--check")) {
      let keys = "";
      const manifest = await checkBackup(await read(call, path), known, (database) => {
        keys = unfit(database, config.data_dir);
      });
      process.stdout.write(`${told(manifest)}\nThe backup is whole and can be restored.\n${keys}`);
      return 0;
    }
    const { manifest, former } = await restoreBackup({
      backup: await read(call, path),
      to: config.data_dir,
      database: DATABASE,
      known,
      now: Date.now(),
    });
    const before = former === null ? null : headOf(former);
    recordOffline(join(config.data_dir, DATABASE), {
      action: "backup.restore",
      subject: { kind: "backup", id: manifest.database.sha256 },
      detail: {
        created: manifest.created,
        // What was in the log since the backup is in the former database only.
        former_head: before === null ? null : { seq: before.seq, hash: before.hash },
        former: former === null ? null : basename(former),
      },
    });
    giveToOwner(config.data_dir);
    process.stdout.write(`${told(manifest)}\nRestored to ${config.data_dir}.\n`);
    if (former !== null) process.stdout.write(`The former database is ${former}.\n`);
    process.stdout.write("Start the server again.\n");
    process.stdout.write(unfit(join(config.data_dir, DATABASE), config.data_dir));
    return 0;
  },
};

/** What of a database the key of a data directory does not open, in words; empty where it opens all. */
const unfit = (database: string, directory: string): string =>
  [checkSecondFactors, checkSecrets]
    .flatMap((look) => look(database, join(directory, SECOND_FACTOR_KEY)))
    .filter(({ remedy }) => remedy !== undefined)
    .map(({ found, remedy }) => `${found} ${remedy}\n`)
    .join("");

/** A backup in a directory, or in a store of objects. */
async function read(call: Call, path: string): Promise<ReadBackup> {
  if (!isStoreAddress(path)) return readLocalBackup(path);
  const at = path.lastIndexOf("/");
  const store = new ObjectStore(path.slice(0, at), storeAccess(call.configuration().config));
  return readStoredBackup(store, path.slice(at + 1));
}

/** The end of the audit log of a database that may be damaged. */
function headOf(path: string): AuditHead | null {
  try {
    // Not one that only reads, which would leave a log behind.
    const former = openWriter(path);
    try {
      return auditHead(former);
    } finally {
      closeDatabase(former);
    }
  } catch {
    return null;
  }
}

function told({ created, labd, database, corpora }: Manifest): string {
  const rows = Object.entries(database.rows)
    // Indexes of words are tables too, and nothing that people would miss.
    .filter(([table, count]) => count > 0 && !table.includes("_fts") && table !== "migration")
    .map(([table, count]) => `${table} ${count}`);
  return `Made ${created} by labd ${labd}, up to ${database.migrations.at(-1) ?? "nothing"}; corpora: ${corpora.length}.\nRows: ${rows.join(", ")}.`;
}
