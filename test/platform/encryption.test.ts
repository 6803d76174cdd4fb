import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Sealing } from "../../src/platform/encryption.ts";

const folder = mkdtempSync(join(tmpdir(), "labd-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

const value = new TextEncoder().encode("a secret");
const KEY = join(folder, "key");

test.each([null, KEY])(
  "a value encrypted with the key at %p can be decrypted only in its context",
  (path) => {
    const sealing = new Sealing(path);
    const sealed = sealing.seal(value, "row 1");
    expect(sealed).toHaveLength(value.length + 28);
    expect(Buffer.from(sealed).includes("secret")).toBe(false);
    expect(sealing.open(sealed, "row 1")).toEqual(value);
    expect(sealing.open(sealed, "row 2")).toBeUndefined();
    expect(sealing.open(sealed.with(20, sealed[20] ^ 1), "row 1")).toBeUndefined();
    expect(sealing.open(sealed.subarray(0, 5), "row 1")).toBeUndefined();
    expect(sealing.seal(value, "row 1")).not.toEqual(sealed);
  },
);

test("the key file is created once, only for its owner, and reused", () => {
  const sealed = new Sealing(KEY).seal(value, "");
  const written = readFileSync(KEY, "utf8");
  expect(written).toMatch(/^[0-9a-f]{64}\n$/);
  expect(statSync(KEY).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["key"]);
  expect(new Sealing(KEY).open(sealed, "")).toEqual(value);
  new Sealing(KEY).seal(value, "");
  expect(readFileSync(KEY, "utf8")).toBe(written);
});

test("a value cannot be decrypted without its key or with another key", () => {
  const sealed = new Sealing(KEY).seal(value, "");
  const missing = join(folder, "missing");
  expect(new Sealing(missing).open(sealed, "")).toBeUndefined();
  expect(readdirSync(folder)).not.toContain("missing");
  const other = join(folder, "other");
  writeFileSync(other, "ab".repeat(32));
  expect(new Sealing(other).open(sealed, "")).toBeUndefined();
  writeFileSync(other, "ab");
  expect(() => new Sealing(other).seal(value, "")).toThrow("does not contain a key of 32 bytes");
});
