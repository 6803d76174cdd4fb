import { copyFileSync, existsSync, linkSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Problem } from "../problem.ts";
import { closeDatabase, lockDirectory, openWriter } from "../shell/sqlite.ts";
import { hashFile, sync, unpackFile } from "./compressed-file.ts";
import { examine } from "./make-backup.ts";
import { type FileEntry, type Manifest, readManifest } from "./manifest.ts";

/**
 * Unpacks a backup and looks at all of it: hashes, integrity, references, rows, corpora, and whether this version of
 * the program knows its migrations.
 * @param known names of the migrations of this version
 * @throws Problem bad_backup, bad_database
 */
export async function checkBackup(path: string, known: readonly string[]): Promise<Manifest> {
  const scratch = mkdtempSync(join(tmpdir(), "labd-restore-"));
  try {
    const { manifest, directory } = readManifest(path);
    await unpackDatabase(manifest, directory, join(scratch, "labd.sqlite"), known);
    for (const corpus of manifest.corpora) await unpack(corpus, directory);
    return manifest;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * Puts a backup in the place of a data directory's database, which stays beside it under another name, and adds corpora
 * that are missing. Nothing is changed before everything was unpacked and found whole.
 * @returns the manifest, and where the former database is now, if there was one
 * @throws Problem already_running, bad_backup, bad_database
 */
export async function restoreBackup(options: {
  path: string;
  /** Data directory. */
  to: string;
  /** Name of the database in it. */
  database: string;
  known: readonly string[];
  now: number;
}): Promise<{ manifest: Manifest; former: string | null }> {
  const { to, known } = options;
  const { manifest, directory } = readManifest(options.path);
  const lock = lockDirectory(to);
  const fresh = join(to, `${options.database}.restoring`);
  try {
    await unpackDatabase(manifest, directory, fresh, known);
    for (const corpus of manifest.corpora) {
      const target = join(to, corpus.file.replace(/\.zst$/, ""));
      if (existsSync(target) && (await hashFile(target)) === corpus.sha256) continue;
      mkdirSync(dirname(target), { recursive: true });
      await unpack(corpus, directory, `${target}.restoring`);
      renameSync(`${target}.restoring`, target);
    }
    const former = setAside(join(to, options.database), options.now);
    renameSync(fresh, join(to, options.database));
    sync(to);
    return { manifest, former };
  } finally {
    rmSync(fresh, { force: true });
    lock.release();
  }
}

async function unpackDatabase(
  manifest: Manifest,
  directory: string,
  to: string,
  known: readonly string[],
): Promise<void> {
  const foreign = manifest.database.migrations.filter((name) => !known.includes(name));
  if (foreign.length > 0)
    throw new Problem(
      "bad_database",
      `The backup was made by labd ${manifest.labd} and holds migration ${foreign[0]}, which this version does not know. Restore it with that version or a newer one.`,
    );
  await unpack(manifest.database, directory, to);
  const found = examine(to);
  for (const [table, rows] of Object.entries(manifest.database.rows)) {
    if (found.rows[table] !== rows)
      throw new Problem(
        "bad_backup",
        `${manifest.database.file}: ${table} has ${found.rows[table] ?? "no"} rows, not ${rows}.`,
      );
  }
}

/** @throws Problem bad_backup where the file is missing or not what the manifest says */
async function unpack(entry: FileEntry, directory: string, to?: string): Promise<void> {
  const path = join(directory, entry.file);
  if (!/^(corpora\/)?[\w.-]+$/.test(entry.file) || !existsSync(path))
    throw new Problem("bad_backup", `${path}, which the manifest names, is missing.`);
  let why = "it is not what the manifest says (SHA-256)";
  try {
    const sums = await unpackFile(path, to);
    if (sums.sha256 === entry.sha256 && sums.compressedSha256 === entry.compressedSha256) return;
  } catch (error) {
    why = (error as Error).message;
  }
  if (to !== undefined) rmSync(to, { force: true });
  throw new Problem("bad_backup", `${path} is damaged: ${why}.`);
}

/** Gives the database a second name, under which it stays when the first is given to another. */
function setAside(path: string, now: number): string | null {
  if (!existsSync(path)) return null;
  try {
    // The log is written back, so that one file is all.
    closeDatabase(openWriter(path));
  } catch {
    // It is damaged, which may be why another takes its place: then the log goes along.
  }
  const stamp = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  let former = `${path}.before-${stamp}`;
  for (let i = 2; existsSync(former); i++) former = `${path}.before-${stamp}-${i}`;
  try {
    linkSync(path, former);
  } catch {
    // A file system without links.
    copyFileSync(path, former);
  }
  for (const ending of ["-wal", "-shm"])
    if (existsSync(path + ending)) renameSync(path + ending, former + ending);
  return former;
}
