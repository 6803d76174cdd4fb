import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillReserve, makeRoom, reserveSize, withReserve } from "../../src/platform/disk-reserve.ts";
import { fileHash, renameDurably, writeDurably } from "../../src/platform/durable-file.ts";
import { isRunning } from "../../src/platform/running-process.ts";
import { closeDatabase, openDatabase } from "../../src/platform/sqlite.ts";
import { Problem } from "../../src/problem.ts";

const directory = mkdtempSync(join(tmpdir(), "labd-durable-"));
afterAll(() => rmSync(directory, { recursive: true }));

test("writes all chunks, readable by the owner alone, in new folders", () => {
  const path = join(directory, "a/b/file");
  writeDurably(path, [Buffer.from("one "), Buffer.alloc(0), Buffer.from("two")]);
  expect(readFileSync(path, "utf8")).toBe("one two");
  if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(directory, "a/b"))).toEqual(["file"]);
});

test("an error in the chunks keeps the former file and no part of the new one", () => {
  const path = join(directory, "kept");
  writeFileSync(path, "former");
  const chunks = function* () {
    yield Buffer.from("half");
    throw new Error("the source failed");
  };
  expect(() => writeDurably(path, chunks())).toThrow("the source failed");
  expect([readFileSync(path, "utf8"), existsSync(`${path}.part`)]).toEqual(["former", false]);
});

test("a file gets its name only after it was recorded", () => {
  const [part, path] = [join(directory, "new.part"), join(directory, "new")];
  writeFileSync(part, "x");
  const fail = () => {
    throw new Error("not recorded");
  };
  expect(() => renameDurably(part, path, fail)).toThrow("not recorded");
  expect([existsSync(part), existsSync(path)]).toEqual([true, false]);
  renameDurably(part, path, () => expect(existsSync(path)).toBe(false));
  expect([existsSync(part), existsSync(path)]).toEqual([false, true]);
});

test.each([0, 1, 1_048_575, 1_048_576, 1_048_577, 2_500_000])("hashes a file of %i bytes", (length) => {
  const bytes = Buffer.alloc(length, "labd");
  const path = join(directory, "hashed");
  writeFileSync(path, bytes);
  expect(fileHash(path)).toBe(new Bun.CryptoHasher("sha256").update(bytes).digest("hex"));
});

test.each([
  [0, 1_048_576],
  [104_857_600, 1_048_576],
  [104_857_800, 1_048_578],
  [838_860_800, 8_388_608],
  [1e12, 8_388_608],
])("a disk of %i bytes has a reserve of %i", (bytes, reserve) => {
  expect(reserveSize({ bavail: 0, blocks: bytes / 100, bsize: 100 })).toBe(reserve);
});

test("the reserve gives way to writes on a full disk step by step, then fails as the disk does", () => {
  const database = openDatabase(join(directory, "labd.sqlite"), []);
  const size = () => statSync(join(directory, "labd.reserve"), { throwIfNoEntry: false })?.size ?? 0;
  fillReserve(directory);
  const full = size();
  expect(full).toBeGreaterThanOrEqual(1_048_576);
  const failing = (times: number) => () => {
    if (times-- > 0) throw new Problem("disk_full", "The disk is full.");
    return "written";
  };
  expect([withReserve(database, failing(0)), size()]).toEqual(["written", full]);
  // The first repetition has the room of the log.
  expect([withReserve(database, failing(1)), size()]).toEqual(["written", full]);
  expect([withReserve(database, failing(2)), size()]).toEqual(["written", full - 262_144]);
  makeRoom(database);
  expect(size()).toBe(Math.floor(full / 2));
  expect(() => withReserve(database, failing(1000))).toThrow("The disk is full.");
  expect(size()).toBe(0);
  const other = () => {
    throw new Error("another error");
  };
  expect(() => withReserve(database, other)).toThrow("another error");
  fillReserve(directory);
  expect(size()).toBe(full);
  closeDatabase(database);
});

test.each([
  [process.pid, true],
  [0, false],
  [-1, false],
  [1.5, false],
  [NaN, false],
  [2 ** 31 - 2, false],
])("reports whether process %p runs: %p", (pid, runs) => {
  expect(isRunning(pid)).toBe(runs);
});
