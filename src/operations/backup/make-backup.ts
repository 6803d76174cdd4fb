import { existsSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Problem } from "../../problem.ts";
import { type AuditHead, auditHead } from "../../accounts/audit.ts";
import { fileHash, renameDurably } from "../../platform/durable-file.ts";
import { createDirectory, createFile, findOwner } from "../../platform/owned-file.ts";
import { type Database, type DirectoryLock, lockFile, openReader } from "../../platform/sqlite.ts";
import type { BackupKey } from "./encryption.ts";
import { compressFile, unpackFile } from "./compressed-file.ts";
import {
  DATABASE_ENDING,
  type FileEntry,
  listBackups,
  type Manifest,
  type Reason,
  sealed,
  sharedFiles,
} from "./manifest.ts";
import { findCorpusDamage, findFeatureDamage, readStoredJobs } from "../../scoring/index.ts";
import { readAttachments } from "../health/read-attachments.ts";

export interface BackupOptions {
  /** Data directory that is backed up. */
  from: string;
  /** Name of the database in it. */
  database: string;
  /** Directory for the backup; made if missing. */
  to: string;
  reason: Reason;
  /** Encrypts the backup. */
  key?: BackupKey | undefined;
  version: string;
  /** Milliseconds since 1970-01-01 UTC. */
  now: number;
  /** Corpora and features that the destination has; by default those in `to`. */
  kept?: (file: string) => FileEntry | undefined;
  /** True if the destination has a backup of this name. */
  isTaken?: (name: string) => boolean;
}

/** Bytes that stay free on the disk for the server. */
const RESERVE = 64 * 1024 * 1024;

/**
 * Backs up a data directory, also while a server uses it. The copy of the database is checked, compressed, read back and
 * compared before the manifest is written.
 * @throws Problem bad_database, bad_backup
 */
export async function makeBackup(options: BackupOptions): Promise<{ path: string; manifest: Manifest }> {
  const { from, to, reason, version, key } = options;
  const source = join(from, options.database);
  if (!existsSync(source)) throw new Problem("bad_database", `There is no database ${source} to back up.`);
  const owner = findOwner(from);
  try {
    createDirectory(to, owner);
    sweep(to, from);
  } catch (error) {
    throw failure(to, error);
  }
  requireSpace(source, to);
  const name = chooseName(options.now, to, options.isTaken);
  const lock = lockBackup(from, name);
  const copy = join(to, `${name}.partial`);
  const packed = join(to, name + DATABASE_ENDING);
  try {
    copyDatabase(source, createFile(copy, owner));
    const found = examine(copy);
    const damaged = listDamagedFiles(copy);
    const sums = await compressFile(copy, packed, { owner, key });
    rmSync(copy);
    await readBack(packed, sums, key);
    const { corpora, features } = await keepFiles(options, options.kept ?? findStored(to), damaged);
    const content: Manifest = {
      format: 1,
      labd: version,
      created: new Date(options.now).toISOString(),
      reason,
      ...(key === undefined ? {} : { key: key.id }),
      database: { file: name + DATABASE_ENDING, ...sums, ...found },
      corpora,
      features,
      ...(damaged.length > 0 && { damaged }),
    };
    const manifest = sealed(content, key);
    const path = join(to, `${name}.json`);
    writeFileSync(createFile(`${path}.partial`, owner), `${JSON.stringify(manifest, null, 2)}\n`);
    renameDurably(`${path}.partial`, path);
    return { path, manifest };
  } catch (error) {
    rmSync(copy, { force: true });
    rmSync(packed, { force: true });
    throw failure(to, error);
  } finally {
    lock?.release();
    rmSync(lockPath(from, name), { force: true });
  }
}

/** The error as a Problem with its cause. */
function failure(to: string, error: unknown): Problem {
  if (error instanceof Problem) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const hint = ["EROFS", "EACCES", "EPERM"].includes(code ?? "")
    ? ` The account of the service must own ${to}, and its systemd unit must allow it to write there: ReadWritePaths=${to}, which labd install --systemd sets.`
    : "";
  return new Problem("bad_backup", `The backup to ${to} failed: ${message.replace(/\.$/, "")}.${hint}`, {
    cause: error,
  });
}

