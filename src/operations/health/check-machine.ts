import { createPrivateKey, X509Certificate } from "node:crypto";
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
import { Checks, type CheckResult, size } from "../../platform/check-result.ts";
import { memoryLimit } from "../../platform/memory.ts";

const MEGABYTE = 1_000_000;
const DAY = 86_400_000;
/** Days before the end of a certificate at which to warn. */
const EXPIRY_WARNING_DAYS = 14;

/** Checks owner and mode of the data directory and its files. @param uid of this process; undefined on Windows */
export function checkPermissions(directory: string, uid: number | undefined): CheckResult[] {
  const checks = new Checks("permissions");
  const stat = statSync(directory, { throwIfNoEntry: false });
  if (!stat) {
    checks.problem(
      `There is no data directory ${directory}.`,
      "Name it with --data-dir or --config, or start labd serve once, which makes it.",
    );
    return checks.results;
  }
  if (uid !== undefined && uid !== 0 && stat.uid !== uid)
    checks.problem(
      `${directory} belongs to user ${stat.uid}, but this command runs as user ${uid}.`,
      `chown -R ${uid} ${directory}, or run this command as its owner.`,
    );
  if (uid === 0 && stat.uid !== 0)
    checks.warning(
      `This command runs as root, but ${directory} belongs to user ${stat.uid}, whose access was not checked.`,
      "Run labd doctor as the account of the service: sudo runuser -u labd -- labd doctor …",
    );
  for (const name of ["labd.sqlite", "labd.sqlite-wal", "labd.lock", "corpora", "second-factor.key"]) {
    const path = join(directory, name);
    const file = statSync(path, { throwIfNoEntry: false });
    if (!file) continue;
    try {
      accessSync(path, constants.R_OK | constants.W_OK);
    } catch {
      checks.problem(
        `${path} cannot be read and written.`,
        `chown it to the account of the service (its owner is user ${file.uid}).`,
      );
    }
    if (uid !== undefined && file.uid !== stat.uid)
      checks.warning(
        `${path} belongs to user ${file.uid}, the directory to ${stat.uid}: another user ran a command.`,
        `chown ${stat.uid} ${path}`,
      );
  }
  if (uid !== undefined && (stat.mode & 0o007) !== 0)
    checks.warning(
      `Every user can access ${directory} (${formatMode(stat.mode)}).`,
      `chmod o-rwx ${directory}`,
    );
  return checks.orOk(`${directory} and its content belong to this account.`);
}

/** Checks files with secrets for readers. @param files each with a description of its secrets */
export function checkSecretFiles(files: readonly { path: string; holds: string }[]): CheckResult[] {
  const checks = new Checks("permissions");
  // Windows has no such modes.
  for (const { path, holds } of process.platform === "win32" ? [] : files) {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
    if ((mode & 0o004) !== 0)
      checks.warning(
        `Every user can read ${path} (${formatMode(mode)}), which contains ${holds}.`,
        `chmod o-rwx ${path}, and make the account or group of the service its owner.`,
      );
  }
  return checks.results;
}

const formatMode = (mode: number): string => `mode 0${(mode & 0o777).toString(8)}`;

/** Checks the space for data and a backup, and that a file can be written and read back. */
export function checkDisk(directory: string, databaseBytes: number): CheckResult[] {
  const checks = new Checks("disk");
  const { bavail, blocks, bsize, files, ffree } = statfsSync(directory);
  const free = bavail * bsize;
  const shown = `${size(free)} of ${size(blocks * bsize)} free at ${directory}`;
  const remedy =
    "Free some space, or move the data directory to a larger disk. On a full disk nothing new is accepted; existing data stay.";
  if (free < 100 * MEGABYTE) checks.problem(`${shown}.`, remedy);
  else if (free < Math.max(1000 * MEGABYTE, 2 * databaseBytes))
    checks.warning(
      `${shown}; the database has ${size(databaseBytes)}, and a backup may need twice that.`,
      remedy,
    );
  if (files > 0 && ffree / files < 0.01)
    checks.warning(
      `The disk has room for only ${ffree} more files.`,
      "Remove directories with many small files.",
    );
  try {
    writeProbe(join(directory, ".labd-doctor"));
  } catch (error) {
    checks.problem(
      `A file in ${directory} cannot be written: ${(error as Error).message}.`,
      "Check the disk, its mount options, and the owner of the directory.",
    );
  }
  return checks.orOk(`${shown}; a file was written and read back.`);
}

function writeProbe(path: string): void {
  const handle = openSync(path, "w", 0o600);
  try {
    writeSync(handle, "probe");
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  if (readFileSync(path, "utf8") !== "probe") throw new Error("it was read back with other content");
  rmSync(path);
}

/**
 * The process that has locked a file, such as a server, or one byte of it; undefined without one, and where the system
 * does not tell.
 */
export function lockHolder(
  path: string,
  { locks = "/proc/locks", byte }: { locks?: string; byte?: number } = {},
): number | undefined {
  try {
    const { dev, ino } = statSync(path);
    const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)];
    const file = `${[major, minor].map((part) => part.toString(16).padStart(2, "0")).join(":")}:${ino}`;
    const held = readFileSync(locks, "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .find(
        (words) =>
          words[3] === "WRITE" && words[5] === file && [undefined, words[6]].includes(byte?.toString()),
      );
    return held && Number(held[4]);
  } catch {
    return undefined;
  }
}

/** Checks the limits of a server on open connections and files, and on memory. @param pid without it, those of this process */
export function checkLimits(pid?: number, root = "/"): CheckResult[] {
  const checks = new Checks("limits");
  let text: string;
  try {
    const limits = readFileSync(join(root, `proc/${pid ?? "self"}/limits`), "utf8");
    text = /^Max open files +(\S+)/m.exec(limits)![1];
  } catch {
    return [];
  }
  const subject = pid === undefined ? "A server started from here" : `The server (process ${pid})`;
  const limit = text === "unlimited" ? Number.POSITIVE_INFINITY : Number(text);
  if (limit < 4096)
    checks.warning(
      `${subject} may open only ${limit} files and connections; each client needs one.`,
      "LimitNOFILE=65536 in the unit, or ulimit -n 65536.",
    );
  const memory = size(memoryLimit(root, pid));
  return checks.orOk(`${subject} may open ${limit} files and connections, and use ${memory} of memory.`);
}

/** Checks that certificate and key are a pair, and the end of validity. */
export function checkCertificate(certificate: string, key: string, now: number): CheckResult[] {
  if (certificate === "" && key === "") return [];
  const checks = new Checks("certificate");
  try {
    const pair = new X509Certificate(readFileSync(certificate));
    if (!pair.checkPrivateKey(createPrivateKey(readFileSync(key)))) {
      checks.problem(
        `${key} is not the key of ${certificate}.`,
        "Set tls_certificate and tls_key to a matching pair.",
      );
      return checks.results;
    }
    const days = Math.floor((Date.parse(pair.validTo) - now) / DAY);
    const until = `${certificate} is valid until ${new Date(pair.validTo).toISOString().slice(0, 10)}`;
    const remedy = "Renew it; the server reloads it by itself.";
    if (days < 0) checks.problem(`${until}: it has expired.`, remedy);
    else if (days < EXPIRY_WARNING_DAYS) checks.warning(`${until}, ${days} more days.`, remedy);
    return checks.orOk(`${until}.`);
  } catch (error) {
    checks.problem(
      `It cannot be read: ${(error as Error).message}.`,
      "Check tls_certificate and tls_key, and whether this account may read them.",
    );
    return checks.results;
  }
}
