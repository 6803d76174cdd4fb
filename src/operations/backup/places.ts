import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isStoreAddress } from "../../platform/object-store.ts";
import { renameDurably } from "../../platform/durable-file.ts";
import { createDirectory, createFile } from "../../platform/owned-file.ts";
import { listBackups, MANIFEST, type Manifest } from "./manifest.ts";

/**
 * The destination of backups: a directory, or an object store. The data directory holds a copy of each manifest in a
 * store, so that schedule, metrics and pages do not ask the store (ADR 0070).
 */
export interface Place {
  /** A directory, or `s3://bucket/prefix`. */
  address: string;
  /** The directory of the manifests. */
  directory: string;
}

export interface KnownBackup {
  /** The operand for `labd restore`. */
  path: string;
  /** Address of its place. */
  address: string;
  manifest: Manifest;
}

const REMOTE = "backups-elsewhere";
/** File with the address of the store that the manifests beside it belong to. */
const ADDRESS = "address";

/** @param to a directory, or `s3://bucket/prefix` */
export function parsePlace(dataDirectory: string, to: string): Place {
  if (!isStoreAddress(to)) return { address: to, directory: to };
  const address = to.replace(/\/+$/, "");
  const name = new Bun.CryptoHasher("sha256").update(address).digest("hex").slice(0, 16);
  return { address, directory: join(dataDirectory, REMOTE, name) };
}

/** The backups in the configured place and in every store used before, oldest first. */
export function knownBackups(dataDirectory: string, to: string): KnownBackup[] {
  const configured = parsePlace(dataDirectory, to);
  const remote = join(dataDirectory, REMOTE);
  const others = (existsSync(remote) ? readdirSync(remote) : [])
    .map((name) => join(remote, name))
    .filter((directory) => directory !== configured.directory && existsSync(join(directory, ADDRESS)))
    .map((directory) => ({ address: readFileSync(join(directory, ADDRESS), "utf8").trim(), directory }));
  return [configured, ...others]
    .flatMap(({ address, directory }) =>
      listBackups(directory).map(({ path, manifest }) => ({
        path: address === directory ? path : address + path.slice(directory.length).replaceAll("\\", "/"),
        address,
        manifest,
      })),
    )
    .sort((a, b) => a.manifest.created.localeCompare(b.manifest.created));
}

/** Stores a copy of a store's manifest. */
export function keepManifest({ address, directory }: Place, name: string, text: string): void {
  createDirectory(directory);
  for (const [file, content] of [
    [ADDRESS, `${address}\n`],
    [name, text],
  ]) {
    const path = join(directory, file);
    writeFileSync(createFile(`${path}.partial`), content);
    renameDurably(`${path}.partial`, path);
  }
}

/** Deletes the copies of manifests that the store no longer has. */
export function forgetOthers({ directory }: Place, names: ReadonlySet<string>): void {
  for (const name of existsSync(directory) ? readdirSync(directory) : [])
    if (MANIFEST.test(name) && !names.has(name)) rmSync(join(directory, name), { force: true });
}