/** Locked while the backup is made. In the data directory: shared disks may not support locks. */
const lockPath = (from: string, name: string): string => join(from, `${name}.lock`);

function lockBackup(from: string, name: string): DirectoryLock | null {
  try {
    return lockFile(lockPath(from, name));
  } catch {
    // A full or read-only disk.
    return null;
  }
}

/** `labd-20261121T212500Z`, with a number if that second already has a backup. */
function chooseName(
  now: number,
  directory: string,
  isTaken: (name: string) => boolean = () => false,
): string {
  const stamp = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  for (let i = 1; ; i++) {
    const name = `labd-${stamp}${i === 1 ? "" : `-${i}`}`;
    if (
      !isTaken(name) &&
      !existsSync(join(directory, name + DATABASE_ENDING)) &&
      !existsSync(join(directory, `${name}.partial`))
    )
      return name;
  }
}

/** Copies one state of the database, compacted and without a log. */
export function copyDatabase(from: string, to: string): void {
  const reader = openReader(from);
  try {
    reader.query("VACUUM INTO ?").run(to);
  } finally {
    reader.close();
  }
}

/** The migrations and row counts of an intact database. @throws Problem bad_database */
export function examine(path: string): {
  migrations: string[];
  rows: Record<string, number>;
  audit: AuditHead | null;
} {
  const reader = openReader(path);
  try {
    requireIntact(reader, path);
    const names = reader
      .query(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
      )
      .all() as { name: string }[];
    const count = (table: string): number =>
      (reader.query(`SELECT count(*) AS n FROM "${table}"`).get() as { n: number }).n;
    const migrations = reader.query("SELECT name FROM migration ORDER BY name").all() as { name: string }[];
    return {
      migrations: migrations.map(({ name }) => name),
      rows: Object.fromEntries(names.map(({ name }) => [name, count(name)])),
      audit: auditHead(reader),
    };
  } finally {
    reader.close();
  }
}

/** @throws Problem bad_database */
export function requireIntact(reader: Database, path: string): void {
  let wrong: string[];
  try {
    wrong = (reader.query("PRAGMA integrity_check(10)").all() as { integrity_check: string }[])
      .map(({ integrity_check }) => integrity_check)
      .filter((line) => line !== "ok");
    const broken = reader.query("PRAGMA foreign_key_check").all() as { table: string; parent: string }[];
    wrong.push(
      ...broken
        .slice(0, 10)
        .map(({ table, parent }) => `a row of ${table} refers to a missing row of ${parent}`),
    );
  } catch (error) {
    wrong = [(error as Error).message];
  }
  if (wrong.length > 0) throw new Problem("bad_database", `${path} is damaged: ${wrong.join("; ")}.`);
}

async function readBack(
  path: string,
  sums: { sha256: string; compressedSha256: string },
  key: BackupKey | undefined,
): Promise<void> {
  const again = await unpackFile(path, { key });
  if (again.sha256 !== sums.sha256 || again.compressedSha256 !== sums.compressedSha256)
    throw new Problem("bad_backup", `${path} differs from the written data: the disk may be failing.`);
}

/** The corpora and features in a directory, by its manifests. */
function findStored(to: string): (file: string) => FileEntry | undefined {
  const known = new Map(
    listBackups(to).flatMap(({ manifest }) =>
      sharedFiles(manifest).map((entry) => [entry.file, entry] as const),
    ),
  );
  return (file) => {
    const entry = known.get(file);
    const path = join(to, file);
    return entry && existsSync(path) && statSync(path).size === entry.compressedBytes ? entry : undefined;
  };
}

/** Names of damaged contents in a copy of the database, beyond the damage that SQLite finds. */
function listDamagedFiles(path: string): string[] {
  using reader = openReader(path);
  return [...readStoredJobs(reader), ...readAttachments(reader)]
    .filter(({ damage }) => damage !== null)
    .map(({ name }) => name);
}

