import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { SECOND_FACTOR_KEY } from "../../accounts/second-factor.ts";
import { createFile } from "../../platform/owned-file.ts";
import { type Database, type Migration, openReader, pendingMigrations } from "../../platform/sqlite.ts";
import { Problem } from "../../problem.ts";
import { knownBackups } from "../backup/places.ts";

/** File in the data directory that says, apart from the database, how far it was committed. */
export const COMMIT_FILE = "labd.committed";

interface Committed {
  /** RFC 3339, UTC. */
  at: string;
  newest: Record<string, number>;
}

interface Place {
  /** Path of the database, in its data directory. */
  path: string;
  migrations: readonly Migration[];
  /** Directory or address of the backups. */
  backups: string;
}

/** Milliseconds between two notes. */
const INTERVAL = 10_000;

/** Number of the newest row of tables that only grow. */
const newestRows = (database: Database): Record<string, number> =>
  database
    .query(
      `SELECT coalesce((SELECT max(seq) FROM audit), 0) AS audit, coalesce((SELECT max(rid) FROM job), 0) AS job,
         coalesce((SELECT max(rid) FROM record_batch), 0) AS record_batch`,
    )
    .get() as Record<string, number>;

/**
 * Notes every ten seconds how far the database is committed, so that the next start finds out whether commits are missing.
 * Commits are on the disk before they are noted.
 */
export function noteCommitted(database: Database, now: () => number): { stop(): void } {
  const path = join(dirname(database.filename), COMMIT_FILE);
  let noted = "";
  const note = (): void => {
    try {
      if (database.inTransaction) return;
      const newest = newestRows(database);
      if (JSON.stringify(newest) === noted) return;
      const content: Committed = { at: new Date(now()).toISOString(), newest };
      writeFileSync(createFile(`${path}.partial`), `${JSON.stringify(content)}\n`);
      renameSync(`${path}.partial`, path);
      noted = JSON.stringify(newest);
    } catch {
      // A full or read-only disk: the former note is true, too.
    }
  };
  const timer = setInterval(note, INTERVAL);
  timer.unref();
  note();
  return {
    stop() {
      clearInterval(timer);
      note();
    },
  };
}

/**
 * Refuses to make a new database where there was one, and to use one that lacks committed changes: its log was removed, or
 * an older copy took its place. A crash leaves the log.
 * @throws Problem bad_database that says how to restore the newest backup, and how to do without
 */
export function refuseLostDatabase(place: Place): void {
  const { path, migrations } = place;
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  // SQLite removes the log of an empty file that it opens.
  if (size && pendingMigrations(path, migrations).length < migrations.length) return refuseOlder(place);
  const traces = findTraces(place);
  if (traces.length === 0) return;
  throw new Problem(
    "bad_database",
    `${path} is ${size === undefined ? "missing" : "empty"}, but there was a database: ${dirname(path)} has ${traces.join(", ")}. ` +
      `Nothing was changed. To start again without its records and accounts, first move all of these elsewhere. ${restoring(place)}`,
  );
}

function refuseOlder(place: Place): void {
  const { path } = place;
  const noted = readCommitted(path);
  const present = noted && readNewest(path);
  if (!present) return;
  for (const [table, newest] of Object.entries(noted.newest)) {
    if (present[table] >= newest) continue;
    throw new Problem(
      "bad_database",
      `${path} lacks changes that were committed by ${noted.at}: ${table} ends at row ${present[table]}, not ${newest}. ` +
        `Its log ${basename(path)}-wal was removed, or an older copy took its place. Nothing was changed. ` +
        `Put the missing file back, or restore a backup. To continue without these changes, delete ${join(dirname(path), COMMIT_FILE)}. ` +
        restoring(place),
    );
  }
}

/** Undefined for a damaged database; the server still serves its readable part. */
function readNewest(path: string): Record<string, number> | undefined {
  try {
    using reader = openReader(path);
    return newestRows(reader);
  } catch {
    return undefined;
  }
}

/** The last note; undefined if it is missing, or a power cut garbled it. */
function readCommitted(path: string): Committed | undefined {
  try {
    return JSON.parse(readFileSync(join(dirname(path), COMMIT_FILE), "utf8")) as Committed;
  } catch {
    return undefined;
  }
}

/** Files that only a labd with a database leaves behind. */
function findTraces({ path, backups }: Place): string[] {
  const data = dirname(path);
  const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);
  const log = `${path}-wal`;
  const known = knownBackups(data, backups);
  return [
    ...["corpora", "features"].filter((folder) =>
      namesIn(join(data, folder)).some((name) => /\.(labc|features)$/.test(name)),
    ),
    ...namesIn(data).filter(
      (name) =>
        [COMMIT_FILE, SECOND_FACTOR_KEY].includes(name) || name.startsWith(`${basename(path)}.before-`),
    ),
    ...(statSync(log, { throwIfNoEntry: false })?.size ? [basename(log)] : []),
    ...(known.length > 0 ? [`${known.length} backups in ${known.at(-1)!.address}`] : []),
  ];
}

function restoring({ path, backups }: Place): string {
  const directory = dirname(path);
  const newest = knownBackups(directory, backups).at(-1);
  return newest
    ? `To restore the newest backup: labd restore ${newest.path} --data-dir ${directory}`
    : `There is no backup in ${backups}; to restore one from elsewhere: labd restore FILE --data-dir ${directory}`;
}
