import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  statSync,
} from "node:fs";
import { dirname, resolve } from "node:path";

/** User and group that own a file. */
export interface Owner {
  uid: number;
  gid: number;
}

/**
 * The owner for files that root creates in a directory, whose server must be able to write them. Undefined for other
 * users, whose files are their own.
 */
export function findOwner(directory: string): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  let found = resolve(directory);
  while (!existsSync(found)) found = dirname(found);
  return statSync(found);
}

/**
 * Creates a directory and its missing parents, accessible by their owner only, whatever the umask. They survive a power
 * cut, so that files in them can.
 */
export function createDirectory(path: string, owner = findOwner(path)): void {
  const first = mkdirSync(resolve(path), { recursive: true, mode: 0o700 });
  if (first === undefined || process.platform === "win32") return;
  for (let made = resolve(path); made.length >= first.length; made = dirname(made)) {
    protect(openSync(made, constants.O_DIRECTORY | constants.O_NOFOLLOW), 0o700, owner);
    sync(dirname(made));
  }
}

/** Waits until a file, or the names in a directory, are on the disk. Windows neither can nor must do so for directories. */
export function sync(path: string): void {
  const isWindows = process.platform === "win32";
  if (isWindows && statSync(path).isDirectory()) return;
  const file = openSync(path, isWindows ? "r+" : "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Creates an empty file that only its owner can read, whatever the umask. An existing file stays as it is. Never follows
 * a link: the owner of the directory could plant one for root.
 * @returns the path, to open it by
 */
export function createFile(path: string, owner = findOwner(dirname(path))): string {
  try {
    const { O_CREAT, O_EXCL, O_WRONLY } = constants;
    protect(openSync(path, O_CREAT | O_EXCL | O_WRONLY, 0o600), 0o600, owner);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return path;
}

function protect(handle: number, mode: number, owner: Owner | undefined): void {
  try {
    if (process.platform === "win32") return;
    fchmodSync(handle, mode);
    if (owner) fchownSync(handle, owner.uid, owner.gid);
  } catch (error) {
    // File systems without owners and modes, such as FAT.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
  } finally {
    closeSync(handle);
  }
}
