import { lchownSync, lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Paths that commands create in a data directory. Others are left alone: its owner could plant a link there for root. */
const OURS =
  /^(labd\.(sqlite|lock)[^/]*|second-factor\.key|corpora(\/[0-9a-f]{16,}\.[^/]+)?|backups(-elsewhere)?(\/labd-[^/]+)?|backups\/corpora(\/[0-9a-f]{16,}\.[^/]+)?)$/;

/** Gives files that a command created as root to the owner of the data directory, whose server must write them. */
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
