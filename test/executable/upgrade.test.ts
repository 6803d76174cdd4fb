import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, copyFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LABD, labd, scratch, serve } from "./labd.ts";

setDefaultTimeout(300_000);

test.each([
  ["9999-later.sql", "restore a backup made before the upgrade"],
  ["0001-jobs.sql", "labd 0.1, a pre-release"],
])("rejects a database with migration %s and leaves it unchanged", async (migration, advice) => {
  using place = scratch();
  const data = join(place.directory, "data");
  await labd(["user", "add", "ada", "--data-dir", data]);
  const database = new Database(join(data, "labd.sqlite"));
  database.query("INSERT INTO migration VALUES (?, 'x', 0)").run(migration);
  database.close();
  for (const words of [
    ["serve", "--port", "0"],
    ["user", "list"],
    ["corpus", "list"],
  ]) {
    const { code, stderr } = await labd([...words, "--data-dir", data]);
    expect([words[0], code]).toEqual([words[0], 76]);
    expect(stderr).toContain(migration === "0001-jobs.sql" ? "labd 0.1" : migration);
    expect(stderr).toContain(advice);
  }
  expect(readdirSync(data)).not.toContain("backups");
});

test.skipIf(process.platform !== "linux")(
  "answers long requests after an upgrade until it restarts",
  async () => {
    using place = scratch();
    const data = join(place.directory, "data");
    const installed = join(place.directory, "labd");
    copyFileSync(LABD, installed);
    await labd(["user", "add", "ada", "--data-dir", data]);
    const token = (await labd(["token", "add", "ada", "--data-dir", data])).stdout.trim();
    await using server = await serve(place.directory, ["--data-dir", data], {}, installed);
    const upgrade = join(place.directory, "labd.new");
    writeFileSync(upgrade, "#!/bin/sh\necho another version\n");
    chmodSync(upgrade, 0o755);
    renameSync(upgrade, installed);
    const response = await fetch(`${server.url}/api/v2/batches/`, {
      headers: { authorization: `Token ${token}` },
    });
    expect([response.status, await response.json()]).toMatchObject([200, { results: expect.any(Array) }]);
  },
);
