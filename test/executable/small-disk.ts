import { closeSync, existsSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import { scratch } from "../scratch.ts";

/** A file system of a few megabytes that can be filled up and made read-only. Needs the right to mount one. */

export const quietly = (...words: string[]): boolean => {
  try {
    return Bun.spawnSync(words, { stdout: "ignore", stderr: "ignore" }).exitCode === 0;
  } catch {
    return false;
  }
};

export interface SmallDisk extends Disposable {
  directory: string;
}

/** A file system in memory at a new directory; null where it cannot be mounted. */
export function smallDisk(place: string, megabytes = 6): SmallDisk | null {
  const directory = join(place, "disk");
  mkdirSync(directory);
  if (!quietly("mount", "-t", "tmpfs", "-o", `size=${megabytes}m`, "labd-test", directory)) return null;
  return { directory, [Symbol.dispose]: () => void quietly("umount", "-l", directory) };
}

export interface FailingDisk extends SmallDisk {
  /** Makes the system take it for damaged, after which it is read-only, whatever is open on it. */
  fail(): void;
  /** Mounts it again, as an administrator would. Nothing may be open on it. @returns whether that went well */
  repair(): boolean;
}

/** A file system (ext4) in a file that becomes read-only amid everything; null where the system has no such thing. */
export function failingDisk(place: string): FailingDisk | null {
  const [image, directory] = [join(place, "image"), join(place, "failing")];
  mkdirSync(directory);
  const mount = (): boolean => quietly("mount", "-o", "loop,errors=remount-ro", image, directory);
  if (!quietly("dd", "if=/dev/zero", `of=${image}`, "bs=1M", "count=24")) return null;
  if (!quietly("mkfs.ext4", "-q", image) || !mount()) return null;
  const device = Bun.spawnSync(["findmnt", "-no", "SOURCE", directory]).stdout.toString().trim();
  const trigger = join("/sys/fs/ext4", basename(device), "trigger_fs_error");
  const disk = {
    directory,
    fail: () => writeFileSync(trigger, "1"),
    repair: () => quietly("umount", directory) && (quietly("e2fsck", "-fy", image), mount()),
    [Symbol.dispose]: () => void quietly("umount", "-l", directory),
  };
  if (existsSync(trigger)) return disk;
  disk[Symbol.dispose]();
  return null;
}

export const CAN_MOUNT = ((): boolean => {
  using place = scratch();
  using disk = smallDisk(place.directory);
  return disk !== null;
})();

/** For the names of tests. */
export const UNLESS_MOUNTED = CAN_MOUNT ? "" : " (SKIPPED: file systems cannot be mounted here)";

/** Takes every byte that is left. */
export function fill(path: string): void {
  const file = openSync(path, "w");
  try {
    for (let size = 65_536; size >= 1; size = size >> 4) {
      const block = new Uint8Array(size);
      try {
        for (;;) writeSync(file, block);
      } catch (error) {
        if ((error as { code?: string }).code !== "ENOSPC") throw error;
      }
    }
  } finally {
    closeSync(file);
  }
}
