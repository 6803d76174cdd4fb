import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { trackMemory, memoryLimit, readOwnMemory, releaseMemory } from "../../src/platform/memory.ts";

const MEGABYTE = 1024 * 1024;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "labd-memory-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function write(files: Record<string, string>): string {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  return directory;
}

describe("own memory", () => {
  test.skipIf(process.platform !== "linux")("counts allocated memory, but no mapped files", () => {
    const path = join(directory, "corpus");
    writeFileSync(path, "");
    truncateSync(path, 64 * MEGABYTE);
    // Release the memory of earlier tests first.
    Bun.gc(true);
    const [own, resident] = [readOwnMemory(), process.memoryUsage.rss()];
    const mapped = Array.from({ length: 4 }, () => Bun.mmap(path, { shared: false }));
    let sum = 0;
    for (const bytes of mapped) for (let at = 0; at < bytes.length; at += 4096) sum += bytes[at];
    expect(sum).toBe(0);
    expect(process.memoryUsage.rss() - resident).toBeGreaterThan(200 * MEGABYTE);
    expect(readOwnMemory() - own).toBeLessThan(50 * MEGABYTE);
    const allocated = new Uint8Array(100 * MEGABYTE).fill(1);
    expect(readOwnMemory() - own).toBeGreaterThan(60 * MEGABYTE);
    expect(allocated[0]).toBe(1);
  });

  test.skipIf(process.platform !== "linux")("counts other processes of the service", async () => {
    const script =
      "const bytes = new Uint8Array(100_000_000).fill(1); console.log(bytes.length); setTimeout(() => bytes, 60_000)";
    const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
    await child.stdout.getReader().read();
    // Release the memory of earlier tests first.
    Bun.gc(true);
    const before = readOwnMemory();
    const ended: number[] = [];
    const uncount = trackMemory(child.pid, () => ended.push(child.pid) > 0);
    expect(readOwnMemory() - before).toBeGreaterThan(90_000_000);
    expect([releaseMemory(), ended]).toEqual([true, [child.pid]]);
    uncount();
    expect([readOwnMemory() - before < 50_000_000, releaseMemory()]).toEqual([true, false]);
    child.kill();
  });

  test("adds private and shared anonymous memory", () => {
    const status = "VmRSS:\t  900 kB\nRssAnon:\t  100 kB\nRssFile:\t  780 kB\nRssShmem:\t   20 kB\n";
    expect(readOwnMemory(join(write({ status }), "status"))).toBe(120 * 1024);
  });

  test("own memory is the resident size on systems without an unshared size", () => {
    expect(readOwnMemory(join(directory, "missing"))).toBeGreaterThan(10 * MEGABYTE);
  });
});

describe("memory limit", () => {
  const group = "sys/fs/cgroup/system.slice/labd.service";

  test.each([
    ["MemoryMax of the unit", { [`${group}/memory.max`]: "2147483648\n" }, 2_147_483_648],
    [
      "MemoryHigh of the unit",
      { [`${group}/memory.max`]: "max\n", [`${group}/memory.high`]: "1000\n" },
      1000,
    ],
    [
      "the limit of a parent",
      { [`${group}/memory.max`]: "2000\n", "sys/fs/cgroup/system.slice/memory.max": "1500\n" },
      1500,
    ],
    [
      "the limit of a container, which sees its group as the mount",
      { "sys/fs/cgroup/memory.max": "700\n" },
      700,
    ],
    ["the machine's memory if the groups have no limit", { [`${group}/memory.max`]: "max\n" }, totalmem()],
  ])("of version 2 is %s", (_, files: Record<string, string>, expected) => {
    const root = write({ "proc/self/cgroup": "0::/system.slice/labd.service\n", ...files });
    expect(memoryLimit(root)).toBe(expected);
  });

  test("the memory limit of control groups version 1 is the lowest of the group and its parents", () => {
    const memory = "sys/fs/cgroup/memory";
    const root = write({
      "proc/self/cgroup": "5:cpu,cpuacct:/other\n4:memory:/docker/1f\n0::/\n",
      [`${memory}/memory.limit_in_bytes`]: "9223372036854771712\n",
      [`${memory}/docker/1f/memory.limit_in_bytes`]: "3000\n",
      "sys/fs/cgroup/cpu,cpuacct/other/memory.limit_in_bytes": "1\n",
    });
    expect(memoryLimit(root)).toBe(3000);
  });

  test("the memory limit is the machine's memory on systems without control groups", () => {
    expect(memoryLimit(directory)).toBe(totalmem());
  });
});
