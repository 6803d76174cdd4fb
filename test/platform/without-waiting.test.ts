import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIGRATIONS } from "../../db/index.ts";
import { closeDatabase, openDatabase, withoutSync } from "../../src/platform/sqlite.ts";

test("one write does not wait for the disk; the next one does, also after an error", () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-waiting-"));
  const database = openDatabase(join(directory, "labd.sqlite"), MIGRATIONS);
  // 1 is NORMAL, 2 is FULL.
  const level = (): unknown => database.query("PRAGMA synchronous").get();
  try {
    expect(level()).toEqual({ synchronous: 2 });
    expect(withoutSync(database, level)).toEqual({ synchronous: 1 });
    expect(level()).toEqual({ synchronous: 2 });
    expect(() =>
      withoutSync(database, () => {
        throw new Error("on purpose");
      }),
    ).toThrow("on purpose");
    expect(level()).toEqual({ synchronous: 2 });
  } finally {
    closeDatabase(database);
    rmSync(directory, { recursive: true, force: true });
  }
});