type Kept = (file: string) => FileEntry | undefined;

/**
 * Copies the corpora and features that the destination lacks; they are named by their content, so none is replaced. Damaged
 * ones are not copied, and are added to `damaged`.
 */
async function keepFiles(
  options: BackupOptions,
  kept: Kept,
  damaged: string[],
): Promise<{ corpora: FileEntry[]; features: FileEntry[] }> {
  const list = (folder: string, ending: string): string[] => {
    const path = join(options.from, folder);
    return existsSync(path)
      ? readdirSync(path)
          .filter((name) => name.endsWith(ending))
          .sort()
      : [];
  };
  const [corpora, features]: FileEntry[][] = [[], []];
  for (const name of list("corpora", ".labc")) {
    const entry = await keepFile(
      options,
      kept,
      { source: `corpora/${name}`, as: `corpora/${name}` },
      findCorpusDamage,
    );
    if (entry) corpora.push(entry);
    else damaged.push(`corpora/${name}`);
  }
  for (const name of list("features", ".features")) {
    const source = `features/${name}`;
    const hash = fileHash(join(options.from, source));
    const as = source.replace(/features$/, `${hash.slice(0, 16)}.features`);
    const entry = await keepFile(options, kept, { source, as }, findFeatureDamage);
    if (entry && entry.sha256 !== hash) throw new Error(`${source} was replaced while it was copied`);
    if (entry) features.push(entry);
    else damaged.push(source);
  }
  return { corpora, features };
}

/** Copies one file, unless the destination has it. @returns null for a damaged one */
async function keepFile(
  { from, to, key }: BackupOptions,
  kept: Kept,
  { source, as }: { source: string; as: string },
  findDamage: (path: string) => string | null,
): Promise<FileEntry | null> {
  // Older backups need the file as it was encrypted for them.
  const file = `${as}${key === undefined ? "" : `.${key.id}`}.zst`;
  const known = kept(file);
  if (known) return known;
  if (findDamage(join(from, source)) !== null) return null;
  const owner = findOwner(from);
  const path = join(to, file);
  createDirectory(dirname(path), owner);
  const sums = await compressFile(join(from, source), `${path}.partial`, { owner, key });
  await readBack(`${path}.partial`, sums, key);
  renameDurably(`${path}.partial`, path);
  return { file, ...sums };
}

/** Removes leftovers of interrupted backups: at once if the process that made them has ended, else after a day. */
function sweep(to: string, from: string): void {
  const leftovers = readdirSync(to).flatMap((file) => {
    const [, name, ending] = /^(labd-[^.]+)(\..+)$/.exec(file) ?? [];
    const isLeft =
      ending?.includes(".partial") || (ending === DATABASE_ENDING && !existsSync(join(to, `${name}.json`)));
    return isLeft ? [{ path: join(to, file), name }] : [];
  });
  for (const { path, name } of leftovers)
    if (hasEnded(from, name) || Date.now() - statSync(path).mtimeMs > 86_400_000) rmSync(path);
  for (const name of new Set(leftovers.map(({ name }) => name)))
    if (hasEnded(from, name)) rmSync(lockPath(from, name));
}

/** True if the process that made a backup has ended without removing its lock. */
function hasEnded(from: string, name: string): boolean {
  if (!existsSync(lockPath(from, name))) return false;
  const lock = lockBackup(from, name);
  lock?.release();
  return lock !== null;
}

/** @throws Problem bad_backup without space for the copy and its compressed form */
function requireSpace(source: string, to: string): void {
  const { bavail, bsize } = statfsSync(to);
  const needed = 2 * statSync(source).size + RESERVE;
  if (bavail * bsize >= needed) return;
  const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`;
  throw new Problem(
    "bad_backup",
    `${to} has ${megabytes(bavail * bsize)} free, but a backup may need ${megabytes(needed)}. Free some space, or name another directory (backup_dir, --to).`,
  );
}
