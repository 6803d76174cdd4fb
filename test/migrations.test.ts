import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MIGRATIONS } from "../db/index.ts";

const ROOT = join(import.meta.dir, "..");

/**
 * Migrations of released versions, frozen: databases out there hold their checksums, and an edited one would have the
 * next version refuse them. Never change a row; a release adds rows for what is new in it.
 */
const FROZEN: Record<string, Record<string, string>> = {
  "0.1.0": {
    "0001-jobs.sql": "5ea2f003a95bdf1739ff779fe9aa7c3c0bc0a72880faf179e7a13f06d9efeb1b",
    "0002-accounts.sql": "0af15e87c998b8b137e93cb0383dda2ad6b94e0aab3b9ee21cb9eb94f7e89703",
    "0003-inventory.sql": "b8d571cd252005e352d9dabdbf5a44c21dd06ffbffe827620d6b742e9f669208",
    "0004-stocks.sql": "7577edd1f488eb590f98c8e8e769f18d9eb9df41fd635f1a0c7c38b0c03c7c09",
  },
};

test("the migrations of released versions are what they were, to the byte", () => {
  for (const [version, files] of Object.entries(FROZEN)) {
    for (const [name, sum] of Object.entries(files)) {
      const sql = readFileSync(join(ROOT, "db", name), "utf8").replaceAll("\r\n", "\n");
      expect([version, name, new Bun.CryptoHasher("sha256").update(sql).digest("hex")]).toEqual([
        version,
        name,
        sum,
      ]);
      expect(MIGRATIONS.find((migration) => migration.name === name)?.sql.replaceAll("\r\n", "\n")).toBe(sql);
    }
  }
});

test("every released version has its migrations frozen and a database to upgrade", () => {
  const changes = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  const released = [...changes.matchAll(/^## (\d+\.\d+\.\d+) \(\d{4}-/gm)].map(([, version]) => version);
  for (const version of new Set([...released, ...Object.keys(FROZEN)])) {
    expect(Object.keys(FROZEN)).toContain(version);
    expect(existsSync(join(ROOT, "test/fixtures/databases", version, "expected.json"))).toBeTrue();
  }
});

test("migrations are numbered in their order, and none twice", () => {
  const names = MIGRATIONS.map(({ name }) => name);
  expect(names).toEqual(names.toSorted());
  expect(new Set(names.map((name) => name.slice(0, 4))).size).toBe(names.length);
});
