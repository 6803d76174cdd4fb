import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { type CheckResult, ok, problem, size, warning } from "../../platform/check-result.ts";

const MEGABYTE = 1_000_000;

/** Whether the data directory is there, belongs to who asks, and is nobody else's to read. */
export function checkPermissions(directory: string, uid: number | undefined): CheckResult[] {
  const stat = statSync(directory, { throwIfNoEntry: false });
  if (!stat)
    return [
      problem(
        "permissions",
        `There is no data directory ${directory}.`,
        "Name it with --data-dir or --config, or start labd serve once, which makes it.",
      ),
    ];
  const found: CheckResult[] = [];
  // Windows has no owners of this kind.
  if (uid !== undefined && uid !== 0 && stat.uid !== uid)
    found.push(
      problem(
        "permissions",
        `${directory} belongs to user ${stat.uid}, and this is user ${uid}.`,
        `chown -R ${uid} ${directory}, or run this as its owner.`,
      ),
    );
  if (uid === 0 && stat.uid !== 0)
    found.push(
      warning(
        "permissions",
        `This is root, and ${directory} belongs to user ${stat.uid}: whether that one may write is not known.`,
        "Run labd doctor as the account of the service: sudo runuser -u labd -- labd doctor …",
      ),
    );
  for (const name of ["labd.sqlite", "labd.sqlite-wal", "labd.lock", "corpora", "second-factor.key"]) {
    const path = join(directory, name);
    const file = statSync(path, { throwIfNoEntry: false });
    if (!file) continue;
    try {
      accessSync(path, constants.R_OK | constants.W_OK);
    } catch {
      found.push(
        problem(
          "permissions",
          `${path} cannot be read and written.`,
          `chown it to the account of the service (it is user ${file.uid}'s).`,
        ),
      );
    }
    if (uid !== undefined && file.uid !== stat.uid)
      found.push(
        warning(
          "permissions",
          `${path} belongs to user ${file.uid}, the directory to ${stat.uid}: a command was run as another user.`,
          `chown ${stat.uid} ${path}`,
        ),
      );
  }
  if (uid !== undefined && (stat.mode & 0o007) !== 0)
    found.push(
      warning(
        "permissions",
        `Everybody on this machine may look into ${directory} (mode 0${(stat.mode & 0o777).toString(8)}).`,
        `chmod o-rwx ${directory}`,
      ),
    );
  return found.length > 0 ? found : [ok("permissions", `${directory} and what is in it are this account's.`)];
}

/** Room for data to grow and for a backup, and whether what is written arrives. */
export function checkDisk(directory: string, databaseBytes: number): CheckResult[] {
  const { bavail, blocks, bsize, files, ffree } = statfsSync(directory);
  const free = bavail * bsize;
  const shown = `${size(free)} of ${size(blocks * bsize)} free at ${directory}`;
  const found: CheckResult[] = [];
  const remedy =
    "Make room, or move the data directory to a larger disk. Without room nothing new is accepted; what was, stays.";
  if (free < 100 * MEGABYTE) found.push(problem("disk", `${shown}.`, remedy));
  else if (free < Math.max(1000 * MEGABYTE, 2 * databaseBytes))
    found.push(
      warning(
        "disk",
        `${shown}; the database has ${size(databaseBytes)}, and a backup may need twice that.`,
        remedy,
      ),
    );
  if (files > 0 && ffree / files < 0.01)
    found.push(
      warning("disk", `Only ${ffree} more files fit on the disk.`, "Remove what has many small files."),
    );
  const probe = join(directory, ".labd-doctor");
  try {
    const handle = openSync(probe, "w", 0o600);
    try {
      writeSync(handle, "probe");
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    if (readFileSync(probe, "utf8") !== "probe") throw new Error("another text was read than was written");
    rmSync(probe);
  } catch (error) {
    found.push(
      problem(
        "disk",
        `A file in ${directory} cannot be written: ${(error as Error).message}.`,
        "See to the disk, its mount options, and the owner of the directory.",
      ),
    );
  }
  return found.length > 0 ? found : [ok("disk", `${shown}; a file was written and read back.`)];
}

/** Connections and files that the process may have open. */
export function checkLimits(limits = "/proc/self/limits"): CheckResult[] {
  let soft: number;
  try {
    const text = /^Max open files +(\S+)/m.exec(readFileSync(limits, "utf8"))![1];
    soft = text === "unlimited" ? Number.POSITIVE_INFINITY : Number(text);
  } catch {
    return [];
  }
  if (soft >= 4096) return [ok("limits", `${soft} files and connections may be open.`)];
  return [
    warning(
      "limits",
      `Only ${soft} files and connections may be open; each client has one.`,
      "LimitNOFILE=65536 in the unit, or ulimit -n 65536.",
    ),
  ];
}
