import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { Problem } from "../../problem.ts";
import type { ObjectStore, StoredObject } from "../../platform/object-store.ts";
import { isRunning } from "../../platform/running-process.ts";
import { createDirectory } from "../../platform/owned-file.ts";
import { type BackupOptions, makeBackup } from "./make-backup.ts";
import {
  DATABASE_ENDING,
  type FileEntry,
  MANIFEST,
  type Manifest,
  parseManifest,
  sharedFiles,
} from "./manifest.ts";
import { forgetOthers, keepManifest, type Place, parsePlace } from "./places.ts";
import { keepers, type Retention, SHARED } from "./retention.ts";

/** Folder in the data directory for backups before their upload, one for each process. */
const OUTGOING = "backups-outgoing";
const DAY = 86_400_000;

export interface StoreBackupOptions extends Omit<BackupOptions, "to" | "kept" | "isTaken"> {
  store: ObjectStore;
  /** Progress of the upload of a file. */
  report?: ((file: string, bytes: number, total: number) => void) | undefined;
}

/**
 * Backs up a data directory to an object store: makes and checks the backup beside the data, uploads it without the
 * files that the store has, reads it back, and uploads the manifest last. Leftovers of interrupted backups have no
 * manifest, and are removed after a day.
 * @throws Problem bad_database, bad_backup, store_failed
 */
export async function backUpToStore(
  options: StoreBackupOptions,
): Promise<{ path: string; manifest: Manifest }> {
  const { store, from, report, ...rest } = options;
  const place = parsePlace(from, store.address);
  const objects = await store.list();
  const manifests = await readManifests(store, place, objects);
  await sweep(store, objects);
  const sizes = new Map(objects.map(({ name, bytes }) => [name, bytes]));
  const entries = new Map(
    manifests.flatMap(({ manifest }) => sharedFiles(manifest).map((one) => [one.file, one])),
  );
  const kept = (file: string): FileEntry | undefined => {
    const entry = entries.get(file);
    return entry && sizes.get(file) === entry.compressedBytes ? entry : undefined;
  };
  const staging = openStaging(from);
  try {
    const isTaken = (name: string): boolean => sizes.has(name + DATABASE_ENDING) || sizes.has(`${name}.json`);
    const { path, manifest } = await makeBackup({ ...rest, from, to: staging, kept, isTaken });
    const missing = sharedFiles(manifest).filter(({ file }) => !kept(file));
    for (const { file, compressedSha256 } of [...missing, manifest.database])
      await store.put(file, join(staging, file), compressedSha256, {
        report: (bytes, total) => report?.(file, bytes, total),
      });
    const name = basename(path);
    const text = readFileSync(path, "utf8");
    await store.uploadText(name, text);
    keepManifest(place, name, text);
    return { path: store.where(name), manifest };
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** The backups of a store, oldest first; copies their manifests to the data directory. */
export async function listStore(
  store: ObjectStore,
  dataDirectory: string,
): Promise<{ name: string; manifest: Manifest }[]> {
  return readManifests(store, parsePlace(dataDirectory, store.address), await store.list());
}

/** Unreadable manifests are left out. */
async function readManifests(
  store: ObjectStore,
  place: Place,
  objects: readonly StoredObject[],
): Promise<{ name: string; manifest: Manifest }[]> {
  const names = objects.map(({ name }) => name).filter((name) => MANIFEST.test(name));
  forgetOthers(place, new Set(names));
  const found: { name: string; manifest: Manifest }[] = [];
  for (const name of names) {
    const copy = join(place.directory, name);
    try {
      const text = existsSync(copy) ? readFileSync(copy, "utf8") : await store.text(name);
      found.push({ name, manifest: parseManifest(text, store.where(name)) });
      if (!existsSync(copy)) keepManifest(place, name, text);
    } catch (error) {
      if (!(error instanceof Problem) || error.code === "store_failed") throw error;
    }
  }
  return found.sort((a, b) => a.manifest.created.localeCompare(b.manifest.created));
}

/** Removes old backups from a store, and corpora and features that no other backup needs. @returns the removed objects */
export async function thinStore(
  store: ObjectStore,
  dataDirectory: string,
  retention: Retention,
): Promise<string[]> {
  const objects = await store.list();
  const place = parsePlace(dataDirectory, store.address);
  const backups = await readManifests(store, place, objects);
  const kept = keepers(backups, retention);
  const removed: string[] = [];
  for (const { name } of backups.filter((backup) => !kept.has(backup))) {
    // The manifest first: without it the rest is not a backup.
    await store.remove(name);
    removed.push(store.where(name));
    await store.remove(name.replace(/\.json$/, DATABASE_ENDING));
  }
  forgetOthers(place, new Set([...kept].map(({ name }) => name)));
  // A manifest of another format may need corpora that this version does not see.
  if (objects.filter(({ name }) => MANIFEST.test(name)).length > backups.length) return removed;
  const named = new Set([...kept].flatMap(({ manifest }) => sharedFiles(manifest).map(({ file }) => file)));
  for (const { name, modified } of objects)
    if (SHARED.test(name) && !named.has(name) && isOld(modified)) {
      await store.remove(name);
      removed.push(store.where(name));
    }
  return removed;
}

/** Recent objects may belong to a backup that another process is making. */
const isOld = (modified: number): boolean => Date.now() - modified > DAY;

/** Removes databases that interrupted backups left, after a day. */
async function sweep(store: ObjectStore, objects: readonly StoredObject[]): Promise<void> {
  const names = new Set(objects.map(({ name }) => name));
  for (const { name, modified } of objects) {
    if (!/^labd-[^/]*\.sqlite\.zst$/.test(name) || names.has(name.replace(DATABASE_ENDING, ".json")))
      continue;
    if (isOld(modified)) await store.remove(name);
  }
}

/** An empty folder of this process; those of ended processes are removed. */
function openStaging(dataDirectory: string): string {
  const outgoing = join(dataDirectory, OUTGOING);
  createDirectory(outgoing);
  for (const name of readdirSync(outgoing))
    if (Number(name) === process.pid || !isRunning(Number(name)))
      rmSync(join(outgoing, name), { recursive: true, force: true });
  const own = join(outgoing, String(process.pid));
  createDirectory(own);
  return own;
}
