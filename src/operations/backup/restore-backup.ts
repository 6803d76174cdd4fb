import { copyFileSync, existsSync, linkSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Problem } from "../../problem.ts";
import { fileHash, renameDurably } from "../../platform/durable-file.ts";
import { createDirectory, createFile } from "../../platform/owned-file.ts";
import { closeDatabase, lockDirectory, openWriter } from "../../platform/sqlite.ts";
import type { BackupKey } from "./encryption.ts";
import { COMMIT_FILE } from "../health/lost-database.ts";
import { unpackFile } from "./compressed-file.ts";
import { examine } from "./make-backup.ts";
import type { ObjectStore } from "../../platform/object-store.ts";
import {
  checkSeal,
  DATABASE_ENDING,
  type FileEntry,
  type Manifest,
  parseManifest,
  readManifest,
  sharedFiles,
} from "./manifest.ts";

/** The manifest of a backup, and access to its files. */
export interface ReadBackup {
  manifest: Manifest;
  /** Decrypts it. */
  key: BackupKey | undefined;
  /** Path or URL of a file, for messages. */
  where(file: string): string;
  /** Path or bytes of a file. @throws Problem bad_backup */
  open(file: string): string | AsyncIterable<Uint8Array>;
}

/** @param path of the manifest or of the database beside it. @throws Problem bad_backup */
export function readLocalBackup(path: string, key?: BackupKey): ReadBackup {
  const { manifest, directory } = readManifest(path);
  const where = (file: string): string => join(directory, file);
  return {
    manifest,
    key,
    where,
    open(file) {
      if (existsSync(where(file))) return where(file);
      throw new Problem("bad_backup", `${where(file)} is missing, but the manifest lists it.`);
    },
  };
}

/** @param name of the manifest or of the database beside it. @throws Problem bad_backup, store_failed */
export async function readStoredBackup(
  store: ObjectStore,
  name: string,
  key?: BackupKey,
): Promise<ReadBackup> {
  const named = name.endsWith(DATABASE_ENDING) ? name.replace(DATABASE_ENDING, ".json") : name;
  const where = (file: string): string => store.where(file);
  const text = await store.text(named).catch((error: unknown) => {
    if (!(error instanceof Problem) || error.code !== "not_found") throw error;
    throw new Problem(
      "bad_backup",
      `There is no backup ${where(named)}. To list them: labd backup --list --to ${store.address}`,
    );
  });
  return { manifest: parseManifest(text, where(named)), key, where, open: (file) => store.read(file) };
}

/**
 * Unpacks a backup and checks hashes, integrity, references, row counts, corpora, features and migrations.
 * @param known names of the migrations of this version
 * @param inspect called with the path of the unpacked database
 * @throws Problem bad_backup, bad_database
 */
