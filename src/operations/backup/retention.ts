import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DATABASE_ENDING, listBackups, type Manifest, sharedFiles } from "./manifest.ts";

/** The number of days, weeks and months of which the last backup is kept. */
export interface Retention {
  days: number;
  weeks: number;
  months: number;
}

/** A setting such as `7 days, 4 weeks, 12 months`. */
export function readRetention(setting: string): Retention {
  const count = (unit: string): number => Number(new RegExp(`(\\d+) ${unit}`).exec(setting)?.[1] ?? 0);
  return { days: count("days"), weeks: count("weeks"), months: count("months") };
}

/** Path of a file that backups share, which names the key if it is encrypted. */
export const SHARED = /^(?:corpora\/.*\.labc|features\/.*\.features)(\.[0-9a-f]{16})?\.zst$/;
/** Backups before migrations that are kept in addition. */
const KEPT_UPGRADES = 3;
const DAY = 86_400_000;

type Dated = { manifest: Pick<Manifest, "created" | "reason" | "damaged"> };

/**
 * The backups to keep, of a list in order of time; always the newest. Days and weeks (from Monday) are in UTC. Backups of
 * damaged data are counted apart, so that they displace none that is whole.
 */
export function keepers<T extends Dated>(backups: readonly T[], retention: Retention): Set<T> {
  const isWhole = ({ manifest }: T): boolean => !manifest.damaged?.length;
  const [whole, damaged] = [backups.filter(isWhole), backups.filter((one) => !isWhole(one))];
  return new Set([...chooseKept(whole, retention), ...chooseKept(damaged, retention)]);
}

function chooseKept<T extends Dated>(backups: readonly T[], retention: Retention): Set<T> {
  const newestFirst = backups.toReversed();
  const kept = new Set<T>(newestFirst.slice(0, 1));
  const keepLast = (count: number, period: (created: string) => string): void => {
    const seen = new Set<string>();
    for (const backup of newestFirst) {
      const key = period(backup.manifest.created);
      if (seen.has(key) || seen.size >= count) continue;
      seen.add(key);
      kept.add(backup);
    }
  };
  keepLast(retention.days, (created) => created.slice(0, 10));
  // 1970-01-01 was a Thursday.
  keepLast(retention.weeks, (created) => String(Math.floor((Date.parse(created) / DAY + 3) / 7)));
  keepLast(retention.months, (created) => created.slice(0, 7));
  for (const backup of newestFirst
    .filter(({ manifest }) => manifest.reason === "upgrade")
    .slice(0, KEPT_UPGRADES))
    kept.add(backup);
  return kept;
}

/** Removes old backups from a directory, and corpora and features that no other backup needs. @returns the removed paths */
export function thin(directory: string, retention: Retention): string[] {
  const backups = listBackups(directory);
  const kept = keepers(backups, retention);
  const removed: string[] = [];
  const remove = (path: string): void => {
    rmSync(path, { force: true });
    removed.push(path);
  };
  for (const { path } of backups.filter((backup) => !kept.has(backup))) {
    // The manifest first: without it the rest is not a backup.
    remove(path);
    rmSync(path.replace(/\.json$/, DATABASE_ENDING), { force: true });
  }
  const named = new Set([...kept].flatMap(({ manifest }) => sharedFiles(manifest).map(({ file }) => file)));
  for (const folder of ["corpora", "features"].filter((name) => existsSync(join(directory, name))))
    for (const name of readdirSync(join(directory, folder)))
      if (SHARED.test(`${folder}/${name}`) && !named.has(`${folder}/${name}`))
        remove(join(directory, folder, name));
  return removed;
}
