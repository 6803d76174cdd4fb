import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { labd, scratch } from "./labd.ts";

setDefaultTimeout(60_000);

test("restores a backup, keeps the former database, and records it in the audit log", async () => {
  using place = scratch();
  const [data, backups] = [join(place.directory, "data"), join(place.directory, "backups")];
  const env = { LABD_DATA_DIR: data, LABD_BACKUP_DIR: backups };
  await labd(["user", "add", "kim"], { env });
  expect((await labd(["backup"], { env })).code).toBe(0);
  const name = readdirSync(backups).find((file) => file.endsWith(".json"))!;
  const manifest = join(backups, name);
  await labd(["user", "add", "lee"], { env });

  const checked = await labd(["restore", "--check", manifest], { env });
  expect(checked.stdout).toMatch(
    /^Made \S+ by labd \S+, up to \S+; corpora: 0; features: 0\.\nRows: .*user_account 2/,
  );
  expect(checked.stdout).toEndWith("The backup is intact and can be restored.\n");
  expect(checked.stdout).not.toMatch(/_fts|migration \d/);
  const users = async () => (await labd(["user", "list"], { env })).stdout;
  expect(await users()).toContain("lee");

  const restored = await labd(["restore", manifest], { env });
  expect(restored).toMatchObject({ code: 0, stderr: "" });
  expect(restored.stdout).toContain(`Restored to ${data}.\nThe former database is `);
  expect(restored.stdout).toContain("Start the server again.\n");
  expect(await users()).toContain("kim");
  expect(await users()).not.toContain("lee");
  const former = readdirSync(data).find((file) => file.startsWith("labd.sqlite.before-"));
  const exported = await labd(["audit", "export", "--action", "backup"], { env });
  const entries = exported.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(entries).toMatchObject([{ action: "backup.restore", detail: { former } }]);
  const verified = await labd(["audit", "verify"], { env });
  expect(verified.code).toBe(0);
  const head = `${entries[0].seq}:${entries[0].hash}`;
  expect((await labd(["audit", "verify", "--head", head], { env })).code).toBe(0);
  const other = `${entries[0].seq}:${"0".repeat(64)}`;
  expect((await labd(["audit", "verify", "--head", other], { env })).stdout).toContain("is broken at entry");

  const listed = await labd(["backup", "--list"], { env });
  expect(listed.stdout).toMatch(
    /^\S+\.json {2}asked {2}labd \S+ {2}\d+ bytes {2}corpora: 0 {2}features: 0\n$/,
  );
  const none = await labd(["backup", "--list", "--to", place.directory], { env });
  expect(none.stdout).toBe(`There is no backup in ${place.directory}.\n`);

  const empty = { LABD_DATA_DIR: join(place.directory, "new") };
  const fresh = await labd(["restore", manifest], { env: empty });
  expect(fresh.stdout).toContain("Restored to ");
  expect(fresh.stdout).not.toContain("former database");
  const missing = await labd(["restore", join(backups, "none.json")], { env });
  expect(missing.code).not.toBe(0);
  expect(missing.stderr).toContain("none.json");
});
