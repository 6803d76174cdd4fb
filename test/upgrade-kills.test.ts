import { expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIGRATIONS } from "../db/index.ts";
import { closeDatabase, openDatabase } from "../src/platform/sqlite.ts";
import { createFilled, dump } from "./fixtures/filled-database.ts";

setDefaultTimeout(300_000);

const CHILD = join(import.meta.dir, "fixtures/killed-upgrade.ts");

test.each(MIGRATIONS.map(({ name }, index) => [name, index] as const).slice(1))(
  "an upgrade that is killed in %s leaves the former version, and the next one completes it",
  (_, index) => {
    const directory = mkdtempSync(join(tmpdir(), "labd-killed-"));
    try {
      const [path, former, whole] = ["labd", "former", "whole"].map((name) =>
        join(directory, `${name}.sqlite`),
      );
      createFilled(former, index);
      const before = dump(former);
      expect(Object.values(before.rows).filter((rows) => rows.length > 0).length).toBeGreaterThan(35);
      copyFileSync(former, whole);
      closeDatabase(openDatabase(whole, MIGRATIONS));
      for (const share of [0, 0.5, 1]) {
        for (const ending of ["-wal", "-shm"]) rmSync(path + ending, { force: true });
        copyFileSync(former, path);
        const child = Bun.spawnSync([process.execPath, CHILD, path, String(index), String(share)]);
        expect([child.signalCode, child.stderr.toString()]).toEqual(["SIGKILL", ""]);
        expect(dump(path)).toEqual(before);
        closeDatabase(openDatabase(path, MIGRATIONS));
        expect(dump(path)).toEqual(dump(whole));
      }
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);
