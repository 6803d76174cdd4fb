import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { dirname, join } from "node:path/posix";

/**
 * Bytes that this process alone occupies. Pages of mapped files are left out: its threads share them, but the resident size
 * counts them once per mapping, and the system may drop them at any time. Elsewhere than on Linux, the resident size.
 */
export function ownMemory(status = "/proc/self/status"): number {
  const kilobytes = [...(readText(status) ?? "").matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)];
  if (kilobytes.length === 0) return process.memoryUsage.rss();
  return kilobytes.reduce((sum, [, size]) => sum + Number(size) * 1024, 0);
}

/** Files of a control group that limit memory, by the controllers in `/proc/self/cgroup`; "" is version 2. */
const LIMIT_FILES: Readonly<Record<string, { mount: string; files: readonly string[] }>> = {
  "": { mount: "sys/fs/cgroup", files: ["memory.max", "memory.high"] },
  memory: { mount: "sys/fs/cgroup/memory", files: ["memory.limit_in_bytes"] },
};

/**
 * Bytes of memory for this process, or another: those of the machine, or the least that its control group or a parent of it allows, as
 * set by systemd (MemoryMax, MemoryHigh) or a container. @param root of the file system
 */
export function memoryLimit(root = "/", pid: number | "self" = "self"): number {
  const groups = (readText(join(root, `proc/${pid}/cgroup`)) ?? "").split("\n").flatMap((line) => {
    const [, controllers = "none", path = ""] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    const known = LIMIT_FILES[controllers];
    return known ? limitsOf(join(root, known.mount), path, known.files) : [];
  });
  return Math.min(totalmem(), ...groups);
}

/** Limits of a group and its parents. A container may see its own group as the mount, whatever its path. */
function limitsOf(mount: string, path: string, files: readonly string[]): number[] {
  const found: number[] = [];
  for (let group = path; ; group = dirname(group)) {
    for (const file of files) {
      const text = readText(join(mount, group, file))?.trim() ?? "";
      if (/^\d+$/.test(text)) found.push(Number(text));
    }
    if (group === "/") return found;
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