export async function checkBackup(
  backup: ReadBackup,
  known: readonly string[],
  inspect: (database: string) => void = () => {},
): Promise<Manifest> {
  const { manifest } = backup;
  const scratch = mkdtempSync(join(tmpdir(), "labd-restore-"));
  try {
    const database = join(scratch, "labd.sqlite");
    await unpackDatabase(backup, database, known);
    inspect(database);
    for (const file of sharedFiles(manifest)) await unpack(file, backup);
    return manifest;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * Replaces the database of a data directory with a backup, and adds missing corpora and features. The former database is kept
 * under another name; nothing changes before everything is unpacked and checked.
 * @returns the manifest, and the path of the former database
 * @throws Problem already_running, bad_backup, bad_database
 */
export async function restoreBackup(options: {
  backup: ReadBackup;
  /** Data directory. */
  to: string;
  /** Name of the database in it. */
  database: string;
  known: readonly string[];
  now: number;
  /** Notes the restoration in the fresh database before it is put into use. */
  record?: (fresh: string, former: string | null) => void;
}): Promise<{ manifest: Manifest; former: string | null }> {
  const { to, known, backup } = options;
  const { manifest } = backup;
  const lock = lockDirectory(to);
  const fresh = join(to, `${options.database}.restoring`);
  try {
    await unpackDatabase(backup, fresh, known);
    for (const file of sharedFiles(manifest)) await restoreFile(file, backup, to, options.now);
    // The backup is older than the note.
    rmSync(join(to, COMMIT_FILE), { force: true });
    const former = setAside(join(to, options.database), options.now);
    options.record?.(fresh, former);
    renameDurably(fresh, join(to, options.database));
    return { manifest, former };
  } finally {
    rmSync(fresh, { force: true });
    lock.release();
  }
}

/** Puts back a corpus, or features; other features of that name are kept under another one. */
async function restoreFile(entry: FileEntry, backup: ReadBackup, to: string, now: number): Promise<void> {
  const name = entry.file
    .replace(/(\.[0-9a-f]{16})?\.zst$/, "")
    .replace(/\.[0-9a-f]{16}\.features$/, ".features");
  const target = join(to, name);
  if (existsSync(target) && fileHash(target) === entry.sha256) return;
  createDirectory(dirname(target));
  await unpack(entry, backup, `${target}.restoring`);
  if (existsSync(target) && name.startsWith("features/")) linkOrCopy(target, formerName(target, now));
  renameDurably(`${target}.restoring`, target);
}

const manifestName = ({ database }: Manifest): string => database.file.replace(DATABASE_ENDING, ".json");

async function unpackDatabase(backup: ReadBackup, to: string, known: readonly string[]): Promise<void> {
  const { manifest, key } = backup;
  if (manifest.key !== undefined && manifest.key !== key?.id)
    throw new Problem(
      "bad_backup",
      `The backup is encrypted with the key ${manifest.key}, and ${key === undefined ? "there is no key" : `the key given is ${key.id}`}. Give the file of its key with --key.`,
    );
  if (manifest.key !== undefined) checkSeal(manifest, key, backup.where(manifestName(manifest)));
  const foreign = manifest.database.migrations.filter((name) => !known.includes(name));
  if (foreign.length > 0)
    throw new Problem(
      "bad_database",
      `The backup was made by labd ${manifest.labd} and has migration ${foreign[0]}, which this version does not know. Restore it with that version or a newer one.`,
    );
  await unpack(manifest.database, backup, to);
  const found = examine(to);
  for (const [table, rows] of Object.entries(manifest.database.rows)) {
    if (found.rows[table] !== rows)
      throw new Problem(
        "bad_backup",
        `${manifest.database.file}: ${table} has ${found.rows[table] ?? "no"} rows, not ${rows}.`,
      );
  }
}

/** @throws Problem bad_backup where the file is missing or its hashes differ */
async function unpack(entry: FileEntry, { open, where, key }: ReadBackup, to?: string): Promise<void> {
  const { file } = entry;
  if (!/^((corpora|features)\/)?[\w.-]+$/.test(file))
    throw new Problem("bad_backup", `${where(file)}: the manifest lists a path outside of the backup.`);
  let reason = "its SHA-256 is not that of the manifest";
  try {
    const sums = await unpackFile(open(file), { to, key });
    if (sums.sha256 === entry.sha256 && sums.compressedSha256 === entry.compressedSha256) return;
  } catch (error) {
    if (error instanceof Problem && error.code !== "not_found") throw error;
    reason = (error as Error).message;
  }
  if (to !== undefined) rmSync(to, { force: true });
  throw new Problem("bad_backup", `${where(file)} is damaged: ${reason.replace(/\.$/, "")}.`);
}

/** Keeps the database under a second name. @returns its path; null if there is no database */
function setAside(path: string, now: number): string | null {
  if (!existsSync(path)) return null;
  try {
    // Writes the log back, so that the database is one file.
    closeDatabase(openWriter(path));
  } catch {
    // A damaged database keeps its log.
  }
  const former = formerName(path, now);
  linkOrCopy(path, former);
  for (const ending of ["-wal", "-shm"])
    if (existsSync(path + ending)) renameSync(path + ending, former + ending);
  return former;
}

function formerName(path: string, now: number): string {
  const stamp = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  let former = `${path}.before-${stamp}`;
  for (let i = 2; existsSync(former); i++) former = `${path}.before-${stamp}-${i}`;
  return former;
}

/** Gives a file a second name, or copies it for its owner alone. */
export function linkOrCopy(path: string, to: string): void {
  try {
    linkSync(path, to);
  } catch {
    // The file system has no hard links.
    copyFileSync(path, createFile(to));
  }
}
