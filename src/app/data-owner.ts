import { lchownSync, lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * Paths within a data directory that commands make. No others: whoever has the account of the directory could put something
 * in the place of one while root looks.
 */
const OURS =
  /^(labd\.(sqlite|lock)[^/]*|second-factor\.key|corpora(\/[0-9a-f]{16,}\.[^/]+)?|backups(-elsewhere)?(\/labd-[^/]+)?|backups\/corpora(\/[0-9a-f]{16,}\.[^/]+)?)$/;

/** What a command of root has made becomes of the account that the data directory belongs to, or its server could not write it. */
export function giveToOwner(directory: string): void {
  const owner = statSync(directory, { throwIfNoEntry: false });
  if (process.getuid?.() !== 0 || owner === undefined || owner.uid === 0) return;
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    if (!OURS.test(name)) continue;
    const path = join(directory, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    const isOwn = found?.isDirectory() || (found?.isFile() && found.nlink === 1);
    if (isOwn && found?.uid === 0) lchownSync(path, owner.uid, owner.gid);
  }
}
