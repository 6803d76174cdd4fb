import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { namedBytes, namedFile, systemProblem } from "../../src/commands/named-file.ts";

const directory = mkdtempSync(join(tmpdir(), "labd-named-"));
const path = join(directory, "proteins.fasta");
beforeAll(() => writeFileSync(path, ">A\nMKLV\n"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe("namedFile", () => {
  test("reads a file, an empty device, and a pipe, which cannot be opened twice", async () => {
    expect(Buffer.from(await namedBytes(path)).toString()).toBe(">A\nMKLV\n");
    expect(await namedBytes("/dev/null")).toHaveLength(0);
    const pipe = join(directory, "pipe");
    expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
    const writer = Bun.spawn(["sh", "-c", 'printf ">B\\nMM\\n" > "$0"', pipe]);
    expect(Buffer.from(await namedBytes(pipe)).toString()).toBe(">B\nMM\n");
    expect(await writer.exited).toBe(0);
  });

  test.each<[string, string, string]>([
    ["gone.fasta", "not_found", "There is no file "],
    ["gone/gone.fasta", "not_found", ", and no directory "],
    ["proteins.fasta/x", "not_found", "is a file, not a directory"],
    ["", "usage", "is a directory; expected a file"],
  ])("rejects %p with %p: %p", (name, code, text) => {
    expect(() => namedFile(join(directory, name))).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(text) }),
    );
  });

  // Root may open everything.
  test.skipIf(process.getuid?.() === 0)("reports a file that it may not read", () => {
    const closed = join(directory, "closed");
    mkdirSync(closed, { recursive: true });
    writeFileSync(join(closed, "x"), "");
    chmodSync(join(closed, "x"), 0);
    expect(() => namedFile(join(closed, "x"))).toThrow(expect.objectContaining({ code: "forbidden" }));
  });

  test("maps file-system errors to exit codes", () => {
    const ofSystem = (code: string): unknown =>
      systemProblem(Object.assign(new Error(code), { code, path }))?.exitCode;
    expect(["EACCES", "EPERM", "EISDIR", "EMFILE", "ENOENT"].map(ofSystem)).toEqual([77, 77, 64, 75, 66]);
    expect(systemProblem(new Error("EACCES"))).toBeUndefined();
    expect(ofSystem("ENOSPC")).toBeUndefined();
  });
});
