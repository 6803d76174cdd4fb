import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isStoreAddress } from "../../platform/object-store.ts";
import { listBackups, MANIFEST, type Manifest } from "./manifest.ts";

/**
 * Where backups lie: a directory, or a store of objects. Of a store the data directory has a copy of each manifest, so
 * that what asks often how old the last backup is (the schedule, figures, pages) asks nobody else (ADR 0070).
 */
export interface Place {
  /** A directory, or `s3://bucket/prefix`. */
  address: string;
  /** Where the manifests are. */
  directory: string;
}

/** A backup that is known here. */
export interface KnownBackup {
  /** What `labd restore` takes. */
  path: string;
  /** Of its place. */
  address: string;
  manifest: Manifest;
}

const ELSEWHERE = "backups-elsewhere";
/** File that says of which store the manifests beside it are. */
const ADDRESS = "address";

/** @param to a directory, or `s3://bucket/prefix` */
export function placeOf(dataDirectory: string, to: string): Place {
  if (!isStoreAddress(to)) return { address: to, directory: to };
  const address = to.replace(/\/+$/, "");
  const name = new Bun.CryptoHasher("sha256").update(address).digest("hex").slice(0, 16);
  return { address, directory: join(dataDirectory, ELSEWHERE, name) };
}

/** The place of the settings, and each store that was backed up to. */
function placesOf(dataDirectory: string, to: string): Place[] {
  const first = placeOf(dataDirectory, to);
  const elsewhere = join(dataDirectory, ELSEWHERE);
  const others = (existsSync(elsewhere) ? readdirSync(elsewhere) : [])
    .map((name) => join(elsewhere, name))
    .filter((directory) => directory !== first.directory && existsSync(join(directory, ADDRESS)))
    .map((directory) => ({ address: readFileSync(join(directory, ADDRESS), "utf8").trim(), directory }));
  return [first, ...others];
}

/** The backups in the place of the settings, and in each store that was backed up to; oldest first. */
export function knownBackups(dataDirectory: string, to: string): KnownBackup[] {
  return placesOf(dataDirectory, to)
    .flatMap(({ address, directory }) =>
      listBackups(directory).map(({ path, manifest }) => ({
        path: address === directory ? path : address + path.slice(directory.length).replaceAll("\\", "/"),
        address,
        manifest,
      })),
    )
    .sort((a, b) => a.manifest.created.localeCompare(b.manifest.created));
}

/** Keeps a copy of a store's manifest. */
export function keepManifest({ address, directory }: Place, name: string, text: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const [file, content] of [
    [ADDRESS, `${address}\n`],
    [name, text],
  ]) {
    const path = join(directory, file);
    writeFileSync(`${path}.partial`, content, { mode: 0o600 });
    renameSync(`${path}.partial`, path);
  }
}

/** Forgets what the store has no longer. */
export function forgetOthers({ directory }: Place, names: ReadonlySet<string>): void {
  for (const name of existsSync(directory) ? readdirSync(directory) : [])
    if (MANIFEST.test(name) && !names.has(name)) rmSync(join(directory, name), { force: true });
}
