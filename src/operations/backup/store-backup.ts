import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { Problem } from "../../problem.ts";
import type { ObjectStore, StoredObject } from "../../platform/object-store.ts";
import { type BackupOptions, makeBackup } from "./make-backup.ts";
import { DATABASE_ENDING, type FileEntry, MANIFEST, type Manifest, parseManifest } from "./manifest.ts";
import { forgetOthers, keepManifest, type Place, placeOf } from "./places.ts";
import { keepers, type Retention } from "./retention.ts";

/** Where a backup is made before it is uploaded: one folder a process, in the data directory. */
const OUTGOING = "backups-outgoing";
const DAY = 86_400_000;

export interface StoreBackupOptions extends Omit<BackupOptions, "to" | "kept" | "isTaken"> {
  store: ObjectStore;
  /** How far the upload of a file is. */
  report?: ((file: string, bytes: number, total: number) => void) | undefined;
}

/**
 * Backs up a data directory to a store of objects: made and checked beside the data, uploaded, read back from there, and
 * compared; the manifest is the last. Corpora that the store has are not sent again. What an attempt leaves that was cut
 * off has no manifest: nobody takes it for a backup, and a later one removes it, a day after.
 * @throws Problem bad_database, bad_backup, store_failed
 */
export async function backUpToStore(
  options: StoreBackupOptions,
): Promise<{ path: string; manifest: Manifest }> {
  const { store, from, report, ...rest } = options;
  const place = placeOf(from, store.address);
  const objects = await store.list();
  const manifests = await readManifests(store, place, objects);
  await sweep(store, objects);
  const sizes = new Map(objects.map(({ name, bytes }) => [name, bytes]));
  const entries = new Map(
    manifests.flatMap(({ manifest }) => manifest.corpora.map((one) => [one.file, one])),
  );
  const kept = (file: string): FileEntry | undefined => {
    const entry = entries.get(file);
    return entry && sizes.get(file) === entry.compressedBytes ? entry : undefined;
  };
  const staging = openStaging(from);
  try {
    const isTaken = (name: string): boolean => sizes.has(name + DATABASE_ENDING) || sizes.has(`${name}.json`);
    const { path, manifest } = await makeBackup({ ...rest, from, to: staging, kept, isTaken });
    const { database, corpora } = manifest;
    for (const { file, compressedSha256 } of [...corpora.filter(({ file }) => !kept(file)), database])
      await store.put(file, join(staging, file), compressedSha256, {
        report: (bytes, total) => report?.(file, bytes, total),
      });
    const name = basename(path);
    const text = readFileSync(path, "utf8");
    await store.putText(name, text);
    keepManifest(place, name, text);
    return { path: store.where(name), manifest };
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** The backups of a store, oldest first, and a copy of each manifest in the data directory. */
export async function listStore(
  store: ObjectStore,
  dataDirectory: string,
): Promise<{ name: string; manifest: Manifest }[]> {
  return readManifests(store, placeOf(dataDirectory, store.address), await store.list());
}

/** Manifests that cannot be read are left out, as those of a directory are. */
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

/** Removes the backups of a store that are over, and corpora that none of the rest names. @returns what was removed */
export async function thinStore(
  store: ObjectStore,
  dataDirectory: string,
  retention: Retention,
): Promise<string[]> {
  const objects = await store.list();
  const place = placeOf(dataDirectory, store.address);
  const backups = await readManifests(store, place, objects);
  const kept = keepers(backups, retention);
  const removed: string[] = [];
  for (const { name } of backups.filter((backup) => !kept.has(backup))) {
    // The manifest first: what is left of an interruption is no backup.
    await store.remove(name);
    removed.push(store.where(name));
    await store.remove(name.replace(/\.json$/, DATABASE_ENDING));
  }
  forgetOthers(place, new Set([...kept].map(({ name }) => name)));
  // A manifest of another format may name corpora that this version does not see.
  if (objects.filter(({ name }) => MANIFEST.test(name)).length > backups.length) return removed;
  const named = new Set([...kept].flatMap(({ manifest }) => manifest.corpora.map(({ file }) => file)));
  for (const { name, modified } of objects)
    if (/^corpora\/.*\.labc\.zst$/.test(name) && !named.has(name) && isOld(modified)) {
      await store.remove(name);
      removed.push(store.where(name));
    }
  return removed;
}

/** What was uploaded lately may belong to a backup that another process makes. */
const isOld = (modified: number): boolean => Date.now() - modified > DAY;

/** Removes databases without a manifest, which interrupted backups left, a day after. */
async function sweep(store: ObjectStore, objects: readonly StoredObject[]): Promise<void> {
  const names = new Set(objects.map(({ name }) => name));
  for (const { name, modified } of objects) {
    if (!/^labd-[^/]*\.sqlite\.zst$/.test(name) || names.has(name.replace(DATABASE_ENDING, ".json")))
      continue;
    if (isOld(modified)) await store.remove(name);
  }
}

/** An empty folder of this process; what processes that ended have left goes. */
function openStaging(dataDirectory: string): string {
  const outgoing = join(dataDirectory, OUTGOING);
  mkdirSync(outgoing, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(outgoing))
    if (!isRunning(Number(name))) rmSync(join(outgoing, name), { recursive: true, force: true });
  const own = join(outgoing, String(process.pid));
  mkdirSync(own, { recursive: true, mode: 0o700 });
  return own;
}

function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === "EPERM";
  }
}
