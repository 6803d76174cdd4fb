import { basename, join } from "node:path";
import { MIGRATIONS } from "../../db/index.ts";
import { recordOffline } from "../accounts/audit-offline.ts";
import { type AuditHead, auditHead } from "../accounts/audit.ts";
import { SECOND_FACTOR_KEY } from "../accounts/second-factor.ts";
import { DATABASE } from "../app/data-directory.ts";
import { type Config, STORE_SETTINGS, storeAccess } from "../config.ts";
import { BACKUP_KEY, keepBackupKey, readBackupKey } from "../operations/backup/encryption.ts";
import { LEFT_OUT, type Manifest } from "../operations/backup/manifest.ts";
import {
  checkBackup,
  type ReadBackup,
  readLocalBackup,
  readStoredBackup,
  restoreBackup,
} from "../operations/backup/restore-backup.ts";
import { checkSecondFactors } from "../operations/health/check-second-factors.ts";
import { isStoreAddress, ObjectStore } from "../platform/object-store.ts";
import { closeDatabase, openWriter } from "../platform/sqlite.ts";
import { checkSecrets } from "../webhooks/index.ts";
import { Problem } from "../problem.ts";
import type { Call, Command } from "./command.ts";

const KNOWN_MIGRATIONS = MIGRATIONS.map(({ name }) => name);

export const restore: Command = {
  name: "restore",
  summary: "Replace a data directory's database with a backup, or only check the backup.",
  operands: "FILE",
  flags: {
    "--check": "Unpack and check the whole backup without changing anything.",
    "--key FILE": `Key of an encrypted backup; ${BACKUP_KEY} in the data directory by default.`,
  },
  settings: ["data_dir", ...STORE_SETTINGS],
  example:
    "labd restore --check backups/labd-20261121T212500Z.json\n" +
    "labd restore backups/labd-20261121T212500Z.json --data-dir /var/lib/labd\n" +
    "labd restore s3://lab-backups/labd/labd-20261121T212500Z.json --config /etc/labd/labd.toml\n" +
    "Stop the server first. The former database is kept as labd.sqlite.before-….",
  async run(call) {
    const { config } = call.configuration();
    const backup = await openBackup(call, config);
    await (call.has("--check") ? checkOnly(call, config, backup) : replace(call, config, backup));
  },
};

async function openBackup(call: Call, config: Config): Promise<ReadBackup> {
  const backup = await findBackup(call, config);
  if (call.value("--key") !== undefined && backup.manifest.key === undefined)
    throw new Problem(
      "bad_backup",
      "The backup is not encrypted, so that --key cannot show who made it. Leave out --key if you trust it.",
    );
  return backup;
}

async function findBackup(call: Call, config: Config): Promise<ReadBackup> {
  const [path] = call.operands;
  const named = call.value("--key");
  const key = readBackupKey(named ?? join(config.data_dir, BACKUP_KEY));
  if (named !== undefined && key === undefined)
    throw new Problem("usage", `--key: there is no file ${named}.`);
  if (!isStoreAddress(path)) return readLocalBackup(path, key);
  const slash = path.lastIndexOf("/");
  const store = new ObjectStore(path.slice(0, slash), storeAccess(config));
  return readStoredBackup(store, path.slice(slash + 1), key);
}

async function checkOnly(call: Call, { data_dir: to }: Config, backup: ReadBackup): Promise<void> {
  let warnings = "";
  const manifest = await checkBackup(backup, KNOWN_MIGRATIONS, (database) => {
    warnings = keyWarnings(database, to);
  });
  await call.print(`${summary(manifest)}\nThe backup is intact and can be restored.\n${warnings}`);
}

async function replace(call: Call, { data_dir: to }: Config, backup: ReadBackup): Promise<void> {
  const database = join(to, DATABASE);
  const record = (newPath: string, former: string | null): void =>
    recordOffline(newPath, {
      action: "backup.restore",
      subject: { kind: "backup", id: backup.manifest.database.sha256 },
      detail: {
        created: backup.manifest.created,
        // Entries since the backup are in the former database only.
        former_head: former && readAuditHead(former),
        former: former && basename(former),
      },
    });
  const restored = { backup, to, database: DATABASE, known: KNOWN_MIGRATIONS, now: Date.now(), record };
  const { manifest, former } = await restoreBackup(restored);
  // The next backups are encrypted too.
  if (manifest.key !== undefined && backup.key) keepBackupKey(join(to, BACKUP_KEY), backup.key);
  await call.print(
    `${summary(manifest)}\nRestored to ${to}.\n` +
      (former === null ? "" : `The former database is ${former}.\n`) +
      `Start the server again.\n${keyWarnings(database, to)}`,
  );
}

/** The secrets in a database that the key in a data directory does not decrypt. */
const keyWarnings = (database: string, directory: string): string =>
  [checkSecondFactors, checkSecrets]
    .flatMap((check) => check(database, join(directory, SECOND_FACTOR_KEY)))
    .filter(({ remedy }) => remedy !== undefined)
    .map(({ found, remedy }) => `${found} ${remedy}\n`)
    .join("");

/** The head of the audit log in a database that may be damaged. */
function readAuditHead(path: string): { seq: AuditHead["seq"]; hash: string } | null {
  try {
    // A reader would leave a write-ahead log behind.
    const former = openWriter(path);
    try {
      const head = auditHead(former);
      return head && { seq: head.seq, hash: head.hash };
    } finally {
      closeDatabase(former);
    }
  } catch {
    return null;
  }
}

function summary({ created, labd, database, corpora, features, damaged = [] }: Manifest): string {
  const rows = Object.entries(database.rows)
    // Full-text indexes are tables too.
    .filter(([table, count]) => count > 0 && !/_fts|^record_text/.test(table) && table !== "migration")
    .map(([table, count]) => `${table} ${count}`);
  return `Made ${created} by labd ${labd}, up to ${database.migrations.at(-1) ?? "no migration"}; corpora: ${corpora.length}; features: ${features?.length ?? "none, because this version of labd left them out"}.\nRows: ${rows.join(", ")}.\n${LEFT_OUT}${damaged.map((name) => `\nDamaged when it was made: ${name}.`).join("")}`;
}
