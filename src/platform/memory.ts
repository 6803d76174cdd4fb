import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { dirname, join } from "node:path/posix";

/** Other processes of the service by process id, each with a function that ends it if it is not needed now. */
const others = new Map<number, () => boolean>();

/** Counts the memory of another process until the returned function is called. */
export function trackMemory(pid: number, endUnneeded: () => boolean): () => void {
  others.set(pid, endUnneeded);
  return () => void others.delete(pid);
}

/** Ends one of the other processes that is not needed now, if there is one. */
export const releaseMemory = (): boolean => others.values().some((endUnneeded) => endUnneeded());

/**
 * Bytes that this process and those of `trackMemory` occupy. Pages of mapped files are left out: threads and processes
 * share them, but the resident size counts them once per mapping, and the system may drop them at any time. Elsewhere than
 * on Linux, the resident size of this process.
 */
export function readOwnMemory(status = "/proc/self/status"): number {
  const own = unmappedMemory(status);
  if (own === undefined) return process.memoryUsage.rss();
  return others.keys().reduce((sum, pid) => sum + (unmappedMemory(`/proc/${pid}/status`) ?? 0), own);
}

function unmappedMemory(status: string): number | undefined {
  const kilobytes = [...(readText(status) ?? "").matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)];
  if (kilobytes.length === 0) return undefined;
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
    return known ? readLimits(join(root, known.mount), path, known.files) : [];
  });
  return Math.min(totalmem(), ...groups);
}

/** Limits of a group and its parents. A container may see its own group as the mount at any path. */
function readLimits(mount: string, path: string, files: readonly string[]): number[] {
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
