import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Checks, type CheckResult } from "../../platform/check-result.ts";
import { systemClock } from "../../platform/clock.ts";
import { openReader } from "../../platform/sqlite.ts";
import { pluralize } from "../../platform/words.ts";
import { readScoringFiles, readStoredJobs, type ReadContent } from "../../scoring/index.ts";
import { fileHash } from "../../platform/durable-file.ts";
import { listBackups, sharedFiles } from "../backup/manifest.ts";
import { readAttachments } from "./read-attachments.ts";

/**
 * Reads everything whose damage SQLite does not find, and compares it with its checksum.
 * @param path of the database, in its data directory
 * @param backups directory of the backups; of object stores nothing is read
 * @param report called with the number of things read so far, and with what is read next
 */
export async function checkContents(
  path: string,
  backups: string,
  report: (read: number, next: string) => void,
): Promise<CheckResult[]> {
  const checks = new Checks("contents");
  const counts = new Map<string, number>();
  let read = 0;
  const note = ({ kind, name, damage, remedy }: ReadContent): void => {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    report(++read, name);
    if (damage !== null) checks.problem(`${name} is damaged: ${damage.replace(/\.$/, "")}.`, remedy);
  };
  try {
    if (existsSync(path)) {
      using reader = openReader(path);
      for (const found of readStoredJobs(reader)) note(found);
      for (const found of readAttachments(reader)) note(found);
      for (const found of readScoringFiles(dirname(path), reader, systemClock)) note(found);
    }
  } catch (error) {
    checks.problem((error as Error).message, "See the remedy for the database.");
  }
  for await (const found of readBackups(backups)) note(found);
  const list = [...counts].map(([kind, count]) => pluralize(count, kind)).join(", ");
  return checks.orOk(list === "" ? "Nothing is stored yet." : `Intact: ${list}.`);
}

/** Reads the files of all backups in a directory once. */
async function* readBackups(directory: string): AsyncGenerator<ReadContent> {
  const files = new Map(
    listBackups(directory).flatMap(({ manifest }) =>
      [manifest.database, ...sharedFiles(manifest)].map((entry) => [entry.file, entry] as const),
    ),
  );
  for (const { file, compressedSha256 } of files.values()) {
    const path = join(directory, file);
    const damage = !existsSync(path)
      ? "it is missing"
      : fileHash(path) === compressedSha256
        ? null
        : "its SHA-256 is not that of the manifest";
    const isShared = file.includes("/");
    yield {
      kind: "backup file",
      name: `backup ${path}`,
      damage,
      remedy: isShared
        ? "Delete it, and run labd backup, which copies it again if the data directory still has it."
        : "Delete it with its manifest, and run labd backup.",
    };
  }
}
