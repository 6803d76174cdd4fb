import { hkdfSync } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Problem } from "../../problem.ts";
import { type AuditHead, canonical } from "../../accounts/audit.ts";
import type { BackupKey } from "./encryption.ts";

/**
 * A backup is two files: the database `labd-20261121T212500Z.sqlite.zst`, and this manifest `….json`, which is written
 * last and makes the backup complete. Corpora and files of features never change, so each is once in `corpora/` or `features/`
 * for all backups, named by its content.
 */
export interface Manifest {
  format: 1;
  /** Version of labd that made it. */
  labd: string;
  /** RFC 3339, UTC. */
  created: string;
  reason: Reason;
  /** Id of the key with which its files are encrypted; missing if they are not. */
  key?: string;
  database: FileEntry & {
    /** Names of the migrations that the database has, in order. */
    migrations: string[];
    /** Rows of each table. */
    rows: Record<string, number>;
    /** Head of the audit log; null if it is empty. Missing in backups of older versions. */
    audit?: AuditHead | null;
  };
  corpora: FileEntry[];
  /** Imported features. Missing in backups of older versions. */
  features?: FileEntry[];
  /** Files that were damaged already, and are damaged in the backup, or missing from it, too. */
  damaged?: string[];
  /**
   * SHA-256 of the other members as JSON with sorted names; of an encrypted backup their HMAC-SHA-256, whose key HKDF
   * derives from that of the backup. Missing in backups of older versions, which were not encrypted.
   */
  seal?: string;
}

/** Why a backup was made: on request, by schedule, or before a migration. */
export type Reason = "asked" | "schedule" | "upgrade";

export interface FileEntry {
  /** Path of the compressed file, from the manifest's directory. */
  file: string;
  /** Size of the file in the data directory. */
  bytes: number;
  sha256: string;
  /** Size of the compressed file. */
  compressedBytes: number;
  compressedSha256: string;
}

/** The files that backups share. */
export const sharedFiles = ({ corpora, features = [] }: Manifest): FileEntry[] => [...corpora, ...features];

/** A sentence about what backups lack. */
export const LEFT_OUT =
  "Backups lack the settings file, second-factor.key and backup.key (keep copies), the folder models, and what can be computed again: families of proteins and proteome searches.";

export const MANIFEST = /^labd-\d{8}T\d{6}Z(?:-\d+)?\.json$/;
export const DATABASE_ENDING = ".sqlite.zst";

const SEAL_KEY = "labd backup manifest";

/** Adds the seal, by which changes are found. */
export const sealed = (manifest: Manifest, key: BackupKey | undefined): Manifest => ({
  ...manifest,
  seal: computeSeal(manifest, key),
});

function computeSeal(manifest: Manifest, key: BackupKey | undefined): string {
  const sealKey = key && Buffer.from(hkdfSync("sha256", key.bytes, "", SEAL_KEY, 32));
  return new Bun.CryptoHasher("sha256", sealKey)
    .update(canonical({ ...manifest, seal: undefined }))
    .digest("hex");
}

/** @throws Problem bad_backup for a manifest that was altered */
export function checkSeal(manifest: Manifest, key: BackupKey | undefined, where: string): void {
  if (manifest.seal === computeSeal(manifest, key)) return;
  const what = key ? "was altered since the backup was made" : "is damaged or was altered";
  throw new Problem("bad_backup", `The manifest ${where} ${what}: its seal does not match its content.`);
}

/** @param path of the manifest or of the database beside it. @throws Problem bad_backup */
export function readManifest(path: string): { manifest: Manifest; directory: string } {
  const named = path.endsWith(DATABASE_ENDING) ? path.replace(DATABASE_ENDING, ".json") : path;
  if (!existsSync(named))
    throw new Problem(
      "bad_backup",
      named === path
        ? `There is no file ${path}.`
        : `${path} has no manifest ${basename(named)} in the same directory: the backup was interrupted, or not copied completely.`,
    );
  return { manifest: parseManifest(readFileSync(named, "utf8"), named), directory: dirname(named) };
}

/** @param where path or URL of the text, for errors. @throws Problem bad_backup */
export function parseManifest(text: string, where: string): Manifest {
  let manifest: Manifest;
  try {
    manifest = JSON.parse(text) as Manifest;
    if (manifest.format !== 1 || typeof manifest.database?.sha256 !== "string")
      throw new Error(
        `its format is ${JSON.stringify(manifest.format)}, but this version reads only format 1`,
      );
  } catch (error) {
    throw new Problem(
      "bad_backup",
      `${where} is not the manifest of a backup: ${(error as Error).message}.`,
      {
        cause: error,
      },
    );
  }
  // The seal of an encrypted backup is checked once the key is known.
  if (manifest.key === undefined && manifest.seal !== undefined) checkSeal(manifest, undefined, where);
  return manifest;
}

/** The backups of a directory, oldest first; unreadable manifests are left out. None if the directory cannot be read. */
export function listBackups(directory: string): { path: string; manifest: Manifest }[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return [];
  }
  const found = names
    .filter((name) => MANIFEST.test(name))
    .flatMap((name) => {
      try {
        const path = join(directory, name);
        return [{ path, manifest: readManifest(path).manifest }];
      } catch {
        return [];
      }
    });
  return found.sort((a, b) => a.manifest.created.localeCompare(b.manifest.created));
}
